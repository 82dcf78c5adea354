//! Payment links (API §12).

use cauri_core::{
    PaymentLinkId,
    wire::{CreatePaymentLink, ModifyPaymentLink, Payment, PaymentLink},
};

use crate::{
    call::Call,
    client::Client,
    filter,
    listing::{Listing, Order},
};

/// What can be done with payment links (API §12).
#[derive(Debug, Clone, Copy)]
pub struct PaymentLinks<'c>(pub(crate) &'c Client);

impl PaymentLinks<'_> {
    /// Creates a payment link.
    pub fn create(&self, ask: &CreatePaymentLink) -> Call<PaymentLink> {
        self.0.post("/payment-links", ask)
    }

    /// Retrieves a payment link.
    pub fn retrieve(&self, id: PaymentLinkId) -> Call<PaymentLink> {
        self.0.get(format!("/payment-links/{id}"))
    }

    /// Lists payment links, newest first.
    pub fn list(&self, filter: &filter::PaymentLinks) -> Listing<PaymentLink> {
        Listing::new(self.0, "/payment-links", "", filter, Order::NewestFirst)
    }

    /// Modifies a payment link.
    pub fn modify(&self, id: PaymentLinkId, ask: &ModifyPaymentLink) -> Call<PaymentLink> {
        self.0.post(format!("/payment-links/{id}"), ask)
    }

    /// Lists the payments of a link, newest first.
    pub fn payments(&self, id: PaymentLinkId, filter: &filter::LinkPayments) -> Listing<Payment> {
        let path = "/payment-links/{id}/payments";
        Listing::new(self.0, path, &id.to_string(), filter, Order::NewestFirst)
    }
}
