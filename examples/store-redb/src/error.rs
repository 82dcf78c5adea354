//! What can go wrong, and what it says about the batch.

use cauri::{Overflow, StoreError};
use cauri_sql::RowError;

/// Why redb or a row of ours did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Before anything was committed.
    #[error(transparent)]
    Redb(#[from] redb::Error),
    /// While it was being committed.
    #[error(transparent)]
    Commit(#[from] redb::CommitError),
    #[error(transparent)]
    Row(#[from] RowError),
    #[error("a row ends in the middle, or holds what is not of ours")]
    Bytes,
    #[error("{0:?} names what is not there")]
    Dangling(&'static str),
    #[error(transparent)]
    Overflow(#[from] Overflow),
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            // The file may hold it or not: whoever asked sends it again.
            Failure::Commit(_) => Self::Unknown(Box::new(failure)),
            Failure::Redb(
                redb::Error::Io(_)
                | redb::Error::PreviousIo
                | redb::Error::DatabaseClosed
                | redb::Error::DatabaseAlreadyOpen,
            ) => Self::Unavailable(Box::new(failure)),
            Failure::Redb(_)
            | Failure::Row(_)
            | Failure::Bytes
            | Failure::Dangling(_)
            | Failure::Overflow(_) => Self::Broken(Box::new(failure)),
        }
    }
}

/// redb has an error type for each of its calls; nobody here tells them apart.
macro_rules! of_redb {
    ($($name:ident)+) => {$(
        impl From<redb::$name> for Failure {
            fn from(error: redb::$name) -> Self {
                Self::Redb(error.into())
            }
        }
    )+};
}

of_redb! { DatabaseError StorageError TableError TransactionError }
