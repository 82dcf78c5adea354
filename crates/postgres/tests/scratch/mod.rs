//! A schema of its own for each test, in the server that the environment names.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use cauri::Store;
use cauri_conformance::{Around, Outer};
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
    pub async fn new(around: impl Fn(PostgresStore) -> S) -> Outer<Self> {
        let home = Home::new();
        Self::of(around(home.open().await), home)
    }

    pub const fn of(store: S, home: Arc<Home>) -> Outer<Self> {
        Outer(Self { store, home })
    }

    pub async fn reopened(outer: Outer<Self>, around: impl Fn(PostgresStore) -> S) -> Outer<Self> {
        let Outer(Self { store, home }) = outer;
        drop(store);
        Self::of(around(home.open().await), home)
    }
}

impl<S: Store> Around for Scratch<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.store
    }
}
