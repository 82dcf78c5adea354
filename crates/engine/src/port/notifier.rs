//! The port through which webhooks leave.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;
use cauri_core::{AttemptError, Environment};

/// Sends webhooks: one signed attempt at a time, as it is.
///
/// What is due, when it is due again, and how it is signed were decided before; what an answer
/// means is decided after. A notifier only sends. It need not be HTTP: an embedder may put
/// attempts into a queue of its own.
///
/// # Laws
///
/// 1. **As it is.** The body goes out byte for byte, with every header of the attempt: the
///    signature covers the bytes, not what they mean.
/// 2. **No receipt for what was not sent.** `Ok` means that the receiver, or the queue before it,
///    answered this very body with that status, whichever it is. What could not be known is an [`AttemptError`].
/// 3. **It may deliver twice.** One attempt may reach the receiver more than once, and an attempt
///    that ended in an error may have reached it. Receivers know a delivery by its id.
/// 4. **A lost receipt costs one more attempt,** and nothing else: a notifier keeps no account of
///    what it sent, and a process may die between sending and recording.
/// 5. **Bounded.** Each call ends within the 8 s of an attempt, however slow, endless or hostile
///    the receiver is, and holds nothing of the receiver's making beyond a few KiB. The engine waits
///    a second longer, and then counts a time-out.
/// 6. **Nothing moves the schedule.** Redirects are not followed, and `Retry-After` and the like
///    are not read.
/// 7. **Only where allowed.** What [`vet`](Self::vet) refuses is never connected to, whatever the
///    name resolves to by then: `deliver` judges anew and answers
///    [`AttemptError::UrlNotAllowed`].
/// 8. **Apart.** One slow receiver takes nothing from another: how many attempts are in flight is
///    the worker's to say, so a notifier neither queues nor waits for its own.
/// 9. **Only what happened to the attempt.** `deliver` answers `Timeout`, `DnsError`,
///    `ConnectionFailed`, `TlsError` or `UrlNotAllowed`; the other errors are the engine's own.
///
/// A call that is dropped half-way is as an attempt whose receipt was lost, and one that panics as
/// one that could not connect.
///
/// # A notifier of one's own
///
/// This one hands attempts to a queue, for another process to send. Its receipts say what it
/// knows: that the queue took them.
///
/// ```
/// use async_trait::async_trait;
/// use cauri::{Attempt, AttemptError, Environment, Notifier, Receipt};
/// use tokio::sync::mpsc;
///
/// #[derive(Debug)]
/// struct Queue(mpsc::Sender<Attempt>);
///
/// #[async_trait]
/// impl Notifier for Queue {
///     async fn deliver(&self, attempt: &Attempt) -> Receipt {
///         let taken = self.0.try_send(attempt.clone());
///         let outcome = taken.map(|()| 202).map_err(|_| AttemptError::ConnectionFailed);
///         Receipt { outcome, duration_ms: 0 }
///     }
///
///     async fn vet(&self, _: &str, _: Environment) -> Result<(), AttemptError> {
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (sender, _receiver) = mpsc::channel(1);
/// let attempt = Attempt {
///     url: "https://shop.example.com/hooks".to_owned(),
///     environment: Environment::Sandbox,
///     headers: Vec::new(),
///     body: "{}".into(),
/// };
/// let queue = Queue(sender);
/// assert_eq!(queue.deliver(&attempt).await.outcome, Ok(202));
/// assert_eq!(queue.deliver(&attempt).await.outcome, Err(AttemptError::ConnectionFailed));
/// # }
/// ```
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Notifier: Debug + Send + Sync + 'static {
    /// Sends one attempt and says how it ended.
    async fn deliver(&self, attempt: &Attempt) -> Receipt;

    /// Says whether a URL may be given to an endpoint, before anything is sent to it.
    ///
    /// # Errors
    ///
    /// 10. [`AttemptError::UrlNotAllowed`] and nothing else. A name that does not resolve, or not
    ///     soon (some 2 s), is accepted: its attempts will say so; after 3 s the engine waits no
    ///     longer. Being accepted promises nothing, because names change their addresses: law 7 holds
    ///     all the same.
    async fn vet(&self, url: &str, environment: Environment) -> Result<(), AttemptError>;
}

/// One attempt to deliver a webhook, ready to go out.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a notifier must send all of it: law 1")]
pub struct Attempt {
    /// Where to.
    pub url: String,
    /// Of which environment the endpoint is: it decides what may be connected to.
    pub environment: Environment,
    /// The headers made for this attempt, the signature among them. Those that any attempt has
    /// (`Content-Type`, `User-Agent`, `Host`, `Content-Length`) are the notifier's.
    pub headers: Vec<(&'static str, String)>,
    /// The bytes that were signed.
    pub body: Bytes,
}

/// How an attempt ended.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "made by notifiers, and read whole")]
pub struct Receipt {
    /// The status the receiver answered with, or why there is none.
    pub outcome: Result<u16, AttemptError>,
    /// From the start of the attempt until its outcome was known.
    pub duration_ms: u32,
}
