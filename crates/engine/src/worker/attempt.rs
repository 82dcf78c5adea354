//! One attempt of one delivery.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use cauri_core::{
    AttemptError, Changeset, Delivery, DeliveryId, Event, Key, Record, Timestamp, TraceContext,
    Verdict, Versioned, WebhookEndpoint, decide::delivery, signature,
};
use tracing::Span;

use super::{Worker, receiver::Receiver};
use crate::{
    bounded::ATTEMPT_MAX_MS,
    cache::Ticket,
    caught::caught,
    engine::Engine,
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
    delivery: DeliveryId,
    changes: Changeset,
    /// Until when the delivery is ours.
    until: Option<Timestamp>,
}

impl Attempted {
    fn failed((it, changes): (Delivery, Changeset), until: Option<Timestamp>) -> Self {
        Self { received: false, delivery: it.id, changes, until }
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
            Ok(attempted) => attempted,
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
    ) -> Result<Option<Attempted>, Error> {
        let until = held.due_at;
        let (receiver, event) = self.read(&held.value, event, self.now()).await?;
        // The attempt begins now, whatever reading took; and only if it ends while it is ours.
        let now = self.now();
        if until.is_none_or(|until| until < now.plus_millis(ATTEMPT_MAX_MS)) {
            tracing::debug!(delivery = %held.value.id, "its lease is nearly over");
            return Ok(None);
        }
        let abandon =
            |held, why| Ok(Some(Attempted::failed(delivery::abandoned(held, why, now), until)));
        let receiver = match receiver {
            Some(receiver) if receiver.receives() => receiver,
            Some(receiver) if receiver.endpoint.deleted_at.is_none() => {
                return abandon(held, AttemptError::EndpointInactive);
            }
            _ => return abandon(held, AttemptError::EndpointDeleted),
        };
        let endpoint = &receiver.endpoint;
        // An event is never forgotten: without it the store is broken, and nothing can be sent.
        let Some(event) = event else { return abandon(held, AttemptError::EndpointDeleted) };
        let url = endpoint.url.clone();
        let headers = match self.headers(&held.value, &receiver, event.payload.as_bytes(), now) {
            Ok(headers) => headers,
            Err(error) => {
                // Nothing goes out unsigned, and no attempt is spent on what only whoever runs this
                // can mend.
                tracing::error!(%error, endpoint = %endpoint.id, "its secret cannot be opened");
                return Ok(Some(Attempted::failed(delivery::put_off(held, now), until)));
            }
        };
        let attempt = Attempt {
            url: url.as_str().to_owned(),
            environment: held.value.scope.environment,
            headers,
            body: Bytes::from(event.payload.clone()),
        };
        let receipt = self.engine.0.notifier.deliver(&attempt).await;
        trace::attempted(&Span::current(), &receipt);
        self.measure(&held.value, &receipt, now);
        let Receipt { outcome, duration_ms } = receipt;
        let received = matches!(outcome, Ok(status) if (200..300).contains(&status));
        let (it, changes) = delivery::attempted(held, url, now, outcome, duration_ms);
        Ok(Some(Attempted { received, delivery: it.id, changes, until }))
    }

    /// The endpoint, as it is or was a moment ago, and the event.
    async fn read(
        &self,
        held: &Delivery,
        event: Option<Arc<Event>>,
        now: Timestamp,
    ) -> Result<(Option<Arc<Receiver>>, Option<Arc<Event>>), Error> {
        let receivers = &self.engine.0.receivers;
        let named = (held.scope, held.endpoint);
        // Only what lets the delivery be sent is believed: one that was inactive a moment ago may be
        // active again by now, and giving up is for good.
        let mut receiver = receivers.find(&named, now).filter(|it| it.receives());
        let mut event = event;
        if receiver.is_some() {
            self.renew_receivers(now);
            if event.is_some() {
                return Ok((receiver, event));
            }
        }
        let ticket = receivers.ticket();
        let mut keys = Vec::new();
        if receiver.is_none() {
            keys.push(Key::WebhookEndpoint(held.scope, held.endpoint));
            let along = receivers.along(&named, now).into_iter();
            keys.extend(along.map(|(scope, id)| Key::WebhookEndpoint(scope, id)));
        }
        if event.is_none() {
            keys.push(Key::Event(held.scope, held.event));
        }
        for found in self.engine.0.store.get(&keys).await?.into_iter().flatten() {
            match found.value {
                Record::WebhookEndpoint(it) => {
                    let name = (it.scope, it.id);
                    let read = self.engine.keep_receiver(it, now, ticket);
                    if name == named {
                        receiver = Some(read);
                    }
                }
                Record::Event(it) => event = Some(it),
                _ => {}
            }
        }
        Ok((receiver, event))
    }

    /// Has the endpoints that will soon be believed no more read anew.
    fn renew_receivers(&self, now: Timestamp) {
        self.engine.renew(&self.engine.0.receivers, now, |engine, named, ticket| async move {
            let keys = named.into_iter().map(|(scope, id)| Key::WebhookEndpoint(scope, id));
            let found = engine.0.store.get(&keys.collect::<Vec<_>>()).await?;
            for found in found.into_iter().flatten() {
                if let Record::WebhookEndpoint(it) = found.value {
                    engine.keep_receiver(it, now, ticket);
                }
            }
            Ok(())
        });
    }

    fn headers(
        &self,
        held: &Delivery,
        to: &Receiver,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        let keys = to.keys(&self.engine.0.keys, now)?;
        let mut headers = vec![
            (self.engine.0.options.signature_header, signature::header(keys, now.seconds(), body)),
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

    /// Writes outcomes down, all at once. Answers those of which that failed: what became of each, and
    /// whether it is worth telling again, differs from one to another.
    pub(super) async fn record_together(&self, outcomes: Vec<Attempted>) -> Vec<Attempted> {
        let changes = outcomes.iter().map(|it| it.changes.clone()).collect();
        let told = caught("store", self.engine.0.store.commit(changes)).await;
        let Some(Ok(verdicts)) = told else { return outcomes };
        for (it, verdict) in outcomes.iter().zip(verdicts) {
            recorded(it.delivery, verdict);
        }
        Vec::new()
    }

    /// Writes an outcome down, by itself, and again while the store is away.
    pub(super) async fn record_alone(&self, attempted: Attempted) {
        let Attempted { delivery, changes, until, .. } = attempted;
        match self.held(until, || self.engine.commit(changes.clone(), None)).await {
            Ok(verdict) => recorded(delivery, verdict),
            Err(error) => {
                // One more attempt when the lease ends.
                tracing::warn!(%error, %delivery, "an attempt could not be recorded");
            }
        }
    }
}

impl Engine {
    fn keep_receiver(
        &self,
        endpoint: Arc<WebhookEndpoint>,
        now: Timestamp,
        ticket: Ticket,
    ) -> Arc<Receiver> {
        let name = (endpoint.scope, endpoint.id);
        let read = Arc::new(Receiver::new(endpoint));
        self.0.receivers.keep(name, Arc::clone(&read), now, ticket);
        read
    }
}

/// Refused when the lease ended meanwhile: whoever holds the delivery now will say what becomes of
/// it. Or when it was written down before, and nobody heard so.
fn recorded(delivery: DeliveryId, verdict: Verdict) {
    if let Err(refusal) = verdict {
        tracing::debug!(%refusal, %delivery, "an attempt outlived its lease, or was recorded already");
    }
}
