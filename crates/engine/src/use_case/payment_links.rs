//! Payment links (API §12).

use cauri_core::{
    Error as Refused, Key, List as Listing, PaymentLink, PaymentLinkId, Query,
    decide::payment_link,
    wire::{self, CreatePaymentLink, List, ModifyPaymentLink},
};

use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::Shape,
    store_ext::StoreExt,
};

impl Engine {
    /// `POST /v1/payment-links`: creates a link.
    ///
    /// # Errors
    /// What API §12 names, or [`Error::Store`].
    pub async fn create_payment_link(
        &self,
        call: &Call,
        ask: CreatePaymentLink,
    ) -> Result<Reply<wire::PaymentLink>, Error> {
        call.caller.may_write()?;
        let shape = Shape::created("create_payment_link", |it: &wire::PaymentLink| {
            format!("/v1/payment-links/{}", it.id)
        });
        self.run(call, shape, Vec::new(), |_, cx| payment_link::create(ask.clone(), cx)).await
    }

    /// `POST /v1/payment-links/:id`: modifies a link.
    ///
    /// # Errors
    /// [`Refused::NotFound`], what API §12 names, or [`Error::Store`].
    pub async fn modify_payment_link(
        &self,
        call: &Call,
        id: PaymentLinkId,
        ask: ModifyPaymentLink,
    ) -> Result<Reply<wire::PaymentLink>, Error> {
        call.caller.may_write()?;
        let keys = vec![Key::PaymentLink(call.caller.scope, id)];
        self.run(call, Shape::done("modify_payment_link"), keys, |mut loaded, cx| {
            let link = loaded.take(0).ok_or(Refused::NotFound("payment link"))?;
            payment_link::modify(ask.clone(), link, cx)
        })
        .await
    }

    /// `GET /v1/payment-links/:id`.
    ///
    /// # Errors
    /// [`Refused::NotFound`], or [`Error::Store`].
    pub async fn payment_link(
        &self,
        caller: &Caller,
        id: PaymentLinkId,
    ) -> Result<wire::PaymentLink, Error> {
        let key = Key::PaymentLink(caller.scope, id);
        self.shown(caller, key, "payment_link", "payment link", wire::PaymentLink::of).await
    }

    /// `GET /v1/payment-links`.
    ///
    /// # Errors
    /// [`Error::OtherList`], or [`Error::Store`].
    pub async fn payment_links(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<List<wire::PaymentLink>, Error> {
        let of = Listing::PaymentLinks(caller.scope);
        self.listed(caller, "payment_links", of, query, wire::PaymentLink::of).await
    }

    /// `GET /v1/payment-links/:id/payments`. The query is one of `wire::query::link_payments`.
    ///
    /// # Errors
    /// [`Refused::NotFound`], [`Error::OtherList`], or [`Error::Store`].
    pub async fn payment_link_payments(
        &self,
        caller: &Caller,
        id: PaymentLinkId,
        query: &Query,
    ) -> Result<List<wire::Payment>, Error> {
        let link = self.0.store.find::<PaymentLink>(Key::PaymentLink(caller.scope, id)).await?;
        link.ok_or(Refused::NotFound("payment link"))?;
        self.payments(caller, query).await
    }
}
