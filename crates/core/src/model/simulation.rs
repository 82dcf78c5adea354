//! What the sandbox was told to play on one object.

use super::scenario::Scenario;
use crate::value::time::Timestamp;

/// A scenario chosen by `POST /v1/sandbox/simulate`, and the moment its delays run from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map both")]
pub struct Simulation {
    /// Which.
    pub scenario: Scenario,
    /// From when.
    pub since: Timestamp,
}
