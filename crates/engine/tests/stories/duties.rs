//! What is owed to an order until its network has had the last word: nothing is left lying.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use async_trait::async_trait;
use cauri::{
    Answer, Call, Caller, Capabilities, Catalogue, Connection, Engine, Environment, Error,
    FailureCode, FeeSchedule, Gateway, List, Order, OrderId, PaymentId, PaymentStatus, PayoutId,
    PayoutStatus, Query, RefundStatus, Refused, Report, Scope, TimelineKind, Timestamp, Worker,
    decide::{Offers, Terms},
    wire::{CancelPayment, CreatePayment, CreatePayout, CreateRefund, Form},
};
use cauri_conformance::{ManualClock, SeededEntropy};
use cauri_memory::MemoryStore;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// A network that says what it is told to.
#[derive(Debug)]
struct Rail {
    /// What it says to a sending; none when it never answers.
    to_submit: Mutex<Option<Report>>,
    to_query: Mutex<Report>,
    calls_off: AtomicBool,
    panics: AtomicBool,
    sent: Notify,
    queries: AtomicUsize,
    cancels: AtomicUsize,
}

impl Rail {
    fn new() -> Self {
        Self {
            to_submit: Mutex::new(Some(Report::accepted())),
            to_query: Mutex::new(Report::NotFound),
            calls_off: AtomicBool::new(false),
            panics: AtomicBool::new(false),
            sent: Notify::new(),
            queries: AtomicUsize::new(0),
            cancels: AtomicUsize::new(0),
        }
    }

    fn says(&self, report: Report) {
        *self.to_query.lock().unwrap() = report;
    }

    fn is_called(&self) {
        assert!(!self.panics.load(Relaxed), "a bug in a gateway");
    }
}

#[async_trait]
impl Gateway for Rail {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, _: &Order, now: Timestamp) -> Answer {
        self.is_called();
        let report = self.to_submit.lock().unwrap().clone();
        self.sent.notify_one();
        let Some(report) = report else { return std::future::pending().await };
        Answer { reports: vec![report], ask_again_at: Some(now.plus_seconds(60)) }
    }

    async fn query(&self, _: &Order, now: Timestamp) -> Answer {
        self.queries.fetch_add(1, Relaxed);
        self.is_called();
        let report = self.to_query.lock().unwrap().clone();
        let is_last = matches!(report, Report::Refused(_) | Report::Failed(_) | Report::Paid);
        Answer { reports: vec![report], ask_again_at: (!is_last).then(|| now.plus_seconds(60)) }
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        self.cancels.fetch_add(1, Relaxed);
        self.is_called();
        self.calls_off.load(Relaxed)
    }
}

/// An installation with two live networks behind one rail, of which Wave calls off what it has.
struct Stage {
    engine: Engine,
    me: Caller,
    clock: Arc<ManualClock>,
    rail: Arc<Rail>,
}

impl Stage {
    async fn set() -> Self {
        let start = Timestamp::from_millis(1_731_974_400_000);
        let (clock, rail) = (Arc::new(ManualClock::at(start)), Arc::new(Rail::new()));
        let mut terms = Terms::default();
        terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
        let engine = Engine::builder(Arc::new(MemoryStore::new()))
            .clock(clock.clone())
            .entropy(Arc::new(SeededEntropy::new(7)))
            .terms(terms)
            .gateway(Connection::new("sim_mtn_ci"), rail.clone())
            .gateway(Connection::new("sim_wave_ci"), rail.clone())
            .build()
            .unwrap();
        let account = engine.create_account().await.unwrap();
        let scope = Scope { account: account.id, environment: Environment::Live };
        Self { engine, me: Caller::secret(scope), clock, rail }
    }

    fn form(&self) -> Form<'_> {
        let catalogue = &self.engine.terms().live.catalogue;
        Form { environment: Environment::Live, catalogue, now: self.engine.now() }
    }

    async fn payment(&self) -> PaymentId {
        self.payment_over("mtn").await
    }

    async fn payment_over(&self, network: &str) -> PaymentId {
        let body = json!({
            "amount": 5000, "currency": "XOF", "payment_method": "mobile_money",
            "network": network, "phone": "+2250500000000",
        });
        let ask = CreatePayment::read(object(&body), &self.form()).unwrap();
        self.engine.create_payment(&Call::by(self.me), ask).await.unwrap().object.id
    }

    async fn paid(&self) -> PaymentId {
        let id = self.payment().await;
        self.report(OrderId::Payment(id), Report::Paid).await;
        id
    }

    async fn payout(&self) -> PayoutId {
        self.paid().await;
        let body = json!({
            "amount": 1000, "currency": "XOF", "network": "mtn", "phone": "+2250500000000",
        });
        let ask = CreatePayout::read(object(&body), &self.form()).unwrap();
        self.engine.create_payout(&Call::by(self.me), ask).await.unwrap().object.id
    }

    async fn report(&self, order: OrderId, report: Report) {
        self.engine.report(self.me.scope, order, report).await.unwrap();
    }

    /// Nobody listens to what is made, so a tick claims it.
    async fn tick(&self) {
        Worker::new(self.engine.clone()).tick().await.unwrap();
    }

    async fn minutes(&self, count: usize) {
        for _ in 0..count {
            self.clock.advance_millis(60_000);
            self.tick().await;
        }
    }

    /// A worker sends what is due, and dies before the network has answered. Its callback is faster.
    async fn accepted_while_its_sender_dies(&self, order: OrderId) {
        *self.rail.to_submit.lock().unwrap() = None;
        let engine = self.engine.clone();
        let worker = tokio::spawn(async move { Worker::new(engine).tick().await });
        self.rail.sent.notified().await;
        self.report(order, Report::accepted()).await;
        worker.abort();
        assert!(worker.await.unwrap_err().is_cancelled());
    }

    async fn cancel(&self, id: PaymentId) {
        let ask = CancelPayment { reason: None };
        self.engine.cancel_payment(&Call::by(self.me), id, ask).await.unwrap();
    }

    /// A payment that was sent, with nothing heard of it.
    async fn sent(&self) -> PaymentId {
        let id = self.payment().await;
        *self.rail.to_submit.lock().unwrap() = Some(Report::Unknown);
        self.tick().await;
        id
    }

    async fn available(&self) -> i64 {
        let sheet = self.engine.balance(&self.me, None).await.unwrap();
        sheet.available.first().map_or(0, |sum| sum.amount.units())
    }
}

fn object(body: &Value) -> &serde_json::Map<String, Value> {
    body.as_object().unwrap()
}

#[tokio::test]
async fn a_payout_that_a_callback_accepted_is_asked_about_though_its_sender_died() {
    let stage = Stage::set().await;
    let id = stage.payout().await;
    stage.accepted_while_its_sender_dies(OrderId::Payout(id)).await;
    stage.rail.says(Report::Paid);
    stage.minutes(2).await;
    let status = stage.engine.payout(&stage.me, id).await.unwrap().status;
    assert_eq!(status, PayoutStatus::Succeeded);
}

#[tokio::test]
async fn a_refund_that_a_callback_accepted_is_asked_about_though_its_sender_died() {
    let stage = Stage::set().await;
    let payment = stage.paid().await;
    let body = json!({ "payment": payment.to_string(), "amount": 1000 });
    let ask = CreateRefund::read(object(&body), &stage.form()).unwrap();
    let id = stage.engine.create_refund(&Call::by(stage.me), ask).await.unwrap().object.id;
    stage.accepted_while_its_sender_dies(OrderId::Refund(id)).await;
    stage.rail.says(Report::Paid);
    stage.minutes(2).await;
    let status = stage.engine.refund(&stage.me, id).await.unwrap().status;
    assert_eq!(status, RefundStatus::Succeeded);
}

#[tokio::test]
async fn a_payout_that_is_refused_after_all_has_failed_and_its_money_is_back() {
    let stage = Stage::set().await;
    let id = stage.payout().await;
    let before = stage.available().await;
    stage.tick().await;
    let status = async || stage.engine.payout(&stage.me, id).await.unwrap().status;
    assert_eq!(status().await, PayoutStatus::Processing);
    stage.rail.says(Report::Refused(FailureCode::RecipientNotFound));
    stage.minutes(2).await;
    assert_eq!(status().await, PayoutStatus::Failed);
    assert_eq!(stage.available().await, before + 1_100);
}

#[tokio::test]
async fn what_was_sent_without_an_answer_and_cancelled_is_called_off_when_the_network_has_it() {
    let stage = Stage::set().await;
    let id = stage.sent().await;
    stage.cancel(id).await;
    // It is still on its way there.
    stage.tick().await;
    stage.clock.advance_millis(5_000);
    stage.tick().await;
    assert_eq!(stage.rail.cancels.load(Relaxed), 2);
    stage.rail.calls_off.store(true, Relaxed);
    stage.minutes(30).await;
    assert_eq!(stage.rail.cancels.load(Relaxed), 3, "once it is off, nobody asks again");
    let found = stage.engine.payment(&stage.me, id).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Cancelled);
}

#[tokio::test]
async fn what_never_arrives_at_its_network_is_not_called_off_for_ever() {
    let stage = Stage::set().await;
    let id = stage.sent().await;
    stage.cancel(id).await;
    stage.minutes(60).await;
    let asked = stage.rail.cancels.load(Relaxed);
    assert!((2..=4).contains(&asked), "{asked}");
}

#[tokio::test]
async fn nothing_wipes_out_that_a_payment_is_to_be_called_off() {
    let stage = Stage::set().await;
    let id = stage.sent().await;
    stage.cancel(id).await;
    stage.rail.says(Report::accepted());
    stage.tick().await;
    stage.report(OrderId::Payment(id), Report::accepted()).await;
    let before = stage.rail.cancels.load(Relaxed);
    stage.minutes(2).await;
    assert!(stage.rail.cancels.load(Relaxed) > before);
    // The payer was faster.
    stage.rail.says(Report::Paid);
    stage.minutes(10).await;
    let asked = stage.rail.cancels.load(Relaxed);
    stage.minutes(60).await;
    assert_eq!(stage.rail.cancels.load(Relaxed), asked, "there is nothing left to call off");
    let query = Query::all(List::Timeline(stage.me.scope, id));
    let told = stage.engine.payment_timeline(&stage.me, id, &query).await.unwrap().data;
    let ignored = told.iter().filter(|it| it.kind == TimelineKind::NetworkReportIgnored);
    assert_eq!(ignored.count(), 2, "accepted, and paid");
}

#[tokio::test]
async fn a_gateway_that_panics_takes_no_other_order_along_and_is_asked_again() {
    let stage = Stage::set().await;
    let payments = [stage.payment().await, stage.payment().await, stage.payment().await];
    let status = async |id| stage.engine.payment(&stage.me, id).await.unwrap().status;
    stage.rail.panics.store(true, Relaxed);
    stage.tick().await;
    assert_eq!(stage.rail.queries.load(Relaxed), 3, "each is asked about, whatever the others did");

    stage.rail.panics.store(false, Relaxed);
    stage.minutes(1).await;
    for id in payments {
        assert_eq!(status(id).await, PaymentStatus::Processing);
    }
    stage.rail.says(Report::Paid);
    stage.rail.panics.store(true, Relaxed);
    stage.minutes(1).await;
    assert_eq!(status(payments[0]).await, PaymentStatus::Processing);
    stage.rail.panics.store(false, Relaxed);
    stage.minutes(1).await;
    for id in payments {
        assert_eq!(status(id).await, PaymentStatus::Succeeded);
    }
}

#[tokio::test]
async fn a_payment_expires_whose_gateway_panics_from_its_first_moment() {
    let stage = Stage::set().await;
    let id = stage.payment().await;
    stage.rail.panics.store(true, Relaxed);
    stage.minutes(60).await;
    let found = stage.engine.payment(&stage.me, id).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Expired);
}

#[tokio::test]
async fn a_gateway_that_panics_has_called_nothing_off() {
    let stage = Stage::set().await;
    let id = stage.payment_over("wave").await;
    stage.report(OrderId::Payment(id), Report::accepted()).await;
    stage.rail.panics.store(true, Relaxed);
    stage.rail.calls_off.store(true, Relaxed);
    let cancel = async || {
        let ask = CancelPayment { reason: None };
        stage.engine.cancel_payment(&Call::by(stage.me), id, ask).await
    };
    let refused = Refused::PaymentNotCancellable(PaymentStatus::Processing);
    assert!(matches!(cancel().await, Err(Error::Refused(it)) if it == refused));
    assert_eq!(stage.rail.cancels.load(Relaxed), 1);
    stage.rail.panics.store(false, Relaxed);
    assert_eq!(cancel().await.unwrap().object.status, PaymentStatus::Cancelled);
}
