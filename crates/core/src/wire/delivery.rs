//! Deliveries as they travel (API §16.3, §16.4).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    field::{self, string},
    form::Form,
    params::Params,
    tag,
};
use crate::{
    arithmetic::retry,
    error::{Faults, Problem},
    model::{delivery as model, event::EventKind},
    value::{
        id::{DeliveryId, EndpointId, EventId},
        money::Overflow,
        open::Open,
        scope::Environment,
        time::Timestamp,
        web_url::WebUrl,
    },
};

/// `POST /v1/webhooks/test` (API §16.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct TestWebhook {
    /// Where to.
    #[serde(rename = "webhook_endpoint")]
    pub endpoint: EndpointId,
    /// Which kind of event.
    #[serde(rename = "event_type")]
    pub event_kind: EventKind,
}

impl TestWebhook {
    /// Reads it from a JSON object.
    ///
    /// # Errors
    /// Everything that is wrong with it, in field order.
    ///
    /// ```
    /// # use cauri_core::{Catalogue, Environment, Timestamp};
    /// use cauri_core::wire;
    /// # let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
    /// # let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH };
    /// let body = wire::parse_object(br#"{}"#)?;
    /// let faults = wire::TestWebhook::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "webhook_endpoint is required.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, _form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let endpoint = params.required("webhook_endpoint", string(field::id));
        let kind = |word: &str| word.parse().map_err(|_| Problem::EventKindUnknown);
        let event_kind = params.optional("event_type", string(kind));
        params.finish(endpoint.map(|endpoint| Self {
            endpoint,
            event_kind: event_kind.unwrap_or(EventKind::PaymentSucceeded),
        }))
    }
}

/// `POST /v1/webhooks/deliveries/:id/retry` (API §22.2), which says nothing but which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct RetryDelivery;

impl RetryDelivery {
    /// Reads it from a JSON object.
    ///
    /// # Errors
    /// Everything that is wrong with it, in field order.
    ///
    /// ```
    /// # use cauri_core::{Catalogue, Environment, Timestamp};
    /// use cauri_core::wire;
    /// # let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
    /// # let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH };
    /// let body = wire::parse_object(br#"{"when":"now"}"#)?;
    /// let faults = wire::RetryDelivery::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "when is not a parameter of this request.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, _form: &Form<'_>) -> Result<Self, Faults> {
        Params::creation(body).finish(Some(Self))
    }
}

/// A delivery of one event to one endpoint (API §16.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebhookDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// `webhook_delivery`.
    pub object: tag::WebhookDelivery,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where to.
    pub webhook_endpoint: EndpointId,
    /// What.
    pub event: EventId,
    /// The event's kind.
    pub event_type: Open<EventKind>,
    /// The address at the last attempt.
    pub url: WebUrl,
    /// Where it stands.
    pub status: model::DeliveryStatus,
    /// How many attempts were made.
    pub attempts_count: u8,
    /// How many attempts are made without anybody asking for more.
    pub max_attempts: u8,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// What the receiver answered last.
    pub http_status: Option<u16>,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: Option<u32>,
    /// Why the last attempt failed, or the delivery ended without one.
    pub error: Option<model::AttemptError>,
    /// Every attempt.
    pub attempts: Vec<model::AttemptRecord>,
    /// Was it made by `POST /v1/webhooks/test`?
    pub test: bool,
    /// When the event was emitted, or replayed.
    pub created_at: Timestamp,
    /// When it succeeded or was given up.
    pub completed_at: Option<Timestamp>,
}

impl WebhookDelivery {
    /// What is shown of a delivery.
    ///
    /// # Errors
    /// [`Overflow`] when it has more attempts than there can be.
    ///
    /// ```
    /// use cauri_core::{AttemptError, decide, wire::WebhookDelivery};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let (_, delivery) = shop.delivery();
    /// let (url, now) = (delivery.value.url.clone(), shop.now());
    /// let (delivery, _) = decide::delivery::attempted(delivery, url, now, Ok(500), 92);
    /// let shown = WebhookDelivery::of(&delivery)?;
    /// assert_eq!((shown.attempts_count, shown.max_attempts), (1, 6));
    /// assert_eq!((shown.http_status, shown.error), (Some(500), Some(AttemptError::Non2xx)));
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub fn of(delivery: &model::Delivery) -> Result<Self, Overflow> {
        let model::Delivery {
            id,
            scope,
            endpoint,
            event,
            event_kind,
            url,
            status,
            attempts,
            next_attempt_at,
            ended_by,
            test,
            created_at,
            completed_at,
        } = delivery;
        // A delivery that ended without an attempt shows why, and nothing of the attempts before.
        let last = if ended_by.is_none() { attempts.last() } else { None };
        Ok(Self {
            id: *id,
            object: tag::WebhookDelivery,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            webhook_endpoint: *endpoint,
            event: *event,
            event_type: Open::Known(*event_kind),
            url: url.clone(),
            status: *status,
            attempts_count: u8::try_from(attempts.len()).map_err(|_| Overflow)?,
            max_attempts: retry::ATTEMPTS_MAX,
            next_attempt_at: *next_attempt_at,
            http_status: last.and_then(|attempt| attempt.http_status),
            duration_ms: last.map(|attempt| attempt.duration_ms),
            error: ended_by.or_else(|| last.and_then(|attempt| attempt.error)),
            attempts: attempts.clone(),
            test: *test,
            created_at: *created_at,
            completed_at: *completed_at,
        })
    }
}
