//! Refunds as they travel (API §11).

use crate::{
    model::refund::RefundReason,
    value::{id::PaymentId, metadata::Metadata, money::Amount, text::Text},
};

/// `POST /v1/refunds` (API §11).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreateRefund {
    /// The payment whose money goes back.
    pub payment: PaymentId,
    /// How much; `None` means all that can still be refunded.
    pub amount: Option<Amount>,
    /// Why.
    pub reason: Option<RefundReason>,
    /// For people.
    pub description: Option<Text<255>>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
}
