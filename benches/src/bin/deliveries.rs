//! Deliveries: events committed through the engine, received by a local receiver that answers 200.
//!
//! `cargo run --release -p cauri-benches --bin deliveries -- --store memory: --endpoints 10`

use std::{
    collections::HashMap,
    convert::Infallible,
    error::Error,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use cauri::{
    Attempt, AttemptError, Call, Caller, Engine, Environment, EventKind, Metadata, Notifier,
    Receipt, Scope, Subscription, Worker, wire::CreateWebhookEndpoint,
};
use cauri_benches::{
    figures::{Latencies, per_second, print},
    stage, store,
};
use cauri_memory::MemoryStore;
use cauri_webhook::HttpNotifier;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{client::legacy::Client, rt::TokioExecutor, rt::TokioIo};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    task::{JoinError, JoinSet},
    time::Instant,
};

type Failure = Box<dyn Error + Send + Sync>;

/// How many deliveries wait for each endpoint that hangs.
const BACKLOG: usize = 1_000;

/// Commits events and counts what arrives.
#[derive(Debug, Parser)]
struct Arguments {
    /// `memory:`, `sqlite:PATH` or `postgres://…`.
    #[arg(long, default_value = "memory:")]
    store: String,
    /// How many endpoints each event goes to.
    #[arg(long, default_value_t = 1)]
    endpoints: usize,
    /// How many other endpoints, with a backlog of their own, take every request and never answer.
    #[arg(long, default_value_t = 0)]
    hanging: usize,
    /// For how long.
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// Events a second; 0 for as many as can be delivered.
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// How many events may be committed and not yet received, without a rate.
    #[arg(long, default_value_t = 512)]
    ahead: usize,
    /// Only post the bytes of a delivery in a loop with this many requests at once, without cauri: what
    /// the client and the receiver can do by themselves.
    #[arg(long)]
    bare: Option<usize>,
    /// One line of JSON instead of lines for people.
    #[arg(long)]
    json: bool,
}

/// What is on its way, and how long each delivery took from the answer to its event's commit.
#[derive(Debug, Default)]
struct Log {
    on_their_way: HashMap<Vec<u8>, Way>,
    latencies: Latencies,
    /// How many arrived before that answer, and count as having taken no time.
    before_the_answer: usize,
}

/// One event on its way.
#[derive(Debug, Default)]
struct Way {
    /// When its commit was answered, if it was.
    committed: Option<Instant>,
    /// How many deliveries are to arrive; below nothing while they come before that answer.
    left: i64,
}

impl Log {
    fn changed(&mut self, link: Vec<u8>, change: impl FnOnce(&mut Way)) -> Option<Instant> {
        let mut way = self.on_their_way.remove(&link).unwrap_or_default();
        change(&mut way);
        let committed = way.committed;
        if committed.is_none() || way.left != 0 {
            self.on_their_way.insert(link, way);
        }
        committed
    }
}

/// How the commits of events ended.
#[derive(Debug, Default)]
struct Outcomes {
    committed: usize,
    failed: usize,
}

impl Outcomes {
    fn add(&mut self, outcome: Result<Result<(), Failure>, JoinError>) {
        let failure: Failure = match outcome {
            Ok(Ok(())) => {
                self.committed += 1;
                return;
            }
            Ok(Err(error)) => error,
            Err(error) => error.into(),
        };
        if self.failed == 0 {
            eprintln!("the first commit that failed: {failure}");
        }
        self.failed += 1;
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let log = Arc::new(Mutex::new(Log::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/hooks", listener.local_addr()?);
    tokio::spawn(receive(listener, Arc::clone(&log)));
    if let Some(at_once) = arguments.bare {
        let figures = bare(&url, at_once, arguments.seconds).await?;
        print(&figures, arguments.json);
        return Ok(());
    }

    let opened = store::open(&arguments.store, true, None).await?;
    let notifier = Arc::new(HttpNotifier::builder().build()?);
    let engine = Engine::builder(Arc::clone(&opened.store)).notifier(notifier).build()?;
    let account = engine.create_account().await?;
    let me = Caller::secret(Scope { account: account.id, environment: Environment::Sandbox });
    for _ in 0..arguments.endpoints {
        let ask = listener_to(EventKind::PaymentLinkCreated, &url)?;
        engine.create_webhook_endpoint(&Call::by(me), ask).await?;
    }
    hang(&arguments, &engine, me).await?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async move {
        let _ = stopped.await;
    }));
    let began = Instant::now();
    let Outcomes { committed, failed } = produce(&arguments, &engine, me, &log, began).await;
    let took = began.elapsed();
    let received = lock(&log).latencies.count();
    let _ = stop.send(());
    worker.await?;
    let log = std::mem::take(&mut *lock(&log));
    let figures = json!({
        "endpoints": arguments.endpoints,
        "hanging": arguments.hanging,
        "rate": arguments.rate,
        "committed": committed,
        "failed": failed,
        "received": received,
        "received_per_second": per_second(received, took),
        "received_before_the_answer": log.before_the_answer,
        "committed_to_received": log.latencies.summary(),
    });
    print(&figures, arguments.json);
    Ok(())
}

fn listener_to(kind: EventKind, url: &str) -> Result<CreateWebhookEndpoint, Failure> {
    Ok(CreateWebhookEndpoint {
        url: url.parse()?,
        events: Subscription::Kinds([kind].into()),
        active: true,
        description: None,
        metadata: Metadata::default(),
    })
}

/// Makes the endpoints that hang, and what waits for each of them.
async fn hang(arguments: &Arguments, engine: &Engine, me: Caller) -> Result<(), Failure> {
    if arguments.hanging == 0 {
        return Ok(());
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/hooks", listener.local_addr()?);
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            kept.push(stream);
        }
    });
    for _ in 0..arguments.hanging {
        let ask = listener_to(EventKind::PaymentCreated, &url)?;
        engine.create_webhook_endpoint(&Call::by(me), ask).await?;
    }
    let mut tasks = JoinSet::new();
    for _ in 0..BACKLOG {
        let engine = engine.clone();
        tasks.spawn(async move {
            let payment = stage::payment("HANG")?;
            engine.create_payment(&Call::by(me), payment).await?;
            Ok::<_, Failure>(())
        });
    }
    tasks.join_all().await.into_iter().collect()
}

fn lock(log: &Mutex<Log>) -> std::sync::MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Commits events: at a rate, or as long as not too many are on their way.
async fn produce(
    arguments: &Arguments,
    engine: &Engine,
    me: Caller,
    log: &Arc<Mutex<Log>>,
    began: Instant,
) -> Outcomes {
    let until = began + Duration::from_secs(arguments.seconds);
    let mut tasks = JoinSet::new();
    let mut outcomes = Outcomes::default();
    let mut pace = tokio::time::interval(match arguments.rate {
        0 => Duration::from_millis(1),
        rate => Duration::from_micros(1_000_000 / rate),
    });
    while Instant::now() < until {
        pace.tick().await;
        while let Some(outcome) = tasks.try_join_next() {
            outcomes.add(outcome);
        }
        let on_their_way = lock(log).on_their_way.len().saturating_add(tasks.len());
        let room = arguments.ahead.saturating_sub(on_their_way);
        for _ in 0..if arguments.rate == 0 { room } else { 1 } {
            let (engine, log) = (engine.clone(), Arc::clone(log));
            let endpoints = i64::try_from(arguments.endpoints).unwrap_or(i64::MAX);
            tasks.spawn(async move { commit(&engine, me, &log, endpoints).await });
        }
    }
    while let Some(outcome) = tasks.join_next().await {
        outcomes.add(outcome);
    }
    outcomes
}

async fn commit(
    engine: &Engine,
    me: Caller,
    log: &Mutex<Log>,
    endpoints: i64,
) -> Result<(), Failure> {
    let reply = engine.create_payment_link(&Call::by(me), stage::payment_link()?).await?;
    let now = Instant::now();
    let link = reply.object.id.to_string().into_bytes();
    lock(log).changed(link, |way| {
        way.committed = Some(now);
        way.left = way.left.saturating_add(endpoints);
    });
    Ok(())
}

async fn receive(listener: TcpListener, log: Arc<Mutex<Log>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let log = Arc::clone(&log);
        tokio::spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let log = Arc::clone(&log);
                async move {
                    let body = request.into_body().collect().await.map(|it| it.to_bytes());
                    if let Ok(body) = body {
                        arrived(&log, &body);
                    }
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
                }
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Notes a delivery, by the id of the link that its event is about.
fn arrived(log: &Mutex<Log>, body: &[u8]) {
    let now = Instant::now();
    let Some(at) = body.windows(6).position(|it| it == b"plink_") else { return };
    let link = body[at..body.len().min(at + 32)].to_vec();
    let mut log = lock(log);
    let committed = log.changed(link, |way| way.left = way.left.saturating_sub(1));
    log.before_the_answer += usize::from(committed.is_none());
    let took = committed.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
    log.latencies.add(took);
}

/// Keeps what it is to send.
#[derive(Debug, Default)]
struct Kept(Mutex<Option<Attempt>>);

#[async_trait]
impl Notifier for Kept {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(attempt.clone());
        Receipt { outcome: Ok(200), duration_ms: 0 }
    }

    async fn vet(&self, _: &str, _: Environment) -> Result<(), AttemptError> {
        Ok(())
    }
}

/// What one of the deliveries sends.
async fn attempt(url: &str) -> Result<Attempt, Failure> {
    let kept = Arc::new(Kept::default());
    let store = Arc::new(MemoryStore::new());
    let engine = Engine::builder(store).notifier(kept.clone()).build()?;
    let account = engine.create_account().await?;
    let me = Caller::secret(Scope { account: account.id, environment: Environment::Sandbox });
    let ask = listener_to(EventKind::PaymentLinkCreated, url)?;
    engine.create_webhook_endpoint(&Call::by(me), ask).await?;
    engine.create_payment_link(&Call::by(me), stage::payment_link()?).await?;
    Worker::new(engine).tick().await?;
    let attempt = kept.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    attempt.ok_or_else(|| "nothing was to be sent".into())
}

/// The client and the receiver alone, with the bytes of a delivery.
async fn bare(url: &str, at_once: usize, seconds: u64) -> Result<Value, Failure> {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let Attempt { headers, body, .. } = attempt(url).await?;
    let began = Instant::now();
    let until = began + Duration::from_secs(seconds);
    let mut tasks = JoinSet::new();
    for _ in 0..at_once {
        let (client, url, body) = (client.clone(), url.to_owned(), body.clone());
        let headers = headers.clone();
        tasks.spawn(async move {
            let mut count = 0_usize;
            while Instant::now() < until {
                let request = Request::post(&url).header("content-type", "application/json");
                let request =
                    headers.iter().fold(request, |it, (name, value)| it.header(*name, value));
                let request = request.body(Full::new(body.clone()));
                let Ok(request) = request else { break };
                if let Ok(answer) = client.request(request).await
                    && answer.into_body().collect().await.is_ok()
                {
                    count += 1;
                }
            }
            count
        });
    }
    let count: usize = tasks.join_all().await.into_iter().sum();
    let rate = per_second(count, began.elapsed());
    Ok(json!({ "bare": at_once, "posted": count, "posted_per_second": rate }))
}
