//! Deliveries (API §16.3, §22.2).

use cauri_core::{
    Delivery, DeliveryId, Error as Refused, Key, List as Listing, Query, WebhookEndpoint,
    decide::delivery,
    wire::{self, List, RetryDelivery},
};

use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::Shape,
    store_ext::StoreExt,
};

impl Engine {
    /// `GET /v1/webhooks/deliveries`.
    ///
    /// # Errors
    /// [`crate::PermissionError::SecretKeyRequired`], [`Error::OtherList`], or [`Error::Store`].
    pub async fn webhook_deliveries(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<List<wire::WebhookDelivery>, Error> {
        caller.may_write()?;
        let of = Listing::Deliveries(caller.scope);
        self.page_of(caller, "webhook_deliveries", of, query, wire::WebhookDelivery::of).await
    }

    /// One delivery. The contract has no route for it.
    ///
    /// # Errors
    /// [`crate::PermissionError::SecretKeyRequired`], [`Refused::NotFound`], or [`Error::Store`].
    pub async fn webhook_delivery(
        &self,
        caller: &Caller,
        id: DeliveryId,
    ) -> Result<wire::WebhookDelivery, Error> {
        caller.may_write()?;
        let found = self.delivery(caller, id).await?;
        Ok(wire::WebhookDelivery::of(&found).map_err(Refused::from)?)
    }

    /// `POST /v1/webhooks/deliveries/:id/retry`: one more attempt, now.
    ///
    /// # Errors
    /// [`Refused::NotFound`], what API §22.2 names, or [`Error::Store`].
    pub async fn retry_webhook_delivery(
        &self,
        call: &Call,
        id: DeliveryId,
        _ask: RetryDelivery,
    ) -> Result<Reply<wire::WebhookDelivery>, Error> {
        call.caller.may_write()?;
        // Where a delivery goes never changes.
        let endpoint = self.delivery(&call.caller, id).await?.endpoint;
        let scope = call.caller.scope;
        let keys = vec![Key::Delivery(scope, id), Key::WebhookEndpoint(scope, endpoint)];
        let shape = Shape {
            success: cauri_core::Success::Accepted,
            ..Shape::done("retry_webhook_delivery")
        };
        self.run(call, shape, keys, |mut loaded, cx| {
            let found = loaded.take::<Delivery>(0).ok_or(Refused::NotFound(NAME))?;
            let endpoint = loaded.take::<WebhookEndpoint>(1).map(|it| it.value);
            delivery::retry(found, endpoint.as_ref(), cx)
        })
        .await
    }

    async fn delivery(&self, caller: &Caller, id: DeliveryId) -> Result<Delivery, Error> {
        let found = self.0.store.find::<Delivery>(Key::Delivery(caller.scope, id)).await?;
        Ok(found.ok_or(Refused::NotFound(NAME))?.value)
    }
}

const NAME: &str = "webhook delivery";
