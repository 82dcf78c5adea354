//! Talks HTTP with the aggregator, and says what is certain about a request that has failed.

use std::{fmt, sync::Arc, time::Duration};

use cauri::{Secret, Timestamp};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client as Pool, connect::HttpConnector},
    rt::TokioExecutor,
};
use rustls::crypto::ring;
use tokio::time::timeout;

use crate::signature::{Message, Signer};

/// How long a request may take; shorter than the engine's patience, so that what we know is not
/// lost with it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(8);

/// How long it may take until there is a connection.
const CONNECT: Duration = Duration::from_secs(3);

/// How much of an answer is read.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Why there can be no client for an address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It is no address, or one without a host.
    #[error("not the address of a server")]
    Address,
    /// It would send the token in clear over a network.
    #[error("only https, but to this machine itself")]
    Clear,
    /// The token cannot be sent in a header.
    #[error("the token is not one")]
    Token,
    /// There is no TLS.
    #[error("no TLS")]
    Tls(#[from] rustls::Error),
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// There was no connection: certainly nobody has read it.
    NotSent,
    /// It was on its way, and nobody knows.
    Silence,
    /// This was answered.
    Said(StatusCode, Bytes),
}

/// Sends requests, each over a connection of its own: then what failed before there was one was
/// certainly not sent. On a connection that is used again nobody can tell.
pub(crate) struct Client {
    pool: Pool<HttpsConnector<HttpConnector>, Full<Bytes>>,
    base: String,
    authority: String,
    token: Secret,
    signer: Option<Arc<Signer>>,
}

impl Client {
    pub(crate) fn new(
        base: &str,
        token: Secret,
        signer: Option<Arc<Signer>>,
    ) -> Result<Self, ConnectError> {
        let base = base.trim_end_matches('/');
        let address: Uri = base.parse().map_err(|_| ConnectError::Address)?;
        let host = address.host().ok_or(ConnectError::Address)?;
        let here = matches!(host, "127.0.0.1" | "[::1]" | "localhost");
        match address.scheme_str() {
            Some("https") => {}
            Some("http") if here => {}
            Some("http") => return Err(ConnectError::Clear),
            _ => return Err(ConnectError::Address),
        }
        let authority = address.authority().ok_or(ConnectError::Address)?.as_str().to_lowercase();
        HeaderValue::try_from(bearer(&token)).map_err(|_| ConnectError::Token)?;
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT));
        connector.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(ring::default_provider())?
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let pool = Pool::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
        Ok(Self { pool, base: base.to_owned(), authority, token, signer })
    }

    /// Asks for something to be done. Signed, where there is a key to sign with.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>, now: Timestamp) -> Reply {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(signer) = &self.signer {
            let authority = &self.authority;
            let message =
                Message { method: "POST", authority, path, headers: &headers, body: &body };
            match signer.sign(&message, now) {
                Ok(signed) => headers = signed,
                Err(_) => return Reply::NotSent,
            }
        }
        self.send(Method::POST, path, headers, body).await
    }

    /// Asks about something.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, HeaderMap::new(), Vec::new()).await
    }

    async fn send(&self, method: Method, path: &str, headers: HeaderMap, body: Vec<u8>) -> Reply {
        let Ok(uri) = format!("{}{path}", self.base).parse::<Uri>() else { return Reply::NotSent };
        let Ok(token) = HeaderValue::try_from(bearer(&self.token)) else { return Reply::NotSent };
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        request.headers_mut().insert(header::AUTHORIZATION, token);
        timeout(PATIENCE, self.answer(request)).await.unwrap_or(Reply::Silence)
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Reply {
        let response = match self.pool.request(request).await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return Reply::NotSent,
            Err(_) => return Reply::Silence,
        };
        let (head, body) = response.into_parts();
        match Limited::new(body, ANSWER_BYTES_MAX).collect().await {
            Ok(body) => Reply::Said(head.status, body.to_bytes()),
            Err(_) => Reply::Silence,
        }
    }
}

fn bearer(token: &Secret) -> String {
    format!("Bearer {}", token.reveal())
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_no_stranger_in_clear() {
        let client = |base| Client::new(base, Secret::new("token"), None);
        for base in ["https://api.example", "http://127.0.0.1:9000/", "http://localhost:1"] {
            assert!(client(base).is_ok(), "{base}");
        }
        assert!(matches!(client("http://api.example"), Err(ConnectError::Clear)));
        assert!(matches!(client("http://127.0.0.1.evil.example"), Err(ConnectError::Clear)));
        for base in ["", "api.example", "ftp://api.example", "https://"] {
            assert!(matches!(client(base), Err(ConnectError::Address)), "{base}");
        }
        let broken = Client::new("https://api.example", Secret::new("a\nb"), None);
        assert!(matches!(broken, Err(ConnectError::Token)));
        assert!(!format!("{:?}", client("https://api.example")).contains("token"));
    }
}
