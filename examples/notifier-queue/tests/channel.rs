//! What the queue takes is delivered; what it has no room for comes later.
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected ends there")]

use std::sync::Arc;

use cauri::{
    Amount, Attempt, Call, Caller, DeliveryStatus, Engine, Environment, List, PaymentMethod, Query,
    Record, Scope, Timestamp, Worker, signature,
    wire::{CreatePayment, CreateWebhookEndpoint},
};
use cauri_conformance::ManualClock;
use cauri_example_notifier_queue::ChannelNotifier;
use cauri_memory::MemoryStore;

fn header<'a>(attempt: &'a Attempt, name: &str) -> &'a str {
    attempt.headers.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str()).unwrap()
}

#[tokio::test]
async fn a_full_queue_loses_nothing() {
    let (notifier, mut queue) = ChannelNotifier::new(1);
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_731_974_400_000)));
    let engine = Engine::builder(Arc::new(MemoryStore::new()))
        .clock(clock.clone())
        .notifier(Arc::new(notifier))
        .build()
        .unwrap();
    let worker = Worker::new(engine.clone());
    let account = engine.create_account().await.unwrap().id;
    let scope = Scope { account, environment: Environment::Sandbox };
    let me = Call::by(Caller::secret(scope));
    let hooks = CreateWebhookEndpoint::at("https://queue.internal/payments".parse().unwrap());
    let hooks = engine.create_webhook_endpoint(&me, hooks).await.unwrap().object;
    let secret = serde_json::to_value(&hooks).unwrap()["secret"].as_str().unwrap().to_owned();
    let statuses = async || {
        let query = Query::all(List::Deliveries(scope));
        let found = engine.store().list(&query).await.unwrap().items.into_iter();
        let mut statuses: Vec<_> = found
            .map(|it| match it.value {
                Record::Delivery(delivery) => delivery.status,
                other => panic!("{other:?}"),
            })
            .collect();
        statuses.sort_by_key(|status| status.as_str());
        statuses
    };

    // This phone waits, so that its payment tells only of its creation, and of its beginning.
    let ask = || CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some("XOF".parse().unwrap()),
        network: Some("mtn".parse().unwrap()),
        phone: Some("+2250500009999".parse().unwrap()),
        ..CreatePayment::by(PaymentMethod::MobileMoney)
    };
    engine.create_payment(&me, ask()).await.unwrap();
    engine.create_payment(&me, ask()).await.unwrap();
    worker.tick().await.unwrap();
    assert_eq!(statuses().await, [DeliveryStatus::Pending, DeliveryStatus::Succeeded]);
    let first = queue.try_recv().unwrap();
    assert!(queue.try_recv().is_err(), "there was room for one");

    // The second attempt is due 5 s after the first, when nothing else is.
    let mut second = None;
    for _ in 0..30 {
        clock.advance_millis(200);
        worker.tick().await.unwrap();
        while let Ok(attempt) = queue.try_recv() {
            if header(&attempt, "X-Webhook-Event") == "payment.created" {
                assert!(second.replace(attempt).is_none(), "it comes once");
            }
        }
    }
    let second = second.unwrap();
    assert_eq!(header(&second, "X-Webhook-Attempt"), "2");
    assert_ne!(header(&first, "X-Webhook-Delivery"), header(&second, "X-Webhook-Delivery"));
    for attempt in [&first, &second] {
        let now = engine.now().millis() / 1_000;
        let signed = header(attempt, "X-Webhook-Signature");
        let verified = signature::verify(&attempt.body, signed.as_bytes(), &[&secret], now);
        assert_eq!(verified, Ok(()));
    }
}

#[tokio::test]
async fn nobody_at_the_other_end_is_no_receipt() {
    use cauri::{AttemptError, Notifier};
    let (notifier, queue) = ChannelNotifier::new(1);
    drop(queue);
    let attempt = Attempt {
        url: "https://queue.internal/payments".to_owned(),
        environment: Environment::Live,
        headers: Vec::new(),
        body: "{}".into(),
    };
    assert_eq!(notifier.deliver(&attempt).await.outcome, Err(AttemptError::ConnectionFailed));
}
