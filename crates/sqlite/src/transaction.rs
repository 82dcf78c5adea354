//! A store within a transaction that its host opened.

use std::fmt;

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned,
};
use sqlx::{Acquire as _, Sqlite, SqliteConnection, Transaction};
use tokio::sync::Mutex;

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

    /// The transaction, to be committed or rolled back; `None` when it was taken already.
    #[must_use]
    pub fn into_inner(self) -> Option<Transaction<'static, Sqlite>> {
        self.0.into_inner()
    }

    /// The transaction, where the store is shared: what is asked of the store afterwards is
    /// answered with [`StoreError::Unavailable`]. `None` when it was taken already.
    pub async fn take(&self) -> Option<Transaction<'static, Sqlite>> {
        self.0.lock().await.take()
    }

    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut transaction = self.0.lock().await;
        let Some(transaction) = transaction.as_mut() else {
            return Err(StoreError::Unavailable(Box::new(Closed)));
        };
        work(transaction).await
    }

    /// Work that is undone alone when it fails, so that the host's transaction is as it was.
    async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut transaction = self.0.lock().await;
        let Some(transaction) = transaction.as_mut() else {
            return Err(StoreError::Unavailable(Box::new(Closed)));
        };
        let mut inner = transaction.begin().await.map_err(before)?;
        let value = work(&mut inner).await?;
        // The end of a savepoint writes nothing: a failure here is no lost answer.
        inner.commit().await.map_err(broken)?;
        Ok(value)
    }
}

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
