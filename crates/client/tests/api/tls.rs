//! TLS: what is trusted, and what is not.

use std::sync::Arc;

use cauri_client::{Client, Error, Retry};
use hyper_util::rt::TokioIo;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::stage::Stage;

/// The stage behind a certificate of its own for `localhost`; where, and the root of it.
async fn encrypted(stage: &Stage) -> (String, Vec<u8>) {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let door = stage.door();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, door) = (acceptor.clone(), door.clone());
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    door.serve(TokioIo::new(stream)).await;
                }
            });
        }
    });
    (format!("https://localhost:{port}"), cert.der().to_vec())
}

#[tokio::test]
async fn only_who_is_trusted_is_told_the_key() {
    let stage = Stage::new().await;
    let (url, root) = encrypted(&stage).await;
    let builder = Client::builder(&url, &stage.key).retry(Retry::never());
    let stranger = builder.clone().build().unwrap().balance(None).await;
    assert!(matches!(stranger, Err(Error::NoAnswer { .. })), "{stranger:?}");
    assert_eq!(stage.seen(), [], "nothing was sent");
    let trusting = builder.clone().trust(root).build().unwrap();
    assert_eq!(trusting.balance(None).await.unwrap().available, []);
    assert!(builder.trust(*b"no certificate").build().is_err());
}
