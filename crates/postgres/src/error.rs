//! What can go wrong, told apart by Postgres's error codes, never by its sentences.

use std::error::Error as StdError;

use cauri::StoreError;
use cauri_sql::RowError;
use sqlx::{
    Error as DriverError,
    error::DatabaseError,
    postgres::{PgDatabaseError, PgSeverity},
};

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The location is no `postgres://` or `postgresql://` URL.
    #[error("not the URL of a Postgres database")]
    Location(#[source] Box<dyn StdError + Send + Sync>),
    /// The name cannot be a schema's.
    #[error("a schema's name has 1 to 63 bytes, and no zero among them")]
    SchemaName,
    /// The server cannot be reached, or refuses to let us in, or to change the schema.
    #[error("the Postgres database cannot be opened")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// A newer program has changed the schema; an older one would misread it.
    #[error("the database has schema {found}; this program knows schemas up to {known}")]
    NewerSchema {
        /// The version that the database says.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The schema is older than this program, which was told not to change it.
    #[error("the database has schema {found}; this program needs schema {known}")]
    OlderSchema {
        /// The version that the database says.
        found: i64,
        /// The version that this program knows.
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

/// Every connection was in use, or none could be opened, for longer than one waits.
#[derive(Debug, thiserror::Error)]
#[error("waited too long for a connection")]
pub(crate) struct Busy;

/// Others wrote the same records again and again.
#[derive(Debug, thiserror::Error)]
#[error("others kept changing the same records")]
pub(crate) struct Contended;

/// A lock that was not got in time.
const NOT_LOCKED: &str = "55P03";

/// What `cauri_refuse` raises.
const REFUSED: &str = "UC001";

/// What an error means for what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// Somebody else was faster: nothing was applied, judge again.
    Conflict,
    /// A sum does not fit. In a batch, a matter of judgement; else there is no answer.
    Overflow,
    /// The server's state, which another moment may change: nothing was applied.
    Passing,
    /// The connection is gone. What was under way may have been applied.
    Lost,
    /// Asking again will not help.
    Broken,
}

impl Trouble {
    fn of(error: &DriverError) -> Self {
        match error {
            DriverError::Database(database) => Self::of_database(database.as_ref()),
            DriverError::Io(_) | DriverError::Tls(_) | DriverError::Protocol(_) => Self::Lost,
            DriverError::BeginFailed => Self::Passing,
            _ => Self::Broken,
        }
    }

    fn of_database(error: &dyn DatabaseError) -> Self {
        let severity = error.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::severity);
        let ends = matches!(severity, Some(PgSeverity::Fatal | PgSeverity::Panic));
        Self::of_code(error.code().as_deref().unwrap_or_default(), ends)
    }

    /// `ends` says that the session ends with it.
    fn of_code(code: &str, ends: bool) -> Self {
        match code {
            // Unique, serialization, deadlock.
            "23505" | "40001" | "40P01" | REFUSED => Self::Conflict,
            "22003" => Self::Overflow,
            // Cancelled or too slow, a lock not got, a standby that cannot write; statements that
            // another program's migration or a pooler has made stale; rows of a table to which a
            // migration has added a column, and which a newer server can write.
            "57014" | NOT_LOCKED | "25006" | "0A000" | "26000" | "42804" => Self::Passing,
            // Told to end while it sat in a transaction or was idle: nothing was being committed.
            "25P03" | "57P05" => Self::Passing,
            // Whatever the reason, it may be one that came up after the commit was on the disk: a
            // server that cannot flush its log ends every session, and finds the commit there.
            _ if ends => Self::Lost,
            _ => match code.get(..2) {
                // Resources, and failures of the system beneath: disks, memory, connections.
                Some("53" | "58") => Self::Passing,
                Some("08" | "57") => Self::Lost,
                _ => Self::Broken,
            },
        }
    }

    /// May the connection be used again?
    fn spares_connection(error: &DriverError) -> bool {
        let DriverError::Database(database) = error else { return false };
        let code = database.code();
        let code = code.as_deref().unwrap_or_default();
        // A server that has become a standby stays one: a new connection may find the other.
        !matches!(code, "0A000" | "25006" | "26000" | "25P03" | "57P05")
            && Self::of_database(database.as_ref()) != Self::Lost
    }
}

/// Why something did not come to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The driver says so, and nothing had begun to commit.
    Before(DriverError),
    /// The driver says so, and it may have been committed.
    Commit(DriverError),
    /// Something that we found out ourselves.
    Store(StoreError),
}

impl Failure {
    /// Is it enough to judge again?
    pub(crate) fn is_conflict(&self) -> bool {
        let trouble = self.driver().map(Trouble::of);
        matches!(trouble, Some(Trouble::Conflict | Trouble::Overflow))
    }

    /// Did somebody hold a lock for longer than one waits?
    pub(crate) fn is_locked(&self) -> bool {
        let code = self.driver().and_then(DriverError::as_database_error).and_then(|it| it.code());
        code.as_deref() == Some(NOT_LOCKED)
    }

    /// Is the connection of no more use?
    pub(crate) fn ends_connection(&self) -> bool {
        self.driver().is_some_and(|error| !Trouble::spares_connection(error))
    }

    /// The same of something within a host's transaction: it is not committed yet, whatever
    /// happens. And whoever was faster than its snapshot, or waits for a lock that the host holds,
    /// stays so behind a savepoint: only the host can begin anew.
    pub(crate) fn of_host(self) -> Self {
        match self {
            Self::Commit(error) | Self::Before(error) if is_the_transactions(&error) => {
                Self::Store(StoreError::Unavailable(Box::new(error)))
            }
            Self::Commit(error) => Self::Before(error),
            Self::Before(_) | Self::Store(_) => self,
        }
    }

    fn driver(&self) -> Option<&DriverError> {
        match self {
            Self::Before(error) | Self::Commit(error) => Some(error),
            Self::Store(_) => None,
        }
    }
}

/// Is it about the whole transaction, and not about a statement?
fn is_the_transactions(error: &DriverError) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    matches!(code.as_deref(), Some("40001" | "40P01"))
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        Self::Before(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => error,
            Failure::Commit(error) if Trouble::of(&error) == Trouble::Lost => {
                Self::Unknown(Box::new(error))
            }
            Failure::Before(error) | Failure::Commit(error) => match Trouble::of(&error) {
                Trouble::Conflict | Trouble::Passing | Trouble::Lost => {
                    Self::Unavailable(Box::new(error))
                }
                Trouble::Overflow | Trouble::Broken => Self::Broken(Box::new(error)),
            },
        }
    }
}

/// A connection that could not be opened: whatever it is, somebody can mend it.
pub(crate) fn connecting(error: DriverError) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

/// A row that is no record.
pub(crate) fn row(error: RowError) -> StoreError {
    StoreError::Broken(Box::new(error))
}

/// Something that should not be.
pub(crate) fn broken(error: impl Into<Box<dyn StdError + Send + Sync>>) -> StoreError {
    StoreError::Broken(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_what_to_do() {
        for (code, trouble) in [
            ("23505", Trouble::Conflict), // unique_violation
            ("40001", Trouble::Conflict), // serialization_failure
            ("40P01", Trouble::Conflict), // deadlock_detected
            ("22003", Trouble::Overflow), // numeric_value_out_of_range
            (REFUSED, Trouble::Conflict),
            ("57014", Trouble::Passing), // query_canceled
            ("55P03", Trouble::Passing), // lock_not_available
            ("53100", Trouble::Passing), // disk_full
            ("42804", Trouble::Passing), // datatype_mismatch
            ("25P03", Trouble::Passing), // idle_in_transaction_session_timeout
            ("57P01", Trouble::Lost),    // admin_shutdown
            ("57P03", Trouble::Lost),    // cannot_connect_now
            ("08006", Trouble::Lost),    // connection_failure
            ("22021", Trouble::Broken),  // character_not_in_repertoire
            ("23502", Trouble::Broken),  // not_null_violation
            ("42P01", Trouble::Broken),  // undefined_table
            ("XX000", Trouble::Broken),  // internal_error
            ("", Trouble::Broken),
        ] {
            assert_eq!(Trouble::of_code(code, false), trouble, "{code}");
        }
        for (code, trouble) in [
            ("58030", Trouble::Lost),    // io_error: the log could not be flushed
            ("53100", Trouble::Lost),    // disk_full, likewise
            ("XX000", Trouble::Lost),    // internal_error
            ("57P01", Trouble::Lost),    // admin_shutdown
            ("25P03", Trouble::Passing), // idle_in_transaction_session_timeout
            ("57P05", Trouble::Passing), // idle_session_timeout
        ] {
            assert_eq!(Trouble::of_code(code, true), trouble, "{code} that ends the session");
        }
    }

    #[test]
    fn what_is_lost_is_unknown_only_while_committing() {
        let lost = || DriverError::Io(std::io::ErrorKind::ConnectionReset.into());
        assert!(matches!(Failure::Before(lost()).into(), StoreError::Unavailable(_)));
        assert!(matches!(Failure::Commit(lost()).into(), StoreError::Unknown(_)));
        assert!(!Trouble::spares_connection(&lost()));
    }
}
