//! Refunds (API §11).

use cauri_core::{
    RefundId,
    wire::{CreateRefund, Refund},
};

use crate::{
    call::Call,
    client::Client,
    filter,
    listing::{Listing, Order},
};

/// What can be done with refunds (API §11).
#[derive(Debug, Clone, Copy)]
pub struct Refunds<'c>(pub(crate) &'c Client);

impl Refunds<'_> {
    /// Creates a refund.
    pub fn create(&self, ask: &CreateRefund) -> Call<Refund> {
        self.0.post("/refunds", ask)
    }

    /// Retrieves a refund.
    pub fn retrieve(&self, id: RefundId) -> Call<Refund> {
        self.0.get(format!("/refunds/{id}"))
    }

    /// Lists refunds, newest first.
    pub fn list(&self, filter: &filter::Refunds) -> Listing<Refund> {
        Listing::new(self.0, "/refunds", "", filter, Order::NewestFirst)
    }
}
