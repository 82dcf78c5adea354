//! What `POST /v1/sandbox/simulate` answers: the changed object (API §17.2).

use serde::{Deserialize, Serialize};

use super::{payment::Payment, payout::Payout, refund::Refund};

/// A payment, a payout or a refund; each says which it is in its `object`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "a new kind of order must stop every match")]
pub enum Simulated {
    /// A payment.
    Payment(Payment),
    /// A payout.
    Payout(Payout),
    /// A refund.
    Refund(Refund),
}
