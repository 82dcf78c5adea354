//! Events and their deliveries.

use cauri_core::{
    AttemptError, AttemptRecord, Delivery, DeliveryId, DeliveryStatus, EndpointId, Event, EventId,
    EventKind, Scope, Timestamp, WebUrl,
};

use super::mapped;

mapped! { Event {
    scope: Scope => "account" "live";
    id: EventId => "id";
    kind: EventKind => "kind";
    created: Timestamp => "created_at";
    payload: String => "payload";
    test: bool => "test";
}}

mapped! { Delivery {
    scope: Scope => "account" "live";
    id: DeliveryId => "id";
    endpoint: EndpointId => "endpoint";
    event: EventId => "event";
    event_kind: EventKind => "event_kind";
    url: WebUrl => "url";
    status: DeliveryStatus => "status";
    attempts: Vec<AttemptRecord> => "attempts";
    next_attempt_at: Option<Timestamp> => "next_attempt_at";
    ended_by: Option<AttemptError> => "ended_by";
    test: bool => "test";
    created_at: Timestamp => "created_at";
    completed_at: Option<Timestamp> => "completed_at";
}}
