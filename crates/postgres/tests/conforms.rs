//! The Postgres store upholds the laws.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use std::process::ExitCode;

use cauri_conformance::Harness;
use scratch::{Scratch, url};

fn main() -> ExitCode {
    // Without a server, fail once and say why.
    drop(url());
    Harness::new("PostgresStore", || Scratch::new(|store| store))
        .reopening(|store| Scratch::reopened(store, |store| store))
        .main()
}
