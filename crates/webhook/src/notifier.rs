//! Sends attempts over HTTP.

use std::{error::Error as StdError, io, sync::Arc, time::Duration};

use async_trait::async_trait;
use cauri::{Attempt, AttemptError, Environment, Notifier, Receipt};
use http::{
    Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, Response,
    header::{CONTENT_TYPE, USER_AGENT},
};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::{
    client::legacy::{Client, Error as ClientError},
    rt::{TokioExecutor, TokioTimer},
};
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};
use tokio::time::{Instant, timeout_at};
use tracing::{Instrument, Span, field::Empty};

use crate::{
    connector::{ConnectError, Connector, Used},
    guard::{self, Policy, Reach},
    lookup::Lookup,
};

/// Sends webhooks over HTTP/1.1, with TLS against the web's roots, to where the [`Policy`] allows.
///
/// An attempt has 8 s from its start to the complete head of the answer; what is left of them may
/// be used to read up to 16 KiB of body, so that the connection can be used again. Connections
/// are pooled, apart for those that may reach private addresses and those that may not.
///
/// ```
/// use cauri_webhook::{HttpNotifier, Policy};
///
/// let notifier = HttpNotifier::builder().policy(Policy::default()).build()?;
/// # Ok::<(), cauri_webhook::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HttpNotifier {
    policy: Policy,
    checks: Lookup,
    deadline: Duration,
    public: Clients,
    private: Clients,
}

impl HttpNotifier {
    /// Starts to build one.
    #[must_use]
    pub fn builder() -> HttpNotifierBuilder {
        HttpNotifierBuilder {
            policy: Policy::default(),
            roots: Vec::new(),
            lookup: Lookup::system(),
            checks: Lookup::of_checks(),
            deadline: DEADLINE,
        }
    }

    async fn send(&self, attempt: &Attempt) -> Result<Response<Incoming>, AttemptError> {
        let reach = self.policy.reach(attempt.environment);
        let clients = match reach {
            Reach::Public => &self.public,
            Reach::Private => &self.private,
        };
        let first = request(attempt, reach)?;
        describe(&first);
        let answer = match clients.pooled.request(first).await {
            Err(error) if broke_when_reused(&error) => {
                Span::current().record("http.request.resend_count", 1);
                clients.fresh.request(request(attempt, reach)?).await
            }
            answer => answer,
        };
        let response = answer.map_err(|error| reason(&error))?;
        if let Some(used) = response.extensions().get::<Used>() {
            used.set();
        }
        Ok(response)
    }
}

#[async_trait]
impl Notifier for HttpNotifier {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        let started = Instant::now();
        let deadline = started + self.deadline;
        let span = span();
        let sending = self.send(attempt).instrument(span.clone());
        let answer = match timeout_at(deadline, sending).await {
            Ok(answer) => answer,
            Err(_) => Err(AttemptError::Timeout),
        };
        tell(&span, &answer);
        let duration_ms = started.elapsed().as_millis().try_into().unwrap_or(u32::MAX);
        let outcome = match answer {
            Ok(response) => {
                let status = response.status().as_u16();
                // However the body ends, the answer was its head.
                let _ = timeout_at(deadline, drain(response.into_body())).await;
                Ok(status)
            }
            Err(error) => Err(error),
        };
        Receipt { outcome, duration_ms }
    }

    async fn vet(&self, url: &str, environment: Environment) -> Result<(), AttemptError> {
        guard::check(url, self.policy.reach(environment), &self.checks)
            .await
            .map_err(|_| AttemptError::UrlNotAllowed)
    }
}

/// Builds a [`HttpNotifier`].
#[derive(Clone, Debug)]
pub struct HttpNotifierBuilder {
    policy: Policy,
    roots: Vec<Vec<u8>>,
    lookup: Lookup,
    checks: Lookup,
    deadline: Duration,
}

impl HttpNotifierBuilder {
    /// Says where webhooks may go.
    #[must_use]
    pub const fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Trusts one more root certificate (DER), beside the web's.
    #[must_use]
    pub fn trust(mut self, root: impl Into<Vec<u8>>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Builds it. Connects to nothing yet.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] when a root to trust is not a certificate.
    pub fn build(self) -> Result<HttpNotifier, BuildError> {
        let Self { policy, roots, lookup, checks, deadline } = self;
        let tls = Arc::new(tls(roots).map_err(BuildError)?);
        let clients = |reach| {
            Clients::new(&Connector::new(reach, lookup.clone(), Arc::clone(&tls), deadline))
        };
        let (public, private) = (clients(Reach::Public), clients(Reach::Private));
        Ok(HttpNotifier { policy, checks, deadline, public, private })
    }

    #[cfg(test)]
    fn lookup(mut self, lookup: Lookup) -> Self {
        self.checks = lookup.clone();
        self.lookup = lookup;
        self
    }

    #[cfg(test)]
    fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

/// A notifier could not be built.
#[derive(Debug, thiserror::Error)]
#[error("no TLS with these roots")]
pub struct BuildError(#[source] rustls::Error);

/// Two clients over the same connector.
#[derive(Clone, Debug)]
struct Clients {
    /// Uses connections again.
    pooled: Client<Connector, Full<Bytes>>,
    /// Never does.
    fresh: Client<Connector, Full<Bytes>>,
}

impl Clients {
    fn new(connector: &Connector) -> Self {
        let mut client = Client::builder(TokioExecutor::new());
        client
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .http1_max_buf_size(HEAD_BYTES_MAX)
            .http1_max_headers(HEADERS_MAX)
            .http1_title_case_headers(true);
        // As many connections are kept as were needed at once: a receiver behind whose name many
        // endpoints live has that many attempts in flight.
        let pooled = client.build(connector.clone());
        Self { pooled, fresh: client.pool_max_idle_per_host(0).build(connector.clone()) }
    }
}

/// One request, under the names of OpenTelemetry's conventions: where to, never the path, which may
/// hold a secret of the receiver's.
fn span() -> Span {
    tracing::info_span!(
        "http_request",
        otel.name = "POST",
        otel.kind = "client",
        http.request.method = "POST",
        http.request.resend_count = Empty,
        http.response.status_code = Empty,
        url.scheme = Empty,
        server.address = Empty,
        server.port = Empty,
        otel.status_code = Empty,
        "error.type" = Empty,
    )
}

fn describe(request: &Request<Full<Bytes>>) {
    let span = Span::current();
    if span.is_disabled() {
        return;
    }
    let (uri, secure) = (request.uri(), request.uri().scheme_str() == Some("https"));
    span.record("url.scheme", uri.scheme_str())
        .record("server.address", uri.host())
        .record("server.port", uri.port_u16().unwrap_or(if secure { 443 } else { 80 }));
}

fn tell(span: &Span, answer: &Result<Response<Incoming>, AttemptError>) {
    let error = match answer {
        Ok(response) => {
            let status = response.status();
            span.record("http.response.status_code", status.as_u16());
            (!status.is_success()).then_some(AttemptError::Non2xx)
        }
        Err(error) => Some(*error),
    };
    if let Some(error) = error {
        span.record("error.type", error.as_str()).record("otel.status_code", "ERROR");
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

fn request(attempt: &Attempt, reach: Reach) -> Result<Request<Full<Bytes>>, AttemptError> {
    let Attempt { url, environment: _, headers, body } = attempt;
    let url = guard::vet_url(url, reach).map_err(|_| AttemptError::UrlNotAllowed)?;
    let mut request = Request::new(Full::new(body.clone()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = url.as_str().parse().map_err(|_| AttemptError::UrlNotAllowed)?;
    *request.headers_mut() = HeaderMap::with_capacity(headers.len().saturating_add(2));
    for (name, value) in headers {
        // Leaving a header out would send an attempt that is not the one asked for.
        let name = header_name(name).ok_or(AttemptError::ConnectionFailed)?;
        let value = HeaderValue::try_from(value).map_err(|_| AttemptError::ConnectionFailed)?;
        request.headers_mut().append(name, value);
    }
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
    Ok(request)
}

/// The names that every attempt has are not read each time.
fn header_name(name: &str) -> Option<HeaderName> {
    static KNOWN: [(&str, HeaderName); 4] = [
        ("X-Webhook-Signature", HeaderName::from_static("x-webhook-signature")),
        ("X-Webhook-Event", HeaderName::from_static("x-webhook-event")),
        ("X-Webhook-Delivery", HeaderName::from_static("x-webhook-delivery")),
        ("X-Webhook-Attempt", HeaderName::from_static("x-webhook-attempt")),
    ];
    match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((_, known)) => Some(known.clone()),
        None => HeaderName::try_from(name).ok(),
    }
}

/// Reads the body as far as it is worth the connection, and forgets it.
async fn drain(mut body: Incoming) {
    let mut left = BODY_BYTES_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        let read = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(read) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// Receivers close connections they have not used for a while, and a request may cross that
/// closing on its way. It says nothing about the receiver, who can only be asked anew.
fn broke_when_reused(error: &ClientError) -> bool {
    let mut extras = Extensions::new();
    if let Some(connected) = error.connect_info() {
        connected.get_extras(&mut extras);
    }
    let malformed = causes(error)
        .any(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse));
    extras.get::<Used>().is_some_and(Used::is_set) && !malformed
}

fn reason(error: &ClientError) -> AttemptError {
    for cause in causes(error) {
        if let Some(error) = cause.downcast_ref::<ConnectError>() {
            return match error {
                ConnectError::Refused(_) => AttemptError::UrlNotAllowed,
                ConnectError::Unresolved(_) => AttemptError::DnsError,
                ConnectError::Unreachable(_) => AttemptError::ConnectionFailed,
                ConnectError::Tls(_) => AttemptError::TlsError,
                ConnectError::Timeout => AttemptError::Timeout,
            };
        }
        // TLS can also fail after the handshake: a receiver that wants a certificate of ours says
        // so only then.
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if inner.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return AttemptError::TlsError;
        }
    }
    AttemptError::ConnectionFailed
}

fn causes(error: &ClientError) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let first: &(dyn StdError + 'static) = error;
    std::iter::successors(Some(first), |cause| (*cause).source())
}

/// From the start of an attempt to the complete head of its answer.
const DEADLINE: Duration = Duration::from_secs(8);

/// How much of an answer's body is read, so that its connection can be used again.
const BODY_BYTES_MAX: usize = 16 << 10;

/// How long the head of an answer may be; also how much of a body is held at a time.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// How many headers an answer may have.
const HEADERS_MAX: usize = 100;

/// How long a connection is kept. Receivers keep theirs from 2 to 75 s.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

const AGENT: &str = concat!("cauri/", env!("CARGO_PKG_VERSION"));

#[cfg(test)]
mod tests;
