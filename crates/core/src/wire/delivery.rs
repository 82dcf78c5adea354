//! Deliveries as they travel (API §16.3, §16.4).

use crate::{model::event::EventKind, value::id::EndpointId};

/// `POST /v1/webhooks/test` (API §16.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct TestWebhook {
    /// Where to.
    pub endpoint: EndpointId,
    /// Which kind of event.
    pub event_kind: EventKind,
}
