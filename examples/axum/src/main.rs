//! cauri in an axum application: under `/pay`, beside the host's own routes, within its own
//! middleware, for its own users as well as for holders of API keys.
//!
//! ```text
//! cargo run -p cauri-example-axum
//! ```
//!
//! Here a request may take as long as it likes to arrive. Before strangers, its head and its body
//! want a limit of time each, in a proxy in front or in the server: as in `cauri-server`, whose
//! `listener.rs` has both over hyper.

use std::{error::Error, io, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, StatusCode},
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
    routing::get,
};
use cauri::{ApiKeyKind, Caller, Engine, Environment, Grouped, Scope, Worker};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use cauri_webhook::HttpNotifier;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
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

    let app = Router::new()
        .route("/hello", get(async || "hello"))
        .nest_service("/pay", Api::builder(engine).prefix("/pay").build())
        .fallback(async || (StatusCode::NOT_FOUND, "no such page"))
        .layer(from_fn_with_state(scope, sessions))
        .layer(from_fn(stamp));

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/pay/v1", listener.local_addr()?);
    println!("{}", key.reveal());
    let served = axum::serve(listener, app).with_graceful_shutdown(stopped()?);
    tokio::select! {
        served = served.into_future() => served?,
        // Who has not ended by then is cut off.
        () = late(stopped()?) => {}
    }
    worker.await?;
    Ok(())
}

/// The host's own authentication: whoever has a session of the host's needs no API key.
async fn sessions(State(scope): State<Scope>, mut request: Request, next: Next) -> Response {
    if request.headers().get("x-session").is_some_and(look_up_session_in_your_own_store) {
        request.extensions_mut().insert(Caller::secret(scope));
    }
    next.run(request).await
}

/// Stands for a look into the host's own sessions, which say whose account it is: as it is, whoever
/// says `demo` is let in.
fn look_up_session_in_your_own_store(session: &HeaderValue) -> bool {
    session == "demo"
}

/// The host's own middleware.
async fn stamp(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert("x-host", HeaderValue::from_static("axum"));
    response
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
