//! Payouts (API §10).

use cauri_core::{
    PayoutId,
    wire::{CreatePayout, Payout},
};

use crate::{
    call::Call,
    client::Client,
    filter,
    listing::{Listing, Order},
};

/// What can be done with payouts (API §10).
#[derive(Debug, Clone, Copy)]
pub struct Payouts<'c>(pub(crate) &'c Client);

impl Payouts<'_> {
    /// Creates a payout.
    pub fn create(&self, ask: &CreatePayout) -> Call<Payout> {
        self.0.post("/payouts", ask)
    }

    /// Retrieves a payout.
    pub fn retrieve(&self, id: PayoutId) -> Call<Payout> {
        self.0.get(format!("/payouts/{id}"))
    }

    /// Lists payouts, newest first.
    pub fn list(&self, filter: &filter::Payouts) -> Listing<Payout> {
        Listing::new(self.0, "/payouts", "", filter, Order::NewestFirst)
    }
}
