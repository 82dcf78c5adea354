//! Deliveries (API §16.3).

use cauri_core::{
    Query,
    wire::{self, List},
};

use crate::{call::Caller, engine::Engine, error::Error};

impl Engine {
    /// `GET /v1/webhooks/deliveries`.
    ///
    /// # Errors
    /// [`crate::PermissionError::SecretKeyRequired`], or [`Error::Store`].
    pub async fn webhook_deliveries(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<List<wire::WebhookDelivery>, Error> {
        caller.may_write()?;
        self.page_of(query, wire::WebhookDelivery::of).await
    }
}
