use std::sync::{Mutex, atomic::AtomicUsize};

use tokio::net::TcpListener;

use super::*;
use crate::guard::UrlRefusal;

const SOON: Duration = Duration::from_secs(8);

fn connector(reach: Reach, lookup: Lookup) -> Guarded {
    Guarded { reach, lookup }
}

/// A lookup that must not be asked.
fn never() -> Lookup {
    Lookup::new(|name| panic!("{name} was looked up"))
}

/// A lookup that goes through these answers, and counts.
fn scripted(answers: &[&[&str]]) -> (Lookup, Arc<AtomicUsize>) {
    let parse = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let answers: Mutex<Vec<Vec<IpAddr>>> = Mutex::new(answers.iter().rev().map(parse).collect());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let lookup = Lookup::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        let answer = answers.lock().unwrap().pop().unwrap();
        std::future::ready(Ok(answer)).boxed()
    });
    (lookup, asked)
}

async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[tokio::test]
async fn a_literal_is_judged_at_the_connection_too() {
    for host in [
        "127.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "169.254.169.254",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[ff02::1]",
    ] {
        let uri = format!("https://{host}/").parse().unwrap();
        let answer = connector(Reach::Public, never()).connect(uri).await;
        let refused = matches!(answer, Err(ConnectError::Refused(UrlRefusal::Address { .. })));
        assert!(refused, "{host}: {answer:?}");
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_what_was_judged_is_connected_to() {
    let (listener, port) = listener().await;
    let (lookup, asked) = scripted(&[&["::ffff:127.0.0.1"], &["127.0.0.2"]]);
    let uri = format!("http://shop.test:{port}/").parse().unwrap();
    let stream = connector(Reach::Private, lookup).connect(uri).await.unwrap();
    assert_eq!(stream.inner().peer_addr().unwrap(), listener.local_addr().unwrap());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_rebound_name_is_not_connected_to() {
    let (listener, port) = listener().await;
    let (lookup, asked) = scripted(&[&["8.8.8.8"], &["127.0.0.1"]]);
    let url = format!("https://shop.test:{port}/");
    assert_eq!(guard::check(&url, Reach::Public, &lookup).await, Ok(()));
    let answer = connector(Reach::Public, lookup).connect(url.parse().unwrap()).await;
    assert!(matches!(answer, Err(ConnectError::Refused(_))), "{answer:?}");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    assert!(listener.accept().now_or_never().is_none());
}

#[tokio::test]
async fn one_forbidden_address_among_others_refuses_the_name() {
    let (lookup, _) = scripted(&[&["8.8.8.8", "127.0.0.1"]]);
    let answer = connector(Reach::Public, lookup).connect(Uri::from_static("https://a.test")).await;
    assert!(matches!(answer, Err(ConnectError::Refused(_))), "{answer:?}");
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_fails() {
    let (_listener, port) = listener().await;
    let (lookup, _) = scripted(&[&["127.0.0.2", "127.0.0.3", "127.0.0.1"]]);
    let uri = format!("http://shop.test:{port}/").parse().unwrap();
    let stream = connector(Reach::Private, lookup).connect(uri).await.unwrap();
    assert!(stream.inner().peer_addr().unwrap().ip().is_loopback());
}

#[tokio::test]
async fn a_name_without_addresses_does_not_resolve() {
    let (lookup, _) = scripted(&[&[]]);
    let answer = connector(Reach::Public, lookup).connect(Uri::from_static("https://a.test")).await;
    assert!(matches!(answer, Err(ConnectError::Unresolved(_))), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_nobody_waits_for_is_given_up_too() {
    let lookup = Lookup::new(|_| std::future::pending().boxed());
    let store = rustls::RootCertStore::empty();
    let tls =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(store)
            .with_no_client_auth();
    let mut connector = Connector::new(Reach::Public, lookup, Arc::new(tls), SOON);
    let before = tokio::time::Instant::now();
    let answer = connector.call(Uri::from_static("https://a.test")).await;
    assert!(matches!(answer, Err(ConnectError::Timeout)), "{answer:?}");
    assert_eq!(before.elapsed(), SOON);
}

#[test]
fn the_port_is_the_one_written_or_the_one_of_the_scheme() {
    for (uri, expected) in
        [("https://a", 443), ("http://a", 80), ("https://a:80", 80), ("http://[::1]:443", 443)]
    {
        assert_eq!(port(&uri.parse().unwrap()), expected);
    }
}
