//! Webhook endpoints and deliveries (API §16, §22).

use cauri_core::{
    DeliveryId, EndpointId,
    wire::{
        CreateWebhookEndpoint, DeletedEndpoint, ModifyWebhookEndpoint, ReplayEvents, TestWebhook,
        WebhookDelivery, WebhookEndpoint, WebhookReplay,
    },
};

use crate::{
    call::Call,
    client::Client,
    filter,
    listing::{Listing, Order},
};

/// What can be done with webhook endpoints and deliveries (API §16).
#[derive(Debug, Clone, Copy)]
pub struct Webhooks<'c>(pub(crate) &'c Client);

impl Webhooks<'_> {
    /// Creates an endpoint. Only this answer, and that to a rotation, holds the secret.
    pub fn create(&self, ask: &CreateWebhookEndpoint) -> Call<WebhookEndpoint> {
        self.0.post("/webhooks", ask)
    }

    /// Lists endpoints, newest first.
    pub fn list(&self, filter: &filter::Any) -> Listing<WebhookEndpoint> {
        Listing::new(self.0, "/webhooks", "", filter, Order::NewestFirst)
    }

    /// Modifies an endpoint, or rotates its secret.
    pub fn modify(&self, id: EndpointId, ask: &ModifyWebhookEndpoint) -> Call<WebhookEndpoint> {
        self.0.post(format!("/webhooks/{id}"), ask)
    }

    /// Deletes an endpoint. When the answer to a deletion is lost, the next attempt is answered
    /// with [`Code::ResourceNotFound`](crate::Code::ResourceNotFound).
    pub fn delete(&self, id: EndpointId) -> Call<DeletedEndpoint> {
        self.0.delete(format!("/webhooks/{id}"))
    }

    /// Sends a sample event to an endpoint (API §16.4).
    pub fn test(&self, ask: &TestWebhook) -> Call<WebhookDelivery> {
        self.0.post("/webhooks/test", ask)
    }

    /// Lists deliveries, newest first (API §16.3).
    pub fn deliveries(&self, filter: &filter::Deliveries) -> Listing<WebhookDelivery> {
        Listing::new(self.0, "/webhooks/deliveries", "", filter, Order::NewestFirst)
    }

    /// Attempts a delivery once more, now (API §22.2).
    pub fn retry(&self, id: DeliveryId) -> Call<WebhookDelivery> {
        #[derive(serde::Serialize)]
        struct Nothing {}
        self.0.post(format!("/webhooks/deliveries/{id}/retry"), &Nothing {})
    }

    /// Sends events once more to an endpoint, oldest first, a page for each call (API §22.3).
    pub fn replay(&self, id: EndpointId, ask: &ReplayEvents) -> Call<WebhookReplay> {
        self.0.post(format!("/webhooks/{id}/replay"), ask)
    }
}
