//! One attempt over HTTP/1.1, with TLS against the web's roots.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};

use crate::error::BoxError;

/// A hundred objects as large as requests may be, and some more.
const BODY_BYTES_MAX: usize = 32 << 20;

/// How long a connection is kept that nobody uses: less than servers and what is before them do.
const IDLE: Duration = Duration::from_secs(20);

/// How long it may take until there is a connection over one of the server's addresses.
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub(crate) struct Transport(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

/// An answer that arrived whole.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Transport {
    pub(crate) fn new(roots: Vec<Vec<u8>>) -> Result<Self, rustls::Error> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls(roots)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(https);
        Ok(Self(client))
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Arrived, BoxError> {
        let (head, body) = self.0.request(request).await?.into_parts();
        let body = Limited::new(body, BODY_BYTES_MAX).collect().await?.to_bytes();
        Ok(Arrived { status: head.status, headers: head.headers, body })
    }
}

fn tls(roots: Vec<Vec<u8>>) -> Result<ClientConfig, rustls::Error> {
    let mut store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in roots {
        store.add(CertificateDer::from(root))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(store)
        .with_no_client_auth();
    Ok(config)
}
