//! One attempt of one delivery.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use bytes::Bytes;
use cauri_core::{
    AttemptError, Changeset, Delivery, DeliveryId, Event, Key, Record, Sealed, Timestamp,
    TraceContext, Versioned, WebhookEndpoint,
    decide::{delivery, webhook_endpoint::secret_owner},
    signature::{self, SigningKey},
};
use futures_util::FutureExt;
use tracing::Span;

use super::Worker;
use crate::{
    error::Error,
    port::{
        meter::Measured,
        notifier::{Attempt, Receipt},
    },
    trace,
};

/// How an attempt ended, before that is written down.
#[derive(Debug)]
pub(super) struct Attempted {
    /// Did the receiver take it?
    pub(super) received: bool,
    changes: Changeset,
    /// Until when the delivery is ours.
    until: Option<Timestamp>,
}

impl Attempted {
    fn failed((_, changes): (Delivery, Changeset), until: Option<Timestamp>) -> Self {
        Self { received: false, changes, until }
    }

    /// What is to be committed.
    pub(super) fn into_changes(self) -> Changeset {
        self.changes
    }
}

impl Worker {
    /// Attempts a delivery that this worker holds. `None` when that was not possible: there will be
    /// one more attempt when the lease ends.
    pub(super) async fn attempt(
        &self,
        held: Versioned<Delivery>,
        event: Option<Arc<Event>>,
        trace: Option<TraceContext>,
    ) -> Option<Attempted> {
        let id = held.value.id;
        let span = trace::attempt(&held.value);
        match self.engine.go_on(trace, span, self.try_attempt(held, event)).await {
            Ok(attempted) => Some(attempted),
            Err(error) => {
                tracing::warn!(%error, delivery = %id, "an attempt could not be made");
                None
            }
        }
    }

    async fn try_attempt(
        &self,
        held: Versioned<Delivery>,
        event: Option<Arc<Event>>,
    ) -> Result<Attempted, Error> {
        let until = held.due_at;
        let now = self.now();
        let abandon = |held, why| Ok(Attempted::failed(delivery::abandoned(held, why, now), until));
        let (endpoint, event) = self.read(&held.value, event, now).await?;
        let endpoint = match endpoint {
            Some(endpoint) if endpoint.deleted_at.is_none() => endpoint,
            _ => return abandon(held, AttemptError::EndpointDeleted),
        };
        if !endpoint.active {
            return abandon(held, AttemptError::EndpointInactive);
        }
        // An event is never forgotten: without it the store is broken, and nothing can be sent.
        let Some(event) = event else { return abandon(held, AttemptError::EndpointDeleted) };
        let url = endpoint.url.clone();
        let headers = match self.headers(&held.value, &endpoint, event.payload.as_bytes(), now) {
            Ok(headers) => headers,
            Err(error) => {
                // Nothing goes out unsigned: a missed attempt, so that the schedule ends it.
                tracing::error!(%error, endpoint = %endpoint.id, "its secret cannot be opened");
                let missed = Err(AttemptError::ConnectionFailed);
                return Ok(Attempted::failed(
                    delivery::attempted(held, url, now, missed, 0),
                    until,
                ));
            }
        };
        let attempt = Attempt {
            url: url.as_str().to_owned(),
            environment: held.value.scope.environment,
            headers,
            body: Bytes::from(event.payload.clone()),
        };
        let sent = AssertUnwindSafe(self.engine.0.notifier.deliver(&attempt)).catch_unwind().await;
        let receipt = sent.unwrap_or_else(|_| {
            tracing::error!(delivery = %held.value.id, "the notifier panicked");
            Receipt { outcome: Err(AttemptError::ConnectionFailed), duration_ms: 0 }
        });
        trace::attempted(&Span::current(), &receipt);
        self.measure(&held.value, &receipt, now);
        let Receipt { outcome, duration_ms } = receipt;
        let received = matches!(outcome, Ok(status) if (200..300).contains(&status));
        let (_, changes) = delivery::attempted(held, url, now, outcome, duration_ms);
        Ok(Attempted { received, changes, until })
    }

    /// The endpoint, as it is or was a moment ago, and the event.
    async fn read(
        &self,
        held: &Delivery,
        event: Option<Arc<Event>>,
        now: Timestamp,
    ) -> Result<(Option<Arc<WebhookEndpoint>>, Option<Arc<Event>>), Error> {
        let endpoints = &self.engine.0.endpoints;
        let named = (held.scope, held.endpoint);
        // Only what lets the delivery be sent is believed: one that was inactive a moment ago may be
        // active again by now, and giving up is for good.
        let sends = |it: &Arc<WebhookEndpoint>| it.active && it.deleted_at.is_none();
        let mut endpoint = endpoints.find(&named, now).filter(sends);
        let mut event = event;
        if endpoint.is_some() && event.is_some() {
            return Ok((endpoint, event));
        }
        let ticket = endpoints.ticket();
        let mut keys = Vec::new();
        if endpoint.is_none() {
            keys.push(Key::WebhookEndpoint(held.scope, held.endpoint));
            let along = endpoints.along(&named, now).into_iter();
            keys.extend(along.map(|(scope, id)| Key::WebhookEndpoint(scope, id)));
        }
        if event.is_none() {
            keys.push(Key::Event(held.scope, held.event));
        }
        for found in self.engine.0.store.get(&keys).await?.into_iter().flatten() {
            match found.value {
                Record::WebhookEndpoint(it) => {
                    let it = Arc::new(*it);
                    let name = (it.scope, it.id);
                    endpoints.keep(name, Arc::clone(&it), now, ticket);
                    if name == named {
                        endpoint = Some(it);
                    }
                }
                Record::Event(it) => event = Some(Arc::new(*it)),
                _ => {}
            }
        }
        Ok((endpoint, event))
    }

    fn headers(
        &self,
        held: &Delivery,
        endpoint: &WebhookEndpoint,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        let mut keys = vec![self.signing_key(&endpoint.secret, endpoint)?];
        if let Some(previous) = endpoint.previous_secret.as_ref().filter(|it| it.expires_at > now) {
            // One that cannot be opened any more does not keep the present one from signing.
            keys.extend(self.signing_key(&previous.secret, endpoint).ok());
        }
        let mut headers = vec![
            (self.engine.0.options.signature_header, signature::header(&keys, now.seconds(), body)),
            ("X-Webhook-Event", held.event_kind.to_string()),
            ("X-Webhook-Delivery", held.id.to_string()),
            ("X-Webhook-Attempt", held.next_number().to_string()),
        ];
        if let Some(trace) = self.engine.trace() {
            headers.push(("traceparent", trace.traceparent()));
            headers.extend(trace.tracestate().map(|state| ("tracestate", state.to_owned())));
        }
        Ok(headers)
    }

    fn measure(&self, held: &Delivery, receipt: &Receipt, began: Timestamp) {
        let Some(meter) = &self.engine.0.meter else { return };
        let late = held.next_attempt_at.map_or(0, |planned| began.since(planned));
        meter.measured(&Measured::Delivery {
            environment: held.scope.environment,
            outcome: receipt.outcome,
            took: Duration::from_millis(receipt.duration_ms.into()),
            late: Duration::from_millis(u64::try_from(late).unwrap_or_default()),
        });
    }

    fn signing_key(&self, sealed: &Sealed, of: &WebhookEndpoint) -> Result<SigningKey, Error> {
        let secret = self.engine.0.keys.open(sealed, secret_owner(of.id).as_bytes())?;
        let text = std::str::from_utf8(&secret).map_err(|_| cauri_core::SealError::Malformed)?;
        SigningKey::new(text).map_err(|_| cauri_core::SealError::Malformed.into())
    }

    /// Writes an outcome down. Refused when the lease ended meanwhile: whoever holds the delivery
    /// now will say what becomes of it.
    pub(super) async fn record(&self, delivery: DeliveryId, attempted: Attempted) {
        let Attempted { changes, until, .. } = attempted;
        match self.held(until, || self.engine.commit(changes.clone(), None)).await {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => {
                tracing::debug!(%refusal, %delivery, "an attempt outlived its lease");
            }
            Err(error) => {
                // One more attempt when the lease ends.
                tracing::warn!(%error, %delivery, "an attempt could not be recorded");
            }
        }
    }
}
