//! cauri in a bare hyper server: under `/pay`, beside the host's own routes, within its own
//! middleware, for its own users as well as for holders of API keys.
//!
//! ```text
//! cargo run -p cauri-example-hyper
//! ```

use std::{convert::Infallible, error::Error, io, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use cauri::{ApiKeyKind, Caller, Engine, Environment, Grouped, Scope, Worker};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use cauri_webhook::HttpNotifier;
use http_body_util::Full;
use hyper::{
    Request, Response, StatusCode, body::Incoming, header::HeaderValue, server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
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

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/pay/v1", listener.local_addr()?);
    println!("{}", key.reveal());
    let mut stopped = pin!(stopped()?);
    let open = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            () = &mut stopped => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // No file descriptors left, for instance: soon there are again.
                    sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let api = api.clone();
        let service = service_fn(move |request| serve(request, scope, api.clone()));
        let mut http = http1::Builder::new();
        let connection =
            http.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
        tokio::spawn(open.watch(connection));
    }
    drop(listener);
    // Who has not ended by then is cut off.
    let _ = timeout(Duration::from_secs(9), open.shutdown()).await;
    worker.await?;
    Ok(())
}

async fn serve(
    mut request: Request<Incoming>,
    scope: Scope,
    mut api: Api,
) -> Result<Response<Full<Bytes>>, Infallible> {
    // The host's own authentication: whoever has a session of the host's needs no API key.
    if request.headers().get("x-session").is_some_and(look_up_session_in_your_own_store) {
        request.extensions_mut().insert(Caller::secret(scope));
    }
    let mut response = match request.uri().path() {
        "/hello" => Response::new("hello".into()),
        path if path.starts_with("/pay/") => api.call(request).await?,
        _ => {
            let mut response = Response::new("no such page".into());
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    };
    // The host's own middleware.
    response.headers_mut().insert("x-host", HeaderValue::from_static("hyper"));
    Ok(response)
}

/// Stands for a look into the host's own sessions, which say whose account it is: as it is, whoever
/// says `demo` is let in.
fn look_up_session_in_your_own_store(session: &HeaderValue) -> bool {
    session == "demo"
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
