//! A notifier that is held to its time, and that cannot take anybody along.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use cauri_core::{AttemptError, Environment};
use tokio::time::timeout;

use crate::{
    caught::caught,
    port::notifier::{Attempt, Notifier, Receipt},
};

/// How long an attempt takes at most (law 5 of [`Notifier`]), in milliseconds.
pub(crate) const ATTEMPT_MAX_MS: i64 = 8_000;

/// When an attempt is given up for the notifier: a second late is no notifier that keeps the law.
const DELIVER_TIMEOUT: Duration = Duration::from_secs(9);

/// The same for the judgement of a URL, which takes some two seconds (law 10).
const VET_TIMEOUT: Duration = Duration::from_secs(3);

/// What is called, in the log.
const PORT: &str = "notifier";

/// An embedder's notifier, of which each call ends: one that never answered would keep its places,
/// one after the other, until nothing is delivered any more.
#[derive(Debug)]
pub(crate) struct Bounded(pub(crate) Arc<dyn Notifier>);

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Notifier for Bounded {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        let sent = caught(PORT, async { self.0.deliver(attempt).await });
        let Ok(sent) = timeout(DELIVER_TIMEOUT, sent).await else {
            tracing::error!("the notifier did not answer in time");
            let duration_ms = u32::try_from(DELIVER_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
            return Receipt { outcome: Err(AttemptError::Timeout), duration_ms };
        };
        let missed = Receipt { outcome: Err(AttemptError::ConnectionFailed), duration_ms: 0 };
        sent.unwrap_or(missed)
    }

    async fn vet(&self, url: &str, environment: Environment) -> Result<(), AttemptError> {
        let vetted = caught(PORT, async { self.0.vet(url, environment).await });
        let Ok(vetted) = timeout(VET_TIMEOUT, vetted).await else {
            tracing::error!("the notifier did not judge a URL in time");
            // As a name that does not resolve soon: law 7 holds all the same.
            return Ok(());
        };
        vetted.unwrap_or(Ok(()))
    }
}
