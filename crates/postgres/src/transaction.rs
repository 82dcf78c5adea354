//! The store within a transaction of the host's.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned, Write,
};
use sqlx::{PgConnection, Postgres, Transaction};
use tokio::sync::Mutex;

use crate::{
    bell::RING,
    claim,
    commit::{self, Trust},
    error::Closed,
    read,
    sessions::Session,
    texts::Texts,
};

/// A [`PostgresStore`](crate::PostgresStore) within a transaction that the host has begun: what is
/// committed through it becomes true together with the host's own rows, when the host commits, or
/// not at all.
///
/// ```no_run
/// # use cauri::{Changeset, Store};
/// # use cauri_postgres::PostgresStore;
/// # async fn example(store: PostgresStore, pool: sqlx::PgPool, changes: Changeset)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// let within = store.within(pool.begin().await?);
/// let verdicts = within.commit(vec![changes]).await?;
/// let mut transaction = within.into_inner().expect("it was not taken");
/// sqlx::query("insert into orders (id) values ($1)").bind(1).execute(&mut *transaction).await?;
/// transaction.commit().await?;
/// # Ok(()) }
/// ```
///
/// # Until the host commits
/// Nobody else sees what was accepted, and it is not durable. The rows that were written stay
/// locked, among them the counters of the account's lists and its balances, so that everybody else
/// who commits for the same account waits, and for a moment whoever is in one batch with them. Whoever
/// waits for longer than the store's patience is told that it is unavailable. So let it be the last
/// thing that the transaction does, and let no answer of another server be waited for behind it.
///
/// # When something fails
/// Each call is behind a savepoint: when it fails, the host's own work is as it was before. One that
/// is not awaited to its end, as by a timeout, has no end that could be undone: the transaction is
/// rolled back, and there is nothing more to take. Within
/// a transaction that is `repeatable read` or stricter, a record that somebody else has changed
/// since its snapshot cannot be written: the store is unavailable then.
///
/// # Speed
/// The session's settings are the host's, and nothing is grouped. For what need not be one with the
/// host's own rows, the store itself is several times faster.
pub struct PostgresTransaction {
    texts: Arc<Texts>,
    trust: Trust,
    transaction: Mutex<Option<Transaction<'static, Postgres>>>,
}

impl PostgresTransaction {
    pub(crate) fn new(texts: Arc<Texts>, transaction: Transaction<'static, Postgres>) -> Self {
        Self { texts, trust: Trust::default(), transaction: Mutex::new(Some(transaction)) }
    }

    /// The transaction, to go on with, to commit or to roll back; dropping it instead rolls it
    /// back. `None` when it was taken already, or went with a call that was not awaited to its end.
    #[must_use]
    pub fn into_inner(self) -> Option<Transaction<'static, Postgres>> {
        self.transaction.into_inner()
    }

    /// The transaction, where the store is shared: what is asked of the store afterwards is
    /// answered with [`StoreError::Unavailable`]. `None` when it was taken already, or went with a
    /// call that was not awaited to its end.
    pub async fn take(&self) -> Option<Transaction<'static, Postgres>> {
        self.transaction.lock().await.take()
    }

    /// Out of its place meanwhile: a call that is dropped drops it, and the driver, which does not
    /// know how far the call had come, is never asked to go on with it.
    async fn lend<T>(
        &self,
        work: impl AsyncFnOnce(&mut Session<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = self.transaction.lock().await;
        let taken = held.take();
        let mut transaction = taken.ok_or_else(|| StoreError::Unavailable(Box::new(Closed)))?;
        let done = work(&mut Session::Host(&mut transaction)).await;
        *held = Some(transaction);
        done
    }
}

impl fmt::Debug for PostgresTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTransaction")
            .field("schema", &self.texts.schema.name())
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for PostgresTransaction {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        let is_due = |write: &Write| match write {
            Write::Insert { due_at, .. } | Write::Update { due_at, .. } => due_at.is_some(),
            Write::Remove { .. } => false,
        };
        let leaves_work = batch.iter().flat_map(Changeset::writes).any(is_due);
        self.lend(async |session: &mut Session<'_>| {
            let verdicts = commit::commit(session, &self.texts, &self.trust, batch).await?;
            if leaves_work {
                // Heard when the host commits, by whoever listens. Only a hint, so it fails nothing.
                let schema = self.texts.schema.name();
                let rung = session.read(async |connection: &mut PgConnection| {
                    sqlx::query(RING).bind(schema).execute(connection).await?;
                    Ok(())
                });
                if let Err(failure) = rung.await {
                    let error = StoreError::from(failure);
                    tracing::debug!(%error, "others will not be woken");
                }
            }
            Ok(verdicts)
        })
        .await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.lend(async |session: &mut Session<'_>| read::get(session, &self.texts, keys).await)
            .await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        let schema = &self.texts.schema;
        self.lend(async |session: &mut Session<'_>| read::list(session, schema, query).await).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        let schema = &self.texts.schema;
        self.lend(async |session: &mut Session<'_>| claim::claim(session, schema, claim).await)
            .await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        let schema = &self.texts.schema;
        self.lend(async |session: &mut Session<'_>| read::entries(session, schema, query).await)
            .await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        let schema = &self.texts.schema;
        self.lend(async |session: &mut Session<'_>| read::balances(session, schema, scope).await)
            .await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        let schema = &self.texts.schema;
        self.lend(async |session: &mut Session<'_>| {
            read::statistics(session, schema, scope, customer).await
        })
        .await
    }
}
