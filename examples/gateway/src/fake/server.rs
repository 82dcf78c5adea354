//! The fake's side of HTTP, and its callbacks.

use std::{future::pending, io, sync::Arc, time::Duration};

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use serde::Serialize;
use tokio::{net::TcpListener, task::JoinSet, time::sleep};
use uuid::Uuid;

use super::{
    Inner, Mood,
    books::{because, rejected},
    socket,
};
use crate::{
    names::Kind,
    signature::Message,
    wire::{Ask, Taken, Transaction},
};

/// How often it calls back until it is heard.
const CALLS_MAX: u32 = 5;

/// Why a connection is dropped instead of answered.
#[derive(Debug, thiserror::Error)]
#[error("hung up")]
struct HungUp;

type Answer = Response<Full<Bytes>>;

/// Listens until the mood is `Down`; then everything is gone, connections too.
pub(super) async fn listen(inner: &Arc<Inner>) -> io::Result<()> {
    let listener = socket(inner.address)?.listen(1_024)?;
    let mut mood = inner.mood.subscribe();
    let inner = Arc::clone(inner);
    tokio::spawn(async move {
        let mut connections = JoinSet::new();
        tokio::select! {
            () = accept(&listener, &inner, &mut connections) => {}
            _ = mood.wait_for(|mood| *mood == Mood::Down) => {}
        }
        drop(listener);
        connections.shutdown().await;
        // Only now may whoever waits for us to be gone go on: `mood` is dropped last.
        drop(mood);
    });
    Ok(())
}

async fn accept(listener: &TcpListener, inner: &Arc<Inner>, connections: &mut JoinSet<()>) {
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let inner = Arc::clone(inner);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let inner = Arc::clone(&inner);
                async move { serve(&inner, request).await }
            });
            // Whoever was hung up on has seen it.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn serve(inner: &Arc<Inner>, request: Request<Incoming>) -> Result<Answer, HungUp> {
    let mood = inner.mood();
    if mood == Mood::HangsUp {
        return Err(HungUp);
    }
    let (head, body) = request.into_parts();
    let body = Limited::new(body, 64 << 10).collect().await.map_err(|_| HungUp)?.to_bytes();
    let answer = answer(inner, &head, &body);
    match mood {
        Mood::HangsUpAfterwards => Err(HungUp),
        Mood::Hangs => pending().await,
        Mood::Garbles => {
            let mut response = Response::new("<html><h1>502 Bad Gateway</h1></html>".into());
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            Ok(response)
        }
        _ => Ok(answer),
    }
}

fn answer(inner: &Arc<Inner>, head: &http::request::Parts, body: &Bytes) -> Answer {
    let wrong =
        |status, code| json(status, &Taken { status: None, failure_reason: Some(because(code)) });
    let bearer = format!("Bearer {}", inner.token.reveal());
    match head.headers.get(header::AUTHORIZATION) {
        None => return wrong(StatusCode::UNAUTHORIZED, "NO_AUTHENTICATION"),
        Some(said) if said.as_bytes() != bearer.as_bytes() => {
            return wrong(StatusCode::FORBIDDEN, "AUTHENTICATION_ERROR");
        }
        Some(_) => {}
    }
    if let Mood::Busy(status) = inner.mood() {
        return wrong(status, "TOO_MUCH_AT_ONCE");
    }
    let path = head.uri.path();
    let at = |kind: &Kind| path.strip_prefix(kind.path()).map(|rest| (*kind, rest));
    match (&head.method, Kind::ALL.iter().find_map(at)) {
        (&Method::POST, Some((kind, ""))) => {
            let host = head.headers.get(header::HOST).and_then(|it| it.to_str().ok());
            let authority = host.unwrap_or_default();
            let message = Message { method: "POST", authority, path, headers: &head.headers, body };
            let signed = |keys: &crate::signature::Keys| keys.verify(&message, inner.clock.now());
            if inner.keys.as_ref().is_some_and(|keys| signed(keys).is_err()) {
                return wrong(StatusCode::FORBIDDEN, "HTTP_SIGNATURE_ERROR");
            }
            match read(kind, body) {
                Err(code) => wrong(StatusCode::BAD_REQUEST, code),
                Ok((id, ask)) => json(StatusCode::OK, &take_on(inner, kind, id, ask)),
            }
        }
        (&Method::GET, Some((kind, rest))) => {
            let id = rest.strip_prefix('/').and_then(|id| id.parse::<Uuid>().ok());
            match id {
                None => wrong(StatusCode::BAD_REQUEST, "INVALID_PARAMETER"),
                Some(id) => {
                    let lying = inner.mood() == Mood::Contradicts;
                    json(StatusCode::OK, &inner.books().find(kind, id, lying))
                }
            }
        }
        _ => wrong(StatusCode::NOT_FOUND, "NOT_FOUND"),
    }
}

/// An order that is asked for as the documentation says, or what is wrong with it.
fn read(kind: Kind, body: &[u8]) -> Result<(Uuid, Ask), &'static str> {
    let ask: Ask = serde_json::from_slice(body).map_err(|error| {
        let unknown = error.to_string().starts_with("unknown field");
        if unknown { "UNSUPPORTED_PARAMETER" } else { "INVALID_INPUT" }
    })?;
    let (id, party) = match kind {
        Kind::Deposit => (&ask.deposit_id, ask.payer.is_some()),
        Kind::Payout => (&ask.payout_id, ask.recipient.is_some()),
        Kind::Refund => (&ask.refund_id, ask.deposit_id.is_some()),
    };
    let id = id.as_ref().filter(|_| party).ok_or("MISSING_PARAMETER")?;
    let id: Uuid = id.parse().map_err(|_| "INVALID_PARAMETER")?;
    if id.get_version_num() != 4 { Err("INVALID_PARAMETER") } else { Ok((id, ask)) }
}

fn take_on(inner: &Arc<Inner>, kind: Kind, id: Uuid, ask: Ask) -> Taken {
    match inner.mood() {
        Mood::Rejects => return rejected("INVALID_PHONE_NUMBER"),
        Mood::Closed => return rejected("PROVIDER_TEMPORARILY_UNAVAILABLE"),
        _ => {}
    }
    let taken = inner.books().take_on(kind, id, ask);
    if let (Some("ACCEPTED"), Some(after)) = (taken.status.as_deref(), inner.after) {
        let inner = Arc::clone(inner);
        tokio::spawn(async move {
            sleep(after).await;
            let ended = inner.books().end_by_phone(kind, id);
            if let Some(said) = ended {
                inner.tell(said).await;
            }
        });
    }
    taken
}

fn json(status: StatusCode, body: &impl Serialize) -> Answer {
    let body = serde_json::to_vec(body).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

impl Inner {
    /// Calls back about an order, until it is heard. A chatty fake says it again, and then the
    /// opposite.
    pub(super) async fn tell(&self, said: Transaction) {
        self.call(&said).await;
        if !self.chatty {
            return;
        }
        self.call(&said).await;
        let mut opposite = said;
        let paid = opposite.status == "COMPLETED";
        opposite.status = if paid { "FAILED" } else { "COMPLETED" }.to_owned();
        opposite.failure_reason = paid.then(|| because("UNSPECIFIED_FAILURE"));
        self.call(&opposite).await;
    }

    async fn call(&self, said: &Transaction) {
        let Some(url) = self.callback_url() else { return };
        let client =
            Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(HttpConnector::new());
        for number in 0..CALLS_MAX {
            let Some(request) = self.callback(&url, said) else { return };
            let answer = client.request(request).await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            sleep(Duration::from_millis(50 << number)).await;
        }
    }

    /// A callback, signed.
    fn callback(&self, url: &str, said: &Transaction) -> Option<Request<Full<Bytes>>> {
        let uri: http::Uri = url.parse().ok()?;
        let body = serde_json::to_vec(said).ok()?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let message = Message {
            method: "POST",
            authority: uri.authority()?.as_str(),
            path: uri.path(),
            headers: &headers,
            body: &body,
        };
        let headers = self.signer.sign(&message, self.clock.now()).ok()?;
        let mut request = Request::post(uri).body(Full::new(Bytes::from(body))).ok()?;
        *request.headers_mut() = headers;
        Some(request)
    }
}
