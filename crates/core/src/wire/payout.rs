//! Payouts as they travel (API §10).

use crate::value::{
    country::Country,
    currency::Currency,
    id::CustomerId,
    metadata::Metadata,
    method::{Network, PaymentMethod},
    money::Amount,
    phone::Phone,
    text::Text,
};

/// `POST /v1/payouts` (API §10).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreatePayout {
    /// What the recipient gets.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// By which method; mobile money unless said otherwise.
    pub method: PaymentMethod,
    /// Over which network.
    pub network: Network,
    /// The recipient's phone.
    pub phone: Phone,
    /// Where the recipient is, unless the phone says so.
    pub country: Option<Country>,
    /// The recipient's name.
    pub recipient_name: Option<Text<100>>,
    /// Who gets it.
    pub customer: Option<CustomerId>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
}
