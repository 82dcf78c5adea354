//! The store: one writer, many readers.

use std::{fmt, path::Path};

use async_trait::async_trait;
use cauri::{
    Backlog, Balance, Changeset, Claim, ClaimKind, CustomerId, CustomerStatistics, Entry, Key,
    Listed, Query, Record, Scope, Store, StoreError, Timestamp, Verdict, Versioned,
};
use cauri_sql::Migrated;
use sqlx::{
    ConnectOptions as _, Connection as _, Sqlite, SqliteConnection, SqlitePool,
    pool::PoolConnection, sqlite::SqliteConnectOptions,
};
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};

use crate::{
    checkpoint::Checkpoints,
    claim, commit,
    error::{self, Closed, OpenError, at_commit, before},
    open::SqliteOptions,
    read,
};

/// cauri's store in a SQLite database.
///
/// Every commit is on the disk when it answers (`synchronous = full`). Several processes may open
/// the same file; one writes at a time, and who waits longer than
/// [`patience`](SqliteOptions::patience) is told that the store is unavailable.
///
/// One commit at a time is written, whoever asks: wrap it in `cauri::Grouped`, so that callers
/// that wait share the next one.
///
/// ```
/// # fn main() { tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use cauri::{Account, AccountId, Changeset, Id, Key, Store, Timestamp};
/// use cauri_sqlite::SqliteStore;
///
/// let store = SqliteStore::open_in_memory().await?;
/// let id = AccountId::from_uuid(Default::default());
/// let mut changes = Changeset::new();
/// changes.insert(Account { id, created_at: Timestamp::EPOCH }, None);
/// assert_eq!(store.commit(vec![changes]).await?, [Ok(())]);
/// assert!(store.get(&[Key::Account(id)]).await?[0].is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap() }
/// ```
pub struct SqliteStore {
    writer: Mutex<Writer>,
    writing: SqliteConnectOptions,
    migrated: Migrated,
    readers: SqlitePool,
    /// Removed with the store.
    _folder: Option<TempDir>,
}

/// The one connection that writes.
enum Writer {
    Open {
        connection: SqliteConnection,
        checkpoints: Checkpoints,
    },
    /// It failed: the next commit opens another.
    Lost {
        checkpoints: Checkpoints,
    },
    Closed,
}

impl SqliteStore {
    /// What is due of a kind at a moment and nobody has taken on, for metrics. It is found by an
    /// index, whatever there is.
    ///
    /// # Errors
    /// [`StoreError`] when the database could not answer.
    pub async fn backlog(&self, kind: ClaimKind, now: Timestamp) -> Result<Backlog, StoreError> {
        claim::backlog(&mut *self.reader().await?, kind, now).await
    }

    /// Opens a database by its path or `sqlite:` URL, makes it if it is not there, and brings its
    /// schema to this program's version. [`SqliteOptions`] has the same with settings.
    ///
    /// # Errors
    /// As [`SqliteOptions::open`].
    pub async fn open(location: &str) -> Result<Self, OpenError> {
        SqliteOptions::location(location)?.open().await
    }

    /// For tests: a database that lives as long as the store, see [`SqliteOptions::in_memory`].
    ///
    /// # Errors
    /// As [`SqliteOptions::open`].
    pub async fn open_in_memory() -> Result<Self, OpenError> {
        SqliteOptions::in_memory().open().await
    }

    pub(crate) fn new(
        connection: SqliteConnection,
        writing: SqliteConnectOptions,
        migrated: Migrated,
        readers: SqlitePool,
        folder: Option<TempDir>,
    ) -> Self {
        let checkpoints = Checkpoints::start(writing.clone());
        let writer = Mutex::new(Writer::Open { connection, checkpoints });
        Self { writer, writing, migrated, readers, _folder: folder }
    }

    /// Where the database is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.writing.get_filename()
    }

    /// What opening did to the schema.
    ///
    /// ```
    /// # fn main() { tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// let store = cauri_sqlite::SqliteStore::open_in_memory().await.unwrap();
    /// assert_eq!(store.migrated().from, 0);
    /// # }) }
    /// ```
    #[must_use]
    pub const fn migrated(&self) -> Migrated {
        self.migrated
    }

    /// Waits for what is under way and closes every connection; whatever is asked afterwards is
    /// answered with [`StoreError::Unavailable`]. Dropping the store closes them too, but does not
    /// wait.
    pub async fn close(&self) {
        self.readers.close().await;
        let mut writer = self.writer.lock().await;
        match std::mem::replace(&mut *writer, Writer::Closed) {
            Writer::Open { connection, checkpoints } => {
                checkpoints.stop().await;
                // It is committed; what closing would still tidy up, the next opening does.
                let _ = connection.close().await;
            }
            Writer::Lost { checkpoints } => checkpoints.stop().await,
            Writer::Closed => {}
        }
    }

    async fn writer(&self) -> Result<MutexGuard<'_, Writer>, StoreError> {
        let mut writer = self.writer.lock().await;
        if let Writer::Lost { .. } = *writer {
            let connection = self.writing.connect().await.map_err(before)?;
            if let Writer::Lost { checkpoints } = std::mem::replace(&mut *writer, Writer::Closed) {
                *writer = Writer::Open { connection, checkpoints };
            }
        }
        Ok(writer)
    }

    /// A reader. Each statement sees one moment; for several, begin a transaction.
    async fn reader(&self) -> Result<PoolConnection<Sqlite>, StoreError> {
        self.readers.acquire().await.map_err(before)
    }

    /// Runs this within one transaction of the writer. `COMMIT` is the last thing that can fail:
    /// whatever fails before it is rolled back, also when the caller goes away.
    async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<(T, usize), StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer = self.writer().await?;
        let Writer::Open { connection, checkpoints } = &mut *writer else {
            return Err(StoreError::Unavailable(Box::new(Closed)));
        };
        // The write lock from the beginning: a transaction that reads first and asks for it later
        // can be refused for ever. SQLite itself waits for other processes.
        let done = async {
            let mut transaction = connection.begin_with("begin immediate").await.map_err(before)?;
            let (value, rows) = work(&mut transaction).await?;
            transaction.commit().await.map_err(at_commit)?;
            Ok((value, rows))
        }
        .await;
        match done {
            Ok((value, rows)) => {
                checkpoints.count(rows);
                Ok(value)
            }
            Err(error) => {
                writer.lose_unless_busy(&error);
                Err(error)
            }
        }
    }
}

impl Writer {
    /// Lets go of the connection after any failure but that somebody else was writing.
    ///
    /// SQLite itself rolls back when the disk is full, fails or memory runs out. The driver does
    /// not notice: it counts a transaction that is no more, and would begin no other for ever.
    fn lose_unless_busy(&mut self, error: &StoreError) {
        if error::is_only_busy(error) {
            return;
        }
        *self = match std::mem::replace(self, Self::Closed) {
            Self::Open { checkpoints, .. } | Self::Lost { checkpoints } => {
                Self::Lost { checkpoints }
            }
            Self::Closed => Self::Closed,
        };
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for SqliteStore {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.write(async |connection: &mut SqliteConnection| {
            let applied = commit::apply(connection, batch).await?;
            Ok((applied.verdicts, applied.rows))
        })
        .await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        let mut reader = self.reader().await?;
        if keys.len() <= read::KEYS_MAX {
            return read::get(&mut reader, keys).await;
        }
        let mut snapshot = reader.begin().await.map_err(before)?;
        read::get(&mut snapshot, keys).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        let mut reader = self.reader().await?;
        if !read::wants_snapshot(query) {
            return read::list(&mut reader, query).await;
        }
        let mut snapshot = reader.begin().await.map_err(before)?;
        read::list(&mut snapshot, query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        if !claim::is_due(&mut *self.reader().await?, claim).await? {
            return Ok(Vec::new());
        }
        self.write(async |connection: &mut SqliteConnection| {
            let claimed = claim::claim(connection, claim).await?;
            let rows = claimed.len();
            Ok((claimed, rows))
        })
        .await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        let mut reader = self.reader().await?;
        if !read::wants_snapshot(query) {
            return read::entries(&mut reader, query).await;
        }
        let mut snapshot = reader.begin().await.map_err(before)?;
        read::entries(&mut snapshot, query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        read::balances(&mut *self.reader().await?, scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        read::statistics(&mut *self.reader().await?, scope, customer).await
    }
}

#[cfg(test)]
mod tests {
    use cauri_conformance::fixtures::{self, Random};

    use super::*;

    #[tokio::test]
    async fn a_disk_that_was_full_is_written_to_again() {
        let mut random = Random::new(7);
        let scope = random.scope();
        let mut fresh = || {
            let customer = fixtures::customer(&mut random, scope);
            let mut changes = Changeset::new();
            let key = Key::Customer(scope, customer.id);
            changes.insert(customer, None);
            (key, changes)
        };
        let store = SqliteStore::open_in_memory().await.unwrap();
        let mut writer = store.writer.lock().await;
        let Writer::Open { connection, .. } = &mut *writer else { panic!("it is open") };
        // No page more than there are: what a full disk says, SQLite says then.
        sqlx::query("pragma max_page_count = 1").execute(connection).await.unwrap();
        drop(writer);
        let (keys, batch): (Vec<_>, Vec<_>) = (0..200).map(|_| fresh()).unzip();
        let refused = store.commit(batch.clone()).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert!(store.get(&keys).await.unwrap().iter().all(Option::is_none), "nothing was applied");
        // The limit was the lost connection's: there is room now.
        assert_eq!(store.commit(batch).await.unwrap(), vec![Ok(()); 200]);
        assert!(store.get(&keys).await.unwrap().iter().all(Option::is_some));
    }
}
