//! Where everything is kept.

use std::{path::PathBuf, sync::Arc, time::Duration};

use cauri::{
    Backlog, Bell, ClaimKind, Engine, Grouped, GroupedOptions, GroupedStats, Meter, Observed,
    Store, StoreError, Timestamp,
};
use cauri_memory::MemoryStore;
use cauri_postgres::{PostgresSessions, PostgresStore};
use cauri_sqlite::{SqliteOptions, SqliteStore};
use tokio::time::timeout;

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
    #[error("a store is memory:, sqlite:PATH or postgres://…")]
    Unknown,
    #[error("memory: ends with its process, so that there is nothing in it for others")]
    Forgotten,
    #[error("the database did not answer within {} s: look at host, port and firewalls", PATIENCE.as_secs())]
    Silent,
    #[error("{} is not there", .0.display())]
    Absent(PathBuf),
}

/// A location on SQLite, if it is one.
pub(crate) fn sqlite(location: &str) -> Option<Result<SqliteOptions, Failure>> {
    let path = location.strip_prefix("sqlite:")?;
    Some(match path.strip_prefix("//") {
        Some(_) => SqliteOptions::location(location).map_err(Failure::from),
        None => Ok(SqliteOptions::file(path)),
    })
}

pub(crate) fn is_postgres(location: &str) -> bool {
    location.starts_with("postgres:") || location.starts_with("postgresql:")
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

impl Opened {
    /// Opens a store, and brings its schema up to date.
    pub(crate) async fn at(location: &str, meter: Arc<dyn Meter>) -> Result<Self, Failure> {
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
    /// A store that is there: in one that is made because its name was mistyped, every audit holds.
    pub(crate) async fn to(at: &StoreOptions) -> Result<Self, Failure> {
        if let Some(options) = sqlite(&at.store) {
            let path = options?.path().map(PathBuf::from);
            if let Some(path) = path.filter(|it| !it.exists()) {
                return Err(NoStore::Absent(path).into());
            }
        }
        Self::or_make(at).await
    }

    /// A store that is made where there is none.
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

    /// As some poolers do whose server is gone.
    #[tokio::test(start_paused = true)]
    async fn a_database_that_says_nothing_is_not_waited_for() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let store = format!("postgres://x@{}/x", silent.local_addr().unwrap());
        let visit = Visit::to(&StoreOptions { store }).await;
        let said = visit.map(drop).unwrap_err().to_string();
        assert!(said.contains("did not answer within 10 s"), "{said}");
    }
}
