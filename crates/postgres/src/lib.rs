//! The Postgres store of cauri.

mod bind;
mod claim;
mod commit;
mod error;
mod facts;
mod location;
mod options;
mod read;
mod schema;
mod sessions;
mod store;
mod text;
mod texts;
mod transaction;
mod write;

pub use error::OpenError;
pub use options::PostgresOptions;
pub use schema::Migrated;
pub use store::PostgresStore;
pub use transaction::PostgresTransaction;
