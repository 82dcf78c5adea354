//! Why a call to the engine failed.

#[cfg(doc)]
use cauri_core::decide::Terms;
use cauri_core::{Connection, Error as Refused, Network, SealError};

use crate::port::store::StoreError;

/// Why a call to the engine failed. The `http` crate turns each into a status (API §4).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command was refused; nothing was written.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The caller is not known.
    #[error(transparent)]
    Unauthenticated(#[from] AuthError),
    /// The caller's key may not do this.
    #[error(transparent)]
    Forbidden(#[from] PermissionError),
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// So many others changed the same records that the command gave up; nothing was written.
    #[error("too many commands change the same records at once")]
    Contended,
    /// The query of a list names another list than the call, or the list of another account or
    /// environment than the caller's. Queries read by `wire::query` never do.
    #[error("the query names another list than the caller may ask for here")]
    OtherList,
    /// A secret of the store cannot be opened with the keys of this installation.
    #[error("a stored secret cannot be opened")]
    Seal(#[from] SealError),
    /// A stored answer is not what this version writes; or an answer could not be written.
    /// [`Engine::replayed`](crate::Engine::replayed) has it as it was.
    #[error("a stored answer cannot be read")]
    Replay(#[source] serde_json::Error),
}

impl Error {
    /// May the same call work a little later?
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Contended => true,
            Self::Refused(_)
            | Self::Unauthenticated(_)
            | Self::Forbidden(_)
            | Self::OtherList
            | Self::Seal(_)
            | Self::Replay(_) => false,
        }
    }
}

/// Why an engine cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The keys are not fit to seal.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// Nothing could be done by this field of the terms ([`Terms::unusable`]).
    #[error("the terms cannot be used: {0}")]
    Terms(&'static str),
    /// A live offer promises what the gateway that carries it does not declare.
    #[error("the offer of {network} promises more than the gateway of {connection} declares")]
    Promise {
        /// The network of the offer.
        network: Network,
        /// The connection whose gateway declares less.
        connection: Connection,
    },
}

impl From<cauri_core::Faults> for Error {
    fn from(faults: cauri_core::Faults) -> Self {
        Self::Refused(faults.into())
    }
}

impl From<cauri_core::Fault> for Error {
    fn from(fault: cauri_core::Fault) -> Self {
        Self::Refused(fault.into())
    }
}

/// Why a key opens nothing (API §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// None was given.
    #[error("An API key is required.")]
    Missing,
    /// It is not of the form of a key, or unknown.
    #[error("The API key is not valid.")]
    Invalid,
    /// It was revoked.
    #[error("The API key was revoked.")]
    Revoked,
    /// Its time is over.
    #[error("The API key has expired.")]
    Expired,
    /// Two different keys were given.
    #[error("Authorization and X-API-Key name different keys.")]
    Conflict,
}

/// Why a known caller may not do something (API §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PermissionError {
    /// A secret key is needed.
    #[error("This request needs a secret key.")]
    SecretKeyRequired,
    /// There is no sandbox in live.
    #[error("This request is for the sandbox only.")]
    SandboxOnly,
}
