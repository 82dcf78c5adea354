//! A store within a transaction that its host opened.

use std::fmt;

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned,
};
use sqlx::{Connection as _, Sqlite, SqliteConnection, Transaction};
use tokio::sync::{Mutex, MutexGuard};

use crate::{
    claim, commit,
    error::{Closed, before, broken},
    read,
};

/// cauri's store within a transaction of the host's own: what a use case commits to it becomes
/// true together with the host's rows, when the host commits, or not at all.
///
/// The database must have been opened by [`SqliteOptions`](crate::SqliteOptions) before, so that
/// the tables are there, and the transaction should have been begun with `begin immediate`: one
/// that only asks for the write lock at its first write can be refused it.
///
/// Nothing is sent before the host commits, since nobody else can see what is due.
///
/// # When something fails
/// What a call wrote is undone, and the host's own work is as it was before. There are two
/// exceptions. SQLite itself rolls everything back when the disk is full or fails; and a call that is
/// not awaited to its end, as by a timeout, has no end that could be undone. In both cases the
/// transaction is rolled back, and there is nothing more to take.
///
/// ```
/// # fn main() { tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use cauri::{Account, AccountId, Changeset, Id, Key, Store, Timestamp};
/// use cauri_sqlite::{SqliteStore, SqliteTransaction};
/// use sqlx::SqlitePool;
///
/// let store = SqliteStore::open_in_memory().await?;
/// let pool = SqlitePool::connect_lazy(&format!("sqlite:{}", store.path().display()))?;
///
/// let id = AccountId::from_uuid(Default::default());
/// let mut changes = Changeset::new();
/// changes.insert(Account { id, created_at: Timestamp::EPOCH }, None);
///
/// let within = SqliteTransaction::new(pool.begin_with("begin immediate").await?);
/// assert_eq!(within.commit(vec![changes]).await?, [Ok(())]);
/// assert!(store.get(&[Key::Account(id)]).await?[0].is_none());
///
/// let mut transaction = within.into_inner().unwrap();
/// sqlx::query("create table orders (id integer)").execute(&mut *transaction).await?;
/// transaction.commit().await?;
/// assert!(store.get(&[Key::Account(id)]).await?[0].is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap() }
/// ```
pub struct SqliteTransaction(Mutex<Option<Transaction<'static, Sqlite>>>);

impl SqliteTransaction {
    /// The store within this transaction.
    #[must_use]
    pub fn new(transaction: Transaction<'static, Sqlite>) -> Self {
        Self(Mutex::new(Some(transaction)))
    }

    /// The transaction, to be committed or rolled back; `None` when it was taken already,
    /// or is no more.
    #[must_use]
    pub fn into_inner(self) -> Option<Transaction<'static, Sqlite>> {
        self.0.into_inner()
    }

    /// The transaction, where the store is shared: what is asked of the store afterwards is
    /// answered with [`StoreError::Unavailable`]. `None` when it was taken already, or is no more.
    pub async fn take(&self) -> Option<Transaction<'static, Sqlite>> {
        self.0.lock().await.take()
    }

    /// Out of its place meanwhile: a call that is dropped drops it, and the driver, which does not
    /// know how far the call had come, is never asked to go on with it.
    async fn lent(&self) -> Result<Lent<'_>, StoreError> {
        let mut place = self.0.lock().await;
        let taken = place.take();
        let transaction = taken.ok_or_else(|| StoreError::Unavailable(Box::new(Closed)))?;
        Ok((place, transaction))
    }

    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (mut place, mut transaction) = self.lent().await?;
        let done = work(&mut transaction).await;
        *place = Some(transaction);
        done
    }

    /// Work that is undone alone when it fails, so that the host's transaction is as it was.
    async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (mut place, mut transaction) = self.lent().await?;
        let (done, is_there) = behind_savepoint(&mut transaction, work).await;
        *place = Some(transaction).filter(|_| is_there);
        done
    }
}

type Lent<'a> =
    (MutexGuard<'a, Option<Transaction<'static, Sqlite>>>, Transaction<'static, Sqlite>);

/// Answers also whether the transaction is still there.
async fn behind_savepoint<T>(
    connection: &mut SqliteConnection,
    work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
) -> (Result<T, StoreError>, bool) {
    let mut inner = match connection.begin().await {
        Ok(inner) => inner,
        Err(error) => return (Err(before(error)), true),
    };
    match work(&mut inner).await {
        // The end of a savepoint writes nothing: a failure here is no lost answer.
        Ok(value) => (inner.commit().await.map(|()| value).map_err(broken), true),
        Err(error) => (Err(error), undo(inner).await),
    }
}

/// Undoes what was done since the savepoint; is the transaction around it still there?
///
/// SQLite itself rolls all of it back when the disk is full, fails or memory runs out. The driver
/// does not notice: it would take the next savepoint for one of the host's transaction, which it
/// would begin and commit. So the count is made right again before it ends.
async fn undo(mut inner: Transaction<'_, Sqlite>) -> bool {
    let is_there = sqlx::raw_sql(UNDO).execute(&mut *inner).await.is_ok();
    if !is_there && let Err(error) = sqlx::raw_sql(MEND).execute(&mut *inner).await {
        tracing::warn!(%error, "a transaction was lost, and its connection with it");
    }
    inner.rollback().await.is_ok() && is_there
}

/// The driver's name of the first savepoint in a transaction.
const UNDO: &str = "rollback to _sqlx_savepoint_1";
const MEND: &str = "begin; savepoint _sqlx_savepoint_1";

impl fmt::Debug for SqliteTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTransaction").finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for SqliteTransaction {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.write(async |connection: &mut SqliteConnection| {
            Ok(commit::apply(connection, batch).await?.verdicts)
        })
        .await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.with(async |connection: &mut SqliteConnection| read::get(connection, keys).await).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.with(async |connection: &mut SqliteConnection| read::list(connection, query).await)
            .await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.write(async |connection: &mut SqliteConnection| claim::claim(connection, claim).await)
            .await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.with(async |connection: &mut SqliteConnection| read::entries(connection, query).await)
            .await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.with(async |connection: &mut SqliteConnection| read::balances(connection, scope).await)
            .await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.with(async |connection: &mut SqliteConnection| {
            read::statistics(connection, scope, customer).await
        })
        .await
    }
}
