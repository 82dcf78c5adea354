//! The store: sessions that write, sessions that read.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use cauri::{
    Backlog, Balance, Changeset, Claim, ClaimKind, CustomerId, CustomerStatistics, Entry, Key,
    Listed, Query, Record, Scope, Store, StoreError, Timestamp, Verdict, Versioned,
};
use cauri_sql::Migrated;
use sqlx::{
    ConnectOptions as _, Connection as _, PgPool, Postgres, Transaction, postgres::PgConnectOptions,
};

use crate::{
    bell::PostgresBell,
    claim,
    commit::{self, Trust},
    error::OpenError,
    inspect::{self, Inspection},
    location,
    options::PostgresOptions,
    read,
    schema::{self, Types},
    sessions::{PostgresSessions, Purpose, Sessions},
    texts::Texts,
    transaction::PostgresTransaction,
};

/// cauri's store in a Postgres database.
///
/// Any number of nodes may use the same schema at once. Wrap it in `cauri::Grouped`, so that
/// callers that wait share a transaction: a batch of a hundred changesets takes hardly longer than
/// one.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use cauri::Grouped;
/// use cauri_postgres::PostgresStore;
///
/// let store = PostgresStore::connect("postgres://shop@localhost/shop?schema=payments").await?;
/// let store = Grouped::new(store);
/// # Ok(()) }
/// ```
///
/// # Connections
/// The store opens connections of its own, also when it is given a pool, of which it takes the
/// settings: see [`PostgresOptions`] for how many. They keep prepared statements and settings of
/// the session, so a pooler between the store and the server has to hand out sessions, not
/// transactions.
///
/// # Durability
/// A commit is on the server's disk when it is answered, whatever the server's
/// `synchronous_commit`; where that asks for more, such as a standby, so does the store.
pub struct PostgresStore {
    texts: Arc<Texts>,
    trust: Trust,
    writers: Sessions,
    readers: Sessions,
    migrated: Migrated,
    connect: PgConnectOptions,
    patience: Duration,
}

impl PostgresStore {
    /// Opens the database of a URL. Beside what `sqlx` understands, the URL may name the `schema`:
    /// `postgres://user:password@host:5432/database?schema=payments`.
    ///
    /// # Errors
    /// [`OpenError::Location`] for a URL that is none; else as [`PostgresStore::new`].
    pub async fn connect(url: &str) -> Result<Self, OpenError> {
        Self::connect_with(url, PostgresOptions::default()).await
    }

    /// The same, with options. A schema that the URL names is the one that counts.
    ///
    /// # Errors
    /// As [`PostgresStore::connect`].
    pub async fn connect_with(url: &str, options: PostgresOptions) -> Result<Self, OpenError> {
        let (connect, schema) = location::parse(url)?;
        let options = match schema {
            Some(schema) => options.schema(schema),
            None => options,
        };
        Self::open(connect, options).await
    }

    /// Opens the database that a pool is connected to, with the pool's settings, on connections of
    /// its own.
    ///
    /// # Errors
    /// [`OpenError::Unavailable`] when the server cannot be reached or refuses,
    /// [`OpenError::NewerSchema`] when a newer program has been there,
    /// [`OpenError::OlderSchema`] when the schema is older and may not be migrated,
    /// [`OpenError::SchemaName`] for a name that cannot be one.
    pub async fn new(pool: &PgPool, options: PostgresOptions) -> Result<Self, OpenError> {
        Self::open((*pool.connect_options()).clone(), options).await
    }

    async fn open(connect: PgConnectOptions, options: PostgresOptions) -> Result<Self, OpenError> {
        let name = options.named()?;
        let mut connection = connect.clone().disable_statement_logging().connect().await?;
        let migrated = if options.migrate {
            schema::migrate(&mut connection, &name).await
        } else {
            schema::check(&mut connection, &name).await
        };
        let types = Types::read(&mut connection, &name).await;
        // It has done what it was for.
        let _ = connection.close().await;
        let (migrated, types) = (migrated?, types?);
        let PostgresOptions { writers, readers, patience, .. } = options;
        Ok(Self {
            texts: Arc::new(Texts::new(name, types)),
            trust: Trust::default(),
            writers: Sessions::new(&connect, Purpose::Writing, writers, patience),
            readers: Sessions::new(&connect, Purpose::Reading, readers, patience),
            migrated,
            connect,
            patience,
        })
    }

    /// Looks at the database of a URL, whether it lets us in and may be written to, which schema it
    /// has and what time it is there, without changing it.
    ///
    /// # Errors
    /// [`OpenError::Location`] for a URL that is none, [`OpenError::SchemaName`] for a name that
    /// cannot be a schema's, [`OpenError::Unavailable`] when the server cannot be reached or refuses.
    pub async fn inspect(url: &str) -> Result<Inspection, OpenError> {
        let (connect, schema) = location::parse(url)?;
        let options = PostgresOptions::default();
        let options = match schema {
            Some(schema) => options.schema(schema),
            None => options,
        };
        inspect::inspect(&connect, &options.named()?).await
    }

    /// What opening it did to the schema.
    #[must_use]
    pub const fn migrated(&self) -> Migrated {
        self.migrated
    }

    /// The same store within a transaction that the host has begun on a connection of its own.
    #[must_use]
    pub fn within(&self, transaction: Transaction<'static, Postgres>) -> PostgresTransaction {
        PostgresTransaction::new(Arc::clone(&self.texts), transaction)
    }

    /// What wakes the workers of other processes on the same schema, for
    /// `EngineBuilder::bell`. It opens up to two connections of its own, when they are needed.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime: its connections are looked after by a task.
    #[must_use]
    pub fn bell(&self) -> PostgresBell {
        PostgresBell::new(self.connect.clone(), self.texts.schema.name(), self.patience)
    }

    /// What is due of a kind at a moment and nobody has taken on, for metrics. It is found by an
    /// index, whatever there is.
    ///
    /// # Errors
    /// [`StoreError`] when the server could not answer.
    pub async fn backlog(&self, kind: ClaimKind, now: Timestamp) -> Result<Backlog, StoreError> {
        claim::backlog(&mut self.readers.get().await?, &self.texts.schema, kind, now).await
    }

    /// How many connections of its own are in use and idle, for metrics.
    #[must_use]
    pub fn sessions(&self) -> PostgresSessions {
        PostgresSessions { writers: self.writers.count(), readers: self.readers.count() }
    }

    /// Closes what is idle, and everything else as soon as it is done; whatever is asked afterwards
    /// is answered with [`StoreError::Unavailable`]. Dropping the store closes its connections too,
    /// without telling the server goodbye.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writers.close().await;
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("schema", &self.texts.schema.name())
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for PostgresStore {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        if batch.iter().all(Changeset::is_empty) {
            return Ok(batch.iter().map(|_| Ok(())).collect());
        }
        let mut session = self.writers.get().await?;
        commit::commit(&mut session, &self.texts, &self.trust, batch).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        read::get(&mut self.readers.get().await?, &self.texts, keys).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        read::list(&mut self.readers.get().await?, &self.texts.schema, query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        claim::claim(&mut self.writers.get().await?, &self.texts.schema, claim).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        read::entries(&mut self.readers.get().await?, &self.texts.schema, query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        read::balances(&mut self.readers.get().await?, &self.texts.schema, scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        let mut session = self.readers.get().await?;
        read::statistics(&mut session, &self.texts.schema, scope, customer).await
    }
}
