//! Deterministic simulation of cauri: several nodes on one store, with networks, receivers and
//! clients, all of which fail; every run is one seed.
//!
//! The seed decides everything: the time, the ids, who has its turn when, and what fails where. A
//! run has two phases. In trouble, everything fails at every await: the store before, after, late
//! and without saying; nodes at any call, and come back; clocks drift and step within what the
//! ports allow; networks answer late, twice, contradictorily or never; receivers hang, answer 500
//! and drop the connection; clients lose patience and ask another node. Then all is calm, and what
//! is under way must come to its end.
//!
//! Whoever looks on sees every commit as it truly happens, and checks it against tables and sums
//! that are written down here a second time. At rest, the books of the simulated networks, the
//! memory of the clients and of the receivers, and the store agree, or a promise is broken.
//!
//! ```
//! let outcome = cauri_sim::simulate(7);
//! assert!(outcome.violations.is_empty());
//! assert_eq!(outcome.hash, cauri_sim::simulate(7).hash);
//! ```

mod client;
mod dice;
mod node;
mod operation;
mod oracle;
mod profile;
mod rails;
mod receiver;
mod run;
mod shrink;
mod store;
mod trace;
mod world;

pub use run::Outcome;
pub use world::Violation;

use world::Plan;

/// Runs one seed.
#[must_use]
pub fn simulate(seed: u64) -> Outcome {
    run::run(Plan::of(seed))
}

/// Runs one seed and keeps what happened, line by line.
#[must_use]
pub fn trace(seed: u64) -> Outcome {
    run::run(Plan { keep_trace: true, ..Plan::of(seed) })
}

/// The shortest run found, with its trace, that breaks the same promise as this outcome: fewer
/// operations and fewer faults, as long as the promise stays broken.
#[must_use]
pub fn shrink(outcome: &Outcome) -> Outcome {
    shrink::shortest(outcome)
}

/// Every row of the transition tables: machine, from, to.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    oracle::tables::rows()
}
