//! HTTP as it is, a connection for each request: for what `cauri_client` does not do, such as to ask
//! the host for pages of its own, to come without a key, and to send nonsense.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    /// A header; nothing when there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

pub(crate) async fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<Value>,
) -> Answer {
    let stream = TcpStream::connect(address).await.expect("a connection");
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.expect("a handshake");
    let connection = tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path).header("Host", address);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if body.is_some() {
        request = request.header("Content-Type", "application/json");
    }
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let request = request.body(Full::new(Bytes::from(body))).expect("a request");
    let (head, body) = sender.send_request(request).await.expect("an answer").into_parts();
    let body = body.collect().await.expect("a whole answer").to_bytes();
    connection.abort();
    Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: String::from_utf8(body.to_vec()).expect("UTF-8"),
    }
}
