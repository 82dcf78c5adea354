//! Events, followed.

use cauri_client::{EventKind, Scenario, filter, wire};
use serde_json::Value;

use crate::stage::{Mishap, Stage, payment};

fn kind(event: &wire::EventBody) -> EventKind {
    let event: wire::Event<Value> = serde_json::from_str(event.as_str()).unwrap();
    event.kind.known().unwrap()
}

fn kinds(events: &[wire::EventBody]) -> Vec<EventKind> {
    events.iter().map(kind).collect()
}

async fn paid(stage: &Stage) {
    let client = stage.client();
    let id = client.payments().create(&payment()).await.unwrap().id;
    let ask =
        wire::Simulate { id: cauri_client::OrderId::Payment(id), scenario: Scenario::Success };
    client.sandbox().simulate(&ask).await.unwrap();
}

const PAID: [EventKind; 3] =
    [EventKind::PaymentCreated, EventKind::PaymentProcessing, EventKind::PaymentSucceeded];

#[tokio::test]
async fn whoever_follows_hears_everything_once_and_in_order() {
    let stage = Stage::new().await;
    paid(&stage).await;
    let client = stage.client();
    let mut follow = client.events().follow(0);
    assert_eq!(kinds(&follow.next().await.unwrap()), [], "from now on");
    for _ in 0..60 {
        paid(&stage).await;
    }
    let mut told = Vec::new();
    loop {
        let events = follow.next().await.unwrap();
        if events.is_empty() {
            break;
        }
        assert!(events.len() <= 100);
        told.extend(events);
        if told.len() < 120 {
            // What is told in between pushes the rest further back.
            paid(&stage).await;
        }
    }
    assert!(told.len() > 180, "{}", told.len());
    assert_eq!(kinds(&told), PAID.repeat(told.len() / 3));
    let ids: std::collections::BTreeSet<_> = told.iter().map(|it| it.as_str()).collect();
    assert_eq!(ids.len(), told.len());
    assert_eq!(kinds(&follow.next().await.unwrap()), []);
}

#[tokio::test]
async fn following_begins_as_far_back_as_it_is_told() {
    let stage = Stage::new().await;
    let client = stage.client();
    let none: [EventKind; 0] = [];
    assert_eq!(kinds(&client.events().follow(5).next().await.unwrap()), none);
    paid(&stage).await;
    for (back, expected) in [(0, &PAID[3..]), (1, &PAID[2..]), (2, &PAID[1..]), (9, &PAID[..])] {
        let told = client.events().follow(back).next().await.unwrap();
        assert_eq!(kinds(&told), expected, "{back}");
    }
}

#[tokio::test]
async fn an_error_loses_nothing() {
    let stage = Stage::new().await;
    let client = stage.client();
    let mut follow = client.events().follow(0);
    follow.next().await.unwrap();
    paid(&stage).await;
    stage.mishaps(&[Mishap::Answer(403, &[], "nobody may pass")]);
    assert!(follow.next().await.is_err());
    assert_eq!(kinds(&follow.next().await.unwrap()), PAID);
}

#[tokio::test]
async fn an_event_is_the_very_body_that_webhooks_carry() {
    let stage = Stage::new().await;
    paid(&stage).await;
    let client = stage.client();
    let filter =
        filter::Events { kind: Some(EventKind::PaymentSucceeded), ..filter::Events::default() };
    let listed = client.events().list(&filter).await.unwrap();
    let [event] = listed.data.as_slice() else { panic!("{listed:?}") };
    let read: wire::Event<wire::Payment> = serde_json::from_str(event.as_str()).unwrap();
    let again = client.events().retrieve(read.id).await.unwrap();
    assert_eq!(again.as_str(), event.as_str());
    assert_eq!(read.data.object.status, cauri_client::PaymentStatus::Succeeded);
}
