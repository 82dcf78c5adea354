//! cauri in an actix-web application: under `/pay`, beside the host's own routes, within its own
//! middleware, for its own users as well as for holders of API keys.
//!
//! ```text
//! cargo run -p cauri-example-actix-web
//! ```

use std::{error::Error, io, sync::Arc};

use actix_web::{
    App, HttpMessage, HttpRequest, HttpResponse, HttpServer,
    dev::Service as _,
    http::{
        StatusCode,
        header::{HeaderName, HeaderValue},
    },
    web,
};
use cauri::{ApiKeyKind, Caller, Engine, Environment, Grouped, Scope, Worker};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use cauri_webhook::HttpNotifier;
use http_body_util::Full;
use tokio::signal::unix::{SignalKind, signal};
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

    let server = HttpServer::new(move || {
        App::new()
            // More than the API takes, so that it is the API which says that a body is too large.
            .app_data(web::PayloadConfig::new(1 << 20))
            .app_data(web::Data::new(api.clone()))
            .route("/hello", web::get().to(async || "hello"))
            .service(web::scope("/pay").default_service(web::to(payments)))
            .default_service(web::to(async || HttpResponse::NotFound().body("no such page")))
            // The host's own middleware.
            .wrap_fn(move |request, next| {
                // The host's own authentication: whoever has a session of the host's needs no API
                // key.
                if request.headers().get("x-session").is_some_and(look_up_session_in_your_own_store)
                {
                    request.extensions_mut().insert(Caller::secret(scope));
                }
                let answer = next.call(request);
                async {
                    let mut answer = answer.await?;
                    let (name, value) = ("x-host", HeaderValue::from_static("actix-web"));
                    answer.headers_mut().insert(HeaderName::from_static(name), value);
                    Ok(answer)
                }
            })
    });
    let server = server.workers(2).shutdown_timeout(9).bind("127.0.0.1:0")?;
    println!("http://{}/pay/v1", server.addrs().first().ok_or("no address")?);
    println!("{}", key.reveal());
    // actix-web ends with SIGTERM by itself.
    server.run().await?;
    worker.await?;
    Ok(())
}

/// actix-web has an `http` of its own: what is the same in both is copied.
async fn payments(
    api: web::Data<Api>,
    from: HttpRequest,
    body: web::Bytes,
) -> actix_web::Result<HttpResponse> {
    let mut request =
        http::Request::builder().method(from.method().as_str()).uri(from.uri().to_string());
    for (name, value) in from.headers() {
        request = request.header(name.as_str(), value.as_bytes());
    }
    if let Some(caller) = from.extensions().get::<Caller>() {
        request = request.extension(*caller);
    }
    let request = request.body(Full::new(body)).map_err(actix_web::error::ErrorBadRequest)?;
    let Ok(response) = Api::clone(&api).call(request).await;
    let status = StatusCode::from_u16(response.status().as_u16());
    let mut to = HttpResponse::build(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    for (name, value) in response.headers() {
        to.append_header((name.as_str(), value.as_bytes()));
    }
    Ok(to.body(response.into_body().into_inner().unwrap_or_default()))
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
fn look_up_session_in_your_own_store(session: &HeaderValue) -> bool {
    session == "demo"
}
