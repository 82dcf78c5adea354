//! The sandbox's tools as they travel (API §17).

use crate::{
    model::scenario::Scenario,
    value::{currency::Currency, id::OrderId, money::Amount},
};

/// `POST /v1/sandbox/fund` (API §17.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct Fund {
    /// How much test money.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
}

/// `POST /v1/sandbox/simulate` (API §17.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct Simulate {
    /// On which object.
    pub id: OrderId,
    /// What.
    pub scenario: Scenario,
}
