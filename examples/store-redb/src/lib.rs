//! A store of one's own: cauri on [redb](https://docs.rs/redb), an embedded key-value database.
//!
//! It is an example, and a whole store all the same: it upholds every law of [`Store`]. How it came
//! about is told in `docs/write-your-own-store.md`.
//!
//! Each commit waits for the disk: wrapped in [`cauri::Grouped`], those who wait share one.

mod claim;
mod commit;
mod error;
mod read;
mod row;
mod table;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned,
};
use redb::Database;
use tokio::task::spawn_blocking;

use crate::error::Failure;

/// cauri's store in a redb file, which one process may have open at a time.
#[derive(Debug)]
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
        blocking(move || {
            let database = Arc::new(Database::create(&path)?);
            table::create_all(&database)?;
            Ok(Self { database, path })
        })
        .await
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let database = Arc::clone(&self.database);
        blocking(move || work(&database)).await
    }
}

/// redb waits for the disk, and a runtime's own threads must not.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, StoreError> {
    let done = spawn_blocking(work).await;
    Ok(done.map_err(|ended| StoreError::Unknown(Box::new(ended)))??)
}

#[async_trait]
impl Store for RedbStore {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.with(|database| commit::commit(database, batch)).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        let keys = keys.to_vec();
        self.with(move |database| read::get(database, &keys)).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        let query = query.clone();
        self.with(move |database| read::list(database, &query)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        let claim = claim.clone();
        self.with(move |database| claim::claim(database, &claim)).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        let query = query.clone();
        self.with(move |database| read::entries(database, &query)).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.with(move |database| read::balances(database, scope)).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.with(move |database| read::statistics(database, scope, customer)).await
    }
}
