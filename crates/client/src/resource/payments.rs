//! Payments (API §9).

use cauri_core::{
    PaymentId,
    wire::{CancelPayment, CreatePayment, Payment, TimelineEntry},
};

use crate::{
    call::Call,
    client::Client,
    filter,
    listing::{Listing, Order},
};

/// What can be done with payments (API §9).
#[derive(Debug, Clone, Copy)]
pub struct Payments<'c>(pub(crate) &'c Client);

impl Payments<'_> {
    /// Creates a payment (API §9.2).
    pub fn create(&self, ask: &CreatePayment) -> Call<Payment> {
        self.0.post("/payments", ask)
    }

    /// Retrieves a payment.
    pub fn retrieve(&self, id: PaymentId) -> Call<Payment> {
        self.0.get(format!("/payments/{id}"))
    }

    /// Lists payments, newest first (API §9.6).
    pub fn list(&self, filter: &filter::Payments) -> Listing<Payment> {
        Listing::new(self.0, "/payments", "", filter, Order::NewestFirst)
    }

    /// Cancels a payment (API §9.5).
    pub fn cancel(&self, id: PaymentId, ask: &CancelPayment) -> Call<Payment> {
        self.0.post(format!("/payments/{id}/cancel"), ask)
    }

    /// Lists what happened to a payment, oldest first (API §9.7).
    pub fn timeline(&self, id: PaymentId, filter: &filter::Any) -> Listing<TimelineEntry> {
        let path = "/payments/{id}/timeline";
        Listing::new(self.0, path, &id.to_string(), filter, Order::OldestFirst)
    }
}
