//! Opening a database: how its connections are set, and its schema.

use std::{
    path::{Path, PathBuf},
    str::FromStr as _,
    time::Duration,
};

use cauri_sql::Migrated;
use sqlx::{
    ConnectOptions as _, Connection as _, Row as _, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tempfile::TempDir;

use crate::{
    error::{OpenError, is_busy},
    inspect::{self, Inspection},
    store::SqliteStore,
};

/// The schema, one script for each version.
const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001_first.sql")];

/// How many frames the log may have before a commit brings all of them into the database itself:
/// 64 MiB. Until then a thread of its own does it behind the commits, see `checkpoint`.
const LOG_FRAMES_MAX: u32 = 16_384;

/// To how many bytes the log is cut when it begins anew.
const LOG_BYTES_KEPT: u32 = 67_108_864;

/// Switching a new database to its log takes a lock that SQLite does not wait for.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Where a database is and how it is used.
///
/// ```
/// # fn main() { tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use std::time::Duration;
///
/// use cauri_sqlite::SqliteOptions;
///
/// let store = SqliteOptions::in_memory().readers(2).patience(Duration::from_secs(1));
/// let store = store.open().await?;
/// store.close().await;
/// # Ok::<(), cauri_sqlite::OpenError>(()) }).unwrap() }
/// ```
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    place: Place,
    readers: u32,
    patience: Duration,
}

#[derive(Debug, Clone)]
enum Place {
    File(PathBuf),
    Temporary,
}

impl SqliteOptions {
    /// A database in a file, which is made if it is not there.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::File(path.into()), readers: 4, patience: Duration::from_secs(5) }
    }

    /// A path, or a URL such as `sqlite:///var/lib/shop/cauri.db`. Of a URL only the path counts;
    /// `sqlite::memory:` is [`SqliteOptions::in_memory`].
    ///
    /// # Errors
    /// [`OpenError::Location`] for a URL that is none.
    pub fn location(location: &str) -> Result<Self, OpenError> {
        if !location.starts_with("sqlite:") {
            return Ok(Self::file(location));
        }
        let options = SqliteConnectOptions::from_str(location)
            .map_err(|error| OpenError::Location(Box::new(error)))?;
        let path = options.get_filename();
        let is_memory = location.contains(":memory:") || location.contains("mode=memory");
        Ok(if is_memory { Self::in_memory() } else { Self::file(path) })
    }

    /// For tests: a database that lives as long as its store, and no longer. SQLite's own memory
    /// databases have one connection or one lock; this is a temporary file that nobody waits for
    /// to reach the disk.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { place: Place::Temporary, ..Self::file("") }
    }

    /// The file, where it is one that stays.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::Temporary => None,
        }
    }

    /// How many reads may run at once; 4 unless told. Each is a thread.
    #[must_use]
    pub const fn readers(mut self, readers: u32) -> Self {
        self.readers = readers;
        self
    }

    /// How long to wait for another process that writes to the same file; 5 seconds unless told.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    #[cfg(test)]
    pub(crate) async fn migrated() -> Result<SqliteConnection, OpenError> {
        let mut writer = SqliteConnectOptions::new().in_memory(true).connect().await?;
        migrate(&mut writer, &MIGRATIONS).await?;
        Ok(writer)
    }

    /// Looks at a database that is there, whether it can be read and written and which schema it
    /// has, without changing it.
    ///
    /// # Errors
    /// [`OpenError::Unavailable`] when the file is not there, is no database, or cannot be written.
    ///
    /// ```
    /// # fn main() { tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// use cauri_sqlite::SqliteOptions;
    /// assert!(SqliteOptions::file("/nowhere/cauri.db").inspect().await.is_err());
    /// # }) }
    /// ```
    pub async fn inspect(&self) -> Result<Inspection, OpenError> {
        let options = match &self.place {
            Place::File(path) => SqliteConnectOptions::new().filename(path),
            Place::Temporary => SqliteConnectOptions::new().in_memory(true),
        };
        let options = options.busy_timeout(self.patience).disable_statement_logging();
        inspect::inspect(&options, i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)).await
    }

    /// Opens the database and brings its schema to this program's version.
    ///
    /// # Errors
    /// [`OpenError::NewerSchema`] when a newer program has been there,
    /// [`OpenError::Unavailable`] when the file cannot be opened or written.
    pub async fn open(self) -> Result<SqliteStore, OpenError> {
        let (path, folder) = match &self.place {
            Place::File(path) => {
                private(path);
                (path.clone(), None)
            }
            Place::Temporary => {
                let folder = TempDir::with_prefix("cauri-")
                    .map_err(|error| OpenError::Unavailable(Box::new(error)))?;
                (folder.path().join("cauri.db"), Some(folder))
            }
        };
        let synchronous =
            if folder.is_some() { SqliteSynchronous::Off } else { SqliteSynchronous::Full };
        let both = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .busy_timeout(self.patience)
            .synchronous(synchronous)
            // A whole answer fits, so that the reading thread never waits for us in between.
            .row_buffer_size(1_024)
            .disable_statement_logging();
        let writing = both
            .clone()
            .journal_mode(SqliteJournalMode::Wal)
            // Every text and size of `text`, and what claims ask.
            .statement_cache_capacity(1_024)
            .pragma("wal_autocheckpoint", LOG_FRAMES_MAX.to_string())
            .pragma("journal_size_limit", LOG_BYTES_KEPT.to_string())
            .pragma("cache_size", "-32000")
            .thread_name(|_| "cauri-sqlite-writer".to_owned());
        let mut writer = patiently(&writing, self.patience).await?;
        let migrated = migrate(&mut writer, &MIGRATIONS).await?;
        let reading = both
            .statement_cache_capacity(256)
            .pragma("query_only", "on")
            .thread_name(|id| format!("cauri-sqlite-reader-{id}"));
        let readers: SqlitePool = SqlitePoolOptions::new()
            .max_connections(self.readers.max(1))
            .acquire_timeout(self.patience)
            .test_before_acquire(false)
            .max_lifetime(None)
            .idle_timeout(None)
            .connect_lazy_with(reading);
        Ok(SqliteStore::new(writer, writing, migrated, readers, folder))
    }
}

/// Makes the file for its owner alone, if it is not there: it holds what is personal, and what is
/// sealed. SQLite gives the files beside it the same mode. When that fails, opening it says why.
fn private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // One that is there is not even opened: to close it would let go of the locks of others here.
    drop(options.open(path));
}

/// Connects, and waits where SQLite itself would not.
async fn patiently(
    options: &SqliteConnectOptions,
    patience: Duration,
) -> Result<SqliteConnection, OpenError> {
    let mut waited = Duration::ZERO;
    loop {
        match options.connect().await {
            Err(error) if is_busy(&error) && waited < patience => {
                tokio::time::sleep(BUSY_PAUSE).await;
                waited = waited.saturating_add(BUSY_PAUSE);
            }
            connected => return Ok(connected?),
        }
    }
}

/// Brings the schema to the present version, in one transaction that only one process can be in.
async fn migrate(
    writer: &mut SqliteConnection,
    scripts: &[&'static str],
) -> Result<Migrated, OpenError> {
    let known = i64::try_from(scripts.len()).unwrap_or(i64::MAX);
    let mut transaction = writer.begin_with("begin immediate").await?;
    sqlx::query("create table if not exists cauri_schema (version integer primary key) strict")
        .execute(&mut *transaction)
        .await?;
    let found: i64 = sqlx::query("select coalesce(max(version), 0) from cauri_schema")
        .fetch_one(&mut *transaction)
        .await?
        .try_get(0)?;
    if found > known {
        return Err(OpenError::NewerSchema { found, known });
    }
    for (version, script) in (1_i64..).zip(scripts) {
        if version > found {
            sqlx::raw_sql(*script).execute(&mut *transaction).await?;
            sqlx::query("insert into cauri_schema (version) values (?)")
                .bind(version)
                .execute(&mut *transaction)
                .await?;
        }
    }
    transaction.commit().await?;
    // A connection reads the figures of the last script when it is opened; this one was before.
    sqlx::raw_sql("analyze sqlite_schema").execute(writer).await?;
    Ok(Migrated::new(found, known))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cauri::{Query, Store as _};
    use cauri_conformance::{differential_of, fixtures::History};
    use cauri_memory::MemoryStore;

    use super::*;

    /// What a next version would do.
    const NEXT: &str = "create table planted (id integer primary key) strict;
        alter table payments add column planted integer not null default 7;
        create index payments_planted on payments (planted);
        update payments set planted = 8;";

    /// A store of the schema before, filled by everything that a history does, and the same in
    /// memory.
    async fn filled(path: &Path) -> (SqliteStore, MemoryStore, History) {
        let store = SqliteOptions::file(path).open().await.unwrap();
        let memory = MemoryStore::new();
        let mut history = History::new(4711);
        for _ in 0..300 {
            let batch = history.batch();
            let verdicts = store.commit(batch.clone()).await.unwrap();
            memory.commit(batch.clone()).await.unwrap();
            history.learn(&batch, &verdicts);
        }
        (store, memory, history)
    }

    async fn migrate_file(path: &Path, scripts: &[&'static str]) -> Result<Migrated, OpenError> {
        let mut writer = SqliteConnectOptions::new().filename(path).connect().await?;
        let migrated = migrate(&mut writer, scripts).await?;
        writer.close().await?;
        Ok(migrated)
    }

    #[tokio::test]
    async fn every_migration_keeps_what_is_there_while_the_old_program_reads_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let (old, memory, history) = filled(&path).await;
        let scripts = [&MIGRATIONS[..], &[NEXT]].concat();
        assert_eq!(migrate_file(&path, &scripts).await.unwrap(), Migrated::new(1, 2));
        // Once only: the second time there is nothing to do.
        assert_eq!(migrate_file(&path, &scripts).await.unwrap(), Migrated::new(2, 2));
        // Everything the history made, by key and by list, and the ledger.
        differential_of(&old, &memory, history, 0).await;
        old.close().await;
        let refused = SqliteOptions::file(&path).open().await;
        let known = i64::try_from(MIGRATIONS.len()).unwrap();
        let Err(OpenError::NewerSchema { found, known: own }) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!((found, own), (known + 1, known));
    }

    #[tokio::test]
    async fn a_migration_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let (old, memory, history) = filled(&path).await;
        old.close().await;
        let broken =
            "alter table payments add column planted integer; insert into nowhere values (1);";
        let scripts = [&MIGRATIONS[..], &[NEXT, broken]].concat();
        assert!(migrate_file(&path, &scripts).await.is_err());
        let again = SqliteOptions::file(&path).open().await.expect("the schema it was");
        let any = Query::all(cauri::List::Accounts);
        assert!(again.list(&any).await.unwrap().total > 0, "there is something to keep");
        differential_of(&again, &memory, history, 0).await;
        again.close().await;
    }
}
