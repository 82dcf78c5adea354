//! The Postgres store upholds the laws behind a group commit.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use std::process::ExitCode;

use cauri::Grouped;
use cauri_conformance::Harness;
use scratch::{Scratch, url};

fn main() -> ExitCode {
    drop(url());
    Harness::new("Grouped<PostgresStore>", || Scratch::new(Grouped::new))
        .reopening(|store| Scratch::reopened(store, Grouped::new))
        .main()
}
