//! The contract, asked of the real `cauri-server` over real HTTP.
//!
//! Every story is told once per store: on memory, on SQLite, and, with the feature
//! `postgres-tests`, on the Postgres server that `CAURI_TEST_POSTGRES` names.
//!
//! Stories that share a configuration share a server, where each takes a fresh account, so they
//! run side by side. Nothing is skipped: a story that needs data to outlive a process does not
//! exist for memory, and one that needs two servers exists for Postgres only.
//!
//! ```text
//! cargo test -p cauri-server --test acceptance
//! cargo test -p cauri-server --test acceptance -- refunds::
//! cargo xtask postgres -- cargo test -p cauri-server --test acceptance --features postgres-tests
//! ```
#![expect(clippy::unwrap_used, reason = "a story that meets the unexpected ends there")]

mod administration;
mod attacks;
mod authentication;
mod cli;
mod crash;
mod customers;
mod doctor;
mod events;
mod idempotency;
mod isolation;
mod ledger;
mod lists;
mod observability;
mod operations;
mod parameters;
mod payment_life;
mod payment_links;
mod payment_methods;
mod payments;
mod payouts;
mod rate_limit;
mod receivers;
mod reference;
mod refunds;
mod safety;
mod sandbox;
mod secrecy;
mod slow;
mod support;
mod tenancy;
mod transport;
mod upgrades;
mod webhook_deliveries;
mod webhook_endpoints;

use std::process::ExitCode;

use libtest_mimic::Arguments;
use support::Chapter;

/// Stories mostly wait, so far more of them run at a time than there are processors.
const AT_A_TIME: usize = 16;

/// The slow ones first, so that they wait while the others work.
const CHAPTERS: &[&Chapter] = &[
    &slow::CHAPTER,
    &crash::CHAPTER,
    &operations::CHAPTER,
    &observability::CHAPTER,
    &cli::CHAPTER,
    &administration::CHAPTER,
    &doctor::CHAPTER,
    &authentication::CHAPTER,
    &transport::CHAPTER,
    &parameters::CHAPTER,
    &payments::CHAPTER,
    &payment_life::CHAPTER,
    &lists::CHAPTER,
    &idempotency::CHAPTER,
    &payouts::CHAPTER,
    &refunds::CHAPTER,
    &payment_links::CHAPTER,
    &customers::CHAPTER,
    &payment_methods::CHAPTER,
    &ledger::CHAPTER,
    &webhook_endpoints::CHAPTER,
    &webhook_deliveries::CHAPTER,
    &events::CHAPTER,
    &receivers::CHAPTER,
    &reference::CHAPTER,
    &sandbox::CHAPTER,
    &rate_limit::CHAPTER,
    &safety::CHAPTER,
    &isolation::CHAPTER,
    &tenancy::CHAPTER,
    &attacks::CHAPTER,
    &upgrades::CHAPTER,
    &secrecy::CHAPTER,
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_A_TIME);
    let conclusion = libtest_mimic::run(&arguments, support::trials(CHAPTERS));
    // Servers that stories share end with the last of them.
    let leaks = support::secrecy::leaks();
    for leak in &leaks {
        eprintln!("{leak}");
    }
    if leaks.is_empty() { conclusion.exit_code() } else { ExitCode::FAILURE }
}
