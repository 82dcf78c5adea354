//! Orders and what their networks say of them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use cauri::{
    Answer, BreakerState, Call, Caller, Capabilities, Catalogue, Claim, ClaimKind, Clock as _,
    Connection, Engine, Environment, FailureCode, FeeSchedule, Gateway, Order, PaymentId,
    PaymentStatus, Report, Scope, Store, Timestamp, Worker, WorkerOptions,
    decide::{Offers, Terms},
    wire::{CancelPayment, CreatePayment},
};
use cauri_conformance::{Call as FaultyCall, Fault, FaultyStore, ManualClock, SeededEntropy};
use cauri_memory::MemoryStore;
use serde_json::json;
use tokio::sync::{Notify, oneshot};

/// Does not know the order and does not take it, until it turns out to have it: the first sending,
/// of a process that has died, took its time.
#[derive(Debug)]
struct SlowRail {
    refusal: Report,
    asked: Mutex<u32>,
}

#[async_trait]
impl Gateway for SlowRail {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, _: &Order, _: Timestamp) -> Answer {
        Answer::final_report(self.refusal.clone())
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

async fn not_failed_by(refusal: Report) {
    let clock = Arc::new(ManualClock::at(start()));
    let rail = Arc::new(SlowRail { refusal, asked: Mutex::default() });
    let (engine, me) = live(Arc::new(MemoryStore::new()), clock.clone(), rail).await;
    let payment = created(&engine, me).await;

    // Nobody listens here, so whoever claims it cannot know that nobody has sent it.
    let worker = Worker::new(engine.clone());
    worker.tick().await.unwrap();
    let found = engine.payment(&me, payment).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Created);

    clock.advance_millis(5_000);
    worker.tick().await.unwrap();
    let found = engine.payment(&me, payment).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Succeeded);
}

#[tokio::test]
async fn an_order_that_may_be_on_its_way_is_not_failed_by_a_network_out_of_reach() {
    not_failed_by(Report::Unreachable).await;
}

#[tokio::test]
async fn an_order_that_may_be_on_its_way_is_not_failed_by_a_network_that_is_closed() {
    not_failed_by(Report::Refused(FailureCode::NetworkUnavailable)).await;
}

/// Has never heard of an order, and says so so late that nobody knows whose it is by then.
#[derive(Debug)]
struct Stopped {
    clock: Arc<ManualClock>,
    for_millis: Mutex<i64>,
    sent: Mutex<u32>,
}

#[async_trait]
impl Gateway for Stopped {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, _: &Order, _: Timestamp) -> Answer {
        *self.sent.lock().unwrap() += 1;
        Answer::final_report(Report::accepted())
    }

    async fn query(&self, _: &Order, _: Timestamp) -> Answer {
        self.clock.advance_millis(std::mem::take(&mut *self.for_millis.lock().unwrap()));
        Answer::final_report(Report::NotFound)
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

#[tokio::test]
async fn nothing_is_sent_that_may_be_anybodys_by_now() {
    let clock = Arc::new(ManualClock::at(start()));
    let (for_millis, sent) = (Mutex::new(60_000), Mutex::default());
    let rail = Arc::new(Stopped { clock: clock.clone(), for_millis, sent });
    let (engine, me) = live(Arc::new(MemoryStore::new()), clock.clone(), rail.clone()).await;
    let payment = created(&engine, me).await;
    let worker = Worker::new(engine.clone());
    worker.tick().await.unwrap();
    assert_eq!(*rail.sent.lock().unwrap(), 0, "its hold has lapsed while it was asked about");
    assert_eq!(engine.payment(&me, payment).await.unwrap().status, PaymentStatus::Created);
    clock.advance_millis(60_000);
    worker.tick().await.unwrap();
    assert_eq!(*rail.sent.lock().unwrap(), 1);
    assert_eq!(engine.payment(&me, payment).await.unwrap().status, PaymentStatus::Processing);
}

/// Takes its first order for ever, the others at once; remembers what it was sent and told.
#[derive(Debug, Default)]
struct OneHangs {
    sent: Mutex<Vec<String>>,
    told: Mutex<Vec<String>>,
    go_on: Notify,
}

#[async_trait]
impl Gateway for OneHangs {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, order: &Order, _: Timestamp) -> Answer {
        self.sent.lock().unwrap().push(order.id.to_string());
        self.go_on.notified().await;
        Answer { reports: vec![Report::Unknown], ask_again_at: None }
    }

    async fn query(&self, _: &Order, _: Timestamp) -> Answer {
        std::future::pending().await
    }

    async fn cancel(&self, order: &Order, _: Timestamp) -> bool {
        self.told.lock().unwrap().push(order.id.to_string());
        true
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_cancelled_before_it_is_sent_is_not_sent_and_what_may_be_there_is_called_off() {
    let clock = Arc::new(ManualClock::at(start()));
    let rail = Arc::new(OneHangs::default());
    let (engine, me) = live(Arc::new(MemoryStore::new()), clock.clone(), rail.clone()).await;
    let mut options = WorkerOptions::default();
    options.orders_per_connection_max = 1;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::with(engine.clone(), options).run(async move {
        let _ = stopped.await;
    }));
    tokio::task::yield_now().await;
    let first = created(&engine, me).await;
    let second = created(&engine, me).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    for payment in [first, second] {
        let ask = CancelPayment { reason: None };
        let cancelled = engine.cancel_payment(&Call::by(me), payment, ask).await.unwrap();
        assert_eq!(cancelled.object.status, PaymentStatus::Cancelled);
    }
    rail.go_on.notify_one();
    tokio::time::sleep(Duration::from_millis(10)).await;
    stop.send(()).unwrap();
    worker.await.unwrap();
    assert_eq!(*rail.sent.lock().unwrap(), [first.to_string()], "nor is what nobody wants");
    assert_eq!(*rail.told.lock().unwrap(), [first.to_string()], "it may be on its way");
}

/// Is never heard of again when it is asked.
#[derive(Debug)]
pub(crate) struct Silent;

#[async_trait]
impl Gateway for Silent {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, _: &Order, _: Timestamp) -> Answer {
        std::future::pending().await
    }

    async fn query(&self, _: &Order, _: Timestamp) -> Answer {
        std::future::pending().await
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_is_sent_and_not_answered_counts_against_a_connection() {
    let clock = Arc::new(ManualClock::at(start()));
    let (engine, me) = live(Arc::new(MemoryStore::new()), clock.clone(), Arc::new(Silent)).await;
    for _ in 0..10 {
        created(&engine, me).await;
    }
    // Whoever claims an order asks about it first.
    Worker::new(engine.clone()).tick().await.unwrap();
    let connection = Connection::new("sim_mtn_ci");
    assert_eq!(engine.breaker(&connection), Some(BreakerState::Closed));

    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async move {
        let _ = stopped.await;
    }));
    tokio::task::yield_now().await;
    for _ in 0..10 {
        created(&engine, me).await;
    }
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(engine.breaker(&connection), Some(BreakerState::Open));
    stop.send(()).unwrap();
    worker.await.unwrap();
}

/// An engine over these networks, and a live account.
async fn over(rails: &[(&str, Arc<dyn Gateway>)]) -> (Engine, Caller) {
    let mut terms = Terms::default();
    terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
    let engine = Engine::builder(Arc::new(MemoryStore::new()))
        .clock(Arc::new(ManualClock::at(start())))
        .entropy(Arc::new(SeededEntropy::new(7)))
        .terms(terms);
    let plug = |engine: cauri::EngineBuilder, (name, rail): &(&str, Arc<dyn Gateway>)| {
        engine.gateway(Connection::new(*name), rail.clone())
    };
    let engine = rails.iter().fold(engine, plug).build().unwrap();
    let account = engine.create_account().await.unwrap();
    (engine, Caller::secret(Scope { account: account.id, environment: Environment::Live }))
}

#[tokio::test(start_paused = true)]
async fn a_network_that_hangs_delays_no_other() {
    let (prompt, done) = Prompt::new(1, Duration::ZERO);
    let (engine, me) = over(&[("sim_mtn_ci", Arc::new(Silent)), ("sim_orange_ci", prompt)]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async move {
        let _ = stopped.await;
    }));
    tokio::task::yield_now().await;
    for _ in 0..1_000 {
        created(&engine, me).await;
    }
    let began = tokio::time::Instant::now();
    let paid = created_with(&engine, me, "orange").await;
    done.notified().await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    stop.send(()).unwrap();
    worker.await.unwrap();
    assert_eq!(engine.payment(&me, paid).await.unwrap().status, PaymentStatus::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn what_a_network_that_hangs_has_left_open_delays_no_other() {
    let (prompt, done) = Prompt::new(100, Duration::ZERO);
    let (engine, me) = over(&[("sim_mtn_ci", Arc::new(Silent)), ("sim_orange_ci", prompt)]).await;
    // As another process has left it, the older first.
    for _ in 0..1_000 {
        created(&engine, me).await;
    }
    for _ in 0..100 {
        created_with(&engine, me, "orange").await;
    }
    let began = tokio::time::Instant::now();
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async move {
        let _ = stopped.await;
    }));
    done.notified().await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    stop.send(()).unwrap();
    worker.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn however_many_networks_hang_there_is_room_for_one_that_does_not() {
    let (prompt, done) = Prompt::new(20, Duration::ZERO);
    let hangs: Arc<dyn Gateway> = Arc::new(Silent);
    let (engine, me) = over(&[
        ("sim_mtn_ci", hangs.clone()),
        ("sim_moov_ci", hangs.clone()),
        ("sim_wave_ci", hangs),
        ("sim_orange_ci", prompt),
    ])
    .await;
    let mut options = WorkerOptions::default();
    (options.orders_max, options.orders_per_connection_max) = (8, 4);
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::with(engine.clone(), options).run(async move {
        let _ = stopped.await;
    }));
    tokio::task::yield_now().await;
    for _ in 0..30 {
        for network in ["mtn", "moov", "wave"] {
            created_with(&engine, me, network).await;
        }
    }
    let began = tokio::time::Instant::now();
    for _ in 0..20 {
        created_with(&engine, me, "orange").await;
    }
    done.notified().await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    stop.send(()).unwrap();
    worker.await.unwrap();
}

/// What is sent takes half a minute to arrive, and is paid when it does.
#[derive(Debug)]
struct FarAway {
    arrives_at: Mutex<Option<Timestamp>>,
}

#[async_trait]
impl Gateway for FarAway {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, _: &Order, now: Timestamp) -> Answer {
        self.arrives_at.lock().unwrap().get_or_insert(now.plus_seconds(30));
        Answer { reports: vec![Report::Unknown], ask_again_at: Some(now.plus_seconds(5)) }
    }

    async fn query(&self, _: &Order, now: Timestamp) -> Answer {
        let arrived = self.arrives_at.lock().unwrap().is_some_and(|at| at <= now);
        Answer::final_report(if arrived { Report::Paid } else { Report::NotFound })
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

#[tokio::test]
async fn what_is_on_its_way_when_a_payment_expires_is_asked_about_when_it_has_arrived() {
    let clock = Arc::new(ManualClock::at(start()));
    let rail = Arc::new(FarAway { arrives_at: Mutex::default() });
    let (engine, me) = live(Arc::new(MemoryStore::new()), clock.clone(), rail).await;
    let payment = created(&engine, me).await;
    let worker = Worker::new(engine.clone());
    let expires_at = engine.payment(&me, payment).await.unwrap().expires_at;
    clock.advance_millis(expires_at.since(clock.now()) - 2_000);
    worker.tick().await.unwrap();
    for _ in 0..5 {
        clock.advance_millis(5_000);
        worker.tick().await.unwrap();
    }
    let found = engine.payment(&me, payment).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Expired);
    clock.advance_millis(120_000);
    worker.tick().await.unwrap();
    let found = engine.payment(&me, payment).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Succeeded);
}

#[tokio::test]
async fn what_has_never_arrived_is_not_asked_about_for_ever() {
    let clock = Arc::new(ManualClock::at(start()));
    let rail = Arc::new(FarAway { arrives_at: Mutex::new(Some(Timestamp::MAX)) });
    let store = Arc::new(MemoryStore::new());
    let (engine, me) = live(store.clone(), clock.clone(), rail).await;
    let payment = created(&engine, me).await;
    let worker = Worker::new(engine.clone());
    let expires_at = engine.payment(&me, payment).await.unwrap().expires_at;
    clock.advance_millis(expires_at.since(clock.now()) - 2_000);
    for _ in 0..60 {
        clock.advance_millis(5_000);
        worker.tick().await.unwrap();
    }
    let found = engine.payment(&me, payment).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Expired);
    assert_eq!(store.backlog(ClaimKind::Payments, Timestamp::MAX).count, 0);
}

/// Takes every order on, and says so.
#[derive(Debug)]
struct Willing(Arc<Notify>);

#[async_trait]
impl Gateway for Willing {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, _: &Order, now: Timestamp) -> Answer {
        self.0.notify_one();
        let ask_again_at = Some(now.plus_seconds(5));
        Answer { reports: vec![Report::accepted()], ask_again_at }
    }

    async fn query(&self, _: &Order, now: Timestamp) -> Answer {
        Answer::later(now.plus_seconds(5))
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_network_said_is_not_lost_to_a_store_that_is_away_for_a_moment() {
    let sent = Arc::new(Notify::new());
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let clock = Arc::new(ManualClock::at(start()));
    let rail = Arc::new(Willing(sent.clone()));
    let (engine, me) = live(store.clone(), clock, rail).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async move {
        let _ = stopped.await;
    }));
    tokio::task::yield_now().await;
    let made = store.calls(FaultyCall::Commit);
    for away in 2..6 {
        store.fail(FaultyCall::Commit, made + away, Fault::Before);
    }
    let payment = created(&engine, me).await;
    sent.notified().await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let found = engine.payment(&me, payment).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Processing);
    assert_eq!(store.calls(FaultyCall::Commit), made + 6, "as often as it was away, and once more");
    stop.send(()).unwrap();
    worker.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_made_while_the_worker_stops_is_left_to_the_others_at_once() {
    let sent = Arc::new(Notify::new());
    let store = Arc::new(MemoryStore::new());
    let clock = Arc::new(ManualClock::at(start()));
    let rail = Arc::new(Willing(sent));
    let (engine, me) = live(store.clone(), clock.clone(), rail).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async move {
        let _ = stopped.await;
    }));
    tokio::task::yield_now().await;
    // It was to be held when it was decided, and nobody listens when it is there.
    let making = tokio::spawn({
        let engine = engine.clone();
        async move { created(&engine, me).await }
    });
    stop.send(()).unwrap();
    worker.await.unwrap();
    making.await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let now = clock.now();
    let until = now.plus_seconds(20);
    let claim = Claim { kind: ClaimKind::Payments, now, until, limit: 10, lanes: None };
    assert_eq!(store.claim(&claim).await.unwrap().len(), 1);
}

/// A network to which the way takes so long that another node takes the order over meanwhile.
#[derive(Debug)]
struct Overtaken {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    sent: Arc<Notify>,
}

#[async_trait]
impl Gateway for Overtaken {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, _: &Order, _: Timestamp) -> Answer {
        self.clock.advance_millis(21_000);
        let now = self.clock.now();
        let until = now.plus_seconds(20);
        let claim = Claim { kind: ClaimKind::Payments, now, until, limit: 10, lanes: None };
        assert_eq!(self.store.claim(&claim).await.unwrap().len(), 1);
        self.sent.notify_one();
        Answer::final_report(Report::Unreachable)
    }

    async fn query(&self, _: &Order, _: Timestamp) -> Answer {
        Answer::final_report(Report::NotFound)
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

#[tokio::test]
async fn what_did_not_arrive_from_here_fails_no_order_that_another_node_has_taken_over() {
    let clock = Arc::new(ManualClock::at(start()));
    let store = Arc::new(MemoryStore::new());
    let sent = Arc::new(Notify::new());
    let rail = Overtaken { store: store.clone(), clock: clock.clone(), sent: sent.clone() };
    let (engine, me) = live(store, clock, Arc::new(rail)).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async move {
        let _ = stopped.await;
    }));
    // It listens from its first turn on.
    tokio::task::yield_now().await;
    let payment = created(&engine, me).await;
    sent.notified().await;
    stop.send(()).unwrap();
    worker.await.unwrap();
    let found = engine.payment(&me, payment).await.unwrap();
    assert_eq!(found.status, PaymentStatus::Created, "the other node may have sent it");
}

/// Pays whatever it is asked about after so long, and says when that was everything.
#[derive(Debug)]
struct Prompt {
    left: Mutex<usize>,
    done: Arc<Notify>,
    takes: Duration,
}

impl Prompt {
    fn new(left: usize, takes: Duration) -> (Arc<Self>, Arc<Notify>) {
        let done = Arc::new(Notify::new());
        (Arc::new(Self { left: Mutex::new(left), done: done.clone(), takes }), done)
    }
}

#[async_trait]
impl Gateway for Prompt {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, order: &Order, now: Timestamp) -> Answer {
        self.query(order, now).await
    }

    async fn query(&self, _: &Order, _: Timestamp) -> Answer {
        if !self.takes.is_zero() {
            tokio::time::sleep(self.takes).await;
        }
        let mut left = self.left.lock().unwrap();
        *left -= 1;
        if *left == 0 {
            self.done.notify_one();
        }
        Answer::final_report(Report::Paid)
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

/// How long it takes until a backlog is worked off whose orders take so long each, so many at once.
async fn worked_off(backlog: usize, takes: Duration, at_once: usize) -> Duration {
    let mut options = WorkerOptions::default();
    options.orders_per_connection_max = at_once;
    let (rail, done) = Prompt::new(backlog, takes);
    let clock = Arc::new(ManualClock::at(start()));
    let (engine, me) = live(Arc::new(MemoryStore::new()), clock, rail).await;
    for _ in 0..backlog {
        created(&engine, me).await;
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let began = tokio::time::Instant::now();
    let worker = tokio::spawn(Worker::with(engine.clone(), options).run(async move {
        let _ = stopped.await;
    }));
    done.notified().await;
    let took = began.elapsed();
    stop.send(()).unwrap();
    worker.await.unwrap();
    took
}

#[tokio::test(start_paused = true)]
async fn a_backlog_is_worked_off_without_waiting_for_the_next_look() {
    // By a clock that goes on only while nobody has anything to do.
    assert_eq!(worked_off(500, Duration::ZERO, 128).await, Duration::ZERO);
    for (backlog, at_once) in [(500, 128), (160, 40)] {
        let took = worked_off(backlog, Duration::from_millis(10), at_once).await;
        assert!(took < Duration::from_millis(70), "{at_once} at once: {took:?}");
    }
}

pub(crate) fn start() -> Timestamp {
    Timestamp::from_millis(1_731_974_400_000)
}

/// An engine with a live network, and an account.
pub(crate) async fn live(
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    rail: Arc<dyn Gateway>,
) -> (Engine, Caller) {
    let mut terms = Terms::default();
    terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
    let engine = Engine::builder(store)
        .clock(clock)
        .entropy(Arc::new(SeededEntropy::new(7)))
        .terms(terms)
        .gateway(Connection::new("sim_mtn_ci"), rail)
        .build()
        .unwrap();
    let account = engine.create_account().await.unwrap();
    let me = Caller::secret(Scope { account: account.id, environment: Environment::Live });
    (engine, me)
}

/// A payment that is about to be sent.
pub(crate) async fn created(engine: &Engine, me: Caller) -> PaymentId {
    created_with(engine, me, "mtn").await
}

async fn created_with(engine: &Engine, me: Caller, network: &str) -> PaymentId {
    let phone = match network {
        "mtn" => "+2250500000000",
        "moov" => "+2250100000000",
        _ => "+2250700000000",
    };
    let body = json!({
        "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": network,
        "phone": phone,
    });
    let form = cauri::wire::Form {
        environment: Environment::Live,
        catalogue: &engine.terms().live.catalogue,
        now: start(),
    };
    let ask = CreatePayment::read(body.as_object().unwrap(), &form).unwrap();
    engine.create_payment(&Call::by(me), ask).await.unwrap().object.id
}
