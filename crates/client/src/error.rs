//! What goes wrong with a call.

use std::{error::Error as StdError, fmt};

use cauri_core::IdempotencyKey;
use serde::Deserialize;

use crate::code::Code;

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// What went wrong with a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The API refused, and says why.
    #[error(transparent)]
    Refused(Box<Refused>),
    /// There was no answer, or none that arrived whole. What was asked for may have happened: to
    /// find out, ask again with the same key.
    #[error("no answer after {attempts} attempts")]
    NoAnswer {
        /// How many times it was tried.
        attempts: u32,
        /// As [`Error::idempotency_key`].
        key: Option<IdempotencyKey>,
        /// What happened the last time.
        #[source]
        source: BoxError,
    },
    /// Whatever answered, it was not this API: a proxy, perhaps, or a version of it that says what
    /// this one does not know ([`Call::raw`](crate::Call::raw) takes any).
    #[error("the answer is not one of this API (status {status})")]
    Unreadable {
        /// The status of the answer.
        status: u16,
        /// Its `Request-Id`, for the logs of the server.
        request_id: Option<String>,
        /// As [`Error::idempotency_key`].
        key: Option<IdempotencyKey>,
        /// What of it could not be read.
        #[source]
        source: BoxError,
    },
    /// The request could not be made at all.
    #[error("the request could not be made")]
    Unsent(#[source] BoxError),
}

impl Error {
    /// Why the API refused, if it did.
    #[must_use]
    pub fn refused(&self) -> Option<&Refused> {
        match self {
            Self::Refused(refused) => Some(refused),
            Self::NoAnswer { .. } | Self::Unreadable { .. } | Self::Unsent(_) => None,
        }
    }

    /// The code of the refusal, if it is one.
    ///
    /// ```no_run
    /// # async fn f(client: cauri_client::Client, ask: cauri_client::wire::CreatePayout) {
    /// use cauri_client::Code;
    /// match client.payouts().create(&ask).await {
    ///     Ok(payout) => println!("{} is on its way", payout.id),
    ///     Err(error) if error.code() == Some(&Code::BalanceInsufficient) => println!("top up"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn code(&self) -> Option<&Code> {
        self.refused().map(|refused| &refused.code)
    }

    /// The `Idempotency-Key` of a call that may have acted although it ended with this error: an
    /// attempt of it got no answer, one that nobody can read, or one of the server's own failures.
    /// Whoever asks again with this key is told, and nothing is done twice; with another, a payout
    /// may be paid twice.
    ///
    /// `None` where nothing can have been done, and of calls that had no key.
    ///
    /// ```no_run
    /// # async fn f(client: cauri_client::Client, ask: cauri_client::wire::CreatePayout) {
    /// if let Err(error) = client.payouts().create(&ask).await {
    ///     if let Some(key) = error.idempotency_key() {
    ///         println!("to find out, ask again with {key:?}: {error}");
    ///     }
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        match self {
            Self::Refused(refused) => refused.key.as_ref(),
            Self::NoAnswer { key, .. } | Self::Unreadable { key, .. } => key.as_ref(),
            Self::Unsent(_) => None,
        }
    }

    /// May the attempt that ended so have acted? Those before it are another matter: one whose
    /// answer was lost may still be at work when the next is refused.
    pub(crate) fn may_have_acted(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.status >= 500,
            Self::NoAnswer { source, .. } => !is_unconnected(source),
            Self::Unreadable { .. } => true,
            Self::Unsent(_) => false,
        }
    }

    /// The same, of a call with this key that may have acted.
    pub(crate) fn under(mut self, it: Option<IdempotencyKey>) -> Self {
        match &mut self {
            Self::Refused(refused) => refused.key = it,
            Self::NoAnswer { key, .. } | Self::Unreadable { key, .. } => *key = it,
            Self::Unsent(_) => {}
        }
        self
    }

    /// May asking again turn out better? What of a call is tried again by itself was.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Refused(refused) => is_transient(refused.status),
            Self::Unreadable { status, .. } => is_transient(*status),
            Self::NoAnswer { .. } => true,
            Self::Unsent(_) => false,
        }
    }
}

pub(crate) const fn is_transient(status: u16) -> bool {
    status == 429 || status >= 500
}

/// Was there no connection over which anything could have been asked?
fn is_unconnected(source: &BoxError) -> bool {
    source.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|it| it.is_connect())
}

/// A refusal of the API (API §4).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The status of HTTP.
    pub status: u16,
    /// The family of the code, such as `invalid_request_error`.
    pub kind: String,
    /// What it is about.
    pub code: Code,
    /// The same for people. It may change.
    pub message: String,
    /// Which parameter it is about: `metadata.order`, `events[1]`.
    pub param: Option<String>,
    /// Everything that is wrong with the parameters, in their order; the first is also above.
    pub details: Vec<Detail>,
    /// What names the request in the logs of the server.
    pub request_id: Option<String>,
    /// How many times it was asked.
    pub attempts: u32,
    /// As [`Error::idempotency_key`]: an earlier attempt may have acted, or this one in spite of
    /// its failure.
    pub key: Option<IdempotencyKey>,
}

/// One thing that is wrong with the parameters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Detail {
    /// What is wrong.
    pub code: Code,
    /// With which parameter.
    pub param: Option<String>,
    /// The same for people.
    pub message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, message, request_id, details, .. } = self;
        f.write_str(message)?;
        for detail in details.iter().skip(1) {
            write!(f, " {}", detail.message)?;
        }
        write!(f, " ({code}")?;
        match request_id {
            Some(id) => write!(f, ", {id})"),
            None => f.write_str(")"),
        }
    }
}

impl StdError for Refused {}

/// The body of a refusal.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope {
    error: Told,
}

#[derive(Debug, Deserialize)]
struct Told {
    r#type: String,
    code: Code,
    message: String,
    param: Option<String>,
    #[serde(default)]
    details: Vec<Detail>,
    request_id: Option<String>,
}

impl Envelope {
    pub(crate) fn into_refused(self, status: u16, attempts: u32) -> Refused {
        let Told { r#type: kind, code, message, param, details, request_id } = self.error;
        Refused { status, kind, code, message, param, details, request_id, attempts, key: None }
    }
}

/// A client could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The URL is none of a server.
    #[error("the URL of the server is not an http or https URL without query and fragment")]
    Url,
    /// The key would travel in the clear.
    #[error(
        "the server is neither local nor reached by https, and the key would travel in the clear"
    )]
    PlainHttp,
    /// The key is no key.
    #[error("the key is empty, or holds what no key holds")]
    Key,
    /// A root certificate is none.
    #[error("there is no TLS with these roots")]
    Roots(#[source] rustls::Error),
}
