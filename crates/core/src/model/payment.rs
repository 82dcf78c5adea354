//! Payments: money collected from a payer (API §9).

use serde::{Deserialize, Serialize};

use super::{
    catalogue::Catalogue,
    failure::FailureCode,
    offer::{Connection, Offer, Purpose},
    order::Report,
    simulation::Simulation,
};
use crate::value::{
    choice::choice,
    country::Country,
    currency::Currency,
    id::{CustomerId, PaymentId, PaymentLinkId},
    metadata::Metadata,
    method::{Network, PaymentMethod},
    money::{Amount, Overflow},
    otp::Otp,
    phone::Phone,
    scope::Scope,
    text::Text,
    time::Timestamp,
    web_url::WebUrl,
};

choice! {
    /// Where a payment stands (API §9.4).
    #[expect(clippy::exhaustive_enums, reason = "a new status of v1 would break every client")]
    PaymentStatus {
        /// Stored, and not yet accepted by the network.
        Created = "created",
        /// The network works on it, or waits for the payer.
        Processing = "processing",
        /// The money is collected.
        Succeeded = "succeeded",
        /// It will never be collected.
        Failed = "failed",
        /// The merchant called it off.
        Cancelled = "cancelled",
        /// Its time ran out; only a late success can follow.
        Expired = "expired",
        /// Part of it was returned.
        PartiallyRefunded = "partially_refunded",
        /// All of it was returned.
        Refunded = "refunded",
    }
}

choice! {
    /// What may happen to a payment.
    #[expect(clippy::exhaustive_enums, reason = "the table below matches all of them")]
    PaymentStep {
        /// The network accepted the request.
        Accept = "accept",
        /// The network says paid.
        Pay = "pay",
        /// The network refused it, could not be reached, or says failed.
        Fail = "fail",
        /// The merchant cancels.
        Cancel = "cancel",
        /// `expires_at` has come.
        Expire = "expire",
        /// A refund of less than what was left succeeded.
        RefundPart = "refund_part",
        /// A refund of all that was left succeeded.
        RefundRest = "refund_rest",
    }
}

/// The step is not possible from this status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payment that is {from} cannot take the step {step}")]
#[expect(clippy::exhaustive_structs, reason = "a refusal names where and what")]
pub struct IllegalPaymentStep {
    /// Where the payment stands.
    pub from: PaymentStatus,
    /// What was tried.
    pub step: PaymentStep,
}

impl PaymentStatus {
    /// The status after a step.
    ///
    /// # Errors
    /// [`IllegalPaymentStep`] when the table of API §9.4 has no such row.
    ///
    /// ```
    /// use cauri_core::{PaymentStatus, PaymentStep};
    /// assert_eq!(PaymentStatus::Expired.after(PaymentStep::Pay), Ok(PaymentStatus::Succeeded));
    /// assert!(PaymentStatus::Cancelled.after(PaymentStep::Pay).is_err());
    /// ```
    pub const fn after(self, step: PaymentStep) -> Result<Self, IllegalPaymentStep> {
        use PaymentStep as Step;
        match (self, step) {
            (Self::Created, Step::Accept) => Ok(Self::Processing),
            (Self::Created | Self::Processing, Step::Fail) => Ok(Self::Failed),
            (Self::Created | Self::Processing, Step::Cancel) => Ok(Self::Cancelled),
            (Self::Created | Self::Processing, Step::Expire) => Ok(Self::Expired),
            (Self::Processing | Self::Expired, Step::Pay) => Ok(Self::Succeeded),
            (Self::Succeeded | Self::PartiallyRefunded, Step::RefundPart) => {
                Ok(Self::PartiallyRefunded)
            }
            (Self::Succeeded | Self::PartiallyRefunded, Step::RefundRest) => Ok(Self::Refunded),
            (
                Self::Created
                | Self::Processing
                | Self::Succeeded
                | Self::Failed
                | Self::Cancelled
                | Self::Expired
                | Self::PartiallyRefunded
                | Self::Refunded,
                _,
            ) => Err(IllegalPaymentStep { from: self, step }),
        }
    }

    /// Is the network still expected to say something?
    ///
    /// ```
    /// use cauri_core::PaymentStatus;
    /// assert!(PaymentStatus::Processing.is_open());
    /// assert!(!PaymentStatus::Expired.is_open()); // though it may still be paid late
    /// ```
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::Processing)
    }

    /// Would it count that it was paid? What has expired may still be paid late.
    ///
    /// ```
    /// use cauri_core::PaymentStatus;
    /// assert!(PaymentStatus::Expired.may_be_paid());
    /// assert!(!PaymentStatus::Cancelled.may_be_paid());
    /// ```
    #[must_use]
    pub const fn may_be_paid(self) -> bool {
        self.is_open() || matches!(self, Self::Expired)
    }

    /// Do reports say the opposite of how it has ended with them? Then money has moved that the books
    /// do not know, or has not that they do, and people must look.
    ///
    /// ```
    /// use cauri_core::{FailureCode, PaymentStatus, Report};
    /// assert!(PaymentStatus::Cancelled.is_contradicted_by(&[Report::Paid]));
    /// assert!(!PaymentStatus::Expired.is_contradicted_by(&[Report::Expired]));
    /// let failed = [Report::Failed(FailureCode::InsufficientFunds)];
    /// assert!(PaymentStatus::Refunded.is_contradicted_by(&failed));
    /// assert!(!PaymentStatus::Processing.is_contradicted_by(&failed));
    /// ```
    #[must_use]
    pub fn is_contradicted_by(self, reports: &[Report]) -> bool {
        reports.iter().any(|report| match self {
            Self::Failed | Self::Cancelled => matches!(report, Report::Paid),
            Self::Succeeded | Self::PartiallyRefunded | Self::Refunded => {
                matches!(report, Report::Failed(_))
            }
            // What has expired and was paid after all has succeeded.
            Self::Created | Self::Processing | Self::Expired => false,
        })
    }

    /// May money of it be returned?
    ///
    /// ```
    /// use cauri_core::PaymentStatus;
    /// assert!(PaymentStatus::PartiallyRefunded.is_refundable());
    /// assert!(!PaymentStatus::Refunded.is_refundable());
    /// ```
    #[must_use]
    pub const fn is_refundable(self) -> bool {
        matches!(self, Self::Succeeded | Self::PartiallyRefunded)
    }
}

/// What the payer has to do next (API §9.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NextAction {
    /// Approve on the phone.
    ApproveOnPhone,
    /// Go to a page.
    Redirect {
        /// Where.
        url: String,
    },
}

/// A payment as it is stored. What the API shows of it is [`crate::wire::Payment`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// Whose it is.
    pub scope: Scope,
    /// Where it stands.
    pub status: PaymentStatus,
    /// What the payer pays, in the smallest unit of `currency`.
    pub amount: Amount,
    /// The currency of every sum here.
    pub currency: Currency,
    /// What the merchant is charged; quoted at creation, never recomputed (API §7.1).
    pub fee_amount: Amount,
    /// By which method.
    pub method: PaymentMethod,
    /// Over which network; `None` only for a card payment that is not yet processing.
    pub network: Option<Network>,
    /// The merchant's own name for it; not unique.
    pub reference: Option<Text<100>>,
    /// Where the payer is.
    pub country: Country,
    /// The payer's phone; `None` for a card.
    pub phone: Option<Phone>,
    /// A pre-authorisation code for the network; never shown, dropped once submitted.
    pub otp: Option<Otp>,
    /// Who pays.
    pub customer: Option<CustomerId>,
    /// The link it came through.
    pub payment_link: Option<PaymentLinkId>,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// What the payer has to do.
    pub next_action: Option<NextAction>,
    /// Why it failed.
    pub failure: Option<FailureCode>,
    /// Why it was cancelled.
    pub cancellation_reason: Option<Text<255>>,
    /// The sum of its succeeded refunds.
    pub refunded_amount: Amount,
    /// The sum of its refunds in flight.
    pub refunding_amount: Amount,
    /// The share of the fee given back by its refunds, in flight or succeeded.
    pub fee_returned_amount: Amount,
    /// How many of its refunds succeeded.
    pub refunds_count: i64,
    /// What is left of it in `merchant_pending`; 0 before success and after settlement.
    pub pending_amount: Amount,
    /// When its money became available; `None` before.
    pub settled_at: Option<Timestamp>,
    /// When it expires unless paid.
    pub expires_at: Timestamp,
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
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// When it expired; stays after a late success.
    pub expired_at: Option<Timestamp>,
    /// When its money is (to be) available.
    pub available_at: Option<Timestamp>,
    /// How many lines its timeline has.
    pub timeline_count: i64,
    /// Which gateway carries it; never leaves the engine.
    pub connection: Connection,
    /// When the gateway is to be asked again.
    pub poll_at: Option<Timestamp>,
    /// A scenario that the sandbox was told to play.
    pub simulation: Option<Simulation>,
}

impl Payment {
    /// The offer it was made by, as the catalogue has it today.
    pub(crate) fn offer<'c>(&self, catalogue: &'c Catalogue) -> Option<&'c Offer> {
        let Self { country, method, currency, .. } = *self;
        catalogue.find(country, method, self.network.as_ref(), currency, Purpose::Payin)
    }

    /// What is left to refund: the amount less all refunds that have not failed, or 0 when the
    /// status does not allow refunds.
    ///
    /// ```
    /// use cauri_core::{Amount, Payment};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// assert_eq!(shop.payment(5_000).value.refundable_amount(), Amount::ZERO);
    /// shop.paid(5_000);
    /// shop.refund(2_000);
    /// assert_eq!(shop.last::<Payment>().value.refundable_amount(), Amount::new(3_000));
    /// ```
    #[must_use]
    pub fn refundable_amount(&self) -> Amount {
        if !self.status.is_refundable() {
            return Amount::ZERO;
        }
        self.amount
            .minus(self.refunded_amount)
            .and_then(|left| left.minus(self.refunding_amount))
            .unwrap_or(Amount::ZERO)
    }

    /// What the merchant keeps: the amount less the fee.
    ///
    /// # Errors
    /// [`Overflow`], which a payment built by this crate never answers.
    ///
    /// ```
    /// use cauri_core::Amount;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let payment = Shop::open().payment(5_000).value;
    /// assert_eq!(payment.net_amount(), Ok(Amount::new(4_900))); // 2 % are the fee
    /// ```
    pub fn net_amount(&self) -> Result<Amount, Overflow> {
        self.amount.minus(self.fee_amount)
    }

    /// Is its money still pending?
    ///
    /// ```
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// assert!(!shop.payment(5_000).value.is_unsettled()); // there is no money yet
    /// assert!(shop.paid(5_000).value.is_unsettled());
    /// assert!(!shop.settled(5_000).value.is_unsettled());
    /// ```
    #[must_use]
    pub const fn is_unsettled(&self) -> bool {
        self.succeeded_at.is_some() && self.settled_at.is_none()
    }

    /// When somebody has to do something about it; `None` when nobody has.
    ///
    /// ```
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let created = shop.payment(5_000).value;
    /// assert_eq!(created.due_at(), Some(shop.now().plus_millis(300))); // to be submitted
    /// let paid = shop.paid(5_000).value;
    /// assert_eq!(paid.due_at(), paid.available_at); // to be settled
    /// assert_eq!(shop.settled(5_000).value.due_at(), None);
    /// ```
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        match self.status {
            PaymentStatus::Created => {
                Some(self.poll_at.unwrap_or(self.created_at).min(self.expires_at))
            }
            PaymentStatus::Processing => {
                Some(self.poll_at.unwrap_or(self.expires_at).min(self.expires_at))
            }
            PaymentStatus::Expired => self.poll_at,
            PaymentStatus::Succeeded
            | PaymentStatus::PartiallyRefunded
            | PaymentStatus::Refunded => match (self.poll_at, self.settled_at) {
                (poll, Some(_)) => poll,
                (Some(poll), None) => Some(self.available_at.map_or(poll, |at| at.min(poll))),
                (None, None) => self.available_at,
            },
            PaymentStatus::Failed | PaymentStatus::Cancelled => self.poll_at,
        }
    }
}
