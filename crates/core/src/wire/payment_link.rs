//! Payment links as they travel (API §12).

use crate::value::{
    country::Country,
    currency::Currency,
    metadata::{Metadata, MetadataPatch},
    method::PaymentMethod,
    money::Amount,
    patch::Patch,
    text::Text,
    time::Timestamp,
    web_url::WebUrl,
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
