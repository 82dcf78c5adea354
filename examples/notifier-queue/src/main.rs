//! Takes a payment, and prints its events as they come out of the host's own queue.
//!
//! ```text
//! cargo run -p cauri-example-notifier-queue
//! cargo run -p cauri-example-notifier-queue --features nats -- nats://127.0.0.1:4222
//! ```

use std::{error::Error, sync::Arc};

use cauri::{
    Amount, Attempt, Call, Caller, Engine, Environment, Grouped, Notifier, PaymentMethod, Scope,
    Worker,
    wire::{CreatePayment, CreateWebhookEndpoint},
};
use cauri_example_notifier_queue::ChannelNotifier;
use cauri_memory::MemoryStore;
use tokio::sync::{mpsc, oneshot};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (notifier, mut queue) = queue(std::env::args().nth(1)).await?;
    let store = Arc::new(Grouped::new(MemoryStore::new()));
    let engine = Engine::builder(store).notifier(notifier).build()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async {
        let _ = stopped.await;
    }));

    let account = engine.create_account().await?.id;
    let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
    // An endpoint says which events go into the queue, and with which secret they are signed.
    let hooks = CreateWebhookEndpoint::at("https://queue.internal/payments".parse()?);
    engine.create_webhook_endpoint(&Call::by(me), hooks).await?;
    let ask = CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some("XOF".parse()?),
        network: Some("mtn".parse()?),
        // In the sandbox, such a phone pays by itself after two seconds.
        phone: Some("+2250500000000".parse()?),
        ..CreatePayment::by(PaymentMethod::MobileMoney)
    };
    engine.create_payment(&Call::by(me), ask).await?;

    while let Some(attempt) = queue.recv().await {
        let header = |name| attempt.headers.iter().find(|(it, _)| *it == name);
        let event = header("X-Webhook-Event").map_or("?", |(_, value)| value);
        println!("{event}: {} bytes for {}", attempt.body.len(), attempt.url);
        if event == "payment.succeeded" {
            break;
        }
    }
    let _ = stop.send(());
    worker.await?;
    Ok(())
}

type Queue = (Arc<dyn Notifier>, mpsc::Receiver<Attempt>);

/// A channel, or the NATS server that is named.
async fn queue(server: Option<String>) -> Result<Queue, Box<dyn Error + Send + Sync>> {
    match server {
        None => {
            let (notifier, attempts) = ChannelNotifier::new(1_000);
            Ok((Arc::new(notifier), attempts))
        }
        #[cfg(feature = "nats")]
        Some(url) => nats(url).await,
        #[cfg(not(feature = "nats"))]
        Some(_) => Err("built without the feature `nats`".into()),
    }
}

/// Publishes to the server, and consumes there.
#[cfg(feature = "nats")]
async fn nats(url: String) -> Result<Queue, Box<dyn Error + Send + Sync>> {
    use futures_util::StreamExt;

    let client = async_nats::connect(url).await?;
    let mut messages = client.subscribe("cauri.>").await?;
    let notifier = cauri_example_notifier_queue::NatsNotifier::new(client.clone(), "cauri");
    let (sender, attempts) = mpsc::channel(1_000);
    tokio::spawn(async move {
        while let Some(message) = messages.next().await {
            let header = |name: &str| {
                let value = message.headers.as_ref().and_then(|headers| headers.get(name));
                value.map(|value| value.as_str().to_owned()).unwrap_or_default()
            };
            let attempt = Attempt {
                url: header("Cauri-Url"),
                environment: Environment::Sandbox,
                headers: vec![("X-Webhook-Event", header("X-Webhook-Event"))],
                body: message.payload,
            };
            // Without a stream over the subjects it is the consumer who confirms, once it has it.
            let taken = sender.send(attempt).await;
            if let (Ok(()), Some(reply)) = (taken, message.reply) {
                let _ = client.publish(reply, "{}".into()).await;
            }
        }
    });
    Ok((Arc::new(notifier), attempts))
}
