//! How a store uses its database.

use std::time::Duration;

use crate::{error::OpenError, text::Schema};

/// How a store uses its database.
///
/// ```
/// use std::time::Duration;
///
/// use cauri_postgres::PostgresOptions;
///
/// let options = PostgresOptions::default()
///     .schema("shop_payments")
///     .readers(16)
///     .patience(Duration::from_secs(3));
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct PostgresOptions {
    pub(crate) schema: String,
    pub(crate) writers: u16,
    pub(crate) readers: u16,
    pub(crate) patience: Duration,
    pub(crate) migrate: bool,
}

impl PostgresOptions {
    /// The schema that holds the tables; `cauri` unless told. It is made if it is not there.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// How many commits and claims may be under way at once; 6 unless told. Each is a connection
    /// that is opened when it is first needed. Behind `cauri::Grouped` up to three of them commit,
    /// and the others are for the worker.
    pub const fn writers(mut self, writers: u16) -> Self {
        self.writers = if writers == 0 { 1 } else { writers };
        self
    }

    /// How many reads may be under way at once; 8 unless told.
    pub const fn readers(mut self, readers: u16) -> Self {
        self.readers = if readers == 0 { 1 } else { readers };
        self
    }

    /// How long to wait for a connection, for a lock and for an answer before the store counts as
    /// unavailable; 10 seconds unless told. A batch of several accounts waits for a lock for a
    /// twentieth of it, at most 500 ms, and is then made do without those whose rows somebody holds.
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// May the store bring the schema to this program's version? Unless told otherwise it does;
    /// with `false` it refuses to open an older one, and needs no right to change it.
    pub const fn migrate(mut self, may: bool) -> Self {
        self.migrate = may;
        self
    }

    pub(crate) fn named(&self) -> Result<Schema, OpenError> {
        Schema::new(&self.schema)
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: "cauri".to_owned(),
            writers: 6,
            readers: 8,
            patience: Duration::from_secs(10),
            migrate: true,
        }
    }
}
