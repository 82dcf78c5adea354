//! The stage: a server whose connections break as they are told to.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use cauri::{ApiKeyKind, Engine, Environment, Scope, Timestamp, Worker};
use cauri_client::{Client, ClientBuilder, PaymentMethod, Retry, wire};
use cauri_conformance::{ManualClock, SeededEntropy};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use futures_util::stream;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tower_service::Service;

/// 2024-11-19T00:00:00.000Z.
const START: i64 = 1_731_974_400_000;

/// What happens to a request instead of being answered.
#[derive(Debug, Clone)]
pub(crate) enum Mishap {
    /// The connection ends before anything is done.
    Before,
    /// What was asked for is done, and the connection ends before the answer.
    After,
    /// What was asked for is done, and the connection ends within the answer.
    Within,
    /// What was asked for is done, and there never is an answer.
    Silence,
    /// Something before the server answers.
    Answer(u16, &'static [(&'static str, &'static str)], &'static str),
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) url: String,
    pub(crate) key: String,
    clock: Arc<ManualClock>,
    door: Door,
}

/// What is between the client and the API.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    api: Api,
    mishaps: Arc<Mutex<VecDeque<Mishap>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    silent: Arc<Notify>,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(START)));
        let engine = Engine::builder(Arc::new(MemoryStore::new()))
            .clock(clock.clone())
            .entropy(Arc::new(SeededEntropy::new(7)))
            .build()
            .unwrap();
        let account = engine.create_account().await.unwrap().id;
        let scope = Scope { account, environment: Environment::Sandbox };
        let key = engine.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap().clear;
        let api = Api::builder(engine.clone()).build();
        let door =
            Door { api, mishaps: Arc::default(), seen: Arc::default(), silent: Arc::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let open = door.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(open.clone().serve(TokioIo::new(stream)));
            }
        });
        Self { engine, url, key: key.reveal().to_owned(), clock, door }
    }

    pub(crate) fn door(&self) -> Door {
        self.door.clone()
    }

    pub(crate) fn builder(&self) -> ClientBuilder {
        let at_once = Retry::default().pauses(Duration::from_millis(1), Duration::from_millis(1));
        Client::builder(&self.url, &self.key).retry(at_once)
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    /// The next requests go wrong, one after the other.
    pub(crate) fn mishaps(&self, mishaps: &[Mishap]) {
        self.door.mishaps.lock().unwrap().extend(mishaps.iter().cloned());
    }

    /// What was asked since the last time.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.door.seen.lock().unwrap())
    }

    /// Waits until something was done whose answer never comes.
    pub(crate) async fn silence(&self) {
        self.door.silent.notified().await;
    }

    /// Does what is due, until nothing is.
    pub(crate) async fn after(&self, seconds: i64) {
        self.clock.advance_millis(seconds * 1_000);
        while !Worker::new(self.engine.clone()).tick().await.unwrap().is_idle() {}
    }
}

type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

impl Door {
    /// Nothing more goes wrong.
    pub(crate) fn forget(&self) {
        self.mishaps.lock().unwrap().clear();
    }

    pub(crate) async fn serve<S>(self, stream: S)
    where
        S: hyper::rt::Read + hyper::rt::Write + Unpin,
    {
        let answer = service_fn(|request| self.clone().answer(request));
        // Whatever becomes of a connection, the next one is served.
        let _ = http1::Builder::new().serve_connection(stream, answer).await;
    }

    async fn answer(mut self, request: Request<Incoming>) -> Result<Answer, io::Error> {
        let text = |name| Some(request.headers().get(name)?.to_str().unwrap().to_owned());
        self.seen.lock().unwrap().push(Seen {
            method: request.method().to_string(),
            path: request.uri().to_string(),
            key: text("idempotency-key"),
            agent: text("user-agent"),
        });
        let broken = io::Error::from(io::ErrorKind::ConnectionReset);
        let mishap = self.mishaps.lock().unwrap().pop_front();
        match mishap {
            Some(Mishap::Before) => return Err(broken),
            Some(Mishap::Answer(status, headers, body)) => {
                let mut response = Response::builder().status(status);
                for (name, value) in headers {
                    response = response.header(*name, *value);
                }
                return Ok(response.body(whole(body.into())).unwrap());
            }
            None | Some(Mishap::After | Mishap::Within | Mishap::Silence) => {}
        }
        let response = self.api.call(request).await.unwrap_or_else(|never| match never {});
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap_or_else(|never| match never {}).to_bytes();
        match mishap {
            Some(Mishap::After) => Err(broken),
            Some(Mishap::Silence) => {
                self.silent.notify_one();
                std::future::pending().await
            }
            Some(Mishap::Within) => {
                let half = Frame::data(body.slice(..body.len() / 2));
                let body = StreamBody::new(stream::iter([Ok(half), Err(broken)]));
                Ok(Response::from_parts(head, body.boxed_unsync()))
            }
            _ => Ok(Response::from_parts(head, whole(body))),
        }
    }
}

fn whole(body: Bytes) -> UnsyncBoxBody<Bytes, io::Error> {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
}

/// A payment that waits to be told what becomes of it.
pub(crate) fn payment() -> wire::CreatePayment {
    wire::CreatePayment {
        amount: Some(cauri_client::Amount::new(5_000)),
        currency: "XOF".parse().ok(),
        network: "mtn".parse().ok(),
        phone: "+2250500000002".parse().ok(),
        ..wire::CreatePayment::by(PaymentMethod::MobileMoney)
    }
}

/// Nobody listens there.
pub(crate) async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    assert!(TcpStream::connect(url.trim_start_matches("http://")).await.is_err());
    url
}
