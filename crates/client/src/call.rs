//! One call: its attempts, and what came of it.

use std::{
    fmt,
    future::IntoFuture,
    marker::PhantomData,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use cauri_core::IdempotencyKey;
use futures_util::future::BoxFuture;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request,
    header::{CONTENT_TYPE, DATE, RETRY_AFTER},
};
use http_body_util::Full;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep, timeout};

use crate::{
    client::Client,
    error::{BoxError, Envelope, Error},
    transport::Arrived,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// A call that is made when it is awaited.
///
/// Every `POST` carries an `Idempotency-Key` (API §5), drawn when the call is made out and kept over
/// all of its attempts. Whoever may have to repeat a call in another process, after a crash say,
/// names the key: of an order in their own database, perhaps.
///
/// ```no_run
/// # async fn f(client: cauri_client::Client, ask: cauri_client::wire::CreatePayment) -> Result<(), Box<dyn std::error::Error>> {
/// let payment = client.payments().create(&ask).idempotency_key("order-1001".parse()?).await?;
/// # Ok(()) }
/// ```
///
/// # Calls that are given up
///
/// A call that is dropped before it has answered, by a timeout of the caller's or a `select!`, may
/// have acted, and leaves no [`Error`](enum@Error) to tell under which key. Whoever may drop one keeps
/// its [`key`](Self::key) first; asked again with it, the server tells what became of it, or does it,
/// and never twice.
///
/// ```no_run
/// # async fn f(client: cauri_client::Client, ask: cauri_client::wire::CreatePayout) -> Result<(), cauri_client::Error> {
/// use std::time::Duration;
///
/// let call = client.payouts().create(&ask);
/// let key = call.key().cloned();
/// let payout = match (tokio::time::timeout(Duration::from_secs(5), call).await, key) {
///     (Err(_), Some(key)) => client.payouts().create(&ask).idempotency_key(key).await?,
///     (Err(_), None) => unreachable!("a payout has a key"),
///     (Ok(answer), _) => answer?,
/// };
/// # Ok(()) }
/// ```
///
/// [`ClientBuilder::timeout`](crate::ClientBuilder::timeout) and [`Retry::total`](crate::Retry::total)
/// need none of this: a call that they end says its key.
#[must_use = "a call is made when it is awaited"]
pub struct Call<T> {
    client: Client,
    outgoing: Outgoing,
    gives: PhantomData<fn() -> T>,
}

impl<T> Call<T> {
    pub(crate) const fn new(client: Client, outgoing: Outgoing) -> Self {
        Self { client, outgoing, gives: PhantomData }
    }

    /// The key under which this is done once, however often it is asked for within 24 hours. Of
    /// use to a `POST`; what only reads or deletes needs none.
    pub fn idempotency_key(mut self, key: IdempotencyKey) -> Self {
        self.outgoing.key = Ok(Some(key));
        self
    }

    /// The key that every attempt of this carries: the one it was given, or else the one drawn for
    /// it. `None` of what only reads or deletes, unless it was given one.
    ///
    /// ```
    /// # let client = cauri_client::Client::new("https://pay.example.com", "sk_test_key")?;
    /// # let ask = cauri_client::wire::CreateCustomer::default();
    /// let call = client.customers().create(&ask);
    /// let kept = call.key().cloned().ok_or("a POST has a key")?;
    /// let again = client.customers().create(&ask).idempotency_key(kept.clone());
    /// assert_eq!(again.key(), Some(&kept));
    /// assert_eq!(client.balance(None).key(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn key(&self) -> Option<&IdempotencyKey> {
        // Where no key could be drawn nothing is sent either.
        self.outgoing.key.as_ref().ok()?.as_ref()
    }

    /// The same, with the answer as it came: for what must be kept byte for byte, or may hold
    /// words that only later versions know.
    pub fn raw(self) -> Call<Box<RawValue>> {
        let Self { client, outgoing, gives: _ } = self;
        Call::new(client, outgoing)
    }
}

impl<T: DeserializeOwned> Call<T> {
    /// Makes the call, and tells beside the answer how it came about.
    ///
    /// # Errors
    /// [`Error`], once nothing more is to be tried.
    pub async fn send(self) -> Result<Answer<T>, Error> {
        let Self { client, outgoing, gives: _ } = self;
        let Sent { arrived, attempts, key } = outgoing.send(&client).await?;
        let Arrived { status, headers, body } = arrived;
        let value = serde_json::from_slice(&body).map_err(|error| Error::Unreadable {
            status: status.as_u16(),
            request_id: text(&headers, &REQUEST_ID),
            key,
            source: error.into(),
        })?;
        Ok(Answer { value, headers, attempts })
    }
}

impl<T: DeserializeOwned + Send + 'static> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { self.send().await.map(|answer| answer.value) })
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is asked may hold secrets.
        write!(f, "Call({} {})", self.outgoing.method, self.outgoing.resource())
    }
}

/// What was answered, and how that came about.
#[derive(Clone)]
#[non_exhaustive]
pub struct Answer<T> {
    /// What was asked for.
    pub value: T,
    /// How many attempts it took.
    pub attempts: u32,
    headers: HeaderMap,
}

impl<T> Answer<T> {
    /// What names the request in the logs of the server.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.header(REQUEST_ID.as_str())
    }

    /// Is it what an earlier attempt, or an earlier call with the same key, was answered?
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.header(REPLAYED.as_str()) == Some("true")
    }

    /// A header of the answer, such as `Date` or `RateLimit`.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl<T: fmt::Debug> fmt::Debug for Answer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("value", &self.value)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// What was answered well.
struct Sent {
    arrived: Arrived,
    attempts: u32,
    /// Under which it was done.
    key: Option<IdempotencyKey>,
}

/// What is sent.
pub(crate) struct Outgoing {
    method: Method,
    path: String,
    /// Whatever could not be written down is told when it would be sent.
    body: Result<Option<Bytes>, serde_json::Error>,
    /// Likewise, whatever could not be drawn.
    key: Result<Option<IdempotencyKey>, BoxError>,
}

impl Outgoing {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        let key = if method == Method::POST { fresh_key().map(Some) } else { Ok(None) };
        Self { method, path: path.into(), body: Ok(None), key }
    }

    pub(crate) fn body(self, body: &impl Serialize) -> Self {
        Self { body: serde_json::to_vec(body).map(|body| Some(body.into())), ..self }
    }

    /// The path for whoever reads logs: what is asked of it may be an e-mail address or a phone.
    fn resource(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// The first answer that is a good one.
    async fn send(mut self, client: &Client) -> Result<Sent, Error> {
        let inner = client.inner();
        let began = Instant::now();
        let key = std::mem::replace(&mut self.key, Ok(None)).map_err(Error::Unsent)?;
        let body = std::mem::replace(&mut self.body, Ok(None));
        let body = body.map_err(|error| Error::Unsent(error.into()))?;
        let request = request(client, &self.method, &self.path, key.as_ref(), body)
            .map_err(|error| Error::Unsent(error.into()))?;
        let mut attempts: u32 = 0;
        let mut may_have_acted = false;
        loop {
            attempts = attempts.saturating_add(1);
            let patience = inner.timeout.min(inner.retry.left(began.elapsed()));
            let (error, retry_after) =
                match timeout(patience, inner.transport.send(request.clone())).await {
                    Ok(Ok(arrived)) if arrived.status.is_success() => {
                        return Ok(Sent { arrived, attempts, key });
                    }
                    Ok(Ok(arrived)) => {
                        let after = retry_after(&arrived.headers, now());
                        (refusal(&arrived, attempts), after)
                    }
                    Ok(Err(source)) => (no_answer(attempts, source), None),
                    Err(late) => (no_answer(attempts, late.into()), None),
                };
            may_have_acted |= error.may_have_acted();
            let wait = if error.is_transient() {
                inner.retry.wait(attempts, began.elapsed(), retry_after, chance())
            } else {
                None
            };
            let Some(wait) = wait else {
                return Err(error.under(key.filter(|_| may_have_acted)));
            };
            let path = self.resource();
            tracing::debug!(%error, attempts, ?wait, path, "a call is tried again");
            sleep(wait).await;
        }
    }
}

fn request(
    client: &Client,
    method: &Method,
    path: &str,
    key: Option<&IdempotencyKey>,
    body: Option<Bytes>,
) -> Result<Request<Full<Bytes>>, http::Error> {
    let inner = client.inner();
    let mut request = Request::builder().method(method).uri(format!("{}{path}", inner.base));
    if let Some(headers) = request.headers_mut() {
        headers.extend(inner.headers.clone());
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
    }
    if let Some(key) = key {
        request = request.header(IDEMPOTENCY_KEY, key.as_str());
    }
    request.body(Full::new(body.unwrap_or_default()))
}

const fn no_answer(attempts: u32, source: BoxError) -> Error {
    Error::NoAnswer { attempts, key: None, source }
}

/// Whatever is no success.
fn refusal(arrived: &Arrived, attempts: u32) -> Error {
    let status = arrived.status.as_u16();
    match serde_json::from_slice::<Envelope>(&arrived.body) {
        Ok(envelope) => Error::Refused(Box::new(envelope.into_refused(status, attempts))),
        Err(error) => Error::Unreadable {
            status,
            request_id: text(&arrived.headers, &REQUEST_ID),
            key: None,
            source: error.into(),
        },
    }
}

/// How long the server wants to be left alone: in seconds, or until a moment of its own clock, of
/// ours if it does not show its own.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = text(headers, &RETRY_AFTER)?;
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More seconds than can be counted are for ever.
        return Some(value.parse().map_or(Duration::MAX, Duration::from_secs));
    }
    let moment = |text: String| httpdate::parse_http_date(&text).ok();
    let now = text(headers, &DATE).and_then(moment).unwrap_or(now);
    Some(moment(value)?.duration_since(now).unwrap_or_default())
}

/// What time it is here.
#[expect(clippy::disallowed_methods, reason = "nothing is decided by it but when to ask again")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// A key that nobody has drawn before.
fn fresh_key() -> Result<IdempotencyKey, BoxError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let text = format!("cauri-{:032x}", u128::from_be_bytes(bytes));
    Ok(text.parse::<IdempotencyKey>()?)
}

/// Any number. Where there is no chance, clients merely come back at the same time.
fn chance() -> u16 {
    let mut bytes = [0; 2];
    let _ = getrandom::fill(&mut bytes);
    u16::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_drawn_twice() {
        let (one, other) = (fresh_key().unwrap(), fresh_key().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.as_str().len(), 38);
    }

    #[test]
    fn retry_after_is_seconds_or_a_moment_of_the_servers_clock() {
        let date = "Tue, 19 Nov 2024 00:00:00 GMT";
        let after = |value: &'static str, date: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            date.map(|date| headers.insert(DATE, HeaderValue::from_static(date)));
            let ours = httpdate::parse_http_date("Tue, 19 Nov 2024 00:00:30 GMT").unwrap();
            retry_after(&headers, ours)
        };
        let seconds = Duration::from_secs;
        assert_eq!(after("0", None), Some(seconds(0)));
        assert_eq!(after("120", None), Some(seconds(120)));
        assert_eq!(after("Tue, 19 Nov 2024 00:01:00 GMT", Some(date)), Some(seconds(60)));
        assert_eq!(after("Mon, 18 Nov 2024 00:00:00 GMT", Some(date)), Some(seconds(0)));
        assert_eq!(after("Tue, 19 Nov 2024 00:01:00 GMT", None), Some(seconds(30)));
        assert_eq!(after("Tue, 19 Nov 2024 00:01:00 GMT", Some("now")), Some(seconds(30)));
        assert_eq!(after("99999999999999999999", Some(date)), Some(Duration::MAX), "for ever");
        for nonsense in ["", "+1", "-1", "1.5", "soon"] {
            assert_eq!(after(nonsense, Some(date)), None, "{nonsense}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now()), None);
    }

    #[test]
    fn what_is_looked_for_is_shown_to_no_log() {
        let call = Outgoing::new(Method::GET, "/customers?email=awa%40example.com&limit=1");
        assert_eq!(call.resource(), "/customers");
        let client = Client::new("https://pay.example.com", "sk_test_key").unwrap();
        let shown = format!("{:?}", Call::<()>::new(client, call));
        assert_eq!(shown, "Call(GET /customers)");
    }
}
