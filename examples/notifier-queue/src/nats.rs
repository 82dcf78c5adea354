//! NATS.

use std::time::Duration;

use async_nats::{Client, HeaderMap, Message};
use async_trait::async_trait;
use cauri::{Attempt, AttemptError, Environment, Notifier, Receipt};
use tokio::time::{Instant, timeout};

/// An attempt is over after 8 s, so it is given up before.
const PATIENCE: Duration = Duration::from_secs(7);

/// Hands each attempt to NATS, under a subject such as `cauri.payment.succeeded`.
///
/// It publishes as a request and waits for the reply, because a message that nobody confirmed may
/// have gone nowhere. A JetStream stream over the subjects replies when it has stored the message;
/// without one, a consumer has to reply. The headers are those of the webhook, with `Cauri-Url` for
/// the endpoint's URL, and `Nats-Msg-Id`, by which a stream keeps one copy of what came twice.
#[derive(Debug, Clone)]
pub struct NatsNotifier {
    client: Client,
    prefix: String,
}

impl NatsNotifier {
    /// A notifier whose subjects begin with `prefix` and a dot.
    #[must_use]
    pub fn new(client: Client, prefix: impl Into<String>) -> Self {
        Self { client, prefix: prefix.into() }
    }

    async fn publish(&self, attempt: &Attempt) -> Result<u16, AttemptError> {
        let mut headers = HeaderMap::new();
        headers.insert("Cauri-Url", attempt.url.as_str());
        let mut subject = self.prefix.clone();
        for (name, value) in &attempt.headers {
            headers.insert(*name, value.as_str());
            match *name {
                "X-Webhook-Event" => subject = format!("{subject}.{value}"),
                "X-Webhook-Delivery" => headers.insert("Nats-Msg-Id", value.as_str()),
                _ => {}
            }
        }
        let asked = self.client.request_with_headers(subject, headers, attempt.body.clone());
        match timeout(PATIENCE, asked).await {
            Ok(Ok(reply)) if is_taken(&reply) => Ok(202),
            Ok(Ok(_) | Err(_)) => Err(AttemptError::ConnectionFailed),
            Err(_) => Err(AttemptError::Timeout),
        }
    }
}

/// JetStream replies with an `error` when it could not store a message.
fn is_taken(reply: &Message) -> bool {
    let reply = serde_json::from_slice::<serde_json::Value>(&reply.payload);
    reply.is_ok_and(|reply| reply.get("error").is_none())
}

#[async_trait]
impl Notifier for NatsNotifier {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        let since = Instant::now();
        let outcome = self.publish(attempt).await;
        let duration_ms = u32::try_from(since.elapsed().as_millis()).unwrap_or(u32::MAX);
        Receipt { outcome, duration_ms }
    }

    async fn vet(&self, _url: &str, _environment: Environment) -> Result<(), AttemptError> {
        // Nothing is connected to: where it goes is the consumer's business.
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use async_nats::ConnectOptions;
    use tokio::net::TcpSocket;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_away_has_not_answered_in_time() {
        // Bound and never listened on, the port is nobody's.
        let port = TcpSocket::new_v4().unwrap();
        port.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let url = format!("nats://{}", port.local_addr().unwrap());
        let options = ConnectOptions::new().retry_on_initial_connect();
        let notifier = NatsNotifier::new(options.connect(url).await.unwrap(), "cauri");
        let attempt = Attempt {
            url: "https://queue.internal/payments".to_owned(),
            environment: Environment::Live,
            headers: vec![("X-Webhook-Event", "payment.succeeded".to_owned())],
            body: "{}".into(),
        };
        let receipt = notifier.deliver(&attempt).await;
        assert_eq!(receipt.outcome, Err(AttemptError::Timeout));
        assert!((7_000..8_000).contains(&receipt.duration_ms), "{}", receipt.duration_ms);
    }
}
