//! Webhook endpoints (API §16).

use cauri_core::{
    AttemptError, EndpointId, Error as Refused, Fault, Key, List as Listing, Problem, Query,
    WebhookEndpoint,
    decide::webhook_endpoint,
    wire::{
        self, CreateWebhookEndpoint, DeletedEndpoint, List, ModifyWebhookEndpoint, TestWebhook,
    },
};

use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::{Loaded, Shape},
    store_ext::StoreExt,
};

impl Engine {
    /// `POST /v1/webhooks`: creates an endpoint; the answer shows its secret for the only time.
    ///
    /// # Errors
    /// What API §16.1 names, or [`Error::Store`].
    pub async fn create_webhook_endpoint(
        &self,
        call: &Call,
        ask: CreateWebhookEndpoint,
    ) -> Result<Reply<wire::WebhookEndpoint>, Error> {
        call.caller.may_write()?;
        self.vet(&call.caller, ask.url.as_str()).await?;
        let keys = vec![Key::Subscriptions(call.caller.scope)];
        let shape = Shape {
            secret: true,
            ..Shape::created("create_webhook_endpoint", |it: &wire::WebhookEndpoint| {
                format!("/v1/webhooks/{}", it.id)
            })
        };
        self.run(call, shape, keys, |mut loaded, cx| {
            webhook_endpoint::create(ask.clone(), loaded.take(0), &self.0.keys, cx)
        })
        .await
    }

    /// `POST /v1/webhooks/:id`: modifies an endpoint.
    ///
    /// # Errors
    /// [`Refused::NotFound`], what API §16.1 names, or [`Error::Store`].
    pub async fn modify_webhook_endpoint(
        &self,
        call: &Call,
        id: EndpointId,
        ask: ModifyWebhookEndpoint,
    ) -> Result<Reply<wire::WebhookEndpoint>, Error> {
        call.caller.may_write()?;
        if let Some(url) = &ask.url {
            self.vet(&call.caller, url.as_str()).await?;
        }
        let shape = Shape { secret: true, ..Shape::done("modify_webhook_endpoint") };
        self.run(call, shape, keys_of(&call.caller, id), |mut loaded, cx| {
            let endpoint = existing(&mut loaded)?;
            webhook_endpoint::modify(ask.clone(), endpoint, loaded.take(1), &self.0.keys, cx)
        })
        .await
    }

    /// `DELETE /v1/webhooks/:id`.
    ///
    /// # Errors
    /// [`Refused::NotFound`], or [`Error::Store`].
    pub async fn delete_webhook_endpoint(
        &self,
        caller: &Caller,
        id: EndpointId,
    ) -> Result<DeletedEndpoint, Error> {
        caller.may_write()?;
        let call = Call::by(*caller);
        let reply = self
            .run(
                &call,
                Shape::done("delete_webhook_endpoint"),
                keys_of(caller, id),
                |mut loaded, cx| {
                    let endpoint = existing(&mut loaded)?;
                    webhook_endpoint::delete(endpoint, loaded.take(1), cx)
                },
            )
            .await?;
        Ok(reply.object)
    }

    /// An endpoint, without its secret. The contract has no route for it.
    ///
    /// # Errors
    /// [`crate::PermissionError::SecretKeyRequired`], [`Refused::NotFound`], or [`Error::Store`].
    pub async fn webhook_endpoint(
        &self,
        caller: &Caller,
        id: EndpointId,
    ) -> Result<wire::WebhookEndpoint, Error> {
        caller.may_write()?;
        let key = Key::WebhookEndpoint(caller.scope, id);
        let found = self.0.store.find::<WebhookEndpoint>(key).await?.map(|it| it.value);
        let found = found.filter(|it| it.deleted_at.is_none());
        let found = found.ok_or(Refused::NotFound("webhook endpoint"))?;
        Ok(wire::WebhookEndpoint::of(&found, None).map_err(Refused::from)?)
    }

    /// `GET /v1/webhooks`. The query is one of `wire::query::webhook_endpoints`.
    ///
    /// # Errors
    /// [`crate::PermissionError::SecretKeyRequired`], [`Error::OtherList`], or [`Error::Store`].
    pub async fn webhook_endpoints(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<List<wire::WebhookEndpoint>, Error> {
        caller.may_write()?;
        let of = Listing::WebhookEndpoints(caller.scope);
        self.page_of(caller, "webhook_endpoints", of, query, |it: &WebhookEndpoint| {
            wire::WebhookEndpoint::of(it, None)
        })
        .await
    }

    /// `POST /v1/webhooks/test`: sends a sample event.
    ///
    /// # Errors
    /// What API §16.4 names, or [`Error::Store`].
    pub async fn test_webhook(
        &self,
        call: &Call,
        ask: TestWebhook,
    ) -> Result<Reply<wire::WebhookDelivery>, Error> {
        call.caller.may_write()?;
        let keys = vec![Key::WebhookEndpoint(call.caller.scope, ask.endpoint)];
        let shape = Shape { success: cauri_core::Success::Accepted, ..Shape::done("test_webhook") };
        self.run(call, shape, keys, |mut loaded, cx| {
            let endpoint = loaded.take::<WebhookEndpoint>(0).map(|it| it.value);
            webhook_endpoint::test(ask, endpoint.as_ref(), cx)
        })
        .await
    }

    /// Refuses an address that nothing would ever be sent to.
    async fn vet(&self, caller: &Caller, url: &str) -> Result<(), Error> {
        match self.0.notifier.vet(url, caller.scope.environment).await {
            Err(AttemptError::UrlNotAllowed) => {
                Err(Fault::at("url", Problem::UrlNotAllowed).into())
            }
            // Whether it can be reached by now does not matter yet.
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn keys_of(caller: &Caller, id: EndpointId) -> Vec<Key> {
    vec![Key::WebhookEndpoint(caller.scope, id), Key::Subscriptions(caller.scope)]
}

fn existing(loaded: &mut Loaded) -> Result<cauri_core::Versioned<WebhookEndpoint>, Refused> {
    loaded
        .take::<WebhookEndpoint>(0)
        .filter(|it| it.value.deleted_at.is_none())
        .ok_or(Refused::NotFound("webhook endpoint"))
}
