//! Events: what happened, told once and never changed (API §15).

use std::fmt;

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

impl EventKind {
    /// What kinds like this one tell of, as objects name themselves: `payment_link`.
    ///
    /// ```
    /// use cauri_core::EventKind;
    /// assert_eq!(EventKind::PaymentLinkPaid.object(), "payment_link");
    /// ```
    #[must_use]
    pub fn object(self) -> &'static str {
        self.as_str().split_once('.').map_or("", |(object, _)| object)
    }
}

/// An event that must have been told of an object, as the object itself remembers it: which kind,
/// and from when to when its `created` can be.
///
/// So the events of an object are found by the index over kinds and dates, and no event pays for
/// an index over the objects that events are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a kind and a range")]
pub struct Told {
    /// Of which kind it is.
    pub kind: EventKind,
    /// When it was told at the earliest.
    pub from: Timestamp,
    /// Before when it was told.
    pub to: Timestamp,
}

impl Told {
    /// An event that was told at this very moment.
    pub(crate) fn at(kind: EventKind, moment: Timestamp) -> Self {
        Self { kind, from: moment, to: moment.plus_millis(1) }
    }
}

/// An event as it is stored: the exact bytes that every attempt sends.
#[derive(Clone, PartialEq, Eq)]
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

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The payload has the payer in it.
        f.debug_struct("Event")
            .field("id", &self.id)
            .field("scope", &self.scope)
            .field("kind", &self.kind)
            .field("created", &self.created)
            .field("payload", &format_args!("{} bytes", self.payload.len()))
            .field("test", &self.test)
            .finish()
    }
}
