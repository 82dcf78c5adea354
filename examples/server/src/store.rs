//! Where everything is kept.

use std::{process::ExitCode, sync::Arc};

use cauri::{Bell, Engine, Grouped, GroupedOptions, GroupedStats, Store};
use cauri_memory::MemoryStore;
use cauri_postgres::PostgresStore;
use cauri_sqlite::{SqliteOptions, SqliteStore};

use crate::{
    error::{Done, Failure},
    options::StoreOptions,
};

/// A store that is open.
#[derive(Debug, Clone)]
pub(crate) enum Opened {
    Memory(Arc<Grouped<MemoryStore>>),
    Sqlite(Arc<Grouped<SqliteStore>>),
    Postgres(Arc<Grouped<PostgresStore>>),
}

/// Why a location is not one of a store.
#[derive(Debug, thiserror::Error)]
enum NoStore {
    #[error("a store is memory:, sqlite:PATH or postgres://…")]
    Unknown,
    #[error("memory: ends with its process, so that there is nothing in it for others")]
    Forgotten,
}

impl Opened {
    /// Opens a store, and brings its schema up to date.
    pub(crate) async fn at(location: &str) -> Result<Self, Failure> {
        if location == "memory:" {
            return Ok(Self::Memory(Arc::new(Grouped::new(MemoryStore::new()))));
        }
        if let Some(path) = location.strip_prefix("sqlite:") {
            let options = match path.strip_prefix("//") {
                Some(_) => SqliteOptions::location(location)?,
                None => SqliteOptions::file(path),
            };
            // There is one writer: a second batch on its way would only wait for it, and halve both.
            let grouped = GroupedOptions::default().batch_max(64).in_flight_max(1);
            return Ok(Self::Sqlite(Arc::new(Grouped::with(options.open().await?, grouped))));
        }
        if location.starts_with("postgres:") || location.starts_with("postgresql:") {
            let store = PostgresStore::connect(location).await?;
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
            Self::Postgres(store) => Some(Arc::new(store.inner().bell())),
        }
    }

    pub(crate) fn stats(&self) -> GroupedStats {
        match self {
            Self::Memory(store) => store.stats(),
            Self::Sqlite(store) => store.stats(),
            Self::Postgres(store) => store.stats(),
        }
    }

    /// Finishes what is under way and lets go of it.
    pub(crate) async fn close(&self) {
        match self {
            Self::Memory(_) => {}
            Self::Sqlite(store) => store.inner().close().await,
            Self::Postgres(store) => store.inner().close().await,
        }
    }
}

/// A store for one command, beside whatever servers run on it.
#[derive(Debug)]
pub(crate) struct Visit {
    opened: Opened,
    pub(crate) engine: Engine,
}

impl Visit {
    pub(crate) async fn to(at: &StoreOptions) -> Result<Self, Failure> {
        let opened = Opened::at(&at.store).await?;
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

/// `migrate`.
pub(crate) async fn migrate(at: &StoreOptions) -> Done {
    // Opening a store is bringing it up to date.
    let visit = Visit::to(at).await?;
    match &visit.opened {
        Opened::Postgres(store) => {
            let migrated = store.inner().migrated();
            if migrated.from == migrated.to {
                println!("The schema was at version {} already.", migrated.to);
            } else {
                println!("The schema went from version {} to {}.", migrated.from, migrated.to);
            }
        }
        Opened::Memory(_) | Opened::Sqlite(_) => println!("The schema is up to date."),
    }
    visit.end().await;
    Ok(ExitCode::SUCCESS)
}
