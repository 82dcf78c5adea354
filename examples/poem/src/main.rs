//! cauri in a poem application: under `/pay`, beside the host's own routes, within its own
//! middleware, for its own users as well as for holders of API keys.
//!
//! ```text
//! cargo run -p cauri-example-poem
//! ```

use std::{error::Error, io, sync::Arc, time::Duration};

use cauri::{ApiKeyKind, Caller, Engine, Environment, Grouped, Scope, Worker};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use cauri_webhook::HttpNotifier;
use http_body_util::BodyExt;
use poem::{
    EndpointExt, IntoResponse, Request, Response, Route, Server,
    endpoint::{make, make_sync},
    error::NotFoundError,
    http::StatusCode,
    listener::TcpAcceptor,
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tower_service::Service;

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

    let app = Route::new()
        .at("/hello", make_sync(|_| "hello"))
        .nest_no_strip("/pay", make(move |request| payments(api.clone(), request)))
        .catch_error(async |_: NotFoundError| (StatusCode::NOT_FOUND, "no such page"))
        .before(move |request| async move { Ok(with_session(request, scope)) })
        .after(async |answer| Ok(stamp(answer)));

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/pay/v1", listener.local_addr()?);
    println!("{}", key.reveal());
    Server::new_with_acceptor(TcpAcceptor::from_tokio(listener)?)
        .run_with_graceful_shutdown(app, stopped()?, Some(Duration::from_secs(9)))
        .await?;
    worker.await?;
    Ok(())
}

/// poem's requests and responses are those of `http`, with bodies of poem's.
async fn payments(mut api: Api, request: Request) -> poem::Result<Response> {
    let Ok(response) = api.call(request.into()).await;
    Ok(response.map(|body| body.map_err(io::Error::other)).into())
}

/// The host's own authentication: whoever has a session of the host's needs no API key.
fn with_session(mut request: Request, scope: Scope) -> Request {
    if request.header("x-session").is_some_and(look_up_session_in_your_own_store) {
        request.extensions_mut().insert(Caller::secret(scope));
    }
    request
}

/// Stands for a look into the host's own sessions, which say whose account it is: as it is, whoever
/// says `demo` is let in.
fn look_up_session_in_your_own_store(session: &str) -> bool {
    session == "demo"
}

/// The host's own middleware.
fn stamp(answer: poem::Result<Response>) -> Response {
    let answer = answer.unwrap_or_else(|error| error.into_response());
    answer.with_header("x-host", "poem").into_response()
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
