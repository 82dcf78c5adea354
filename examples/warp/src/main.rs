//! cauri in a warp application: under `/pay`, beside the host's own routes, within its own
//! middleware, for its own users as well as for holders of API keys.
//!
//! ```text
//! cargo run -p cauri-example-warp
//! ```
//!
//! Here a request may take as long as it likes to arrive. Before strangers, its head and its body
//! want a limit of time each, in a proxy in front or in the server: as in `cauri-server`, whose
//! `listener.rs` has both over hyper.

use std::{error::Error, io, sync::Arc, time::Duration};

use bytes::{Buf, Bytes};
use cauri::{ApiKeyKind, Caller, Engine, Environment, Grouped, Scope, Worker};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use cauri_webhook::HttpNotifier;
use futures_util::{Stream, TryStreamExt};
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
};
use tower_service::Service;
use warp::{
    Filter,
    http::{HeaderMap, HeaderValue, Method, Response, StatusCode},
    path::FullPath,
    reply,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let store = Arc::new(Grouped::new(MemoryStore::new())); // or SqliteStore, or PostgresStore
    let notifier = Arc::new(HttpNotifier::builder().build()?);
    let engine = Engine::builder(store).notifier(notifier).build()?;
    let worker = tokio::spawn(Worker::new(engine.clone()).run(stopped()?));

    // Once for each merchant: an account, and a key to call the API with.
    let account = engine.create_account().await?.id;
    let scope = Scope { account, environment: Environment::Sandbox };
    let key = engine.create_key(scope, ApiKeyKind::Secret, None, None).await?.clear;
    let api = Api::builder(engine).prefix("/pay").build();

    let payments = warp::path("pay")
        .and(warp::method())
        .and(warp::path::full())
        .and(warp::query::raw().or(warp::any().map(String::new)).unify())
        .and(warp::header::headers_cloned())
        .and(warp::body::stream())
        .then(move |method, path, query, headers, body| {
            payments(api.clone(), scope, (method, path, query, headers), body)
        });
    let hello = warp::path!("hello").map(|| "hello");
    let no_such_page =
        warp::any().map(|| reply::with_status("no such page", StatusCode::NOT_FOUND));
    let app = hello.or(payments).or(no_such_page).with(reply::with::header("x-host", "warp"));

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/pay/v1", listener.local_addr()?);
    println!("{}", key.reveal());
    tokio::select! {
        () = warp::serve(app).incoming(listener).graceful(stopped()?).run() => {}
        // Who has not ended by then is cut off.
        () = late(stopped()?) => {}
    }
    worker.await?;
    Ok(())
}

/// warp takes a request apart; here it is put together again.
async fn payments(
    mut api: Api,
    scope: Scope,
    (method, path, query, headers): (Method, FullPath, String, HeaderMap),
    body: impl Stream<Item = Result<impl Buf + Send, warp::Error>> + Send + 'static,
) -> Response<Bytes> {
    let body = body.map_ok(|mut data| Frame::data(data.copy_to_bytes(data.remaining())));
    let mut request = warp::http::Request::new(StreamBody::new(body));
    let target = if query.is_empty() {
        path.as_str().to_owned()
    } else {
        format!("{}?{query}", path.as_str())
    };
    // It was one before it was taken apart.
    *request.uri_mut() = target.parse().unwrap_or_default();
    *request.method_mut() = method;
    // The host's own authentication: whoever has a session of the host's needs no API key.
    if headers.get("x-session").is_some_and(look_up_session_in_your_own_store) {
        request.extensions_mut().insert(Caller::secret(scope));
    }
    *request.headers_mut() = headers;
    let Ok(response) = api.call(request).await;
    response.map(|body| body.into_inner().unwrap_or_default())
}

/// Stands for a look into the host's own sessions, which say whose account it is: as it is, whoever
/// says `demo` is let in.
fn look_up_session_in_your_own_store(session: &HeaderValue) -> bool {
    session == "demo"
}

/// Ends 9 s after `stopped`: whoever sent the signal waits for 10.
async fn late(stopped: impl Future<Output = ()>) {
    stopped.await;
    sleep(Duration::from_secs(9)).await;
}

/// Ends with SIGTERM or Ctrl-C.
fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
