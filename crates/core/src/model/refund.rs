//! Refunds: money of a payment returned to its payer (API §11).

use super::{
    event::{EventKind, Told},
    failure::FailureCode,
    offer::Connection,
    order::Report,
    simulation::Simulation,
};
use crate::value::{
    choice::choice,
    currency::Currency,
    id::{PaymentId, RefundId},
    metadata::Metadata,
    money::{Amount, Overflow},
    scope::Scope,
    text::Text,
    time::{Timestamp, touched},
};

choice! {
    /// Where a refund stands (API §11).
    #[expect(clippy::exhaustive_enums, reason = "a new status of v1 would break every client")]
    RefundStatus {
        /// Stored, its money reserved; the network has not confirmed it yet.
        Created = "created",
        /// The payer has the money back.
        Succeeded = "succeeded",
        /// The network refused it; the reservation is released.
        Failed = "failed",
    }
}

choice! {
    /// What may happen to a refund.
    #[expect(clippy::exhaustive_enums, reason = "the table below matches all of them")]
    RefundStep {
        /// The network confirms it.
        Pay = "pay",
        /// The network refuses it.
        Fail = "fail",
    }
}

choice! {
    /// Why money is returned.
    #[non_exhaustive]
    RefundReason {
        /// It was paid twice.
        Duplicate = "duplicate",
        /// It was not the payer who paid.
        Fraudulent = "fraudulent",
        /// The customer asked for it.
        RequestedByCustomer = "requested_by_customer",
        /// Anything else.
        Other = "other",
    }
}

/// The step is not possible from this status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a refund that is {from} cannot take the step {step}")]
#[expect(clippy::exhaustive_structs, reason = "a refusal names where and what")]
pub struct IllegalRefundStep {
    /// Where the refund stands.
    pub from: RefundStatus,
    /// What was tried.
    pub step: RefundStep,
}

impl RefundStatus {
    /// The status after a step.
    ///
    /// # Errors
    /// [`IllegalRefundStep`] when the table of API §11 has no such row.
    ///
    /// ```
    /// use cauri_core::{RefundStatus, RefundStep};
    /// assert_eq!(RefundStatus::Created.after(RefundStep::Pay), Ok(RefundStatus::Succeeded));
    /// assert!(RefundStatus::Succeeded.after(RefundStep::Fail).is_err());
    /// ```
    pub const fn after(self, step: RefundStep) -> Result<Self, IllegalRefundStep> {
        match (self, step) {
            (Self::Created, RefundStep::Pay) => Ok(Self::Succeeded),
            (Self::Created, RefundStep::Fail) => Ok(Self::Failed),
            (Self::Succeeded | Self::Failed, _) => Err(IllegalRefundStep { from: self, step }),
        }
    }

    /// Do reports say the opposite of how it has ended with them? Then money has moved that the books
    /// do not know, or has not that they do, and people must look.
    ///
    /// ```
    /// use cauri_core::{FailureCode, RefundStatus, Report};
    /// assert!(RefundStatus::Failed.is_contradicted_by(&[Report::Unreachable, Report::Paid]));
    /// assert!(!RefundStatus::Succeeded.is_contradicted_by(&[Report::Paid, Report::Paid]));
    /// let failed = [Report::Failed(FailureCode::RefundRejected)];
    /// assert!(RefundStatus::Succeeded.is_contradicted_by(&failed));
    /// assert!(!RefundStatus::Failed.is_contradicted_by(&failed));
    /// ```
    #[must_use]
    pub fn is_contradicted_by(self, reports: &[Report]) -> bool {
        reports.iter().any(|report| match self {
            Self::Failed => matches!(report, Report::Paid),
            Self::Succeeded => matches!(report, Report::Failed(_)),
            Self::Created => false,
        })
    }
}

/// A refund as it is stored. What the API shows of it is [`crate::wire::Refund`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Refund {
    /// Its id.
    pub id: RefundId,
    /// Whose it is.
    pub scope: Scope,
    /// Where it stands.
    pub status: RefundStatus,
    /// The payment whose money it returns.
    pub payment: PaymentId,
    /// What the payer gets back, in the smallest unit of `currency`.
    pub amount: Amount,
    /// The payment's currency.
    pub currency: Currency,
    /// The share of the payment's fee that the merchant gets back (API §7.2).
    pub fee_returned_amount: Amount,
    /// Why.
    pub reason: Option<RefundReason>,
    /// For people.
    pub description: Option<Text<255>>,
    /// The merchant's own name for it; not unique.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// Why it failed.
    pub failure: Option<FailureCode>,
    /// When it was accepted by us.
    pub created_at: Timestamp,
    /// Strictly increasing with every change of a visible field (API §19.5).
    pub updated_at: Timestamp,
    /// When the network took it on; not shown.
    pub accepted_at: Option<Timestamp>,
    /// When the payer got the money.
    pub succeeded_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
    /// Which gateway carries it; never leaves the engine.
    pub connection: Connection,
    /// When the gateway is to be asked again.
    pub poll_at: Option<Timestamp>,
    /// A scenario that the sandbox was told to play.
    pub simulation: Option<Simulation>,
}

impl Refund {
    /// What is taken from the balance: the amount less the fee given back.
    ///
    /// # Errors
    /// [`Overflow`], which a refund built by this crate never answers.
    ///
    /// ```
    /// use cauri_core::Amount;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.settled(5_000);
    /// let refund = shop.refund(2_000).value;
    /// assert_eq!(refund.fee_returned_amount, Amount::new(40));
    /// assert_eq!(refund.net_amount(), Ok(Amount::new(1_960)));
    /// ```
    pub fn net_amount(&self) -> Result<Amount, Overflow> {
        self.amount.minus(self.fee_returned_amount)
    }

    /// The events that told of it, in their order. Each was told at the refund's `updated_at` of
    /// that moment, which its milestones give back.
    ///
    /// ```
    /// use cauri_core::EventKind;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.settled(5_000);
    /// let told = shop.refund(2_000).value.told();
    /// assert_eq!((told[0].kind, told[0].from), (EventKind::RefundCreated, shop.now()));
    /// ```
    #[must_use]
    pub fn told(&self) -> Vec<Told> {
        let mut told = vec![Told::at(EventKind::RefundCreated, self.created_at)];
        for (kind, milestone) in [
            (EventKind::RefundSucceeded, self.succeeded_at),
            (EventKind::RefundFailed, self.failed_at),
        ] {
            told.extend(milestone.map(|at| Told::at(kind, touched(self.created_at, at))));
        }
        told
    }

    /// When somebody has to do something about it; `None` when nobody has.
    ///
    /// ```
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.settled(5_000);
    /// assert_eq!(shop.refund(2_000).value.due_at(), Some(shop.now())); // to be submitted at once
    /// ```
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        match (self.status, self.accepted_at) {
            (RefundStatus::Created, None) => Some(self.poll_at.unwrap_or(self.created_at)),
            (RefundStatus::Created, Some(_))
            | (RefundStatus::Succeeded | RefundStatus::Failed, _) => self.poll_at,
        }
    }
}
