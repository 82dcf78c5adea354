//! What the worker owes to whoever drives it, whatever hangs or fails beside it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use cauri::{
    Attempt, AttemptError, Claim, ClaimKind, Clock as _, DeliveryStatus, Environment, Error, List,
    Notifier, PaymentStatus, Query, Receipt, Store as _, Worker, WorkerOptions, decide::Terms,
    wire,
};
use cauri_conformance::{Call, Fault, FaultyStore};
use cauri_memory::MemoryStore;
use serde_json::json;
use tokio::{
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::{
    orders::{self, created, live},
    support::Story,
};

type Store = FaultyStore<MemoryStore>;

fn store() -> Arc<Store> {
    Arc::new(FaultyStore::new(MemoryStore::new()))
}

async fn deliveries(story: &Story) -> Vec<wire::WebhookDelivery> {
    let query = Query::all(List::Deliveries(story.me.scope));
    story.engine.webhook_deliveries(&story.me, &query).await.unwrap().data
}

/// A worker at work, and what stops it.
fn at_work(worker: Worker) -> (JoinHandle<()>, oneshot::Sender<()>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(worker.run(async move {
        let _ = stopped.await;
    }));
    (running, stop)
}

#[tokio::test]
async fn what_cannot_be_claimed_of_one_kind_keeps_no_other_waiting() {
    let (mut unmoved, mut unsent) = (0, 0);
    for nth in 1..=5 {
        let store = store();
        let story = Story::over(store.clone(), Terms::default()).await;
        story.listen(json!(["payment.created"])).await;
        let payment = story.pay(json!({})).await.unwrap();
        story.clock.advance_millis(300);
        store.fail(Call::Claim, store.calls(Call::Claim) + nth, Fault::Before);
        let ticked = story.worker.tick().await;
        assert!(matches!(ticked, Err(Error::Store(_))), "{ticked:?}");
        unmoved += u32::from(story.payment(payment.id).await.status == PaymentStatus::Created);
        unsent += u32::from(story.receiver.sent.lock().unwrap().is_empty());
    }
    assert_eq!((unmoved, unsent), (1, 1), "each but when it was its own turn");
}

/// Never answers.
#[derive(Debug)]
struct Silent;

#[async_trait]
impl Notifier for Silent {
    async fn deliver(&self, _: &Attempt) -> Receipt {
        std::future::pending().await
    }

    async fn vet(&self, _: &str, _: Environment) -> Result<(), AttemptError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_notifier_that_never_answers_is_a_time_out() {
    let story = Story::sent_by(Some(Arc::new(Silent)), store(), Terms::default()).await;
    let soon = Duration::from_secs(10);
    timeout(soon, story.listen(json!(["payment.created"]))).await.expect("a URL is judged in time");
    story.pay(json!({})).await.unwrap();
    timeout(soon, story.worker.tick()).await.expect("an attempt ends").unwrap();
    let told = &deliveries(&story).await[0];
    assert_eq!((told.error, told.duration_ms), (Some(AttemptError::Timeout), Some(9_000)));
    assert_eq!((told.status, told.attempts_count), (DeliveryStatus::Pending, 1));
}

/// Has a bug.
#[derive(Debug)]
struct Broken;

#[async_trait]
impl Notifier for Broken {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        panic!("cannot send to {}", attempt.url)
    }

    async fn vet(&self, url: &str, _: Environment) -> Result<(), AttemptError> {
        panic!("cannot judge {url}")
    }
}

#[tokio::test]
async fn a_notifier_that_panics_is_a_missed_attempt() {
    let story = Story::sent_by(Some(Arc::new(Broken)), store(), Terms::default()).await;
    story.listen(json!(["payment.created"])).await;
    story.pay(json!({})).await.unwrap();
    story.worker.tick().await.unwrap();
    let told = &deliveries(&story).await[0];
    assert_eq!((told.error, told.attempts_count), (Some(AttemptError::ConnectionFailed), 1));
    assert_eq!(told.status, DeliveryStatus::Pending);
}

/// Eight attempts that hang, and so many deliveries that wait behind them.
async fn crowded(
    options: WorkerOptions,
    waiting: usize,
) -> (Story, Arc<Store>, JoinHandle<()>, oneshot::Sender<()>) {
    let store = store();
    let story = Story::over(store.clone(), Terms::default()).await;
    story.listen(json!(["payment.created"])).await;
    *story.receiver.gate.lock().unwrap() = Some(Arc::new(Notify::new()));
    let (running, stop) = at_work(Worker::with(story.engine.clone(), options));
    // It listens from its first turn on.
    tokio::task::yield_now().await;
    for _ in 0..8 + waiting {
        story.pay(json!({})).await.unwrap();
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(story.receiver.sent.lock().unwrap().len(), 8);
    (story, store, running, stop)
}

#[tokio::test(start_paused = true)]
async fn what_waits_when_the_worker_stops_is_given_back_beside_what_is_finished() {
    let (story, store, running, stop) = crowded(WorkerOptions::default(), 24).await;
    stop.send(()).unwrap();
    sleep(Duration::from_millis(10)).await;
    let now = story.clock.now();
    let until = now.plus_seconds(20);
    let claim = Claim { kind: ClaimKind::Deliveries, now, until, limit: 100, lanes: None };
    assert_eq!(store.claim(&claim).await.unwrap().len(), 24);
    assert!(!running.is_finished(), "eight still hang");
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_in_time_whatever_the_store_takes() {
    let mut options = WorkerOptions::default();
    options.stop_ms = 500;
    let (_story, store, running, stop) = crowded(options, 24).await;
    let made = store.calls(Call::Commit);
    for nth in 1..=10 {
        store.fail(Call::Commit, made + nth, Fault::Late);
    }
    let before = Instant::now();
    stop.send(()).unwrap();
    running.await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_millis(500));
    assert!(store.calls(Call::Commit) > made, "something was to be given back");
}

#[tokio::test(start_paused = true)]
async fn of_a_rail_that_hangs_no_more_is_claimed_than_it_may_have() {
    let story = Story::begin().await;
    let store = Arc::new(MemoryStore::new());
    let (engine, me) = live(store.clone(), story.clock.clone(), Arc::new(orders::Silent)).await;
    for _ in 0..900 {
        created(&engine, me).await;
    }
    let (running, stop) = at_work(Worker::new(engine));
    let left = || store.backlog(ClaimKind::Payments, story.clock.now()).count;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(left(), 900 - 128);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(left(), 900 - 128, "nothing has ended");
    sleep(Duration::from_secs(6)).await;
    assert_eq!(left(), 900 - 256);
    stop.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_receiver_is_not_failing_because_our_store_was_away() {
    let store = store();
    let story = Story::over(store.clone(), Terms::default()).await;
    story.listen(json!(["payment.created"])).await;
    for _ in 0..40 {
        story.pay(json!({})).await.unwrap();
    }
    *story.receiver.gate.lock().unwrap() = Some(Arc::new(Notify::new()));
    let made = store.calls(Call::Get);
    for nth in 1..=40 {
        store.fail(Call::Get, made + nth, Fault::Before);
    }
    let (running, stop) = at_work(story.worker.clone());
    sleep(Duration::from_secs(10)).await;
    assert!(story.receiver.sent.lock().unwrap().is_empty(), "none could be made");
    story.clock.advance_millis(20_000);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(story.receiver.sent.lock().unwrap().len(), 8);
    stop.send(()).unwrap();
    running.await.unwrap();
}
