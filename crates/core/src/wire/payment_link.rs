//! Payment links as they travel (API §12).

use serde::{Deserialize, Serialize};

use super::{private::Mask, tag};
use crate::{
    model::payment_link as model,
    value::{
        country::Country,
        currency::Currency,
        id::PaymentLinkId,
        metadata::{Metadata, MetadataPatch},
        method::PaymentMethod,
        money::{Amount, Overflow},
        patch::Patch,
        scope::Environment,
        text::Text,
        time::Timestamp,
        web_url::WebUrl,
    },
};

/// `POST /v1/payment-links` (API §12).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreatePaymentLink {
    /// For the payer.
    pub title: Text<100>,
    /// In which currency.
    pub currency: Currency,
    /// Where the payer is.
    pub country: Country,
    /// What is to be paid; `None` when the payer chooses.
    pub amount: Option<Amount>,
    /// For the payer.
    pub description: Option<Text<255>>,
    /// By which methods; `None` means by all. Never empty, without repeats.
    pub methods: Option<Vec<PaymentMethod>>,
    /// May it be paid more than once?
    pub reusable: bool,
    /// Until when; in the future, at most a year ahead.
    pub expires_at: Option<Timestamp>,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// May payments be made through it from the start?
    pub active: bool,
}

/// `POST /v1/payment-links/:id` (API §12).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct ModifyPaymentLink {
    /// For the payer.
    pub title: Option<Text<100>>,
    /// For the payer.
    pub description: Patch<Text<255>>,
    /// May payments be made through it?
    pub active: Option<bool>,
    /// What is to be paid.
    pub amount: Patch<Amount>,
    /// Until when.
    pub expires_at: Patch<Timestamp>,
    /// Where the payer is sent afterwards.
    pub return_url: Patch<WebUrl>,
    /// The merchant's own name for it.
    pub reference: Patch<Text<100>>,
    /// For the merchant.
    pub metadata: MetadataPatch,
}

/// A payment link (API §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentLink {
    /// Its id.
    pub id: PaymentLinkId,
    /// `payment_link`.
    pub object: tag::PaymentLink,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where it stands.
    pub status: model::PaymentLinkStatus,
    /// May payments be made through it?
    pub active: bool,
    /// Where the payer goes.
    pub url: String,
    /// For the payer.
    pub title: Text<100>,
    /// For the payer.
    pub description: Option<Text<255>>,
    /// What is to be paid.
    pub amount: Option<Amount>,
    /// In which currency.
    pub currency: Currency,
    /// Where the payer is.
    pub country: Country,
    /// By which methods; null means by all.
    pub payment_methods: Option<Vec<PaymentMethod>>,
    /// May it be paid more than once?
    pub reusable: bool,
    /// Until when payments may be made through it.
    pub expires_at: Option<Timestamp>,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// How many payments were made through it.
    pub payments_count: i64,
    /// How many of them ever succeeded.
    pub succeeded_payments_count: i64,
    /// The sum of those that ever succeeded.
    pub collected_amount: Amount,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl PaymentLink {
    /// What is shown of a payment link.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    pub fn of(link: &model::PaymentLink) -> Result<Self, Overflow> {
        let model::PaymentLink {
            id,
            scope,
            status,
            active,
            url,
            title,
            description,
            amount,
            currency,
            country,
            methods,
            reusable,
            expires_at,
            return_url,
            reference,
            metadata,
            payments_count,
            open_payments_count: _,
            succeeded_payments_count,
            collected_amount,
            paid_at,
            created_at,
            updated_at,
        } = link;
        Ok(Self {
            id: *id,
            object: tag::PaymentLink,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            status: *status,
            active: *active,
            url: url.clone(),
            title: title.clone(),
            description: description.clone(),
            amount: *amount,
            currency: *currency,
            country: *country,
            payment_methods: methods.clone(),
            reusable: *reusable,
            expires_at: *expires_at,
            return_url: return_url.clone(),
            reference: reference.clone(),
            metadata: metadata.clone(),
            payments_count: *payments_count,
            succeeded_payments_count: *succeeded_payments_count,
            collected_amount: *collected_amount,
            paid_at: *paid_at,
            created_at: *created_at,
            updated_at: *updated_at,
        })
    }
}

impl Mask for PaymentLink {
    fn masked(self) -> Self {
        Self { metadata: Metadata::default(), ..self }
    }
}
