//! Webhook endpoints as they travel (API §16.1).

use crate::{
    model::webhook_endpoint::Subscription,
    value::{
        metadata::{Metadata, MetadataPatch},
        patch::Patch,
        text::Text,
        web_url::WebUrl,
    },
};

/// `POST /v1/webhooks` (API §16.1).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreateWebhookEndpoint {
    /// Where events are sent; without user info and fragment.
    pub url: WebUrl,
    /// Which events.
    pub events: Subscription,
    /// Is anything sent from the start?
    pub active: bool,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
}

/// `POST /v1/webhooks/:id` (API §16.1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct ModifyWebhookEndpoint {
    /// Where events are sent.
    pub url: Option<WebUrl>,
    /// Which events.
    pub events: Option<Subscription>,
    /// Is anything sent?
    pub active: Option<bool>,
    /// For people.
    pub description: Patch<Text<255>>,
    /// For the merchant.
    pub metadata: MetadataPatch,
    /// Seconds for which the present secret still signs beside a new one, 0 to 86,400; `None`
    /// keeps the secret.
    pub rotate_secret: Option<u32>,
}
