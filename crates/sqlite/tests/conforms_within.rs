//! The laws of stores, within a transaction of a host. It is not durable before the host commits,
//! so that it goes as a store in memory.

use std::process::ExitCode;

use cauri_conformance::{Around, Harness, Outer};
use cauri_sqlite::{SqliteStore, SqliteTransaction};
use sqlx::{SqlitePool, sqlite::SqliteConnectOptions};

fn main() -> ExitCode {
    Harness::new("SqliteTransaction (in memory)", || async {
        let store = SqliteStore::open_in_memory().await.expect("a database");
        let options = SqliteConnectOptions::new().filename(store.path());
        let pool = SqlitePool::connect_with(options).await.expect("a pool of the host's own");
        let transaction = pool.begin_with("begin immediate").await.expect("a transaction");
        Outer(Within { transaction: SqliteTransaction::new(transaction), _file: store })
    })
    .main()
}

#[derive(Debug)]
struct Within {
    transaction: SqliteTransaction,
    _file: SqliteStore,
}

impl Around for Within {
    type Inner = SqliteTransaction;

    fn inner(&self) -> &SqliteTransaction {
        &self.transaction
    }
}
