//! The sandbox's tools (API §17).

use cauri_core::wire::{Fund, SandboxFunding, SandboxScenario, Simulate, Simulated};

use crate::{
    call::Call,
    client::Client,
    filter,
    listing::{Listing, Order},
};

/// What can be done with a sandbox key alone (API §17).
#[derive(Debug, Clone, Copy)]
pub struct Sandbox<'c>(pub(crate) &'c Client);

impl Sandbox<'_> {
    /// Plays an outcome on a payment, a payout or a refund, now (API §17.2).
    pub fn simulate(&self, ask: &Simulate) -> Call<Simulated> {
        self.0.post("/sandbox/simulate", ask)
    }

    /// Credits test money (API §17.3).
    pub fn fund(&self, ask: &Fund) -> Call<SandboxFunding> {
        self.0.post("/sandbox/fund", ask)
    }

    /// Lists the outcomes that can be played (API §17.1).
    pub fn scenarios(&self, filter: &filter::Scenarios) -> Listing<SandboxScenario> {
        Listing::new(self.0, "/sandbox/scenarios", "", filter, Order::OldestFirst)
    }
}
