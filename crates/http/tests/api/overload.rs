//! More than can be served: what is accepted is served, all else is told so at once, and nothing of
//! it is left when it is over.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use cauri::{
    Attempt, AttemptError, Changeset, Environment, Grouped, GroupedOptions, Notifier, Receipt,
    Store, StoreError, Verdict,
};
use cauri_conformance::{Around, Outer};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use serde_json::json;
use tokio::{sync::Semaphore, task::JoinSet};

use crate::support::{Ask, Plan, Stand, Told};

/// A store that commits only when it may, and counts who waits.
#[derive(Debug)]
struct Held {
    store: MemoryStore,
    may: Semaphore,
    waiting: AtomicUsize,
    most: AtomicUsize,
}

impl Held {
    fn new() -> Outer<Self> {
        let (may, waiting, most) = (Semaphore::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        Outer(Self { store: MemoryStore::new(), may, waiting, most })
    }

    fn release(&self) {
        self.may.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    fn hold(&self) {
        self.may.forget_permits(Semaphore::MAX_PERMITS);
    }
}

#[async_trait]
impl Around for Held {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.store
    }

    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        let waiting = self.waiting.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(waiting, Ordering::SeqCst);
        self.may.acquire().await.unwrap().forget();
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        self.store.commit(batch).await
    }
}

fn customer(stand: &Stand, number: usize) -> Ask {
    let body = json!({ "name": format!("Customer {number}") });
    Ask::post("/v1/customers", &body).key(&stand.secret).once(&format!("k{number}"))
}

/// Asks by so many at once. The store is let go when everybody who can be told has been told.
async fn burst(stand: &Arc<Stand>, store: &Held, numbers: std::ops::Range<usize>) -> Vec<Told> {
    let mut asking = JoinSet::new();
    for number in numbers {
        let stand = Arc::clone(stand);
        asking.spawn(async move { stand.ask(customer(&stand, number)).await });
    }
    let mut told = Vec::new();
    // The runtime has one thread: when nothing is ready after so many turns, nothing will be.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
        told.extend(asking.try_join_next().transpose().unwrap());
    }
    assert!(told.iter().all(|it| it.status == 503), "only refusals come while the store is held");
    store.release();
    told.extend(asking.join_all().await);
    store.hold();
    told
}

fn statuses(told: &[Told]) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for it in told {
        *counts.entry(it.status).or_default() += 1;
        if it.status == 503 {
            it.refused(503, "service_unavailable", None);
            assert_eq!(it.header("Retry-After"), Some("1"));
        }
    }
    counts
}

async fn stand(store: Arc<dyn Store>, held: &Held) -> Arc<Stand> {
    held.release();
    let stand = Stand::with(Plan { store: Some(store), ..Plan::default() }).await;
    stand.get("/v1/balance").await.ok(200);
    held.hold();
    held.most.store(0, Ordering::SeqCst);
    Arc::new(stand)
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_and_is_served_when_the_store_answers() {
    let held = Arc::new(Held::new());
    let options = GroupedOptions::default().batch_max(4).in_flight_max(1).waiting_max(8);
    let grouped = Arc::new(Grouped::with(held.clone(), options));
    let stand = stand(grouped.clone(), &held).await;
    let told = burst(&stand, &held, 0..100).await;
    // One is on its way; one account may take half of the eight places.
    assert_eq!(statuses(&told), BTreeMap::from([(201, 5), (503, 95)]));
    assert_eq!(grouped.stats().waiting, 0, "nothing is left in the queue");
    assert_eq!(stand.total("/v1/customers").await, 5, "what was refused left no trace");
    assert_eq!(held.most.load(Ordering::SeqCst), 1);

    // Everybody who tries again with the same key is served, once.
    held.release();
    for number in 0..100 {
        let again = stand.ask(customer(&stand, number)).await;
        again.ok(201);
    }
    assert_eq!(stand.total("/v1/customers").await, 100);
}

#[tokio::test]
async fn no_more_than_so_many_are_worked_on_at_once() {
    let held = Arc::new(Held::new());
    let stand = stand(held.clone(), &held).await;
    let api = Api::builder(stand.engine.clone()).rate_limit(None).at_once(7).build();
    let stand = Arc::new(Stand { api, ..Arc::into_inner(stand).unwrap() });
    for round in 1..=3 {
        let told = burst(&stand, &held, round * 100..round * 100 + 70).await;
        assert_eq!(statuses(&told), BTreeMap::from([(201, 7), (503, 63)]));
        assert_eq!(held.most.load(Ordering::SeqCst), 7);
    }
    assert_eq!(stand.total("/v1/customers").await, 21);
    held.release();
    for number in 100..170 {
        stand.ask(customer(&stand, number)).await.ok(201);
    }
    assert_eq!(stand.total("/v1/customers").await, 70 + 14);
}

/// Looks names up that nobody answers for, until it may go on.
#[derive(Debug)]
struct Unanswered {
    asked: AtomicUsize,
    go_on: Semaphore,
}

#[async_trait]
impl Notifier for Unanswered {
    async fn deliver(&self, _: &Attempt) -> Receipt {
        Receipt { outcome: Err(AttemptError::ConnectionFailed), duration_ms: 0 }
    }

    async fn vet(&self, _: &str, _: Environment) -> Result<(), AttemptError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.go_on.acquire().await.unwrap().forget();
        Ok(())
    }
}

#[tokio::test]
async fn what_waits_for_somebody_outside_takes_a_few_places_and_leaves_the_rest() {
    let names = Arc::new(Unanswered { asked: AtomicUsize::new(0), go_on: Semaphore::new(0) });
    let stand = Stand::with(Plan { notifier: Some(names.clone()), ..Plan::default() }).await;
    let api = Api::builder(stand.engine.clone()).rate_limit(None).at_once(16).build();
    let stand = Arc::new(Stand { api, ..stand });
    let mut asking = JoinSet::new();
    for number in 0..30 {
        let stand = Arc::clone(&stand);
        asking.spawn(async move {
            let body = json!({ "url": format!("https://{number}.example"), "events": ["*"] });
            stand.post("/v1/webhooks", &body).await
        });
    }
    let mut told = Vec::new();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
        told.extend(asking.try_join_next().transpose().unwrap());
    }
    // Of four places, one account leaves as many as it takes.
    assert_eq!(names.asked.load(Ordering::SeqCst), 2);
    assert_eq!(statuses(&told), BTreeMap::from([(503, 28)]));
    stand.get("/v1/balance").await.ok(200);
    stand.payment(json!({})).await;
    names.go_on.add_permits(100);
    assert_eq!(statuses(&asking.join_all().await), BTreeMap::from([(201, 2)]));
    stand
        .post("/v1/webhooks", &json!({ "url": "https://a.example", "events": ["*"] }))
        .await
        .ok(201);
}

#[tokio::test]
async fn a_caller_who_goes_away_gives_its_place_back() {
    let held = Arc::new(Held::new());
    let stand = stand(held.clone(), &held).await;
    let api = Api::builder(stand.engine.clone()).rate_limit(None).at_once(1).build();
    let stand = Arc::new(Stand { api, ..Arc::into_inner(stand).unwrap() });
    for number in 0..3 {
        let asking = Arc::clone(&stand);
        let gone = tokio::spawn(async move { asking.ask(customer(&asking, number)).await });
        while held.waiting.load(Ordering::SeqCst) <= number {
            tokio::task::yield_now().await;
        }
        stand.get("/v1/balance").await.refused(503, "service_unavailable", None);
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        stand.get("/v1/balance").await.ok(200);
    }
}

#[tokio::test]
async fn the_server_around_may_say_that_it_is_busy_too() {
    let stand = Stand::new().await;
    let (head, body) = stand.api.busy().into_parts();
    let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((head.status.as_u16(), &head.headers["Retry-After"]), (503, &"1".parse().unwrap()));
    assert_eq!(body["error"]["code"], "service_unavailable");
    assert_eq!(body["error"]["request_id"], head.headers["Request-Id"].to_str().unwrap());
}
