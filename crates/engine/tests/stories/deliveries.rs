//! Lives of deliveries (API §16).

use std::{sync::Arc, time::Duration};

use cauri::{AttemptError, DeliveryStatus, Key, List, Page, Query, decide::Terms, signature, wire};
use cauri_conformance::{Call, Fault, FaultyStore};
use cauri_memory::MemoryStore;
use serde_json::json;
use tokio::sync::{Notify, oneshot};

use crate::support::Story;

impl Story {
    async fn deliveries(&self) -> Vec<wire::WebhookDelivery> {
        let query = Query::all(List::Deliveries(self.me.scope));
        self.engine.webhook_deliveries(&self.me, &query).await.unwrap().data
    }
}

#[tokio::test]
async fn six_attempts_and_no_seventh() {
    let story = Story::begin().await;
    story.listen(json!(["payment.created"])).await;
    story.receiver.script.lock().unwrap().extend(vec![Ok(500); 7]);
    let began = story.clock.advance_millis(0);
    story.pay(json!({})).await.unwrap();
    story.settle().await;
    let mut last = began;
    let mut gaps = Vec::new();
    for seconds in [5, 30, 300, 1800, 7200] {
        // Counted from the end of the attempt before, which took ten milliseconds.
        story.clock.advance_millis(seconds * 1_000 + 9);
        story.settle().await;
        story.clock.advance_millis(1);
        story.settle().await;
        let at = story.receiver.sent.lock().unwrap().last().unwrap().at;
        gaps.push(at.since(last));
        last = at;
    }
    assert_eq!(gaps, [5_010, 30_010, 300_010, 1_800_010, 7_200_010]);
    story.clock.advance_millis(100_000_000);
    story.settle().await;
    let sent = story.receiver.sent.lock().unwrap().clone();
    assert_eq!(sent.len(), 6);
    assert_eq!(
        sent.iter().map(|it| it.number.clone()).collect::<Vec<_>>(),
        ["1", "2", "3", "4", "5", "6"]
    );
    assert!(sent.iter().all(|it| it.raw == sent[0].raw), "the bytes never change");
    let ended = &story.deliveries().await[0];
    assert_eq!(ended.status, DeliveryStatus::Failed);
    assert_eq!((ended.attempts_count, ended.next_attempt_at), (6, None));
    assert_eq!((ended.http_status, ended.error), (Some(500), Some(AttemptError::Non2xx)));
    assert!(ended.completed_at.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_attempt_begins_when_it_begins_and_only_while_it_is_ours() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    story.listen(json!(["payment_link.created"])).await;
    story.link(json!({})).await.unwrap();
    // The store takes longer than the lease lasts to say who listens; then six seconds.
    let mut sent = Vec::new();
    for millis in [30_000, 6_000] {
        store.fail_next(Call::Get, Fault::Late);
        let meanwhile = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            story.clock.advance_millis(millis);
        };
        let (ticked, ()) = tokio::join!(story.worker.tick(), meanwhile);
        ticked.unwrap();
        sent.push(story.receiver.sent.lock().unwrap().clone());
    }
    assert!(sent[0].is_empty(), "somebody else may be attempting it by now");
    let [attempt] = sent[1].as_slice() else { panic!("{sent:?}") };
    assert!(attempt.signature.starts_with(&format!("t={},", attempt.at.seconds())));
    assert_eq!(story.deliveries().await[0].status, DeliveryStatus::Succeeded);
}

#[tokio::test]
async fn a_delivery_is_signed_anew_at_each_attempt() {
    let story = Story::begin().await;
    let endpoint = story.listen(json!(["payment.created"])).await;
    let secret = endpoint.secret.unwrap();
    story.receiver.script.lock().unwrap().push_back(Err(AttemptError::Timeout));
    story.pay(json!({})).await.unwrap();
    story.wait(6_000).await;
    let sent = story.receiver.sent.lock().unwrap().clone();
    assert_eq!(sent.len(), 2);
    for it in &sent {
        let now = it.at.seconds();
        signature::verify(&it.raw, it.signature.as_bytes(), &[secret.as_str()], now).unwrap();
    }
    assert_ne!(sent[0].signature, sent[1].signature);
    assert_eq!(sent[0].body["data"]["object"]["status"], "created");
    let ended = &story.deliveries().await[0];
    assert_eq!((ended.status, ended.attempts_count), (DeliveryStatus::Succeeded, 2));
}

#[tokio::test]
async fn a_rotated_secret_signs_beside_the_old_one_while_it_lasts() {
    let story = Story::begin().await;
    let endpoint = story.listen(json!(["payment.created"])).await;
    let old = endpoint.secret.clone().unwrap();
    let body = json!({"rotate_secret": true, "previous_secret_expires_in": 60});
    let ask = story.read(body, wire::ModifyWebhookEndpoint::read).unwrap();
    let reply =
        story.engine.modify_webhook_endpoint(&story.call(), endpoint.id, ask).await.unwrap();
    let new = reply.object.secret.unwrap();
    assert_ne!(old, new);
    // What signs is opened once for both, and yet the old secret ends between them.
    story.clock.advance_millis(59_900);
    story.pay(json!({})).await.unwrap();
    story.settle().await;
    story.clock.advance_millis(100);
    story.pay(json!({})).await.unwrap();
    story.settle().await;
    let sent = story.receiver.sent.lock().unwrap().clone();
    let accepts = |at: usize, secret: &wire::Private| {
        let it = &sent[at];
        let header = it.signature.as_bytes();
        signature::verify(&it.raw, header, &[secret.as_str()], it.at.seconds()).is_ok()
    };
    assert!(accepts(0, &old) && accepts(0, &new));
    assert!(!accepts(1, &old) && accepts(1, &new));
}

#[tokio::test]
async fn nothing_is_sent_to_who_is_gone() {
    for delete in [true, false] {
        let story = Story::begin().await;
        let endpoint = story.listen(json!(["payment.created"])).await;
        story.receiver.script.lock().unwrap().push_back(Ok(503));
        story.pay(json!({})).await.unwrap();
        story.settle().await;
        if delete {
            story.engine.delete_webhook_endpoint(&story.me, endpoint.id).await.unwrap();
        } else {
            let ask =
                story.read(json!({"active": false}), wire::ModifyWebhookEndpoint::read).unwrap();
            story.engine.modify_webhook_endpoint(&story.call(), endpoint.id, ask).await.unwrap();
        }
        story.pay(json!({})).await.unwrap();
        story.wait(6_000).await;
        assert_eq!(story.receiver.sent.lock().unwrap().len(), 1);
        let all = story.deliveries().await;
        assert_eq!(all.len(), 1, "no delivery is made for who does not listen");
        let why =
            if delete { AttemptError::EndpointDeleted } else { AttemptError::EndpointInactive };
        assert_eq!((all[0].status, all[0].error), (DeliveryStatus::Failed, Some(why)));
        assert_eq!((all[0].http_status, all[0].duration_ms), (None, None));
        assert_eq!(all[0].attempts_count, 1);
    }
}

#[tokio::test]
async fn a_test_event_reaches_its_endpoint_alone() {
    let story = Story::begin().await;
    let one = story.listen(json!(["payment.failed"])).await;
    story.listen(json!(["*"])).await;
    let body = json!({"webhook_endpoint": one.id, "event_type": "payout.failed"});
    let ask = story.read(body, wire::TestWebhook::read).unwrap();
    let reply = story.engine.test_webhook(&story.call(), ask).await.unwrap();
    assert!(reply.object.test);
    story.settle().await;
    let sent = story.receiver.sent.lock().unwrap().clone();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body["type"], "payout.failed");
    assert_eq!(sent[0].body["test"], true);
    assert_eq!(story.balance("XOF").await, (0, 0, 0));
}

#[tokio::test]
async fn there_are_at_most_sixteen_endpoints() {
    let story = Story::begin().await;
    let tries = (0..20).map(|_| async {
        let body = json!({"url": "http://127.0.0.1:9/hooks"});
        let ask = story.read(body, wire::CreateWebhookEndpoint::read).unwrap();
        story.engine.create_webhook_endpoint(&story.call(), ask).await
    });
    let outcomes = futures_util::future::join_all(tries).await;
    assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 16);
}

/// A stage over a store that fails when it is told, with so many deliveries that wait for a worker.
async fn stage(deliveries: usize) -> (Story, Arc<FaultyStore<MemoryStore>>) {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    story.listen(json!(["payment.created"])).await;
    for _ in 0..deliveries {
        story.pay(json!({"phone": "+2250500009999"})).await.unwrap();
    }
    (story, store)
}

/// Lets a worker work for so many seconds; what it finds out is in `during` before it stops.
async fn work<T>(story: &Story, seconds: u64, during: impl AsyncFnOnce() -> T) -> T {
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(story.worker.clone().run(async move {
        let _ = stopped.await;
    }));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let found = during().await;
    stop.send(()).unwrap();
    worker.await.unwrap();
    found
}

/// How many commits it takes to write down eight attempts that end together.
async fn told_at_once(fault: Option<Fault>) -> u64 {
    let (story, store) = stage(8).await;
    let made = store.calls(Call::Commit);
    if let Some(fault) = fault {
        store.fail(Call::Commit, made + 1, fault);
    }
    work(&story, 1, async || ()).await;
    assert_eq!(story.receiver.sent.lock().unwrap().len(), 8);
    let deliveries = story.deliveries().await;
    assert_eq!(deliveries.len(), 8);
    for it in &deliveries {
        assert_eq!((it.status, it.attempts_count), (DeliveryStatus::Succeeded, 1), "{fault:?}");
    }
    store.calls(Call::Commit) - made
}

#[tokio::test(start_paused = true)]
async fn attempts_that_end_together_are_written_down_together() {
    assert_eq!(told_at_once(None).await, 1);
}

#[tokio::test(start_paused = true)]
async fn no_outcome_is_lost_with_the_commit_that_it_was_part_of() {
    for fault in [Fault::Before, Fault::After, Fault::Unknown, Fault::Broken] {
        assert!(told_at_once(Some(fault)).await > 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_cannot_be_written_down_keeps_no_other_waiting() {
    let (story, store) = stage(100).await;
    let query = Query::all(List::Deliveries(story.me.scope)).page(Page::new(100, 0).unwrap());
    let all = story.engine.webhook_deliveries(&story.me, &query).await.unwrap().data;
    for it in all.iter().step_by(9) {
        store.stick(Key::Delivery(story.me.scope, it.id), Fault::Before);
    }
    let stuck = all.iter().step_by(9).count();
    let written = work(&story, 5, async || {
        let all = story.engine.webhook_deliveries(&story.me, &query).await.unwrap().data;
        all.iter().filter(|it| it.status == DeliveryStatus::Succeeded).count()
    })
    .await;
    assert_eq!(story.receiver.sent.lock().unwrap().len(), 100);
    assert_eq!(written, 100 - stuck);
}

#[tokio::test(start_paused = true)]
async fn what_ends_while_the_worker_stops_is_written_down_before_what_hangs_is_given_up() {
    let (story, _store) = stage(8).await;
    let gate = Arc::new(Notify::new());
    *story.receiver.gate.lock().unwrap() = Some(gate.clone());
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(story.worker.clone().run(async move {
        let _ = stopped.await;
    }));
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..5 {
        gate.notify_one();
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let written = story.deliveries().await;
    let written = written.iter().filter(|it| it.status == DeliveryStatus::Succeeded).count();
    assert!(!worker.is_finished(), "three still hang");
    assert_eq!(written, 5);
    worker.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_waits_to_be_written_down_when_the_worker_stops_is_so_before_it_has_stopped() {
    let (story, store) = stage(32).await;
    let made = store.calls(Call::Commit);
    for nth in 1..=2 {
        store.fail(Call::Commit, made + nth, Fault::Late);
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(story.worker.clone().run(async move {
        let _ = stopped.await;
    }));
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(store.calls(Call::Commit), made + 2, "two batches are on their way");
    stop.send(()).unwrap();
    worker.await.unwrap();
    let sent = story.receiver.sent.lock().unwrap().len();
    let query = Query::all(List::Deliveries(story.me.scope)).page(Page::new(100, 0).unwrap());
    let all = story.engine.webhook_deliveries(&story.me, &query).await.unwrap().data;
    let written = all.iter().filter(|it| it.status == DeliveryStatus::Succeeded).count();
    assert!(sent > 16, "{sent} are more than the two batches hold");
    assert_eq!(written, sent);
}
