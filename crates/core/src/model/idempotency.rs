//! Idempotency records: what was answered to a key (API §5).

use std::{fmt, str::FromStr};

use crate::{
    arithmetic::seal::Sealed,
    value::{choice::choice, scope::Scope, time::Timestamp},
};

/// How long an answer is kept, in milliseconds: 24 hours from first use.
pub const RETENTION_MS: i64 = 86_400_000;

/// A client's `Idempotency-Key`: 1 to 255 printable ASCII characters without spaces.
///
/// ```
/// use cauri_core::IdempotencyKey;
/// assert!("order-1001".parse::<IdempotencyKey>().is_ok());
/// assert!("".parse::<IdempotencyKey>().is_err());
/// assert!("a b".parse::<IdempotencyKey>().is_err());
/// assert!("x".repeat(256).parse::<IdempotencyKey>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(Box<str>);

/// The text is no idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not 1 to 255 printable ASCII characters without spaces")]
#[non_exhaustive]
pub struct IdempotencyKeyError;

impl IdempotencyKey {
    /// The key as it came.
    ///
    /// ```
    /// use cauri_core::IdempotencyKey;
    /// let key: IdempotencyKey = "order-1001".parse()?;
    /// assert_eq!(key.as_str(), "order-1001");
    /// # Ok::<(), cauri_core::IdempotencyKeyError>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = IdempotencyKeyError;

    fn from_str(text: &str) -> Result<Self, IdempotencyKeyError> {
        let form =
            (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        form.then(|| Self(text.into())).ok_or(IdempotencyKeyError)
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

choice! {
    /// What kind of success was answered.
    #[expect(clippy::exhaustive_enums, reason = "statuses of the contract")]
    Success {
        /// Something was created: 201.
        Created = "created",
        /// Something was done: 200.
        Done = "done",
        /// Something was taken on: 202.
        Accepted = "accepted",
    }
}

/// The bytes that were answered.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "stores map both")]
pub enum StoredBody {
    /// As they were sent.
    Plain(String),
    /// Sealed, because they hold a secret.
    Sealed(Sealed),
}

impl fmt::Debug for StoredBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(body) => write!(f, "Plain({} bytes)", body.len()),
            Self::Sealed(sealed) => f.debug_tuple("Sealed").field(sealed).finish(),
        }
    }
}

/// The answer to the first use of a key: stored in the commit that made it true, given again to
/// every later use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct IdempotencyRecord {
    /// Whose key it is.
    pub scope: Scope,
    /// The key.
    pub key: IdempotencyKey,
    /// What was asked: the SHA-256 of method, path and canonical body.
    pub fingerprint: [u8; 32],
    /// Which kind of success.
    pub success: Success,
    /// The path of what was created, for `Location`.
    pub location: Option<String>,
    /// What was answered.
    pub body: StoredBody,
    /// First use.
    pub created_at: Timestamp,
    /// From here on the key is free.
    pub expires_at: Timestamp,
}
