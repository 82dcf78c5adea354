//! Refunds (API §11).

use cauri_core::{
    Key, List as Listing, Query, RefundId,
    decide::refund,
    wire::{self, CreateRefund, List},
};

use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::Shape,
};

impl Engine {
    /// `POST /v1/refunds`: creates a refund and holds its money.
    ///
    /// # Errors
    /// What API §11 names, or [`Error::Store`].
    pub async fn create_refund(
        &self,
        call: &Call,
        ask: CreateRefund,
    ) -> Result<Reply<wire::Refund>, Error> {
        call.caller.may_write()?;
        let keys = vec![Key::Payment(call.caller.scope, ask.payment)];
        let shape =
            Shape::created("create_refund", |it: &wire::Refund| format!("/v1/refunds/{}", it.id));
        self.run(call, shape, keys, |mut loaded, cx| {
            refund::create(ask.clone(), loaded.take(0), cx)
        })
        .await
    }

    /// `GET /v1/refunds/:id`.
    ///
    /// # Errors
    /// [`cauri_core::Error::NotFound`], or [`Error::Store`].
    pub async fn refund(&self, caller: &Caller, id: RefundId) -> Result<wire::Refund, Error> {
        let key = Key::Refund(caller.scope, id);
        self.shown(caller, key, "refund", "refund", wire::Refund::of).await
    }

    /// `GET /v1/refunds`.
    ///
    /// # Errors
    /// [`Error::OtherList`], or [`Error::Store`].
    pub async fn refunds(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<List<wire::Refund>, Error> {
        let of = Listing::Refunds(caller.scope);
        self.listed(caller, "refunds", of, query, wire::Refund::of).await
    }
}
