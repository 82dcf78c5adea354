//! `serve`: the API, the worker, and how both end.

use std::{io, net::SocketAddr, process::ExitCode, sync::Arc, time::Duration};

use axum::{
    Router, extract::State, http::StatusCode, middleware::from_fn_with_state, routing::get,
};
use cauri::{Engine, Key, Worker, WorkerOptions, decide::Terms};
use cauri_http::Api;
use cauri_webhook::HttpNotifier;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinError, JoinHandle},
    time::timeout,
};

use crate::{
    commands::accounts::NewAccount,
    error::{Done, Failure, Unsaid, chain},
    interrupt::Interrupt,
    keyring,
    listener::{self, Connections},
    metrics::{Counts, Metrics},
    options::ServeOptions,
    output::Output,
    reference,
    store::Opened,
};

/// How long what is in flight may take when the server ends: an attempt takes 8 s at most, and
/// whoever sent the signal waits 10.
const LAST: Duration = Duration::from_millis(8_500);

/// How soon a store that is ready answers.
const READY: Duration = Duration::from_secs(1);

pub(crate) async fn run(options: ServeOptions, output: Output) -> Done {
    options.webhooks()?;
    let stopping = stopping()?;
    let counts = Arc::new(Counts::default());
    let opening = async {
        match options.no_worker {
            true => Opened::at(&options.at.store, counts.clone()).await,
            false => Opened::for_work(&options.at.store, counts.clone()).await,
        }
    };
    let opened = tokio::select! {
        opened = opening => opened?,
        // Nothing has begun that would have to be finished.
        () = stopped(stopping.clone()) => return Ok(ExitCode::SUCCESS),
    };
    let engine = engine(&options, &opened, counts.clone()).await?;
    let socket = TcpListener::bind(options.listen).await;
    let socket = socket.map_err(|error| NotListening::at(options.listen, error))?;
    let address = socket.local_addr()?;
    greet(&options, &engine, address, output).await?;
    tracing::info!(%address, "listening");
    let mut worker = (!options.no_worker).then(|| {
        let mut how = WorkerOptions::default();
        how.stop_ms = u64::try_from(LAST.as_millis()).unwrap_or(how.stop_ms);
        tokio::spawn(Worker::with(engine.clone(), how).run(stopped(stopping.clone())))
    });
    let api = Api::builder(engine.clone())
        .rate_limit(options.rate_limit.0)
        .at_once(options.max_requests)
        .build();
    let metrics = Metrics::of(&counts, &opened, &engine);
    let connections =
        Connections { most: options.max_connections, refused: metrics.refused.clone() };
    let app = app(engine, metrics, api.clone());
    let mut ended = Ok(());
    let until = async { ended = end(stopped(stopping), worker.as_mut()).await };
    listener::serve(socket, app, api, connections, until, LAST).await;
    if ended.is_ok()
        && let Some(worker) = worker
    {
        worker.await?;
    }
    opened.close().await;
    ended?;
    tracing::info!("ended");
    Ok(ExitCode::SUCCESS)
}

/// Nobody can be served there.
#[derive(Debug, thiserror::Error)]
#[error("{address}: {source}. {advice}")]
pub(crate) struct NotListening {
    address: SocketAddr,
    source: io::Error,
    /// What to do about it.
    pub(crate) advice: &'static str,
}

impl NotListening {
    pub(crate) fn at(address: SocketAddr, source: io::Error) -> Self {
        let advice = match source.kind() {
            io::ErrorKind::AddrInUse => {
                "Something listens there already: end it or choose another with --listen."
            }
            io::ErrorKind::PermissionDenied => {
                "Ports below 1024 are for root: choose another with --listen."
            }
            _ => "Choose an address of this machine with --listen.",
        };
        Self { address, source, advice }
    }
}

/// There is nobody any more to do what is due.
#[derive(Debug, thiserror::Error)]
#[error("the worker ended by itself, and nothing that is due would be done")]
struct Stranded(#[source] Option<JoinError>);

/// Ends when this server is told to, or when its worker has ended before.
async fn end(
    stop: impl Future<Output = ()>,
    worker: Option<&mut JoinHandle<()>>,
) -> Result<(), Stranded> {
    let Some(worker) = worker else {
        stop.await;
        return Ok(());
    };
    tokio::select! {
        biased;
        // The worker is told as well, and may be done first.
        () = stop => Ok(()),
        early = worker => Err(Stranded(early.err())),
    }
}

async fn engine(
    options: &ServeOptions,
    opened: &Opened,
    meter: Arc<Counts>,
) -> Result<Engine, Failure> {
    let store = opened.store();
    let keys = keyring::of(options.secret_key.as_deref(), &*store).await?;
    match keyring::unopened(Some(&keys), &*store).await {
        Ok(None) => {}
        Ok(Some(found)) => {
            tracing::error!("{}; the file of --secret-key must hold that key", chain(&found));
        }
        Err(error) => tracing::warn!(%error, "whether the webhook secrets open is not known"),
    }
    let notifier = HttpNotifier::builder().policy(options.webhooks()?).build()?;
    let mut terms = Terms::default();
    terms.refund_fee_policy = options.refund_fee_policy;
    let mut how = cauri::Options::default();
    how.idempotency_required = options.idempotency_required;
    let mut builder = Engine::builder(store).keys(keys).notifier(Arc::new(notifier)).meter(meter);
    if let Some(bell) = opened.bell() {
        builder = builder.bell(bell);
    }
    #[cfg(feature = "otlp")]
    let builder = builder.tracer(Arc::new(crate::telemetry::Recorded));
    Ok(builder.terms(terms).options(how).build()?)
}

fn app(engine: Engine, metrics: Metrics, api: Api) -> Router {
    let reference = reference::routes(api.description());
    let api = Router::new()
        .fallback_service(api)
        .layer(from_fn_with_state(metrics.clone(), Metrics::count));
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready).with_state(engine))
        .route("/metrics", get(Metrics::show).with_state(metrics))
        .merge(reference)
        .fallback_service(api)
}

/// Does the store answer?
async fn ready(State(engine): State<Engine>) -> (StatusCode, &'static str) {
    let anything = [Key::Setting("ready".to_owned())];
    match timeout(READY, engine.store().get(&anything)).await {
        Ok(Ok(_)) => (StatusCode::OK, "ready\n"),
        Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n"),
    }
}

/// Says where it listens and hands out the keys of the accounts it makes: as many as it is told
/// to, else one where there is none. Nothing is made before it is known that somebody listens.
async fn greet(
    options: &ServeOptions,
    engine: &Engine,
    at: SocketAddr,
    output: Output,
) -> Result<(), Failure> {
    let wanted = match options.accounts {
        Some(wanted) => wanted,
        None => usize::from(engine.accounts().await?.is_empty()),
    };
    let url = format!("http://{at}");
    let text = format!("cauri listens at {url}");
    if wanted == 0 {
        if let Err(error) = output.say(&json!({ "url": url, "accounts": [] }), &text) {
            // Nothing is lost: the log names the address too.
            tracing::warn!(%error, "nobody reads what this server says");
        }
        return Ok(());
    }
    let begun = output.begin(&format!(r#"{{"url":{},"accounts":"#, json!(url)), &text);
    begun.map_err(|source| Unsaid { what: NOBODY.to_owned(), source })?;
    let accounts = NewAccount::several(engine, wanted).await?;
    let mut text: Vec<String> = accounts.iter().map(NewAccount::text).collect();
    text.extend(accounts.first().map(|account| format!("Try:\n{}", example(&url, account))));
    let json: Vec<Value> = accounts.iter().map(NewAccount::json).collect();
    let ended = output.end(&format!("{}}}", json!(json)), &format!("\n{}", text.join("\n\n")));
    Ok(ended.map_err(|source| NewAccount::unsaid(&accounts, source))?)
}

/// Why no account is made where its keys would be read by nobody.
const NOBODY: &str = "no account was made: its keys are shown this once, and cannot be";

/// A payment that succeeds two seconds later.
fn example(url: &str, account: &NewAccount) -> String {
    let body = json!({
        "amount": 5000,
        "currency": "XOF",
        "payment_method": "mobile_money",
        "network": "mtn",
        "phone": "+2250500000000",
    });
    let key = account.secret_sandbox.reveal();
    format!(
        "curl {url}/v1/payments -H 'Authorization: Bearer {key}' \
         -H 'Content-Type: application/json' -d '{body}'"
    )
}

/// Becomes true with the first SIGTERM or Ctrl-C.
fn stopping() -> Result<watch::Receiver<bool>, Failure> {
    let mut interrupt = Interrupt::new()?;
    let (tell, told) = watch::channel(false);
    tokio::spawn(async move {
        interrupt.came().await;
        tracing::info!("ending");
        tell.send_replace(true);
    });
    Ok(told)
}

async fn stopped(mut told: watch::Receiver<bool>) {
    // An error would mean that nobody can tell any more.
    let _ = told.wait_for(|stop| *stop).await;
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn a_server_does_not_outlive_its_worker() {
        let mut done = tokio::spawn(ready(()));
        let mut broken = tokio::spawn(async { panic!("as a worker should not") });
        assert!(end(pending(), Some(&mut done)).await.is_err());
        let Stranded(why) = end(pending(), Some(&mut broken)).await.unwrap_err();
        assert!(why.is_some_and(|why| why.is_panic()));
        // One that ends because it is told to is no reason.
        let mut told = tokio::spawn(ready(()));
        while !told.is_finished() {
            tokio::task::yield_now().await;
        }
        assert!(end(ready(()), Some(&mut told)).await.is_ok());
        assert!(end(ready(()), None).await.is_ok());
    }
}
