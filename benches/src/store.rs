//! Stores by name.

use std::{error::Error, sync::Arc};

use cauri::{Grouped, GroupedOptions, Store};
use cauri_memory::MemoryStore;
use cauri_postgres::PostgresStore;
use cauri_sqlite::SqliteStore;

/// A store, and the group commit around it where there is one.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// What the engine is given.
    pub store: Arc<dyn Store>,
    /// The group commit.
    pub grouped: Option<Arc<Grouped<Arc<dyn Store>>>>,
}

/// Opens `memory:`, `sqlite:PATH` or `postgres://…`; the schema is brought up to date.
///
/// # Errors
/// What the store says.
pub async fn open(
    location: &str,
    group: bool,
    options: Option<GroupedOptions>,
) -> Result<Opened, Box<dyn Error + Send + Sync>> {
    let bare: Arc<dyn Store> = if location == "memory:" {
        Arc::new(MemoryStore::new())
    } else if location.starts_with("postgres") {
        Arc::new(PostgresStore::connect(location).await?)
    } else {
        Arc::new(SqliteStore::open(location).await?)
    };
    // One writer: a second batch on its way would only wait for it.
    let sqlite = GroupedOptions::default().batch_max(64).in_flight_max(1);
    let usual = if location.starts_with("sqlite") { sqlite } else { GroupedOptions::default() };
    // Memory commits inline; there is nothing to wait for that others could share.
    if !group || location == "memory:" {
        return Ok(Opened { store: bare, grouped: None });
    }
    let grouped = Arc::new(Grouped::with(bare, options.unwrap_or(usual)));
    Ok(Opened { store: grouped.clone(), grouped: Some(grouped) })
}
