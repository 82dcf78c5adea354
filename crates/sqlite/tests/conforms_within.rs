//! The laws of stores, within a transaction of a host. It is not durable before the host commits,
//! so that it goes as a store in memory.

use std::process::ExitCode;

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned,
};
use cauri_conformance::Harness;
use cauri_sqlite::{SqliteStore, SqliteTransaction};
use sqlx::{SqlitePool, sqlite::SqliteConnectOptions};

fn main() -> ExitCode {
    Harness::new("SqliteTransaction (in memory)", || async {
        let store = SqliteStore::open_in_memory().await.expect("a database");
        let options = SqliteConnectOptions::new().filename(store.path());
        let pool = SqlitePool::connect_with(options).await.expect("a pool of the host's own");
        let transaction = pool.begin_with("begin immediate").await.expect("a transaction");
        Within { transaction: SqliteTransaction::new(transaction), _file: store }
    })
    .main()
}

#[derive(Debug)]
struct Within {
    transaction: SqliteTransaction,
    _file: SqliteStore,
}

#[async_trait]
impl Store for Within {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.transaction.commit(batch).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.transaction.get(keys).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.transaction.list(query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.transaction.claim(claim).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.transaction.entries(query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.transaction.balances(scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.transaction.statistics(scope, customer).await
    }
}
