use std::{
    future::{Future, pending},
    net::{IpAddr, Ipv4Addr},
    sync::atomic::{AtomicUsize, Ordering},
};

use futures_util::{FutureExt, future::join_all};
use proptest::prelude::*;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Barrier, mpsc},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Short for those who wait for it; far longer than anything on one machine takes.
const SHORT: Duration = Duration::from_millis(300);

/// What a test that hangs is ended by.
const PATIENCE: Duration = Duration::from_secs(30);

/// A receiver on this machine.
struct Receiver {
    port: u16,
    accepted: Arc<AtomicUsize>,
}

impl Receiver {
    /// Serves each connection, counted from 0, by `serve`.
    async fn new<F: Future<Output = io::Result<()>> + Send + 'static>(
        serve: impl Fn(usize, TcpStream) -> F + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(count.fetch_add(1, Ordering::Relaxed), stream));
            }
        });
        Self { port, accepted }
    }

    /// Answers every request with the same bytes, keeping connections open.
    async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<Vec<u8>> = Arc::new(answer.into());
        Self::new(move |_, stream| serve_always(stream, Arc::clone(&answer))).await
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hooks?a=1", self.port)
    }

    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }
}

async fn serve_always(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: Arc<Vec<u8>>,
) -> io::Result<()> {
    loop {
        read_request(&mut stream).await?;
        stream.write_all(&answer).await?;
    }
}

/// Reads one request whole: the head, and as many bytes as it announces.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await?;
    Ok((head, body))
}

fn attempt(url: impl Into<String>) -> Attempt {
    Attempt {
        url: url.into(),
        environment: Environment::Sandbox,
        headers: vec![("X-Webhook-Signature", "t=1,v1=00".to_owned())],
        body: Bytes::from_static(b"{\"id\":\"evt_1\"}"),
    }
}

fn notifier() -> HttpNotifier {
    HttpNotifier::builder().build().unwrap()
}

fn hasty() -> HttpNotifier {
    HttpNotifier::builder().deadline(SHORT).build().unwrap()
}

async fn outcome(notifier: &HttpNotifier, url: impl Into<String>) -> Result<u16, AttemptError> {
    timeout(PATIENCE, notifier.deliver(&attempt(url))).await.unwrap().outcome
}

fn resolving_to(address: impl Into<IpAddr>) -> Lookup {
    let address = address.into();
    Lookup::new(move |_| std::future::ready(Ok(vec![address])).boxed())
}

#[tokio::test]
async fn any_status_is_the_outcome_and_none_is_followed() {
    let elsewhere = Receiver::answering(OK).await;
    for status in [200, 201, 204, 299, 301, 302, 307, 308, 304, 400, 404, 410, 429, 500, 503, 599] {
        let length = if matches!(status, 204 | 304) { "" } else { "Content-Length: 0\r\n" };
        let receiver = Receiver::answering(format!(
            "HTTP/1.1 {status} X\r\n{length}Location: {}\r\nRetry-After: inf\r\n\r\n",
            elsewhere.url(),
        ))
        .await;
        assert_eq!(outcome(&notifier(), receiver.url()).await, Ok(status));
    }
    assert_eq!(elsewhere.accepted(), 0);
}

#[tokio::test]
async fn an_attempt_goes_out_as_it_is() {
    let (requests, mut received) = mpsc::unbounded_channel();
    let receiver = Receiver::new(move |_, mut stream| {
        let requests = requests.clone();
        async move {
            requests.send(read_request(&mut stream).await?).unwrap();
            stream.write_all(OK.as_bytes()).await
        }
    })
    .await;
    assert_eq!(outcome(&notifier(), receiver.url()).await, Ok(200));
    let (head, body) = received.recv().await.unwrap();
    assert_eq!(body, b"{\"id\":\"evt_1\"}");
    let mut lines: Vec<_> = head.trim_end().split("\r\n").map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "POST /hooks?a=1 HTTP/1.1");
    lines.sort();
    assert_eq!(
        lines,
        [
            "Content-Length: 14".to_owned(),
            "Content-Type: application/json".to_owned(),
            format!("Host: 127.0.0.1:{}", receiver.port),
            format!("User-Agent: cauri/{}", env!("CARGO_PKG_VERSION")),
            "X-Webhook-Signature: t=1,v1=00".to_owned(),
        ],
    );
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_not_left_out() {
    let receiver = Receiver::answering(OK).await;
    for header in [("X-Webhook-Event", "a\r\nb: c".to_owned()), ("X Y", String::new())] {
        let mut attempt = attempt(receiver.url());
        attempt.headers.push(header);
        let receipt = notifier().deliver(&attempt).await;
        assert_eq!(receipt.outcome, Err(AttemptError::ConnectionFailed));
    }
    assert_eq!(receiver.accepted(), 0);
}

#[tokio::test]
async fn a_receiver_that_hangs_times_out_and_loses_the_connection() {
    let (ended, mut end) = mpsc::unbounded_channel();
    let receiver = Receiver::new(move |_, mut stream| {
        let ended = ended.clone();
        async move {
            read_request(&mut stream).await?;
            ended.send(stream.read_u8().await.map_err(|error| error.kind())).unwrap();
            Ok(())
        }
    })
    .await;
    let receipt = hasty().deliver(&attempt(receiver.url())).await;
    assert_eq!(receipt.outcome, Err(AttemptError::Timeout));
    assert!(receipt.duration_ms >= 300, "{receipt:?}");
    assert_eq!(
        timeout(PATIENCE, end.recv()).await.unwrap(),
        Some(Err(io::ErrorKind::UnexpectedEof))
    );
}

#[tokio::test]
async fn a_dripping_head_times_out() {
    for (start, drip) in [
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("HTTP/1.1 200 ", "O"),
        ("HTTP/1.1 200 OK\r\nX: ", "1"),
    ] {
        let receiver = Receiver::new(move |_, mut stream| async move {
            read_request(&mut stream).await?;
            stream.write_all(start.as_bytes()).await?;
            loop {
                stream.write_all(drip.as_bytes()).await?;
                sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        assert_eq!(outcome(&hasty(), receiver.url()).await, Err(AttemptError::Timeout), "{drip:?}");
    }
}

#[tokio::test]
async fn a_body_that_drips_hangs_or_breaks_changes_nothing() {
    for (body, drip) in [
        ("Content-Length: 100000\r\n\r\n", true),
        ("Content-Length: 100000\r\n\r\n", false),
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\n", false),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\nab", false),
        ("Transfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n", false),
    ] {
        let (ended, mut end) = mpsc::unbounded_channel();
        let receiver = Receiver::new(move |_, mut stream| {
            let ended = ended.clone();
            async move {
                read_request(&mut stream).await?;
                stream.write_all(format!("HTTP/1.1 200 OK\r\n{body}").as_bytes()).await?;
                while drip && stream.write_u8(b'.').await.is_ok() {
                    sleep(Duration::from_millis(5)).await;
                }
                let _ = stream.read_u8().await;
                ended.send(()).unwrap();
                Ok(())
            }
        })
        .await;
        assert_eq!(outcome(&hasty(), receiver.url()).await, Ok(200), "{body:?}");
        timeout(PATIENCE, end.recv()).await.unwrap();
    }
}

#[tokio::test]
async fn an_endless_body_is_left_unread() {
    let (ended, mut end) = mpsc::unbounded_channel();
    let receiver = Receiver::new(move |_, mut stream| {
        let ended = ended.clone();
        async move {
            read_request(&mut stream).await?;
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n\r\n").await?;
            let mut written = 0;
            while written < 300_000_000 && stream.write_all(&[b'.'; 65_536]).await.is_ok() {
                written += 65_536;
            }
            ended.send(written).unwrap();
            Ok(())
        }
    })
    .await;
    assert_eq!(outcome(&notifier(), receiver.url()).await, Ok(200));
    let written = timeout(PATIENCE, end.recv()).await.unwrap().unwrap();
    assert!(written < 32 << 20, "{written} bytes were taken, by us or by the system's buffers");
}

/// What is sent as fast as it is taken, for as long as it is.
fn flood(start: &'static str, flood: &'static str) -> (impl Future<Output = Receiver>, Ended) {
    let (ended, end) = mpsc::unbounded_channel();
    let receiver = Receiver::new(move |_, mut stream| {
        let ended = ended.clone();
        async move {
            read_request(&mut stream).await?;
            stream.write_all(start.as_bytes()).await?;
            let piece = flood.repeat(1 + 65_536 / flood.len());
            let mut written = 0;
            while stream.write_all(piece.as_bytes()).await.is_ok() {
                written += piece.len();
            }
            ended.send(written).unwrap();
            Ok(())
        }
    });
    (receiver, end)
}

/// How much was taken, when it is no more.
type Ended = mpsc::UnboundedReceiver<usize>;

#[tokio::test]
async fn a_flood_of_preliminary_answers_ends_with_the_attempt() {
    let (receiver, mut end) =
        flood("", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: a\r\n\r\n");
    let receiver = receiver.await;
    let before = Instant::now();
    assert_eq!(outcome(&hasty(), receiver.url()).await, Err(AttemptError::Timeout));
    timeout(PATIENCE, end.recv()).await.unwrap().unwrap();
    assert!(
        before.elapsed() < PATIENCE / 2,
        "the connection ends soon after: {:?}",
        before.elapsed()
    );
    assert_eq!(receiver.accepted(), 1);
}

#[tokio::test]
async fn headers_and_trailers_without_end_are_not_taken() {
    let (headers, mut end) = flood("HTTP/1.1 200 OK\r\n", "X-Header: of an answer\r\n");
    let headers = headers.await;
    assert_eq!(outcome(&notifier(), headers.url()).await, Err(AttemptError::ConnectionFailed));
    let written = timeout(PATIENCE, end.recv()).await.unwrap().unwrap();
    assert!(written < 32 << 20, "{written}");

    let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    let (trailers, mut end) = flood(start, "X-Trailer: of an answer\r\n");
    let trailers = trailers.await;
    assert_eq!(outcome(&notifier(), trailers.url()).await, Ok(200));
    let written = timeout(PATIENCE, end.recv()).await.unwrap().unwrap();
    assert!(written < 32 << 20, "{written}");

    let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;";
    let (extensions, mut end) = flood(start, "an=extension;");
    let extensions = extensions.await;
    assert_eq!(outcome(&notifier(), extensions.url()).await, Ok(200));
    let written = timeout(PATIENCE, end.recv()).await.unwrap().unwrap();
    assert!(written < 32 << 20, "{written}");
}

/// Chunks of a byte cost more than they carry.
#[tokio::test]
async fn a_body_in_tiny_chunks_is_left_unread_too() {
    let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (receiver, mut end) = flood(start, "1\r\na\r\n");
    let receiver = receiver.await;
    assert_eq!(outcome(&notifier(), receiver.url()).await, Ok(200));
    let written = timeout(PATIENCE, end.recv()).await.unwrap().unwrap();
    assert!(written < 32 << 20, "{written}");
}

#[tokio::test]
async fn what_an_answer_wants_is_not_done() {
    let elsewhere = Receiver::answering(OK).await;
    for (head, expected) in [
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", None),
        ("HTTP/1.1 300 Choices\r\nContent-Length: 0\r\nRefresh: 0; url=URL\r\n\r\n", Some(300)),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nAlt-Svc: h2=\":1\"\r\nLink: <URL>\r\n\r\n",
            Some(200),
        ),
        ("HTTP/1.1 401 No\r\nContent-Length: 0\r\nWWW-Authenticate: Basic\r\n\r\n", Some(401)),
        ("HTTP/1.1 407 No\r\nContent-Length: 0\r\nProxy-Authenticate: Basic\r\n\r\n", Some(407)),
        ("HTTP/1.1 421 No\r\nContent-Length: 0\r\n\r\n", Some(421)),
        ("HTTP/1.1 429 No\r\nContent-Length: 0\r\nRetry-After: inf\r\n\r\n", Some(429)),
        (
            "HTTP/1.1 503 No\r\nContent-Length: 0\r\nRetry-After: -99999999999999999999\r\n\r\n",
            Some(503),
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Encoding: gzip\r\nSet-Cookie: a=b\r\n\r\n",
            Some(200),
        ),
    ] {
        let receiver = Receiver::answering(head.replace("URL", &elsewhere.url())).await;
        let answered = outcome(&hasty(), receiver.url()).await;
        match expected {
            Some(status) => assert_eq!(answered, Ok(status), "{head}"),
            // Nobody asked to switch: it is no answer to this, and no success.
            None => assert!(!matches!(answered, Ok(200..=299)), "{head}: {answered:?}"),
        }
        assert_eq!(receiver.accepted(), 1, "{head}");
    }
    assert_eq!(elsewhere.accepted(), 0);
}

#[tokio::test]
async fn a_malformed_head_is_a_failed_connection() {
    for answer in [
        "\r\n\r\n\r\nhello\r\n\r\n".to_owned(),
        "hello\r\n\r\n".to_owned(),
        "200 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 2000 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 099 OK\r\n\r\n".to_owned(),
        "HTTP/3.0 200 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "a".repeat(20_000)),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{}\r\n", "A: a\r\n".repeat(100)),
        format!("HTTP/1.1 200 {}\r\n\r\n", "a".repeat(20_000)),
        "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
        "\u{16}\u{3}\u{3}\0\u{2}\u{2}(".to_owned(),
    ] {
        let receiver = Receiver::answering(answer.clone()).await;
        let answered = outcome(&notifier(), receiver.url()).await;
        assert_eq!(answered, Err(AttemptError::ConnectionFailed), "{:.40?}", answer);
    }
    let many = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{}\r\n", "A: a\r\n".repeat(99));
    assert_eq!(outcome(&notifier(), Receiver::answering(many).await.url()).await, Ok(200));
}

#[tokio::test]
async fn a_connection_that_ends_before_the_head_does_is_a_failed_one() {
    for part in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"] {
        let receiver = Receiver::new(move |_, mut stream| async move {
            read_request(&mut stream).await?;
            stream.write_all(part.as_bytes()).await
        })
        .await;
        let answer = outcome(&notifier(), receiver.url()).await;
        assert_eq!(answer, Err(AttemptError::ConnectionFailed), "{part:?}");
        assert_eq!(receiver.accepted(), 1, "a connection that was never used is not tried again");
    }
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let answer = outcome(&notifier(), format!("http://127.0.0.1:{port}/")).await;
    assert_eq!(answer, Err(AttemptError::ConnectionFailed), "nobody listens");
}

#[tokio::test]
async fn a_connection_is_used_again_unless_its_body_is_long() {
    for (length, accepted) in [(0, 1), (2, 1), (16_384, 1), (1 << 20, 2)] {
        let body = "a".repeat(length);
        let receiver = Receiver::answering(format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
        .await;
        let notifier = notifier();
        for _ in 0..2 {
            assert_eq!(outcome(&notifier, receiver.url()).await, Ok(200));
        }
        assert_eq!(receiver.accepted(), accepted, "{length}");
    }
}

#[tokio::test]
async fn as_many_connections_are_kept_as_were_needed_at_once() {
    const AT_ONCE: usize = 40;
    // Answers nobody before all have asked.
    let all = Arc::new(Barrier::new(AT_ONCE));
    let receiver = Receiver::new(move |_, mut stream| {
        let all = Arc::clone(&all);
        async move {
            loop {
                read_request(&mut stream).await?;
                all.wait().await;
                stream.write_all(OK.as_bytes()).await?;
            }
        }
    })
    .await;
    let notifier = notifier();
    for _ in 0..3 {
        let all = join_all((0..AT_ONCE).map(|_| outcome(&notifier, receiver.url()))).await;
        assert_eq!(all, [Ok(200); AT_ONCE]);
        assert_eq!(receiver.accepted(), AT_ONCE);
    }
}

#[tokio::test]
async fn a_connection_closed_while_it_was_idle_costs_no_attempt() {
    let receiver = Receiver::new(move |_, mut stream| async move {
        read_request(&mut stream).await?;
        stream.write_all(OK.as_bytes()).await?;
        // Closes as the next request arrives: it crossed the closing on its way.
        read_request(&mut stream).await?;
        Ok(())
    })
    .await;
    let notifier = notifier();
    for accepted in [1, 2, 3] {
        assert_eq!(outcome(&notifier, receiver.url()).await, Ok(200));
        assert_eq!(receiver.accepted(), accepted);
    }
}

/// A receiver with TLS, and the certificate to trust it by.
async fn encrypted() -> (Receiver, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["shop.test".to_owned()]).unwrap();
    let root = made.cert.der().to_vec();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let receiver = Receiver::new(move |_, stream| {
        let acceptor = acceptor.clone();
        async move { serve_always(acceptor.accept(stream).await?, Arc::new(OK.into())).await }
    })
    .await;
    (receiver, root)
}

#[tokio::test]
async fn encryption_counts_only_with_a_trusted_certificate_of_that_name() {
    let (receiver, root) = encrypted().await;
    let local = || HttpNotifier::builder().lookup(resolving_to(Ipv4Addr::LOCALHOST));
    let trusting = local().trust(root.clone()).build().unwrap();
    let url = format!("https://shop.test:{}/", receiver.port);
    let other = format!("https://other.test:{}/", receiver.port);
    assert_eq!(outcome(&trusting, &url).await, Ok(200));
    assert_eq!(outcome(&trusting, &url).await, Ok(200));
    assert_eq!(receiver.accepted(), 1);
    assert_eq!(outcome(&trusting, &other).await, Err(AttemptError::TlsError));
    let literal = format!("https://127.0.0.1:{}/", receiver.port);
    assert_eq!(outcome(&trusting, literal).await, Err(AttemptError::TlsError));
    let strict = local().build().unwrap();
    assert_eq!(outcome(&strict, &url).await, Err(AttemptError::TlsError));
    assert!(HttpNotifier::builder().trust(b"no certificate".to_vec()).build().is_err());
}

#[tokio::test]
async fn what_is_no_tls_is_a_tls_error_and_what_hangs_in_it_times_out() {
    let plain = Receiver::answering(OK).await;
    let talkative = Receiver::new(|_, mut stream| async move {
        stream.write_all(b"220 mail ready\r\n").await?;
        stream.read_u8().await.map(drop)
    })
    .await;
    let closing =
        Receiver::new(|_, mut stream| async move { stream.read_u8().await.map(drop) }).await;
    for receiver in [&talkative, &closing] {
        let url = format!("https://127.0.0.1:{}/", receiver.port);
        assert_eq!(outcome(&notifier(), url).await, Err(AttemptError::TlsError));
    }
    let url = format!("https://127.0.0.1:{}/", plain.port);
    assert_eq!(outcome(&hasty(), url).await, Err(AttemptError::Timeout));
    let (encrypted, _) = encrypted().await;
    let answer = outcome(&notifier(), encrypted.url()).await;
    assert_eq!(answer, Err(AttemptError::ConnectionFailed), "plain http to a TLS port");
}

#[tokio::test]
async fn what_does_not_resolve_is_a_dns_error() {
    let unknown = Lookup::new(|_| std::future::ready(Err(io::ErrorKind::NotFound.into())).boxed());
    let nothing = Lookup::new(|_| std::future::ready(Ok(Vec::new())).boxed());
    for lookup in [unknown, nothing] {
        let notifier = HttpNotifier::builder().lookup(lookup).build().unwrap();
        let answer = outcome(&notifier, "https://shop.test/").await;
        assert_eq!(answer, Err(AttemptError::DnsError));
        assert_eq!(notifier.vet("https://shop.test/", Environment::Live).await, Ok(()));
    }
}

#[tokio::test]
async fn the_resolver_is_the_systems_own_unless_told_otherwise() {
    let receiver = Receiver::answering(OK).await;
    let url = format!("http://localhost:{}/", receiver.port);
    assert_eq!(outcome(&notifier(), url).await, Ok(200));
    let no_name = format!("http://{}.test/", "a".repeat(64));
    assert_eq!(outcome(&notifier(), no_name).await, Err(AttemptError::DnsError));
}

#[tokio::test(start_paused = true)]
async fn eight_seconds_are_one_deadline_that_includes_resolving() {
    let notifier = HttpNotifier::builder().lookup(Lookup::new(|_| pending().boxed()));
    let receipt = notifier.build().unwrap().deliver(&attempt("https://shop.test/")).await;
    assert_eq!(receipt, Receipt { outcome: Err(AttemptError::Timeout), duration_ms: 8_000 });
    let slow = Lookup::new(|_| {
        async {
            sleep(Duration::from_millis(7_999)).await;
            Err(io::ErrorKind::NotFound.into())
        }
        .boxed()
    });
    let notifier = HttpNotifier::builder().lookup(slow).build().unwrap();
    let receipt = notifier.deliver(&attempt("https://shop.test/")).await;
    assert_eq!(receipt, Receipt { outcome: Err(AttemptError::DnsError), duration_ms: 7_999 });
}

#[tokio::test]
async fn every_spelling_of_a_forbidden_host_is_refused_in_live() {
    let notifier =
        HttpNotifier::builder().lookup(resolving_to(Ipv4Addr::LOCALHOST)).build().unwrap();
    let refused = AttemptError::UrlNotAllowed;
    for host in guard::tests::FORBIDDEN.iter().copied().chain(["shop.test"]) {
        let mut attempt = attempt(format!("https://{host}/"));
        attempt.environment = Environment::Live;
        assert_eq!(notifier.deliver(&attempt).await.outcome, Err(refused), "{host}");
        assert_eq!(notifier.vet(&attempt.url, Environment::Live).await, Err(refused), "{host}");
    }
    for url in ["http://shop.test/", "https://u@8.8.8.8/", "ftp://shop.test/", "nonsense", ""] {
        let mut attempt = attempt(url);
        attempt.environment = Environment::Live;
        assert_eq!(notifier.deliver(&attempt).await.outcome, Err(refused), "{url}");
    }
}

#[tokio::test]
async fn a_redirect_by_the_resolver_is_not_followed() {
    let receiver = Receiver::answering(OK).await;
    let asked = AtomicUsize::new(0);
    let lookup = Lookup::new(move |_| {
        let first = asked.fetch_add(1, Ordering::Relaxed) == 0;
        let address = if first { Ipv4Addr::new(8, 8, 8, 8) } else { Ipv4Addr::LOCALHOST };
        std::future::ready(Ok(vec![address.into()])).boxed()
    });
    let notifier = HttpNotifier::builder().lookup(lookup).build().unwrap();
    let mut attempt = attempt(format!("https://shop.test:{}/", receiver.port));
    attempt.environment = Environment::Live;
    assert_eq!(notifier.vet(&attempt.url, Environment::Live).await, Ok(()));
    assert_eq!(notifier.deliver(&attempt).await.outcome, Err(AttemptError::UrlNotAllowed));
    assert_eq!(receiver.accepted(), 0);
}

#[tokio::test]
async fn a_connection_of_the_sandbox_never_serves_live() {
    let (receiver, root) = encrypted().await;
    let notifier =
        || HttpNotifier::builder().lookup(resolving_to(Ipv4Addr::LOCALHOST)).trust(root.clone());
    let mut attempt = attempt(format!("https://shop.test:{}/", receiver.port));
    let default = notifier().build().unwrap();
    assert_eq!(default.deliver(&attempt).await.outcome, Ok(200));
    attempt.environment = Environment::Live;
    assert_eq!(default.deliver(&attempt).await.outcome, Err(AttemptError::UrlNotAllowed));

    let open = notifier().policy(Policy::default().private_in_live(true)).build().unwrap();
    assert_eq!(open.deliver(&attempt).await.outcome, Ok(200));
    attempt.environment = Environment::Sandbox;
    let closed = notifier().policy(Policy::default().private_in_sandbox(false)).build().unwrap();
    assert_eq!(closed.deliver(&attempt).await.outcome, Err(AttemptError::UrlNotAllowed));
}

#[test]
fn no_url_panics_and_none_gets_into_the_machine() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let notifier = runtime.block_on(async {
        HttpNotifier::builder().lookup(resolving_to(Ipv4Addr::LOCALHOST)).build().unwrap()
    });
    let url = prop_oneof![
        any::<String>(),
        "https?://[ -~]{0,30}",
        r"https?://([a-z0-9]{1,3}[.:@%/?#\[\]\\-]{0,2}){1,8}",
        r"https?://\[[0-9a-f:.%]{0,20}\](:[0-9]{0,6})?/.{0,5}",
        "https://(0x|0)?[0-9a-f]{1,10}(\\.(0x|0)?[0-9a-f]{1,3}){0,4}/",
    ];
    let allowed_literal = |url: &str| {
        guard::vet_url(url, Reach::Public)
            .is_ok_and(|url| !matches!(url.host(), Some(url::Host::Domain(_)) | None))
    };
    proptest!(ProptestConfig::with_cases(512), |(url in url)| {
        // A literal of the open web would be sent to.
        prop_assume!(!allowed_literal(&url));
        let mut attempt = attempt(url);
        attempt.environment = Environment::Live;
        let outcome = runtime.block_on(notifier.deliver(&attempt)).outcome;
        // Some hosts that may be written can be on no certificate, which is found out first.
        let none = matches!(outcome, Err(AttemptError::UrlNotAllowed | AttemptError::TlsError));
        prop_assert!(none, "{:?}", outcome);
    });
}
