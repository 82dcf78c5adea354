//! Deliveries: one event on its way to one endpoint (API §16.3).

use serde::{Deserialize, Serialize};

use super::event::{Event, EventKind};
use crate::value::{
    choice::choice,
    id::{DeliveryId, EndpointId, EventId},
    scope::Scope,
    time::Timestamp,
    web_url::WebUrl,
};

choice! {
    /// Where a delivery stands.
    #[expect(clippy::exhaustive_enums, reason = "a new status of v1 would break every client")]
    DeliveryStatus {
        /// An attempt is to come.
        Pending = "pending",
        /// The receiver answered 2xx.
        Succeeded = "succeeded",
        /// Given up.
        Failed = "failed",
    }
}

choice! {
    /// What may happen to a delivery.
    #[expect(clippy::exhaustive_enums, reason = "the table below matches all of them")]
    DeliveryStep {
        /// The receiver answered 2xx in time.
        Receive = "receive",
        /// An attempt failed and another may follow.
        Miss = "miss",
        /// The last attempt failed, or the endpoint is gone.
        GiveUp = "give_up",
        /// The merchant asked for another attempt.
        Retry = "retry",
    }
}

choice! {
    /// Why an attempt, or a delivery without one, failed (API §16.3).
    #[non_exhaustive]
    AttemptError {
        /// No complete answer within 8 seconds.
        Timeout = "timeout",
        /// The host has no address.
        DnsError = "dns_error",
        /// No connection, or it broke.
        ConnectionFailed = "connection_failed",
        /// No trusted encryption.
        TlsError = "tls_error",
        /// An answer that is not 2xx, a redirect included.
        Non2xx = "non_2xx",
        /// The address is one we do not send to.
        UrlNotAllowed = "url_not_allowed",
        /// The endpoint was deleted before the attempt.
        EndpointDeleted = "endpoint_deleted",
        /// The endpoint was inactive when the attempt was due.
        EndpointInactive = "endpoint_inactive",
    }
}

/// The step is not possible from this status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a delivery that is {from} cannot take the step {step}")]
#[expect(clippy::exhaustive_structs, reason = "a refusal names where and what")]
pub struct IllegalDeliveryStep {
    /// Where the delivery stands.
    pub from: DeliveryStatus,
    /// What was tried.
    pub step: DeliveryStep,
}

impl DeliveryStatus {
    /// The status after a step.
    ///
    /// # Errors
    /// [`IllegalDeliveryStep`] when the tables of API §16.3 and §22.2 have no such row.
    ///
    /// ```
    /// use cauri_core::{DeliveryStatus, DeliveryStep};
    /// assert_eq!(DeliveryStatus::Pending.after(DeliveryStep::Miss), Ok(DeliveryStatus::Pending));
    /// assert!(DeliveryStatus::Failed.after(DeliveryStep::Receive).is_err());
    /// ```
    pub const fn after(self, step: DeliveryStep) -> Result<Self, IllegalDeliveryStep> {
        match (self, step) {
            (Self::Pending, DeliveryStep::Receive) => Ok(Self::Succeeded),
            (Self::Pending, DeliveryStep::Miss) => Ok(Self::Pending),
            (_, DeliveryStep::Retry) => Ok(Self::Pending),
            (Self::Pending, DeliveryStep::GiveUp) => Ok(Self::Failed),
            (Self::Succeeded | Self::Failed, _) => Err(IllegalDeliveryStep { from: self, step }),
        }
    }
}

/// One attempt, as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct AttemptRecord {
    /// From 1: to 6 by the schedule, beyond where the merchant asked for more.
    pub number: u8,
    /// When it began.
    pub started_at: Timestamp,
    /// What the receiver answered.
    pub http_status: Option<u16>,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// Why it failed.
    pub error: Option<AttemptError>,
}

impl AttemptRecord {
    /// When it ended: what the next one's delay counts from (API §1, R15).
    ///
    /// ```
    /// use cauri_core::{AttemptRecord, Timestamp};
    /// let attempt = AttemptRecord {
    ///     number: 1,
    ///     started_at: Timestamp::EPOCH,
    ///     http_status: Some(204),
    ///     duration_ms: 92,
    ///     error: None,
    /// };
    /// assert_eq!(attempt.ended_at().millis(), 92);
    /// ```
    #[must_use]
    pub fn ended_at(&self) -> Timestamp {
        self.started_at.plus_millis(i64::from(self.duration_ms))
    }
}

/// A delivery as it is stored. What the API shows of it is [`crate::wire::WebhookDelivery`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// Whose it is.
    pub scope: Scope,
    /// Where to.
    pub endpoint: EndpointId,
    /// What.
    pub event: EventId,
    /// The event's kind.
    pub event_kind: EventKind,
    /// The address at the last attempt, or at creation before the first.
    pub url: WebUrl,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// What was tried so far.
    pub attempts: Vec<AttemptRecord>,
    /// When the next attempt is due, by the schedule.
    pub next_attempt_at: Option<Timestamp>,
    /// Why it ended without an attempt.
    pub ended_by: Option<AttemptError>,
    /// Was it made by `POST /v1/webhooks/test`?
    pub test: bool,
    /// When the event was emitted, or replayed.
    pub created_at: Timestamp,
    /// When it succeeded or was given up.
    pub completed_at: Option<Timestamp>,
}

impl Delivery {
    /// An event on its way to an endpoint, due now.
    ///
    /// ```
    /// use cauri_core::{Delivery, DeliveryStatus};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let (event, first) = shop.delivery();
    /// let (endpoint, url, now) = (first.value.endpoint, first.value.url, shop.now());
    /// let again = Delivery::new(shop.env.id(), &event, endpoint, url, now);
    /// assert_eq!((again.status, again.next_attempt_at), (DeliveryStatus::Pending, Some(now)));
    /// assert_ne!(again.id, first.value.id);
    /// ```
    #[must_use]
    pub fn new(
        id: DeliveryId,
        event: &Event,
        endpoint: EndpointId,
        url: WebUrl,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            scope: event.scope,
            endpoint,
            event: event.id,
            event_kind: event.kind,
            url,
            status: DeliveryStatus::Pending,
            attempts: Vec::new(),
            next_attempt_at: Some(now),
            ended_by: None,
            test: event.test,
            created_at: now,
            completed_at: None,
        }
    }

    /// The number of the attempt to come, from 1.
    ///
    /// ```
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let (_, delivery) = Shop::open().delivery();
    /// assert_eq!(delivery.value.next_number(), 1);
    /// ```
    #[must_use]
    pub fn next_number(&self) -> u8 {
        u8::try_from(self.attempts.len()).unwrap_or(u8::MAX).saturating_add(1)
    }
}
