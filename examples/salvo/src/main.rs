//! cauri in a salvo application: under `/pay`, beside the host's own routes, within its own
//! middleware, for its own users as well as for holders of API keys.
//!
//! ```text
//! cargo run -p cauri-example-salvo
//! ```

use std::{error::Error, io, sync::Arc, time::Duration};

use cauri::{ApiKeyKind, Caller, Engine, Environment, Grouped, Scope, Worker};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use cauri_webhook::HttpNotifier;
use salvo::{
    catcher::Catcher,
    conn::Acceptor,
    http::{HeaderValue, ReqBody, StatusCode},
    prelude::{
        Depot, FlowCtrl, Listener, Request, Response, Router, Server, Service, TcpListener,
        TowerServiceCompat, handler,
    },
};
use tokio::signal::unix::{SignalKind, signal};

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

    // salvo's requests and responses are those of `http`, with bodies of salvo's.
    let payments = TowerServiceCompat::<ReqBody, _, _, _>::compat(api);
    let router = Router::new()
        .push(Router::with_path("hello").get(hello))
        .push(Router::with_path("pay/{**rest}").goal(payments));
    let app = Service::new(router)
        .hoop(stamp)
        .hoop(Sessions(scope))
        .catcher(Catcher::default().hoop(no_such_page));

    let acceptor = TcpListener::new("127.0.0.1:0").try_bind().await?;
    let address = acceptor.holdings().first().ok_or("no address")?.local_addr.clone();
    println!("http://{}/pay/v1", address.into_std().ok_or("no address")?);
    println!("{}", key.reveal());
    let server = Server::new(acceptor);
    let (handle, stopped) = (server.handle(), stopped()?);
    tokio::spawn(async move {
        stopped.await;
        handle.stop_graceful(Duration::from_secs(9));
    });
    server.try_serve(app).await?;
    worker.await?;
    Ok(())
}

/// The host's own authentication: whoever has a session of the host's needs no API key.
struct Sessions(Scope);

#[handler]
impl Sessions {
    async fn handle(&self, request: &mut Request) {
        if request.headers().get("x-session").is_some_and(look_up_session_in_your_own_store) {
            request.extensions_mut().insert(Caller::secret(self.0));
        }
    }
}

/// Stands for a look into the host's own sessions, which say whose account it is: as it is, whoever
/// says `demo` is let in.
fn look_up_session_in_your_own_store(session: &HeaderValue) -> bool {
    session == "demo"
}

/// The host's own middleware.
#[handler]
async fn stamp(
    request: &mut Request,
    depot: &mut Depot,
    response: &mut Response,
    flow: &mut FlowCtrl,
) {
    flow.call_next(request, depot, response).await;
    response.headers_mut().insert("x-host", HeaderValue::from_static("salvo"));
}

#[handler]
async fn hello() -> &'static str {
    "hello"
}

#[handler]
async fn no_such_page(response: &mut Response, flow: &mut FlowCtrl) {
    if response.status_code == Some(StatusCode::NOT_FOUND) {
        response.render("no such page");
        flow.skip_rest();
    }
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
