//! What is not begun when too little of a lease is left.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cauri::{
    Amount, Answer, Call, Capabilities, Gateway, Key, Metadata, Order, OrderId, Record,
    RefundStatus, Report, Store, StoreError, Timestamp, Versioned, Worker, wire::CreateRefund,
};
use cauri_conformance::{Around, ManualClock, Outer};
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
impl Around for SlowToRead {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.inner
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        let found = self.inner.get(keys).await;
        self.clock.advance_millis(std::mem::take(&mut *self.millis.lock().unwrap()));
        found
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
        let store = Arc::new(Outer(SlowToRead {
            inner: MemoryStore::new(),
            clock: clock.clone(),
            millis: Mutex::default(),
        }));
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
