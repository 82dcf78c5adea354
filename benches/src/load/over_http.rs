//! The same operations over HTTP: the API in an axum server, one connection kept alive for each
//! caller.

use std::{error::Error, net::SocketAddr};

use axum::{Router, routing::get};
use bytes::Bytes;
use cauri::{ApiKeyKind, Engine};
use cauri_benches::stage::Stage;
use cauri_http::Api;
use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, StatusCode,
    client::conn::http1::{self, Connection, SendRequest},
};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

type Failure = Box<dyn Error + Send + Sync>;

/// A server that listens, and a key for each caller of the stage.
#[derive(Debug)]
pub(crate) struct Served {
    address: SocketAddr,
    keys: Vec<String>,
}

impl Served {
    /// The API over the stage's engine, without a limit on requests.
    pub(crate) async fn api(stage: &Stage) -> Result<Self, Failure> {
        let engine: Engine = stage.engine.clone();
        let mut keys = Vec::with_capacity(stage.callers.len());
        for caller in &stage.callers {
            let new = engine.create_key(caller.scope, ApiKeyKind::Secret, None, None).await?;
            keys.push(new.clear.reveal().to_owned());
        }
        let api = Api::builder(engine).rate_limit(None).build();
        let address = serve(Router::new().fallback_service(api)).await?;
        Ok(Self { address, keys })
    }

    /// A route that answers these bytes to whatever path it is asked for, and does nothing else.
    pub(crate) async fn bare(&self, body: Bytes) -> Result<Self, Failure> {
        let json = [("content-type", "application/json")];
        let app = Router::new().route("/{*path}", get(async move || (json, body.clone())));
        Ok(Self { address: serve(app).await?, keys: self.keys.clone() })
    }

    /// A connection of a caller's own.
    pub(crate) async fn connect(&self) -> Result<Client<'_>, Failure> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Client { served: self, sender, connection })
    }
}

async fn serve(app: Router) -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, app).await {
            eprintln!("the server ended: {error}");
        }
    });
    Ok(address)
}

/// One connection, which its caller drives: in a task of its own it would cost the two cores that
/// server and clients share two more wake-ups a request.
#[derive(Debug)]
pub(crate) struct Client<'a> {
    served: &'a Served,
    sender: SendRequest<Full<Bytes>>,
    connection: Connection<TokioIo<TcpStream>, Full<Bytes>>,
}

impl Client<'_> {
    /// Asks as the account at this place.
    pub(crate) async fn get(&mut self, at: usize, path: &str) -> Result<Bytes, Failure> {
        self.ask(at, Method::GET, path, None, Bytes::new()).await
    }

    /// Creates something as the account at this place.
    pub(crate) async fn create(
        &mut self,
        at: usize,
        path: &str,
        key: &str,
        body: Bytes,
    ) -> Result<Bytes, Failure> {
        self.ask(at, Method::POST, path, Some(key), body).await
    }

    async fn ask(
        &mut self,
        at: usize,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Bytes,
    ) -> Result<Bytes, Failure> {
        let secret = self.served.keys.get(at).map_or("", String::as_str);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {secret}"));
        if let Some(key) = key {
            request = request.header("content-type", "application/json");
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::new(body))?;
        let answered = async {
            self.sender.ready().await?;
            let response = self.sender.send_request(request).await?;
            let status = response.status();
            Ok::<_, Failure>((status, response.into_body().collect().await?.to_bytes()))
        };
        let (status, body) = tokio::select! {
            biased;
            ended = &mut self.connection => {
                return Err(ended.err().map_or("the server hung up".into(), Into::into));
            }
            answered = answered => answered?,
        };
        if matches!(status, StatusCode::OK | StatusCode::CREATED) {
            return Ok(body);
        }
        Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into())
    }
}
