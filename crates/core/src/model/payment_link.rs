//! Payment links: shareable addresses that lead to payments (API §12).

use super::event::{EventKind, Told};
use crate::value::{
    choice::choice, country::Country, currency::Currency, id::PaymentLinkId, metadata::Metadata,
    method::PaymentMethod, money::Amount, scope::Scope, text::Text, time::Timestamp,
    web_url::WebUrl,
};

choice! {
    /// Where a payment link stands (API §12). Inactive and expired are no statuses (API §1, R10).
    #[expect(clippy::exhaustive_enums, reason = "a new status of v1 would break every client")]
    PaymentLinkStatus {
        /// It may lead to payments.
        Created = "created",
        /// Its one payment succeeded.
        Paid = "paid",
    }
}

choice! {
    /// What may happen to a payment link.
    #[expect(clippy::exhaustive_enums, reason = "the table below matches all of them")]
    PaymentLinkStep {
        /// The first payment through a link that is not reusable succeeded.
        Pay = "pay",
    }
}

/// The step is not possible from this status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payment link that is {from} cannot take the step {step}")]
#[expect(clippy::exhaustive_structs, reason = "a refusal names where and what")]
pub struct IllegalPaymentLinkStep {
    /// Where the link stands.
    pub from: PaymentLinkStatus,
    /// What was tried.
    pub step: PaymentLinkStep,
}

impl PaymentLinkStatus {
    /// The status after a step.
    ///
    /// # Errors
    /// [`IllegalPaymentLinkStep`] when the table of API §12 has no such row.
    ///
    /// ```
    /// use cauri_core::{PaymentLinkStatus, PaymentLinkStep};
    /// assert_eq!(PaymentLinkStatus::Created.after(PaymentLinkStep::Pay), Ok(PaymentLinkStatus::Paid));
    /// assert!(PaymentLinkStatus::Paid.after(PaymentLinkStep::Pay).is_err());
    /// ```
    pub const fn after(self, step: PaymentLinkStep) -> Result<Self, IllegalPaymentLinkStep> {
        match (self, step) {
            (Self::Created, PaymentLinkStep::Pay) => Ok(Self::Paid),
            (Self::Paid, PaymentLinkStep::Pay) => Err(IllegalPaymentLinkStep { from: self, step }),
        }
    }
}

/// A payment link as it is stored. What the API shows of it is [`crate::wire::PaymentLink`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct PaymentLink {
    /// Its id.
    pub id: PaymentLinkId,
    /// Whose it is.
    pub scope: Scope,
    /// Where it stands.
    pub status: PaymentLinkStatus,
    /// May payments be made through it?
    pub active: bool,
    /// Where the payer goes.
    pub url: String,
    /// For the payer.
    pub title: Text<100>,
    /// For the payer.
    pub description: Option<Text<255>>,
    /// What is to be paid; `None` when the payer chooses.
    pub amount: Option<Amount>,
    /// In which currency.
    pub currency: Currency,
    /// Where the payer is.
    pub country: Country,
    /// By which methods; `None` means by all.
    pub methods: Option<Vec<PaymentMethod>>,
    /// May it be paid more than once?
    pub reusable: bool,
    /// Until when payments may be made through it.
    pub expires_at: Option<Timestamp>,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// The merchant's own name for it; not unique.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// How many payments were made through it, of any status.
    pub payments_count: i64,
    /// How many of them are created or processing; not shown.
    pub open_payments_count: i64,
    /// How many of them ever succeeded.
    pub succeeded_payments_count: i64,
    /// The sum of those that ever succeeded; refunds do not lower it.
    pub collected_amount: Amount,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Strictly increasing with every change of a visible field (API §19.5).
    pub updated_at: Timestamp,
}

impl PaymentLink {
    /// The events that told of it, in their order. That it was paid was told at its `updated_at`
    /// of that moment: not before `paid_at`, and not after its last change.
    ///
    /// ```
    /// use cauri_core::EventKind;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let told = shop.link(5_000).value.told();
    /// assert_eq!((told[0].kind, told[0].from), (EventKind::PaymentLinkCreated, shop.now()));
    /// assert_eq!(told.len(), 1); // nobody has paid yet
    /// ```
    #[must_use]
    pub fn told(&self) -> Vec<Told> {
        let mut told = vec![Told::at(EventKind::PaymentLinkCreated, self.created_at)];
        let to = self.updated_at.plus_millis(1);
        let paid = |from| Told { kind: EventKind::PaymentLinkPaid, from, to };
        told.extend(self.paid_at.map(paid));
        told
    }
}
