//! A schema of its own for each test, in the server that the environment names.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned,
};
use cauri_postgres::{PostgresOptions, PostgresStore};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// Where the tests' server is.
pub fn url() -> String {
    std::env::var("CAURI_TEST_POSTGRES").expect(
        "CAURI_TEST_POSTGRES names no server; `cargo xtask postgres -- cargo test -p cauri-postgres` \
         starts one",
    )
}

/// A schema that is gone when the test is.
#[derive(Debug)]
pub struct Home {
    pub schema: String,
}

impl Home {
    pub fn new() -> Arc<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { schema: format!("Scratch {}-{number}", std::process::id()) })
    }

    pub fn options(&self) -> PostgresOptions {
        PostgresOptions::default().schema(&self.schema)
    }

    pub async fn open(&self) -> PostgresStore {
        PostgresStore::connect_with(&url(), self.options()).await.expect("the server of the tests")
    }

    /// A connection of the test's own, with the schema in its path.
    pub async fn connection(&self) -> PgConnection {
        let mut connection = PgConnection::connect(&url()).await.expect("the server of the tests");
        let path = format!("set search_path = \"{}\"", self.schema);
        sqlx::raw_sql(AssertSqlSafe(path)).execute(&mut connection).await.unwrap();
        connection
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let text = format!("drop schema if exists \"{}\" cascade", self.schema);
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let mut connection = PgConnection::connect(&url()).await.unwrap();
                sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut connection).await.unwrap();
            });
        };
        // The test's own runtime may be ending. Whether it worked is no concern of the test.
        let _ = thread::spawn(work).join();
    }
}

/// A store and its home.
#[derive(Debug)]
pub struct Scratch<S> {
    // Closed before the home is dropped.
    store: S,
    home: Arc<Home>,
}

impl<S: Store> Scratch<S> {
    pub async fn new(around: impl Fn(PostgresStore) -> S) -> Self {
        let home = Home::new();
        Self { store: around(home.open().await), home }
    }

    pub const fn of(store: S, home: Arc<Home>) -> Self {
        Self { store, home }
    }

    pub async fn reopened(self, around: impl Fn(PostgresStore) -> S) -> Self {
        let Self { store, home } = self;
        drop(store);
        Self { store: around(home.open().await), home }
    }
}

#[async_trait]
impl<S: Store> Store for Scratch<S> {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.store.commit(batch).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.store.get(keys).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.store.list(query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.store.claim(claim).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.store.entries(query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.store.balances(scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.store.statistics(scope, customer).await
    }
}
