//! Webhook endpoints as they travel (API §16.1).

use serde::{Deserialize, Serialize};

use super::{private::Private, tag};
use crate::{
    model::webhook_endpoint::{self as model, Subscription},
    value::{
        id::EndpointId,
        metadata::{Metadata, MetadataPatch},
        money::Overflow,
        patch::Patch,
        scope::Environment,
        secret::Secret,
        text::Text,
        time::Timestamp,
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

/// A webhook endpoint (API §16.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebhookEndpoint {
    /// Its id.
    pub id: EndpointId,
    /// `webhook_endpoint`.
    pub object: tag::WebhookEndpoint,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where events are sent.
    pub url: WebUrl,
    /// Which events: kinds, or `*` alone.
    pub events: Vec<String>,
    /// Is anything sent?
    pub active: bool,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// What signs; only in the answer to a creation or a rotation, else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Private>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl WebhookEndpoint {
    /// What is shown of an endpoint, with its secret when it is new.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    pub fn of(
        endpoint: &model::WebhookEndpoint,
        secret: Option<&Secret>,
    ) -> Result<Self, Overflow> {
        let model::WebhookEndpoint {
            id,
            scope,
            url,
            events,
            active,
            description,
            metadata,
            secret: _,
            previous_secret: _,
            created_at,
            updated_at,
            deleted_at: _,
        } = endpoint;
        Ok(Self {
            id: *id,
            object: tag::WebhookEndpoint,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            url: url.clone(),
            events: events.words().into_iter().map(str::to_owned).collect(),
            active: *active,
            description: description.clone(),
            metadata: metadata.clone(),
            secret: secret.map(|secret| secret.reveal().into()),
            created_at: *created_at,
            updated_at: *updated_at,
        })
    }
}

/// The answer to the deletion of an endpoint (API §16.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeletedEndpoint {
    /// Its id.
    pub id: EndpointId,
    /// `webhook_endpoint`.
    pub object: tag::WebhookEndpoint,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// True.
    pub deleted: bool,
}

impl DeletedEndpoint {
    /// What is shown of an endpoint that was deleted.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    pub const fn of(endpoint: &model::WebhookEndpoint) -> Result<Self, Overflow> {
        Ok(Self {
            id: endpoint.id,
            object: tag::WebhookEndpoint,
            environment: endpoint.scope.environment,
            livemode: endpoint.scope.environment.is_live(),
            deleted: true,
        })
    }
}
