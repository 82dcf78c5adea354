//! Events: what happened, told once and never changed (API §15).

use crate::value::{choice::choice, id::EventId, scope::Scope, time::Timestamp};

choice! {
    /// The kinds of event, the reference's seventeen.
    #[non_exhaustive]
    EventKind {
        /// A payment was created.
        PaymentCreated = "payment.created",
        /// The network accepted it.
        PaymentProcessing = "payment.processing",
        /// It was paid.
        PaymentSucceeded = "payment.succeeded",
        /// It failed.
        PaymentFailed = "payment.failed",
        /// It was cancelled.
        PaymentCancelled = "payment.cancelled",
        /// It expired.
        PaymentExpired = "payment.expired",
        /// All of it was returned.
        PaymentRefunded = "payment.refunded",
        /// Part of it was returned.
        PaymentPartiallyRefunded = "payment.partially_refunded",
        /// A payout was created.
        PayoutCreated = "payout.created",
        /// The network accepted it.
        PayoutProcessing = "payout.processing",
        /// The recipient has the money.
        PayoutSucceeded = "payout.succeeded",
        /// It failed.
        PayoutFailed = "payout.failed",
        /// A refund was created.
        RefundCreated = "refund.created",
        /// The payer has the money back.
        RefundSucceeded = "refund.succeeded",
        /// It failed.
        RefundFailed = "refund.failed",
        /// A payment link was created.
        PaymentLinkCreated = "payment_link.created",
        /// Its one payment succeeded.
        PaymentLinkPaid = "payment_link.paid",
    }
}

/// An event as it is stored: the exact bytes that every attempt sends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// Whose it is.
    pub scope: Scope,
    /// What happened.
    pub kind: EventKind,
    /// When; the resource's `updated_at`.
    pub created: Timestamp,
    /// The body that is sent and signed.
    pub payload: String,
    /// Was it made by `POST /v1/webhooks/test`?
    pub test: bool,
}
