//! The Postgres store upholds the laws within a transaction of the host's, for whoever is in it.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use std::process::ExitCode;

use cauri_conformance::Harness;
use scratch::{Home, Scratch, url};
use sqlx::PgPool;

fn main() -> ExitCode {
    drop(url());
    let begin = || async {
        let home = Home::new();
        let store = home.open().await;
        let pool = PgPool::connect(&url()).await.unwrap();
        let within = store.within(pool.begin().await.unwrap());
        Scratch::of(within, home)
    };
    // Its name exempts it from law 9: what it is told is kept when the host commits.
    Harness::new("PostgresTransaction, in memory until then", begin).main()
}
