//! The client.

use std::{fmt, sync::Arc, time::Duration};

use http::{
    HeaderMap, HeaderValue, Method,
    header::{ACCEPT, AUTHORIZATION, USER_AGENT},
};
use url::{Host, Url};

use crate::{
    call::{Call, Outgoing},
    error::BuildError,
    resource::{Customers, Events, PaymentLinks, Payments, Payouts, Refunds, Sandbox, Webhooks},
    retry::Retry,
    transport::Transport,
};

/// How long one attempt may take unless told.
const TIMEOUT: Duration = Duration::from_secs(30);

const AGENT: &str = concat!("cauri-client/", env!("CARGO_PKG_VERSION"));

/// A client of one server with one API key. Cheap to clone; all clones share their connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

pub(crate) struct Inner {
    /// Up to `/v1`, without a slash behind it.
    pub(crate) base: String,
    pub(crate) headers: HeaderMap,
    pub(crate) timeout: Duration,
    pub(crate) retry: Retry,
    pub(crate) transport: Transport,
}

impl Client {
    /// A client of the server at `url`, such as `https://pay.example.com`, or wherever its API is
    /// mounted (`https://shop.example.com/pay`); the `/v1` of the contract may be there or not.
    ///
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// As [`ClientBuilder::build`].
    ///
    /// ```
    /// use cauri_client::Client;
    /// let client = Client::new("https://pay.example.com", "sk_test_key")?;
    /// assert!(!format!("{client:?}").contains("sk_test_key"));
    /// # Ok::<(), cauri_client::BuildError>(())
    /// ```
    pub fn new(url: &str, key: &str) -> Result<Self, BuildError> {
        Self::builder(url, key).build()
    }

    /// The same with settings.
    pub fn builder(url: &str, key: &str) -> ClientBuilder {
        ClientBuilder {
            url: url.to_owned(),
            key: key.to_owned(),
            timeout: TIMEOUT,
            retry: Retry::default(),
            roots: Vec::new(),
            plain_http: false,
        }
    }

    /// Payments (API §9).
    #[must_use]
    pub const fn payments(&self) -> Payments<'_> {
        Payments(self)
    }

    /// Payment links (API §12).
    #[must_use]
    pub const fn payment_links(&self) -> PaymentLinks<'_> {
        PaymentLinks(self)
    }

    /// Payouts (API §10).
    #[must_use]
    pub const fn payouts(&self) -> Payouts<'_> {
        Payouts(self)
    }

    /// Refunds (API §11).
    #[must_use]
    pub const fn refunds(&self) -> Refunds<'_> {
        Refunds(self)
    }

    /// Customers (API §13).
    #[must_use]
    pub const fn customers(&self) -> Customers<'_> {
        Customers(self)
    }

    /// Webhook endpoints and deliveries (API §16).
    #[must_use]
    pub const fn webhooks(&self) -> Webhooks<'_> {
        Webhooks(self)
    }

    /// Events (API §22.1).
    #[must_use]
    pub const fn events(&self) -> Events<'_> {
        Events(self)
    }

    /// The sandbox's tools (API §17).
    #[must_use]
    pub const fn sandbox(&self) -> Sandbox<'_> {
        Sandbox(self)
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(crate) fn get<T>(&self, path: impl Into<String>) -> Call<T> {
        Call::new(self.clone(), Outgoing::new(Method::GET, path))
    }

    pub(crate) fn delete<T>(&self, path: impl Into<String>) -> Call<T> {
        Call::new(self.clone(), Outgoing::new(Method::DELETE, path))
    }

    pub(crate) fn post<T>(&self, path: impl Into<String>, body: &impl serde::Serialize) -> Call<T> {
        Call::new(self.clone(), Outgoing::new(Method::POST, path).body(body))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.0.base).finish_non_exhaustive()
    }
}

/// Builds a [`Client`].
#[derive(Clone)]
#[must_use]
pub struct ClientBuilder {
    url: String,
    key: String,
    timeout: Duration,
    retry: Retry,
    roots: Vec<Vec<u8>>,
    plain_http: bool,
}

impl ClientBuilder {
    /// How long one attempt may take, from the first byte sent to the last one read; 30 s unless
    /// told.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often and for how long a call is tried.
    pub const fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Trusts one more root certificate (DER), beside the web's.
    pub fn trust(mut self, root: impl Into<Vec<u8>>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// May the key travel unencrypted to another machine? Unless told so it goes over `http` to
    /// this machine only.
    pub const fn plain_http(mut self, may: bool) -> Self {
        self.plain_http = may;
        self
    }

    /// Builds it. Connects to nothing yet.
    ///
    /// # Errors
    /// A [`BuildError`] when the URL, the key or a root is not what it should be.
    pub fn build(self) -> Result<Client, BuildError> {
        let Self { url, key, timeout, retry, roots, plain_http } = self;
        let base = base(&url, plain_http)?;
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BuildError::Key);
        }
        let mut bearer =
            HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| BuildError::Key)?;
        bearer.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let transport = Transport::new(roots).map_err(BuildError::Roots)?;
        Ok(Client(Arc::new(Inner { base, headers, timeout, retry, transport })))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url: _, key: _, timeout, retry, roots: _, plain_http } = self;
        // The URL may hold what no URL of ours does, a password for one.
        f.debug_struct("ClientBuilder")
            .field("timeout", timeout)
            .field("retry", retry)
            .field("plain_http", plain_http)
            .finish_non_exhaustive()
    }
}

/// Where the API is: what requests are sent to begins with this.
fn base(text: &str, plain_http: bool) -> Result<String, BuildError> {
    let url = Url::parse(text).map_err(|_| BuildError::Url)?;
    let whole = url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    let local = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => return Err(BuildError::Url),
    };
    match url.scheme() {
        _ if !whole => return Err(BuildError::Url),
        "https" => {}
        "http" if local || plain_http => {}
        "http" => return Err(BuildError::PlainHttp),
        _ => return Err(BuildError::Url),
    }
    let base = url.as_str().trim_end_matches('/');
    Ok(format!("{}/v1", base.strip_suffix("/v1").unwrap_or(base)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_is_found_with_and_without_its_version() {
        for (url, expected) in [
            ("https://pay.example.com", "https://pay.example.com/v1"),
            ("https://pay.example.com/", "https://pay.example.com/v1"),
            ("https://pay.example.com/v1", "https://pay.example.com/v1"),
            ("https://pay.example.com/v1/", "https://pay.example.com/v1"),
            ("https://shop.example.com:8443/pay", "https://shop.example.com:8443/pay/v1"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
            ("http://localhost:8080", "http://localhost:8080/v1"),
            ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ] {
            assert_eq!(base(url, false).expect(url), expected);
        }
    }

    #[test]
    fn a_key_does_not_travel_in_the_clear_unless_told() {
        for url in ["http://pay.example.com", "http://10.0.0.5:8080", "http://localhost.example"] {
            assert!(matches!(base(url, false), Err(BuildError::PlainHttp)), "{url}");
            assert!(base(url, true).is_ok(), "{url}");
        }
    }

    #[test]
    fn what_is_no_url_of_a_server_is_refused() {
        for url in [
            "",
            "pay.example.com",
            "ftp://pay.example.com",
            "unix:/run/cauri",
            "https://sk_test@pay.example.com",
            "https://pay.example.com?key=1",
            "https://pay.example.com#top",
        ] {
            assert!(matches!(base(url, true), Err(BuildError::Url)), "{url}");
        }
        for key in ["", " ", "sk test", "sk\n", "sk\u{e9}"] {
            let built = Client::new("https://pay.example.com", key);
            assert!(matches!(built, Err(BuildError::Key)), "{key}");
        }
    }

    #[test]
    fn a_key_is_shown_nowhere() {
        let builder = Client::builder("https://pay.example.com", "sk_live_secret");
        assert!(!format!("{builder:?}").contains("secret"));
        let client = builder.build().unwrap();
        let call = client.get::<()>("/balance");
        assert!(!format!("{client:?} {call:?}").contains("secret"));
    }
}
