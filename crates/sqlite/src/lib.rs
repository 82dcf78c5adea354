//! The SQLite store of cauri.

mod bind;
mod checkpoint;
mod claim;
mod commit;
mod error;
mod open;
#[cfg(test)]
mod plans;
mod read;
mod store;
mod text;

pub use error::OpenError;
pub use open::SqliteOptions;
pub use store::SqliteStore;
