//! Payments as they travel (API §9).

use crate::value::{
    country::Country,
    currency::Currency,
    id::{CustomerId, PaymentLinkId},
    metadata::Metadata,
    method::{Network, PaymentMethod},
    money::Amount,
    phone::Phone,
    text::Text,
    web_url::WebUrl,
};

/// `POST /v1/payments` (API §9.2).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreatePayment {
    /// What the payer pays; may be left to the payment link.
    pub amount: Option<Amount>,
    /// In which currency; may be left to the payment link.
    pub currency: Option<Currency>,
    /// By which method.
    pub method: PaymentMethod,
    /// Over which network; required for mobile money.
    pub network: Option<Network>,
    /// The payer's phone; mobile money needs it here or in the customer.
    pub phone: Option<Phone>,
    /// Where the payer is, unless the phone or the link says so.
    pub country: Option<Country>,
    /// A pre-authorisation code for the network.
    pub otp: Option<Text<10>>,
    /// Who pays.
    pub customer: Option<CustomerId>,
    /// The link it comes through.
    pub payment_link: Option<PaymentLinkId>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// Seconds until it expires, 60 to 86,400; `None` takes the installation's default.
    pub expires_in: Option<u32>,
}

/// `POST /v1/payments/:id/cancel` (API §9.5).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CancelPayment {
    /// Why.
    pub reason: Option<Text<255>>,
}
