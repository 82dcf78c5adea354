//! Payouts: money sent out (API §10).

use super::{
    event::{EventKind, Told},
    failure::FailureCode,
    offer::Connection,
    order::Report,
    simulation::Simulation,
};
use crate::value::{
    choice::choice,
    country::Country,
    currency::Currency,
    id::{CustomerId, PayoutId},
    metadata::Metadata,
    method::{Network, PaymentMethod},
    money::{Amount, Overflow},
    phone::Phone,
    scope::Scope,
    text::Text,
    time::{Timestamp, touched},
};

choice! {
    /// Where a payout stands (API §10).
    #[expect(clippy::exhaustive_enums, reason = "a new status of v1 would break every client")]
    PayoutStatus {
        /// Stored, its money reserved, and not yet accepted by the network.
        Created = "created",
        /// The network works on it.
        Processing = "processing",
        /// The recipient has the money.
        Succeeded = "succeeded",
        /// The recipient will never get it; the reservation is released.
        Failed = "failed",
    }
}

choice! {
    /// What may happen to a payout.
    #[expect(clippy::exhaustive_enums, reason = "the table below matches all of them")]
    PayoutStep {
        /// The network accepted the request.
        Accept = "accept",
        /// The network says paid.
        Pay = "pay",
        /// The network refused it, could not be reached, or says failed.
        Fail = "fail",
    }
}

/// The step is not possible from this status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payout that is {from} cannot take the step {step}")]
#[expect(clippy::exhaustive_structs, reason = "a refusal names where and what")]
pub struct IllegalPayoutStep {
    /// Where the payout stands.
    pub from: PayoutStatus,
    /// What was tried.
    pub step: PayoutStep,
}

impl PayoutStatus {
    /// The status after a step.
    ///
    /// # Errors
    /// [`IllegalPayoutStep`] when the table of API §10 has no such row.
    ///
    /// ```
    /// use cauri_core::{PayoutStatus, PayoutStep};
    /// assert_eq!(PayoutStatus::Created.after(PayoutStep::Fail), Ok(PayoutStatus::Failed));
    /// assert!(PayoutStatus::Failed.after(PayoutStep::Pay).is_err());
    /// ```
    pub const fn after(self, step: PayoutStep) -> Result<Self, IllegalPayoutStep> {
        match (self, step) {
            (Self::Created, PayoutStep::Accept) => Ok(Self::Processing),
            (Self::Created | Self::Processing, PayoutStep::Fail) => Ok(Self::Failed),
            (Self::Processing, PayoutStep::Pay) => Ok(Self::Succeeded),
            (Self::Created | Self::Processing | Self::Succeeded | Self::Failed, _) => {
                Err(IllegalPayoutStep { from: self, step })
            }
        }
    }

    /// Is the network still expected to say something?
    ///
    /// ```
    /// use cauri_core::PayoutStatus;
    /// assert!(PayoutStatus::Created.is_open());
    /// assert!(!PayoutStatus::Failed.is_open());
    /// ```
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::Processing)
    }

    /// Do reports say the opposite of how it has ended with them? Then money has moved that the books do not know,
    /// or has not that they do, and people must look.
    ///
    /// ```
    /// use cauri_core::{FailureCode, PayoutStatus, Report};
    /// assert!(PayoutStatus::Failed.is_contradicted_by(&[Report::Paid]));
    /// // Also in one breath: what could not be sent has failed, and was paid all the same.
    /// assert!(PayoutStatus::Failed.is_contradicted_by(&[Report::Unreachable, Report::Paid]));
    /// assert!(!PayoutStatus::Succeeded.is_contradicted_by(&[Report::Paid]));
    /// let failed = [Report::Failed(FailureCode::NetworkError)];
    /// assert!(PayoutStatus::Succeeded.is_contradicted_by(&failed));
    /// assert!(!PayoutStatus::Processing.is_contradicted_by(&failed));
    /// ```
    #[must_use]
    pub fn is_contradicted_by(self, reports: &[Report]) -> bool {
        reports.iter().any(|report| match self {
            Self::Failed => matches!(report, Report::Paid),
            Self::Succeeded => matches!(report, Report::Failed(_)),
            Self::Created | Self::Processing => false,
        })
    }
}

/// A payout as it is stored. What the API shows of it is [`crate::wire::Payout`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Payout {
    /// Its id.
    pub id: PayoutId,
    /// Whose it is.
    pub scope: Scope,
    /// Where it stands.
    pub status: PayoutStatus,
    /// What the recipient gets, in the smallest unit of `currency`.
    pub amount: Amount,
    /// The currency of every sum here.
    pub currency: Currency,
    /// What the merchant pays on top; quoted at creation.
    pub fee_amount: Amount,
    /// By which method.
    pub method: PaymentMethod,
    /// Over which network.
    pub network: Network,
    /// Where the recipient is.
    pub country: Country,
    /// The recipient's phone.
    pub phone: Phone,
    /// The recipient's name.
    pub recipient_name: Option<Text<100>>,
    /// Who gets it, where the merchant keeps a record of them.
    pub customer: Option<CustomerId>,
    /// The merchant's own name for it; not unique.
    pub reference: Option<Text<100>>,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// Why it failed.
    pub failure: Option<FailureCode>,
    /// When it was accepted by us.
    pub created_at: Timestamp,
    /// Strictly increasing with every change of a visible field (API §19.5).
    pub updated_at: Timestamp,
    /// When the network accepted it.
    pub processing_at: Option<Timestamp>,
    /// When it was paid.
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

impl Payout {
    /// What leaves the balance: the amount and the fee on top.
    ///
    /// # Errors
    /// [`Overflow`], which a payout built by this crate never answers.
    ///
    /// ```
    /// use cauri_core::Amount;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.settled(5_000);
    /// assert_eq!(shop.payout(1_000).value.total_amount(), Ok(Amount::new(1_100)));
    /// ```
    pub fn total_amount(&self) -> Result<Amount, Overflow> {
        self.amount.plus(self.fee_amount)
    }

    /// The events that told of it, in their order. Each was told at the payout's `updated_at` of
    /// that moment, which its milestones give back.
    ///
    /// ```
    /// use cauri_core::EventKind;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.settled(5_000);
    /// let told = shop.payout(1_000).value.told();
    /// assert_eq!((told[0].kind, told[0].from), (EventKind::PayoutCreated, shop.now()));
    /// ```
    #[must_use]
    pub fn told(&self) -> Vec<Told> {
        let mut at = self.created_at;
        let mut told = vec![Told::at(EventKind::PayoutCreated, at)];
        for (kind, milestone) in [
            (EventKind::PayoutProcessing, self.processing_at),
            (EventKind::PayoutSucceeded, self.succeeded_at),
            (EventKind::PayoutFailed, self.failed_at),
        ] {
            if let Some(milestone) = milestone {
                at = touched(at, milestone);
                told.push(Told::at(kind, at));
            }
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
    /// let payout = shop.payout(1_000).value;
    /// assert_eq!(payout.due_at(), Some(shop.now().plus_millis(300))); // to be submitted
    /// ```
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        match self.status {
            PayoutStatus::Created => Some(self.poll_at.unwrap_or(self.created_at)),
            PayoutStatus::Processing | PayoutStatus::Succeeded | PayoutStatus::Failed => {
                self.poll_at
            }
        }
    }
}
