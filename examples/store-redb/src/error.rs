//! What can go wrong, and what that says about the batch.

use cauri::{Overflow, StoreError};
use cauri_sql::RowError;

/// Why redb or a row of ours did not answer.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum Failure {
    Redb(#[from] redb::Error),
    Commit(#[from] redb::CommitError),
    Row(#[from] RowError),
    Json(#[from] serde_json::Error),
    #[error("{0} names what is not there")]
    Dangling(&'static str),
    Overflow(#[from] Overflow),
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        use redb::Error::{DatabaseAlreadyOpen, DatabaseClosed, Io, PreviousIo};
        match failure {
            // The file may hold it or not: whoever asked sends it again.
            Failure::Commit(_) => Self::Unknown(Box::new(failure)),
            Failure::Redb(Io(_) | PreviousIo | DatabaseClosed | DatabaseAlreadyOpen) => {
                Self::Unavailable(Box::new(failure))
            }
            _ => Self::Broken(Box::new(failure)),
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
