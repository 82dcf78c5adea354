//! A channel within the process.

use async_trait::async_trait;
use cauri::{Attempt, AttemptError, Environment, Notifier, Receipt};
use tokio::sync::mpsc;

/// Hands each attempt to whoever holds the other end.
///
/// What the channel has no room for is tried again later, as if a receiver had not answered. What
/// lies in it when the process ends is lost: for events that may not be, take a queue that lasts.
#[derive(Debug, Clone)]
pub struct ChannelNotifier(mpsc::Sender<Attempt>);

impl ChannelNotifier {
    /// A notifier, and the end where its attempts come out; `room` is how many may wait there.
    #[must_use]
    pub fn new(room: usize) -> (Self, mpsc::Receiver<Attempt>) {
        let (sender, receiver) = mpsc::channel(room);
        (Self(sender), receiver)
    }
}

#[async_trait]
impl Notifier for ChannelNotifier {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        // It never waits for room: one slow consumer would hold up everybody's attempts.
        let taken = self.0.try_send(attempt.clone());
        let outcome = taken.map(|()| 202).map_err(|_| AttemptError::ConnectionFailed);
        Receipt { outcome, duration_ms: 0 }
    }

    async fn vet(&self, _url: &str, _environment: Environment) -> Result<(), AttemptError> {
        // Nothing is connected to: where it goes is the consumer's business.
        Ok(())
    }
}
