//! The SQLite store of cauri.
//!
//! ```
//! # fn main() { tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use cauri::{Grouped, GroupedOptions};
//! use cauri_sqlite::SqliteStore;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("cauri.db");
//! # let path = path.to_str().unwrap();
//! let store = SqliteStore::open(path).await?;
//! let store = Grouped::with(store, GroupedOptions::default().batch_max(64).in_flight_max(1));
//! store.inner().close().await;
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap() }
//! ```
//!
//! # How it writes
//! One connection writes, and several read. A batch of changesets is one transaction that takes
//! the write lock first (`begin immediate`), reads the versions, balances and counters that the
//! batch is about, lets `cauri_core::judge` decide, and writes rows, many in a statement. It is on
//! the disk (`synchronous = full`) when it is answered. Batches of some 64 changesets are best, one
//! at a time: larger ones gain little and take longer, and a second one on its way only waits for
//! the first, with callers in it that could have shared a larger batch.
//!
//! # Several processes
//! May open one file on one machine. Each waits for the other's write, as long as
//! [`SqliteOptions::patience`] says, and then answers that the store is unavailable; nothing was
//! applied. Only a failure of `COMMIT` itself leaves open whether a batch was applied.
//!
//! # The schema
//! Opening a database brings its schema to this program's version. A newer one is refused.

mod bind;
mod checkpoint;
mod claim;
mod commit;
mod error;
mod inspect;
mod open;
#[cfg(test)]
mod plans;
mod read;
mod store;
mod text;
mod transaction;

pub use cauri_sql::Migrated;

pub use error::OpenError;
pub use inspect::Inspection;
pub use open::SqliteOptions;
pub use store::SqliteStore;
pub use transaction::SqliteTransaction;
