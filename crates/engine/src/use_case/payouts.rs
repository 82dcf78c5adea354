//! Payouts (API §10).

use cauri_core::{
    Customer, Key, List as Listing, PayoutId, Query,
    decide::payout,
    wire::{self, CreatePayout, List},
};

use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::Shape,
};

impl Engine {
    /// `POST /v1/payouts`: creates a payout and reserves its money.
    ///
    /// # Errors
    /// What API §10 names, or [`Error::Store`].
    pub async fn create_payout(
        &self,
        call: &Call,
        ask: CreatePayout,
    ) -> Result<Reply<wire::Payout>, Error> {
        call.caller.may_write()?;
        let scope = call.caller.scope;
        let keys = ask.customer.iter().map(|id| Key::Customer(scope, *id)).collect();
        let shape =
            Shape::created("create_payout", |it: &wire::Payout| format!("/v1/payouts/{}", it.id));
        self.run(call, shape, keys, |mut loaded, cx| {
            let customer_exists = loaded.take::<Customer>(0).is_some();
            payout::create(ask.clone(), customer_exists, cx)
        })
        .await
    }

    /// `GET /v1/payouts/:id`.
    ///
    /// # Errors
    /// [`cauri_core::Error::NotFound`], or [`Error::Store`].
    pub async fn payout(&self, caller: &Caller, id: PayoutId) -> Result<wire::Payout, Error> {
        let key = Key::Payout(caller.scope, id);
        self.shown(caller, key, "payout", "payout", wire::Payout::of).await
    }

    /// `GET /v1/payouts`.
    ///
    /// # Errors
    /// [`Error::OtherList`], or [`Error::Store`].
    pub async fn payouts(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<List<wire::Payout>, Error> {
        let of = Listing::Payouts(caller.scope);
        self.listed(caller, "payouts", of, query, wire::Payout::of).await
    }
}
