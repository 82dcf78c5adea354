//! The laws of cauri's ports as a test suite anyone can run.
//!
//! A store's whole test file, `tests/conforms.rs`, with `harness = false` in `Cargo.toml`:
//!
//! ```no_run
//! # use cauri_memory::MemoryStore;
//! fn main() -> std::process::ExitCode {
//!     cauri_conformance::main("MemoryStore", || async { MemoryStore::new() })
//! }
//! ```
//!
//! Each case of a law is a trial of its own, named after it, so that `cargo test` and `cargo
//! nextest` list, filter and run them like any other test:
//!
//! ```text
//! law_4_an_update_at_another_version_is_refused ... ok
//! ```
//!
//! # What is asked of the factory
//!
//! It makes a **fresh, empty** store for every trial, and is called inside that trial's own
//! runtime (tokio, two workers). Stores made by it must not see one another's records: trials run
//! side by side, and count.
//!
//! A store that outlives its process must also say how it is closed and opened again, or law 9
//! fails: see [`Harness::reopening`].
//!
//! # Beside the laws
//!
//! [`differential`] plays one random history to two stores and compares every answer; the suite
//! does so against `cauri_memory::MemoryStore`. [`fixtures`] makes records, money, questions and
//! histories from a seed. [`ManualClock`], [`SeededEntropy`], [`FaultyStore`] and [`Around`] are
//! for tests of what is built on the ports. [`gateway`] is the same suite for the laws of `cauri::Gateway`.

mod around;
mod clock;
mod differential;
mod entropy;
mod faulty;
pub mod fixtures;
pub mod gateway;
mod harness;
mod law;
mod observe;
mod polled;
mod subject;

pub use around::{Around, Outer};
pub use clock::ManualClock;
pub use differential::{differential, differential_of};
pub use entropy::SeededEntropy;
pub use faulty::{Call, Fault, FaultyStore};
pub use harness::{Harness, main};
pub use polled::polled;
