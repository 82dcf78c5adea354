//! cauri in a rocket application: under `/pay`, beside the host's own routes, within its own
//! middleware, for its own users as well as for holders of API keys.
//!
//! ```text
//! cargo run -p cauri-example-rocket
//! ```

use std::{error::Error, io, io::Cursor, sync::Arc, time::Duration};

use bytes::Bytes;
use cauri::{ApiKeyKind, Caller, Engine, Environment, Grouped, Scope, Worker};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use cauri_webhook::HttpNotifier;
use http_body_util::Full;
use rocket::{
    Catcher, Config, Data, Request, Response, Route,
    config::{LogLevel, Shutdown, Sig},
    data::ToByteUnit,
    error::ErrorKind,
    fairing::AdHoc,
    http::{Method, Status},
    route::{Handler, Outcome},
};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep},
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

    let config = Config {
        port: 0,
        log_level: LogLevel::Off,
        // For what is in flight, then for closing: whoever sent the signal waits for 10 s.
        shutdown: Shutdown {
            signals: [Sig::Term].into(),
            grace: 6,
            mercy: 3,
            ..Shutdown::default()
        },
        ..Config::default()
    };
    let methods = [Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete];
    let payments = Payments { api, scope };
    let ended = rocket::custom(config)
        .mount("/", [Route::new(Method::Get, "/hello", hello)])
        .mount("/pay", methods.map(|method| Route::new(method, "/<path..>", payments.clone())))
        .register("/", [Catcher::new(404, no_such_page)])
        // The host's own middleware.
        .attach(AdHoc::on_response("stamp", |_, response| {
            Box::pin(async move {
                response.set_raw_header("x-host", "rocket");
            })
        }))
        .attach(AdHoc::on_liftoff("greeting", move |rocket| {
            Box::pin(async move {
                println!("http://127.0.0.1:{}/pay/v1", rocket.config().port);
                println!("{}", key.reveal());
            })
        }))
        .launch()
        .await;
    if let Err(error) = ended {
        let ErrorKind::Shutdown(rocket, None) = error.kind() else { return Err(error.into()) };
        // Told to stop while it looks at a new connection, rocket ends without waiting for requests
        // in flight: each of them holds it.
        let until = Instant::now() + Duration::from_secs(9);
        while Arc::strong_count(rocket) > 1 && Instant::now() < until {
            sleep(Duration::from_millis(10)).await;
        }
    }
    worker.await?;
    Ok(())
}

/// rocket has requests and responses of its own: what is the same in both is copied.
#[derive(Clone)]
struct Payments {
    api: Api,
    scope: Scope,
}

#[rocket::async_trait]
impl Handler for Payments {
    async fn handle<'r>(&self, from: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        // More than the API takes, so that it is the API which says that a body is too large.
        let Ok(body) = data.open(1.mebibytes()).into_bytes().await else {
            return Outcome::Error(Status::BadRequest);
        };
        let mut request =
            http::Request::builder().method(from.method().as_str()).uri(from.uri().to_string());
        for header in from.headers().iter() {
            request = request.header(header.name().as_str(), header.value());
        }
        // The host's own authentication: whoever has a session of the host's needs no API key.
        if from.headers().get_one("x-session").is_some_and(look_up_session_in_your_own_store) {
            request = request.extension(Caller::secret(self.scope));
        }
        let Ok(request) = request.body(Full::<Bytes>::from(body.into_inner())) else {
            return Outcome::Error(Status::BadRequest);
        };
        let Ok(answer) = self.api.clone().call(request).await;
        let mut to = Response::build();
        to.status(Status::new(answer.status().as_u16()));
        for (name, value) in answer.headers() {
            to.raw_header_adjoin(
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            );
        }
        let body = answer.into_body().into_inner().unwrap_or_default();
        Outcome::Success(to.sized_body(body.len(), Cursor::new(body)).finalize())
    }
}

fn hello<'r>(request: &'r Request<'_>, _: Data<'r>) -> rocket::route::BoxFuture<'r> {
    Box::pin(async move { Outcome::from(request, "hello") })
}

fn no_such_page<'r>(status: Status, request: &'r Request<'_>) -> rocket::catcher::BoxFuture<'r> {
    use rocket::response::Responder;
    Box::pin(async move { (status, "no such page").respond_to(request) })
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

/// Stands for a look into the host's own sessions, which say whose account it is: as it is, whoever
/// says `demo` is let in.
fn look_up_session_in_your_own_store(session: &str) -> bool {
    session == "demo"
}
