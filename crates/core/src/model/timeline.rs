//! Timeline lines: the story of one payment (API §9.7).

use super::payment::PaymentStatus;
use crate::value::{
    choice::choice,
    id::{EventId, PaymentId, RefundId},
    money::Amount,
    scope::Scope,
    time::Timestamp,
};

choice! {
    /// What a line tells of.
    #[non_exhaustive]
    TimelineKind {
        /// The payment was created.
        Created = "created",
        /// The network accepted it.
        Processing = "processing",
        /// It was paid.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// It expired.
        Expired = "expired",
        /// It was paid after it had expired.
        LateSuccess = "late_success",
        /// A refund was created.
        RefundCreated = "refund_created",
        /// A refund succeeded.
        RefundSucceeded = "refund_succeeded",
        /// A refund failed.
        RefundFailed = "refund_failed",
        /// Part of it is returned.
        PartiallyRefunded = "partially_refunded",
        /// All of it is returned.
        Refunded = "refunded",
        /// The network said something that changes nothing.
        NetworkReportIgnored = "network_report_ignored",
        /// Its money became available.
        Settled = "settled",
    }
}

choice! {
    /// Who made it happen.
    #[expect(clippy::exhaustive_enums, reason = "the contract knows four")]
    Actor {
        /// The merchant, over the API.
        Api = "api",
        /// The network.
        Network = "network",
        /// Time.
        System = "system",
        /// `POST /v1/sandbox/simulate`.
        Sandbox = "sandbox",
    }
}

/// A line of a payment's timeline as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct TimelineEntry {
    /// Whose.
    pub scope: Scope,
    /// Of which payment.
    pub payment: PaymentId,
    /// Its place, from 1, without gaps.
    pub number: i64,
    /// What it tells of.
    pub kind: TimelineKind,
    /// The payment's status after it.
    pub status: PaymentStatus,
    /// Who made it happen.
    pub actor: Actor,
    /// A sentence for people.
    pub message: String,
    /// The refund's amount, on lines about one.
    pub amount: Option<Amount>,
    /// The refund.
    pub refund: Option<RefundId>,
    /// The event that told of it.
    pub event: Option<EventId>,
    /// When.
    pub created_at: Timestamp,
}
