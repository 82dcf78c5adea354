//! One attempt of one delivery.

use std::{panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use cauri_core::{
    AttemptError, Changeset, Delivery, Event, Key, Record, Sealed, Timestamp, Versioned,
    WebhookEndpoint,
    decide::{delivery, webhook_endpoint::secret_owner},
    signature::{self, SigningKey},
};
use futures_util::FutureExt;

use super::Worker;
use crate::{
    error::Error,
    port::notifier::{Attempt, Receipt},
};

impl Worker {
    /// Attempts a delivery that this worker holds, and records the outcome as long as it is still
    /// held. Answers whether the receiver took it.
    pub(super) async fn attempt(
        &self,
        held: Versioned<Delivery>,
        event: Option<Arc<Event>>,
    ) -> bool {
        let id = held.value.id;
        match self.try_attempt(held, event).await {
            Ok(received) => received,
            Err(error) => {
                // One more attempt when the lease ends.
                tracing::warn!(%error, delivery = %id, "an attempt could not be made or recorded");
                false
            }
        }
    }

    async fn try_attempt(
        &self,
        held: Versioned<Delivery>,
        event: Option<Arc<Event>>,
    ) -> Result<bool, Error> {
        let now = self.now();
        let (endpoint, event) = self.read(&held.value, event).await?;
        let endpoint = match endpoint {
            Some(endpoint) if endpoint.deleted_at.is_none() => endpoint,
            _ => return self.abandon(held, AttemptError::EndpointDeleted, now).await,
        };
        if !endpoint.active {
            return self.abandon(held, AttemptError::EndpointInactive, now).await;
        }
        // An event is never forgotten: without it the store is broken, and nothing can be sent.
        let Some(event) = event else {
            return self.abandon(held, AttemptError::EndpointDeleted, now).await;
        };
        let headers = match self.headers(&held.value, &endpoint, event.payload.as_bytes(), now) {
            Ok(headers) => headers,
            Err(error) => {
                // Nothing goes out unsigned: a missed attempt, so that the schedule ends it.
                tracing::error!(%error, endpoint = %endpoint.id, "its secret cannot be opened");
                let missed = Err(AttemptError::ConnectionFailed);
                let (_, changes) = delivery::attempted(held, endpoint.url, now, missed, 0);
                self.record(changes).await?;
                return Ok(false);
            }
        };
        let attempt = Attempt {
            url: endpoint.url.as_str().to_owned(),
            environment: held.value.scope.environment,
            headers,
            body: Bytes::from(event.payload.clone()),
        };
        let sent = AssertUnwindSafe(self.engine.0.notifier.deliver(&attempt)).catch_unwind().await;
        let Receipt { outcome, duration_ms } = sent.unwrap_or_else(|_| {
            tracing::error!(delivery = %held.value.id, "the notifier panicked");
            Receipt { outcome: Err(AttemptError::ConnectionFailed), duration_ms: 0 }
        });
        let received = matches!(outcome, Ok(status) if (200..300).contains(&status));
        let (_, changes) = delivery::attempted(held, endpoint.url, now, outcome, duration_ms);
        self.record(changes).await?;
        Ok(received)
    }

    /// The endpoint as it is now, and the event.
    async fn read(
        &self,
        held: &Delivery,
        event: Option<Arc<Event>>,
    ) -> Result<(Option<WebhookEndpoint>, Option<Arc<Event>>), Error> {
        let mut keys = vec![Key::WebhookEndpoint(held.scope, held.endpoint)];
        if event.is_none() {
            keys.push(Key::Event(held.scope, held.event));
        }
        let mut endpoint = None;
        let mut event = event;
        for found in self.engine.0.store.get(&keys).await?.into_iter().flatten() {
            match found.value {
                Record::WebhookEndpoint(it) => endpoint = Some(*it),
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
        Ok(vec![
            (self.engine.0.options.signature_header, signature::header(&keys, now.seconds(), body)),
            ("X-Webhook-Event", held.event_kind.to_string()),
            ("X-Webhook-Delivery", held.id.to_string()),
            ("X-Webhook-Attempt", held.next_number().to_string()),
        ])
    }

    fn signing_key(&self, sealed: &Sealed, of: &WebhookEndpoint) -> Result<SigningKey, Error> {
        let secret = self.engine.0.keys.open(sealed, secret_owner(of.id).as_bytes())?;
        let text = std::str::from_utf8(&secret).map_err(|_| cauri_core::SealError::Malformed)?;
        SigningKey::new(text).map_err(|_| cauri_core::SealError::Malformed.into())
    }

    async fn abandon(
        &self,
        held: Versioned<Delivery>,
        why: AttemptError,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let (_, changes) = delivery::abandoned(held, why, now);
        self.record(changes).await?;
        Ok(false)
    }

    /// Writes an outcome down. Refused when the lease ended meanwhile: whoever holds the delivery
    /// now will say what becomes of it.
    async fn record(&self, changes: Changeset) -> Result<(), Error> {
        if let Err(refusal) = self.engine.commit(changes, None).await? {
            tracing::debug!(%refusal, "an attempt outlived its lease");
        }
        Ok(())
    }
}
