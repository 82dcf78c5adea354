//! Events as they travel (API §15).

use serde::{Deserialize, Serialize};

use super::tag;
use crate::{
    model::event::EventKind,
    value::{
        id::EventId,
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
    pub kind: EventKind,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(test: &bool) -> bool {
    !*test
}

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
        kind,
        created,
        environment: scope.environment,
        livemode: scope.environment.is_live(),
        data: EventData { object },
        test,
    };
    serde_json::to_string(&event).unwrap_or_default()
}
