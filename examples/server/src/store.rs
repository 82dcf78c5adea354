//! Where everything is kept.

use std::{
    cmp::Ordering,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cauri::{
    Backlog, Bell, ClaimKind, Engine, Grouped, GroupedOptions, GroupedStats, Meter, Observed,
    Store, StoreError, Timestamp,
};
use cauri_memory::MemoryStore;
use cauri_postgres::{PostgresSessions, PostgresStore};
use cauri_sqlite::{SqliteOptions, SqliteStore};
use tokio::time::timeout;
use url::Url;

use crate::{error::Failure, metrics::Counts, options::StoreOptions};

/// How long a store may take to let us in.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A store that is open.
#[derive(Debug, Clone)]
pub(crate) enum Opened {
    Memory(Arc<Grouped<Observed<MemoryStore>>>),
    Sqlite(Arc<Grouped<Observed<SqliteStore>>>),
    Postgres(Arc<Grouped<Observed<PostgresStore>>>),
}

/// Why a location is not one of a store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoStore {
    #[error("a store is memory:, sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")]
    Unknown,
    #[error("sqlite: wants the path of a file, as in sqlite:cauri.db; memory: forgets everything")]
    Pathless,
    #[error("memory: ends with its process, so that there is nothing in it for others")]
    Forgotten,
    #[error("the database did not answer within {} s: look at host, port and firewalls", PATIENCE.as_secs())]
    Silent,
    #[error(
        "the database lets this user read, but not write: a standby is not written to; else grant \
         insert and update on the tables and delete on idempotency, or serve reads alone with \
         --no-worker"
    )]
    Unwritable,
    #[error("{} is not there", .0.display())]
    Absent(PathBuf),
    #[error("there is no cauri schema here; `serve`, `migrate` and `accounts create` make one")]
    Foreign,
    #[error(
        "the database has schema {found}; this program needs schema {known}: back the store up, \
         then run `cauri-server migrate`"
    )]
    Older { found: i64, known: i64 },
    #[error("the database has schema {found}; this program knows schemas up to {known}")]
    Newer { found: i64, known: i64 },
    /// What is wrong with the one of this name.
    #[error("{place}")]
    At { place: String, source: Failure },
}

/// A location on SQLite, if it is one.
pub(crate) fn sqlite(location: &str) -> Option<Result<SqliteOptions, Failure>> {
    let path = location.strip_prefix("sqlite:")?;
    let options = match path.strip_prefix("//") {
        Some(_) => SqliteOptions::location(location).map_err(Failure::from),
        None => Ok(SqliteOptions::file(path)),
    };
    // To SQLite they are databases that nobody else sees and that nobody finds again.
    let is_file = |path: &Path| path != Path::new("") && path != Path::new(":memory:");
    Some(options.and_then(|options| match options.path().is_some_and(is_file) {
        true => Ok(options),
        false => Err(NoStore::Pathless.into()),
    }))
}

pub(crate) fn is_postgres(location: &str) -> bool {
    location.starts_with("postgres:") || location.starts_with("postgresql:")
}

/// What a location is called where others may read it: never with a password.
pub(crate) fn place(location: &str) -> String {
    if let Some(options) = sqlite(location) {
        let path =
            options.ok().and_then(|options| options.path().map(|it| it.display().to_string()));
        return path.unwrap_or_else(|| "the store".to_owned());
    }
    let Ok(url) = Url::parse(location) else { return "the store".to_owned() };
    let asked = |name| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value);
    let host = asked("host").unwrap_or_else(|| url.host_str().unwrap_or("localhost").into());
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("postgres://{host}{port}{}", url.path())
}

/// Opens a database that answers. What changes its schema takes as long as it takes.
async fn postgres(location: &str) -> Result<PostgresStore, Failure> {
    let looked = timeout(PATIENCE, PostgresStore::inspect(location));
    // Whatever is wrong but silence, opening it tells as well.
    let is_old =
        looked.await.map_err(|_| NoStore::Silent)?.is_ok_and(|found| found.version < found.known);
    let opening = PostgresStore::connect(location);
    if is_old {
        return Ok(opening.await?);
    }
    Ok(timeout(PATIENCE, opening).await.map_err(|_| NoStore::Silent)??)
}

/// Looks whether a store has the schema of this program, and changes nothing.
async fn look(location: &str) -> Result<(), Failure> {
    let (found, known) = if let Some(options) = sqlite(location) {
        let options = options?;
        if let Some(path) = options.path().filter(|path| !path.exists()) {
            return Err(NoStore::Absent(path.to_owned()).into());
        }
        let found = options.inspect().await?;
        (found.version, found.known)
    } else if is_postgres(location) {
        let looked = timeout(PATIENCE, PostgresStore::inspect(location)).await;
        let found = looked.map_err(|_| NoStore::Silent)??;
        (found.version, found.known)
    } else if location == "memory:" {
        return Err(NoStore::Forgotten.into());
    } else {
        return Err(NoStore::Unknown.into());
    };
    match found.cmp(&known) {
        Ordering::Equal => Ok(()),
        Ordering::Less if found == 0 => Err(NoStore::Foreign.into()),
        Ordering::Less => Err(NoStore::Older { found, known }.into()),
        Ordering::Greater => Err(NoStore::Newer { found, known }.into()),
    }
}

/// What went wrong, and with which store; what a location is not, it is not by any name.
fn named(location: &str, error: Failure) -> Failure {
    use NoStore::{Absent, Forgotten, Pathless, Unknown};
    match error.downcast_ref() {
        Some(Absent(_) | Forgotten | Pathless | Unknown) => error,
        _ => NoStore::At { place: place(location), source: error }.into(),
    }
}

impl Opened {
    /// Opens a store, and brings its schema up to date.
    pub(crate) async fn at(location: &str, meter: Arc<dyn Meter>) -> Result<Self, Failure> {
        Self::open(location, meter).await.map_err(|error| named(location, error))
    }

    /// The same for a worker, which writes down what it does: not a store that may only be read.
    pub(crate) async fn for_work(location: &str, meter: Arc<dyn Meter>) -> Result<Self, Failure> {
        let opened = Self::at(location, meter).await?;
        match opened.is_writable(location).await {
            Ok(true) => Ok(opened),
            Ok(false) => Err(named(location, NoStore::Unwritable.into())),
            Err(error) => Err(named(location, error)),
        }
    }

    /// Is it? A file of SQLite is written to as soon as it is opened.
    async fn is_writable(&self, location: &str) -> Result<bool, Failure> {
        match self {
            Self::Memory(_) | Self::Sqlite(_) => Ok(true),
            Self::Postgres(_) => {
                let looked = timeout(PATIENCE, PostgresStore::inspect(location));
                Ok(looked.await.map_err(|_| NoStore::Silent)??.writable)
            }
        }
    }

    async fn open(location: &str, meter: Arc<dyn Meter>) -> Result<Self, Failure> {
        if location == "memory:" {
            let store = Observed::new(MemoryStore::new(), "memory").meter(meter);
            return Ok(Self::Memory(Arc::new(Grouped::new(store))));
        }
        if let Some(options) = sqlite(location) {
            let options = options?;
            // There is one writer: a second batch on its way would only wait for it, and halve both.
            let grouped = GroupedOptions::default().batch_max(64).in_flight_max(1);
            let store = Observed::new(options.open().await?, "sqlite").meter(meter);
            return Ok(Self::Sqlite(Arc::new(Grouped::with(store, grouped))));
        }
        if is_postgres(location) {
            let store = postgres(location).await?;
            let store = Observed::new(store, "postgresql").meter(meter);
            return Ok(Self::Postgres(Arc::new(Grouped::new(store))));
        }
        Err(NoStore::Unknown.into())
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => store.clone(),
            Self::Sqlite(store) => store.clone(),
            Self::Postgres(store) => store.clone(),
        }
    }

    /// What wakes other servers on the same store, where there can be any.
    pub(crate) fn bell(&self) -> Option<Arc<dyn Bell>> {
        match self {
            Self::Memory(_) | Self::Sqlite(_) => None,
            Self::Postgres(store) => Some(Arc::new(store.inner().inner().bell())),
        }
    }

    pub(crate) fn stats(&self) -> GroupedStats {
        match self {
            Self::Memory(store) => store.stats(),
            Self::Sqlite(store) => store.stats(),
            Self::Postgres(store) => store.stats(),
        }
    }

    /// What is due of a kind and nobody has taken on.
    pub(crate) async fn backlog(
        &self,
        kind: ClaimKind,
        now: Timestamp,
    ) -> Result<Backlog, StoreError> {
        match self {
            Self::Memory(store) => Ok(store.inner().inner().backlog(kind, now)),
            Self::Sqlite(store) => store.inner().inner().backlog(kind, now).await,
            Self::Postgres(store) => store.inner().inner().backlog(kind, now).await,
        }
    }

    /// The connections of its own, where it has some.
    pub(crate) fn sessions(&self) -> Option<PostgresSessions> {
        match self {
            Self::Memory(_) | Self::Sqlite(_) => None,
            Self::Postgres(store) => Some(store.inner().inner().sessions()),
        }
    }

    /// Finishes what is under way and lets go of it.
    pub(crate) async fn close(&self) {
        match self {
            Self::Memory(_) => {}
            Self::Sqlite(store) => store.inner().inner().close().await,
            Self::Postgres(store) => store.inner().inner().close().await,
        }
    }
}

/// A store for one command, beside whatever servers run on it.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) opened: Opened,
    pub(crate) engine: Engine,
}

impl Visit {
    /// A store that is there, with its schema: in one that is made because its name was mistyped,
    /// or because a restore brought nothing back, every audit holds.
    pub(crate) async fn to(at: &StoreOptions) -> Result<Self, Failure> {
        look(&at.store).await.map_err(|error| named(&at.store, error))?;
        Self::or_make(at).await
    }

    /// A store that is made where there is none, and brought up to date where it is older.
    pub(crate) async fn or_make(at: &StoreOptions) -> Result<Self, Failure> {
        // Nobody asks a command for its numbers.
        let opened = Opened::at(&at.store, Arc::new(Counts::default())).await?;
        if matches!(opened, Opened::Memory(_)) {
            return Err(NoStore::Forgotten.into());
        }
        let engine = Engine::builder(opened.store()).build()?;
        Ok(Self { opened, engine })
    }

    pub(crate) async fn end(self) {
        self.opened.close().await;
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::error::chain;

    /// As some poolers do whose server is gone.
    #[tokio::test(start_paused = true)]
    async fn a_database_that_says_nothing_is_not_waited_for() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let store = format!("postgres://x@{}/x", silent.local_addr().unwrap());
        let visit = Visit::to(&StoreOptions { store }).await;
        let error = visit.map(drop).unwrap_err();
        let said = chain(&*error);
        assert!(said.contains("did not answer within 10 s"), "{said}");
    }

    #[test]
    fn a_place_is_named_without_its_password() {
        for (location, expected) in [
            ("sqlite:a/x.db", "a/x.db"),
            (
                "postgres://me:se%40cret@db.example:5433/shop?x=secret",
                "postgres://db.example:5433/shop",
            ),
            ("postgresql://me@x/shop?host=/tmp/pg&password=secret", "postgres:///tmp/pg/shop"),
            ("postgres://me:sec/ret@db/shop", "the store"),
        ] {
            assert_eq!(place(location), expected, "{location}");
        }
    }

    #[test]
    fn sqlite_wants_a_file() {
        for location in ["sqlite:", "sqlite::memory:", "sqlite://", "sqlite://:memory:"] {
            assert!(sqlite(location).is_some_and(|it| it.is_err()), "{location}");
        }
        assert!(sqlite("sqlite:///x.db").is_some_and(|it| it.is_ok()));
    }
}
