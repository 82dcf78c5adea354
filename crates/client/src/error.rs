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
        /// The `Idempotency-Key` of every attempt, where the call had one.
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
        Refused { status, kind, code, message, param, details, request_id, attempts }
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
