//! A store of one's own: cauri on [redb](https://docs.rs/redb), an embedded key-value database.
//!
//! It is an example, and a whole store all the same: it upholds every law of [`Store`]. How it came
//! about is told in `docs/write-your-own-store.md`.
//!
//! ```no_run
//! # async fn example() -> Result<(), cauri::StoreError> {
//! use cauri::Grouped;
//! use cauri_example_store_redb::RedbStore;
//!
//! // Each commit waits for the disk: grouped, those who wait share one.
//! let store = Grouped::new(RedbStore::open("cauri.redb").await?);
//! # Ok(()) }
//! ```

mod claim;
mod commit;
mod error;
mod key;
mod read;
mod row;
mod table;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned,
};
use redb::{Database, ReadTransaction, ReadableDatabase};
use tokio::task::spawn_blocking;

use crate::error::Failure;

/// cauri's store in a redb file, which one process may have open at a time.
pub struct RedbStore {
    database: Arc<Database>,
    path: PathBuf,
}

impl RedbStore {
    /// Opens the file, which is made if it is not there.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it cannot be opened, [`StoreError::Broken`] when it is no
    /// database.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let file = path.clone();
        let database = blocking(move || {
            let database = Database::create(file)?;
            table::create_all(&database)?;
            Ok(database)
        });
        Ok(Self { database: Arc::new(database.await?), path })
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads one moment.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let database = Arc::clone(&self.database);
        blocking(move || work(&database.begin_read()?)).await
    }
}

/// redb waits for the disk, and a runtime's own threads must not.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, StoreError> {
    match spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(ended) => Err(StoreError::Unknown(Box::new(ended))),
    }
}

impl fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbStore").field("path", &self.path).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for RedbStore {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        let database = Arc::clone(&self.database);
        blocking(move || commit::commit(&database, batch)).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        let keys = keys.to_vec();
        self.read(move |at| read::get(at, &keys)).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        let query = query.clone();
        self.read(move |at| read::list(at, &query)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        let (database, claim) = (Arc::clone(&self.database), claim.clone());
        blocking(move || claim::claim(&database, &claim)).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        let query = query.clone();
        self.read(move |at| read::entries(at, &query)).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.read(move |at| read::balances(at, scope)).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.read(move |at| read::statistics(at, scope, customer)).await
    }
}
