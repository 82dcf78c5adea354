//! What is not begun when too little of a lease is left.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cauri::{
    Amount, Answer, Balance, Call, Capabilities, Changeset, Claim, CustomerId, CustomerStatistics,
    Entry, Gateway, Key, Listed, Metadata, Order, OrderId, Query, Record, RefundStatus, Report,
    Scope, Store, StoreError, Timestamp, Verdict, Versioned, Worker, wire::CreateRefund,
};
use cauri_conformance::ManualClock;
use cauri_memory::MemoryStore;

use crate::orders::{created, live, start};

/// A store of which the next reading takes so many milliseconds.
#[derive(Debug)]
struct SlowToRead {
    inner: MemoryStore,
    clock: Arc<ManualClock>,
    millis: Mutex<i64>,
}

#[async_trait]
impl Store for SlowToRead {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.inner.commit(batch).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        let found = self.inner.get(keys).await;
        self.clock.advance_millis(std::mem::take(&mut *self.millis.lock().unwrap()));
        found
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.inner.list(query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.inner.claim(claim).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.inner.entries(query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.inner.balances(scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.inner.statistics(scope, customer).await
    }
}

/// Does everything that it is asked for, at once, and knows nothing before.
#[derive(Debug, Default)]
struct Prompt {
    asked: Mutex<Vec<OrderId>>,
    sent: Mutex<Vec<OrderId>>,
}

#[async_trait]
impl Gateway for Prompt {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, order: &Order, _: Timestamp) -> Answer {
        self.sent.lock().unwrap().push(order.id);
        Answer::final_report(Report::Paid)
    }

    async fn query(&self, order: &Order, _: Timestamp) -> Answer {
        self.asked.lock().unwrap().push(order.id);
        Answer::final_report(Report::NotFound)
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

/// The lease of a claim is 20 s, and talk with a network may take 12 s of it.
#[tokio::test]
async fn a_refund_whose_payment_was_read_too_slowly_is_left_to_whoever_claims_it_next() {
    for (millis, sent_now) in [(8_000, true), (8_001, false)] {
        let clock = Arc::new(ManualClock::at(start()));
        let store = Arc::new(SlowToRead {
            inner: MemoryStore::new(),
            clock: clock.clone(),
            millis: Mutex::default(),
        });
        let rail = Arc::new(Prompt::default());
        let (engine, me) = live(store.clone(), clock.clone(), rail.clone()).await;
        let worker = Worker::new(engine.clone());
        let payment = created(&engine, me).await;
        worker.tick().await.unwrap();
        let ask = CreateRefund {
            payment,
            amount: Some(Amount::new(1_000)),
            reason: None,
            description: None,
            reference: None,
            metadata: Metadata::default(),
        };
        let refund = engine.create_refund(&Call::by(me), ask).await.unwrap().object.id;
        let id = OrderId::Refund(refund);
        let was_sent = || rail.sent.lock().unwrap().contains(&id);

        *store.millis.lock().unwrap() = millis;
        worker.tick().await.unwrap();
        assert_eq!(was_sent(), sent_now, "after {millis} ms");
        assert_eq!(rail.asked.lock().unwrap().contains(&id), sent_now, "after {millis} ms");

        // Nothing is lost: it is due again when the lease is over.
        clock.advance_millis(20_000);
        worker.tick().await.unwrap();
        assert!(was_sent());
        assert_eq!(engine.refund(&me, refund).await.unwrap().status, RefundStatus::Succeeded);
    }
}
