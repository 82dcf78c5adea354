//! The Postgres store of cauri, for PostgreSQL 14 and later.
//!
//! [`PostgresStore`] keeps everything in one schema of a database that may hold whatever else; any
//! number of nodes share it. Behind `cauri::Grouped`, callers share their transactions.
//! [`PostgresTransaction`] is the same store within a transaction of the host's.
//!
//! # What a batch costs
//! As a rule one round trip: one statement writes every table that the batch touches, takes the
//! numbers of lists and the balances of the ledger on its way, checks what the batch was judged on,
//! and is the whole transaction. So the rows that everybody wants, an account's counters and
//! balances, are never locked while something travels over the network. A batch that something
//! was refused of, or that somebody else was faster than, takes another round trip or two.
//!
//! # What it wants of the server
//! Sessions of its own ([`PostgresOptions`] says how many), `plpgsql` for the one function of the
//! schema, and, where the program may migrate, the right to create the schema. Rights to read,
//! insert, update and delete are enough afterwards.

mod bell;
mod bind;
mod claim;
mod commit;
mod error;
mod facts;
mod held;
mod inspect;
mod location;
mod options;
mod read;
mod schema;
mod sessions;
mod store;
mod text;
mod texts;
mod transaction;
mod undelivered;
mod write;

pub use cauri_sql::Migrated;

pub use bell::PostgresBell;
pub use error::OpenError;
pub use inspect::Inspection;
pub use options::PostgresOptions;
pub use sessions::{PostgresSessions, SessionCount};
pub use store::PostgresStore;
pub use transaction::PostgresTransaction;
