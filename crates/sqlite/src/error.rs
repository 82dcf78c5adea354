//! What can go wrong, told apart by SQLite's result codes, never by its sentences.

use std::error::Error as StdError;

use cauri::StoreError;
use cauri_sql::RowError;
use sqlx::Error as DriverError;

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The location is no path and no `sqlite:` URL.
    #[error("not the location of a SQLite database")]
    Location(#[source] Box<dyn StdError + Send + Sync>),
    /// The file cannot be opened, created or brought to the present schema.
    #[error("the SQLite database cannot be opened")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// A newer program has changed the schema; an older one would misread it.
    #[error("the database has schema {found}; this program knows schemas up to {known}")]
    NewerSchema {
        /// The version that the database says.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
}

impl From<DriverError> for OpenError {
    fn from(error: DriverError) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

/// The store was closed.
#[derive(Debug, thiserror::Error)]
#[error("the store is closed")]
pub(crate) struct Closed;

/// An error before COMMIT: the transaction is rolled back, nothing was applied.
pub(crate) fn before(error: DriverError) -> StoreError {
    match &error {
        DriverError::Database(database) => {
            let code = database.code().and_then(|code| code.parse::<u32>().ok());
            if code.is_some_and(is_passing) {
                StoreError::Unavailable(Box::new(error))
            } else {
                StoreError::Broken(Box::new(error))
            }
        }
        DriverError::Io(_)
        | DriverError::PoolTimedOut
        | DriverError::PoolClosed
        | DriverError::WorkerCrashed
        | DriverError::BeginFailed => StoreError::Unavailable(Box::new(error)),
        _ => StoreError::Broken(Box::new(error)),
    }
}

/// An error of COMMIT itself: the journal may hold it or not.
pub(crate) fn at_commit(error: DriverError) -> StoreError {
    StoreError::Unknown(Box::new(error))
}

/// A row that is no record.
pub(crate) fn row(error: RowError) -> StoreError {
    StoreError::Broken(Box::new(error))
}

/// Something that should not be.
pub(crate) fn broken(error: impl Into<Box<dyn StdError + Send + Sync>>) -> StoreError {
    StoreError::Broken(error.into())
}

/// Did it fail only because another connection was writing?
pub(crate) fn is_only_busy(error: &StoreError) -> bool {
    let StoreError::Unavailable(source) = error else { return false };
    source.downcast_ref::<DriverError>().is_some_and(is_busy)
}

/// Is it the database's state that another moment may change, rather than the statement?
pub(crate) const fn is_passing(code: u32) -> bool {
    // The lower byte of an extended result code is the primary one. Full disks and failing disks
    // are somebody's to mend, and what was not written then can be written afterwards.
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const NOMEM: u32 = 7;
    const READONLY: u32 = 8;
    const INTERRUPT: u32 = 9;
    const IOERR: u32 = 10;
    const FULL: u32 = 13;
    const CANTOPEN: u32 = 14;
    const PROTOCOL: u32 = 15;
    matches!(
        code & 0xff,
        BUSY | LOCKED | NOMEM | READONLY | INTERRUPT | IOERR | FULL | CANTOPEN | PROTOCOL
    )
}

/// Is the disk full, failing or not to be written to?
pub(crate) fn is_of_the_disk(error: &DriverError) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let code = code.and_then(|code| code.parse::<u32>().ok());
    // READONLY, IOERR, FULL.
    code.is_some_and(|code| matches!(code & 0xff, 8 | 10 | 13))
}

/// Is another connection in the way?
pub(crate) fn is_busy(error: &DriverError) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| matches!(code & 0xff, 5 | 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_codes_count_as_their_primary_code() {
        for (code, passing) in [
            (5, true),     // SQLITE_BUSY
            (261, true),   // SQLITE_BUSY_RECOVERY
            (517, true),   // SQLITE_BUSY_SNAPSHOT
            (778, true),   // SQLITE_IOERR_WRITE
            (13, true),    // SQLITE_FULL
            (1, false),    // SQLITE_ERROR
            (11, false),   // SQLITE_CORRUPT
            (2067, false), // SQLITE_CONSTRAINT_UNIQUE
            (26, false),   // SQLITE_NOTADB
        ] {
            assert_eq!(is_passing(code), passing, "{code}");
        }
    }
}
