//! Orders and what their networks say of them.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cauri::{
    Answer, Call, Caller, Catalogue, Connection, Engine, Environment, FeeSchedule, Gateway, Order,
    PaymentStatus, Report, Scope, Timestamp, Worker,
    decide::{Offers, Terms},
    wire::CreatePayment,
};
use cauri_conformance::{ManualClock, SeededEntropy};
use cauri_memory::MemoryStore;
use serde_json::json;

/// Does not know the order and cannot be reached to send it, until it turns out to have it: the
/// first sending, of a process that has died, took its time.
#[derive(Debug, Default)]
struct SlowRail {
    asked: Mutex<u32>,
}

#[async_trait]
impl Gateway for SlowRail {
    async fn submit(&self, _: &Order, _: Timestamp) -> Answer {
        Answer::final_report(Report::Unreachable)
    }

    async fn query(&self, _: &Order, _: Timestamp) -> Answer {
        let mut asked = self.asked.lock().unwrap();
        *asked += 1;
        Answer::final_report(if *asked == 1 { Report::NotFound } else { Report::Paid })
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

#[tokio::test]
async fn an_order_that_may_be_on_its_way_is_not_failed_by_a_network_out_of_reach() {
    let start = Timestamp::from_millis(1_731_974_400_000);
    let clock = Arc::new(ManualClock::at(start));
    let mut terms = Terms::default();
    terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
    let engine = Engine::builder(Arc::new(MemoryStore::new()))
        .clock(clock.clone())
        .entropy(Arc::new(SeededEntropy::new(7)))
        .terms(terms)
        .gateway(Connection::new("sim_mtn_ci"), Arc::new(SlowRail::default()))
        .build()
        .unwrap();
    let account = engine.create_account().await.unwrap();
    let me = Caller::secret(Scope { account: account.id, environment: Environment::Live });
    let body = json!({
        "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
        "phone": "+2250500000000",
    });
    let form = cauri::wire::Form {
        environment: Environment::Live,
        catalogue: &engine.terms().live.catalogue,
        now: start,
    };
    let ask = CreatePayment::read(body.as_object().unwrap(), &form).unwrap();
    let payment = engine.create_payment(&Call::by(me), ask).await.unwrap().object;

    // Nobody listens here, so whoever claims it cannot know that nobody has sent it.
    let worker = Worker::new(engine.clone());
    worker.tick().await.unwrap();
    let found = engine.payment(&me, payment.id).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Created);

    clock.advance_millis(5_000);
    worker.tick().await.unwrap();
    let found = engine.payment(&me, payment.id).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Succeeded);
}
