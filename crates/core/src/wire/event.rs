//! Events as they travel (API §15).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::tag;
use crate::{
    error::Error,
    model::event::{self as model, EventKind},
    value::{
        id::{EventId, ResourceId},
        open::Open,
        scope::{Environment, Scope},
        time::Timestamp,
    },
};

/// What a webhook carries: an event and the object it is about, as it was right after the
/// transition (API §1, R11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event<T> {
    /// Its id.
    pub id: EventId,
    /// `event`.
    pub object: tag::Event,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: Open<EventKind>,
    /// When; the object's `updated_at`.
    pub created: Timestamp,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// What it is about.
    pub data: EventData<T>,
    /// Was it made by `POST /v1/webhooks/test`? Absent unless true.
    #[serde(default, skip_serializing_if = "is_false")]
    pub test: bool,
}

/// The `data` of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the reference knows one field")]
pub struct EventData<T> {
    /// The whole object.
    pub object: T,
}

/// An event that was told: the very body that its webhooks carry (API §22.1).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventBody(Box<RawValue>);

impl EventBody {
    /// What is shown of an event.
    ///
    /// # Errors
    /// [`Error::Impossible`] when its payload is no JSON, which this crate never writes.
    ///
    /// ```
    /// use cauri_core::wire::EventBody;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let (event, _) = Shop::open().delivery();
    /// assert_eq!(EventBody::of(&event)?.as_str(), event.payload);
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    pub fn of(event: &model::Event) -> Result<Self, Error> {
        RawValue::from_string(event.payload.clone()).map(Self).map_err(|_| Error::Impossible)
    }

    /// The body, byte for byte as it is sent and signed.
    ///
    /// ```
    /// use cauri_core::{Environment, Event, EventKind, Scope, Timestamp, wire::EventBody};
    /// let scope = Scope { account: "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?, environment: Environment::Live };
    /// let id = "evt_01jd3w8k7f7q2m9x5r6t0v1b3c".parse()?;
    /// let payload = r#"{"id": "evt_01jd3w8k7f7q2m9x5r6t0v1b3c"}"#.to_owned();
    /// let event = Event { id, scope, kind: EventKind::PaymentFailed, created: Timestamp::EPOCH, payload, test: false };
    /// assert_eq!(EventBody::of(&event)?.as_str(), event.payload);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

/// Which object an event is about, as its own body says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Named {
    id: String,
}

/// Is this event about the object with this id?
///
/// ```
/// use cauri_core::{Environment, Event, EventKind, Scope, Timestamp, wire};
/// let scope = Scope { account: "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?, environment: Environment::Live };
/// let id = "evt_01jd3w8k7f7q2m9x5r6t0v1b3c".parse()?;
/// let (kind, created) = (EventKind::PaymentFailed, Timestamp::EPOCH);
/// let object = [("id", "pay_01jd3w8k4f7q2m9x5r6t0v1b3c")].into_iter().collect::<std::collections::BTreeMap<_, _>>();
/// let payload = wire::event_payload(id, kind, created, scope, false, &object);
/// let event = Event { id, scope, kind, created, payload, test: false };
/// assert!(wire::event_is_about(&event, "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?));
/// assert!(!wire::event_is_about(&event, "pay_01jd3w8k4f7q2m9x5r6t0v1b3d".parse()?));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
#[must_use]
pub fn event_is_about(event: &model::Event, resource: ResourceId) -> bool {
    #[derive(Deserialize)]
    struct Body {
        data: EventData<Named>,
    }
    let body = serde_json::from_str::<Body>(&event.payload);
    body.is_ok_and(|body| body.data.object.id == resource.to_string())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(test: &bool) -> bool {
    !*test
}

/// How long the body of an event usually is.
const PAYLOAD_BYTES: usize = 1_280;

/// The body of an event: the bytes that every attempt sends and signs.
///
/// None of this crate's objects fails to be written; one that does gives an empty text.
///
/// ```
/// use cauri_core::{Environment, EventKind, Id, Scope, Timestamp, wire};
/// let scope = Scope { account: "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?, environment: Environment::Sandbox };
/// let id = "evt_01jd3w8k7f7q2m9x5r6t0v1b3c".parse()?;
/// let kind = EventKind::PayoutFailed;
/// let payload = wire::event_payload(id, kind, Timestamp::EPOCH, scope, true, &["fictive"]);
/// assert!(payload.starts_with(r#"{"id":"evt_01jd3w8k7f7q2m9x5r6t0v1b3c","object":"event","type":"payout.failed""#));
/// assert!(payload.ends_with(r#""data":{"object":["fictive"]},"test":true}"#));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
#[must_use]
pub fn event_payload(
    id: EventId,
    kind: EventKind,
    created: Timestamp,
    scope: Scope,
    test: bool,
    object: &impl Serialize,
) -> String {
    let event = Event {
        id,
        object: tag::Event,
        kind: Open::Known(kind),
        created,
        environment: scope.environment,
        livemode: scope.environment.is_live(),
        data: EventData { object },
        test,
    };
    // With room for most of them: growing would copy it again and again.
    let mut payload = Vec::with_capacity(PAYLOAD_BYTES);
    match serde_json::to_writer(&mut payload, &event) {
        Ok(()) => String::from_utf8(payload).unwrap_or_default(),
        Err(_) => String::new(),
    }
}
