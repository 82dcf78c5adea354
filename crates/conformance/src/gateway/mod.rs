//! The laws of [`cauri::Gateway`] as a suite anyone can run against their own.
//!
//! A gateway's whole test file, `tests/conforms.rs`, with `harness = false` in `Cargo.toml`:
//!
//! ```text
//! fn main() -> std::process::ExitCode {
//!     gateway::Harness::new("MyGateway", MY_CAPABILITIES, || async { MyRig::begin().await }).main()
//! }
//! ```
//!
//! What a gateway does can only be seen with a network behind it that fails on demand: that is the
//! [`Rig`], and most of the work. Give the network of your rig books of its own; the laws look at
//! them, and never believe the gateway.

mod harness;
mod law;
mod rig;
mod subject;

pub use harness::Harness;
pub use rig::{Conduct, End, Place, Rig};
