//! Orders with more than one way to go.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use cauri::{
    Answer, BreakerOptions, BreakerState, BuildError, Call, Caller, Capabilities, Catalogue, Claim,
    ClaimKind, Clock as _, Connection, Engine, Environment, FailureCode, FeeSchedule, Gateway, Key,
    Leg, Order, OrderId, Payment, PaymentId, PaymentStatus, Report, Route, Routes, Scope,
    Store as _, StoreExt as _, Timestamp, Worker,
    decide::{Offers, Terms},
    wire::CreatePayment,
};
use cauri_conformance::{ManualClock, SeededEntropy};
use cauri_memory::MemoryStore;
use serde_json::json;
use tokio::sync::{Notify, oneshot};

/// What a network does with an order that is sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conduct {
    Accepts,
    /// Is out of reach.
    Down,
    /// Says that it cannot carry it now.
    Busy,
    /// Says that the payer cannot pay.
    Refuses,
    /// Takes it, and does not say so.
    Mute,
}

/// The networks of a story: what they were sent, and in which order.
#[derive(Debug)]
struct Networks {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    conduct: Mutex<HashMap<&'static str, Conduct>>,
    sent: Mutex<Vec<(&'static str, OrderId)>>,
    /// What the record said of the connection at the moment an order was sent.
    written: Mutex<Vec<String>>,
    /// Another node takes over what is sent to here, before the answer is there.
    overtaken_at: Mutex<Option<&'static str>>,
    spoke: Notify,
}

#[derive(Debug)]
struct Rail {
    name: &'static str,
    networks: Arc<Networks>,
    capabilities: Capabilities,
}

#[async_trait]
impl Gateway for Rail {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn submit(&self, order: &Order, _: Timestamp) -> Answer {
        let networks = &self.networks;
        networks.sent.lock().unwrap().push((self.name, order.id));
        let OrderId::Payment(id) = order.id else { return Answer::default() };
        let key = Key::Payment(order.scope, id);
        let stored = networks.store.find::<Payment>(key).await.unwrap().unwrap();
        networks.written.lock().unwrap().push(stored.value.connection.to_string());
        if *networks.overtaken_at.lock().unwrap() == Some(self.name) {
            networks.clock.advance_millis(21_000);
            let now = networks.clock.now();
            let until = now.plus_seconds(20);
            let claim = Claim { kind: ClaimKind::Payments, now, until, limit: 10, lanes: None };
            assert_eq!(networks.store.claim(&claim).await.unwrap().len(), 1);
        }
        let conduct = networks.conduct.lock().unwrap()[self.name];
        networks.spoke.notify_one();
        Answer::final_report(match conduct {
            Conduct::Accepts => Report::accepted(),
            Conduct::Down => Report::Unreachable,
            Conduct::Busy => Report::Refused(FailureCode::NetworkUnavailable),
            Conduct::Refuses => Report::Refused(FailureCode::InsufficientFunds),
            Conduct::Mute => Report::Unknown,
        })
    }

    async fn query(&self, order: &Order, _: Timestamp) -> Answer {
        let sent = self.networks.sent.lock().unwrap().contains(&(self.name, order.id));
        Answer::final_report(if sent { Report::Unknown } else { Report::NotFound })
    }

    async fn cancel(&self, _: &Order, _: Timestamp) -> bool {
        false
    }
}

/// An engine whose one live network can be reached over two connections, and a third when those do
/// not carry it.
struct Stage {
    engine: Engine,
    me: Caller,
    networks: Arc<Networks>,
    stop: Option<oneshot::Sender<()>>,
    worker: Option<tokio::task::JoinHandle<()>>,
}

fn start() -> Timestamp {
    Timestamp::from_millis(1_731_974_400_000)
}

fn leg(connection: &str, priority: u8, share: u16) -> Leg {
    Leg { connection: Connection::new(connection), priority, share }
}

fn terms() -> Terms {
    let mut terms = Terms::default();
    terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
    let route = Route::new([leg("main", 1, 100), leg("second", 2, 100), leg("third", 3, 100)]);
    terms.routes = Routes::default().with(Connection::new("sim_mtn_ci"), route.unwrap());
    terms
}

impl Stage {
    async fn set(conduct: [Conduct; 3]) -> Self {
        Self::with(terms(), conduct).await
    }

    async fn with(terms: Terms, conduct: [Conduct; 3]) -> Self {
        let names = ["main", "second", "third"];
        let store = Arc::new(MemoryStore::new());
        let clock = Arc::new(ManualClock::at(start()));
        let networks = Arc::new(Networks {
            store: store.clone(),
            clock: clock.clone(),
            conduct: Mutex::new(names.into_iter().zip(conduct).collect()),
            sent: Mutex::default(),
            written: Mutex::default(),
            overtaken_at: Mutex::default(),
            spoke: Notify::new(),
        });
        let mut builder = Engine::builder(store)
            .clock(clock)
            .entropy(Arc::new(SeededEntropy::new(7)))
            .breaker(BreakerOptions::default().failures_max(2).open_ms(10_000))
            .terms(terms);
        for name in names {
            let capabilities = Capabilities::ALL;
            let rail = Rail { name, networks: networks.clone(), capabilities };
            builder = builder.gateway(Connection::new(name), Arc::new(rail));
        }
        let engine = builder.build().unwrap();
        let account = engine.create_account().await.unwrap();
        let me = Caller::secret(Scope { account: account.id, environment: Environment::Live });
        let mut stage = Self { engine, me, networks, stop: None, worker: None };
        stage.work().await;
        stage
    }

    /// A process that goes on with what it makes.
    async fn work(&mut self) {
        let (stop, stopped) = oneshot::channel::<()>();
        self.stop = Some(stop);
        self.worker = Some(tokio::spawn(Worker::new(self.engine.clone()).run(async move {
            let _ = stopped.await;
        })));
        // It listens from its first turn on.
        tokio::task::yield_now().await;
    }

    /// Everything under way is finished.
    async fn rest(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        self.worker.take().unwrap().await.unwrap();
    }

    async fn create(&self) -> PaymentId {
        let body = json!({
            "amount": 5000, "currency": "XOF", "payment_method": "mobile_money",
            "network": "mtn", "phone": "+2250500000000",
        });
        let form = cauri::wire::Form {
            environment: Environment::Live,
            catalogue: &self.engine.terms().live.catalogue,
            now: start(),
        };
        let ask = CreatePayment::read(body.as_object().unwrap(), &form).unwrap();
        self.engine.create_payment(&Call::by(self.me), ask).await.unwrap().object.id
    }

    /// Creates a payment and waits for what comes of it at once.
    async fn pay(&mut self) -> Payment {
        let id = self.create().await;
        self.networks.spoke.notified().await;
        self.rest().await;
        let found = self.found(id).await;
        self.work().await;
        found
    }

    async fn found(&self, id: PaymentId) -> Payment {
        let key = Key::Payment(self.me.scope, id);
        self.networks.store.find::<Payment>(key).await.unwrap().unwrap().value
    }

    fn conduct(&self, name: &'static str, conduct: Conduct) {
        self.networks.conduct.lock().unwrap().insert(name, conduct);
    }

    /// To whom orders were sent since this was last asked.
    fn sent(&self) -> Vec<&'static str> {
        self.networks.sent.lock().unwrap().drain(..).map(|(name, _)| name).collect()
    }
}

#[tokio::test]
async fn an_order_takes_the_next_way_when_the_first_did_not_take_it_on() {
    use Conduct::{Accepts, Busy, Down};
    for (conduct, way) in [
        ([Accepts, Accepts, Accepts], vec!["main"]),
        ([Down, Accepts, Accepts], vec!["main", "second"]),
        ([Busy, Accepts, Accepts], vec!["main", "second"]),
        ([Down, Busy, Accepts], vec!["main", "second", "third"]),
    ] {
        let mut stage = Stage::set(conduct).await;
        let payment = stage.pay().await;
        assert_eq!(payment.status, PaymentStatus::Processing);
        assert_eq!(payment.connection.as_str(), *way.last().unwrap());
        assert_eq!(stage.sent(), way);
        assert_eq!(*stage.networks.written.lock().unwrap(), way, "written down before it is sent");
    }
}

#[tokio::test]
async fn an_order_that_nobody_takes_on_fails_and_says_why() {
    let mut stage = Stage::set([Conduct::Down; 3]).await;
    let payment = stage.pay().await;
    assert_eq!(payment.status, PaymentStatus::Failed);
    assert_eq!(payment.failure, Some(FailureCode::NetworkUnavailable));
    assert_eq!(stage.sent(), ["main", "second", "third"]);
}

#[tokio::test]
async fn a_no_is_an_answer_and_is_not_asked_for_elsewhere() {
    let mut stage = Stage::set([Conduct::Refuses, Conduct::Accepts, Conduct::Accepts]).await;
    let payment = stage.pay().await;
    assert_eq!(payment.failure, Some(FailureCode::InsufficientFunds));
    assert_eq!(stage.sent(), ["main"]);
}

#[tokio::test]
async fn an_order_that_may_have_been_taken_on_stays_where_it_is() {
    let mut stage = Stage::set([Conduct::Mute, Conduct::Accepts, Conduct::Accepts]).await;
    let payment = stage.pay().await;
    assert_eq!((payment.status, payment.connection.as_str()), (PaymentStatus::Created, "main"));
    // Nor does whoever claims it later send it elsewhere.
    stage.rest().await;
    stage.conduct("main", Conduct::Down);
    for _ in 0..10 {
        stage.networks.clock.advance_millis(30_000);
        Worker::new(stage.engine.clone()).tick().await.unwrap();
    }
    assert_eq!(stage.found(payment.id).await.connection.as_str(), "main");
    assert_eq!(stage.sent(), ["main"]);
}

#[tokio::test]
async fn whoever_claims_an_order_that_its_maker_left_moves_it_nowhere() {
    let mut stage = Stage::set([Conduct::Down, Conduct::Accepts, Conduct::Accepts]).await;
    // Its maker is gone before it could send it.
    stage.rest().await;
    let id = stage.create().await;
    for _ in 0..3 {
        Worker::new(stage.engine.clone()).tick().await.unwrap();
        stage.networks.clock.advance_millis(6_000);
    }
    let found = stage.found(id).await;
    assert_eq!((found.status, found.connection.as_str()), (PaymentStatus::Created, "main"));
    assert!(stage.sent().iter().all(|name| *name == "main"));
}

#[tokio::test]
async fn an_order_that_another_node_has_taken_over_is_not_moved() {
    let mut stage = Stage::set([Conduct::Down, Conduct::Accepts, Conduct::Accepts]).await;
    *stage.networks.overtaken_at.lock().unwrap() = Some("main");
    let payment = stage.pay().await;
    assert_eq!((payment.status, payment.connection.as_str()), (PaymentStatus::Created, "main"));
    assert_eq!(stage.sent(), ["main"], "the other node may have sent it there");
}

#[tokio::test]
async fn a_connection_that_does_not_answer_is_spared_and_tried_again() {
    let mut stage = Stage::set([Conduct::Down, Conduct::Accepts, Conduct::Accepts]).await;
    let main = Connection::new("main");
    for _ in 0..2 {
        stage.pay().await;
    }
    assert_eq!(stage.sent(), ["main", "second", "main", "second"]);
    assert_eq!(stage.engine.breaker(&main), Some(BreakerState::Open));

    assert_eq!(stage.pay().await.connection.as_str(), "second");
    assert_eq!(stage.sent(), ["second"], "not even tried");

    // After the rest one order tries, in vain; then another, and all go there again.
    stage.networks.clock.advance_millis(10_000);
    stage.pay().await;
    stage.pay().await;
    assert_eq!(stage.sent(), ["main", "second", "second"]);
    stage.networks.clock.advance_millis(10_000);
    stage.conduct("main", Conduct::Accepts);
    stage.pay().await;
    stage.pay().await;
    assert_eq!(stage.sent(), ["main", "main"]);
    assert_eq!(stage.engine.breaker(&main), Some(BreakerState::Closed));
}

#[tokio::test]
async fn when_all_are_down_the_first_is_still_tried() {
    let mut stage = Stage::set([Conduct::Down; 3]).await;
    for _ in 0..2 {
        stage.pay().await;
    }
    stage.sent();
    stage.conduct("main", Conduct::Accepts);
    assert_eq!(stage.pay().await.status, PaymentStatus::Processing);
    assert_eq!(stage.sent(), ["main"]);
}

#[tokio::test]
async fn only_a_payment_counts_from_a_connection_that_no_longer_carries_the_order() {
    let mut stage = Stage::set([Conduct::Down, Conduct::Accepts, Conduct::Accepts]).await;
    let payment = stage.pay().await;
    let (scope, id) = (stage.me.scope, OrderId::Payment(payment.id));
    let (old, new) = (Connection::new("main"), Connection::new("second"));
    for report in [Report::Failed(FailureCode::UserRejected), Report::Expired] {
        stage.engine.report_from(&old, scope, id, report).await.unwrap();
        assert_eq!(stage.found(payment.id).await.status, PaymentStatus::Processing);
    }
    stage.engine.report_from(&old, scope, id, Report::Paid).await.unwrap();
    let found = stage.found(payment.id).await;
    assert_eq!(found.status, PaymentStatus::Succeeded);
    assert_eq!(found.connection, old, "only who has the money can give it back");
    stage.engine.report_from(&new, scope, id, Report::Paid).await.unwrap();
    assert_eq!(stage.found(payment.id).await.connection, old, "what is paid stays where it is");

    let other = stage.pay().await;
    let rejected = Report::Failed(FailureCode::UserRejected);
    stage.engine.report_from(&new, scope, OrderId::Payment(other.id), rejected).await.unwrap();
    assert_eq!(stage.found(other.id).await.status, PaymentStatus::Failed);
}

#[tokio::test]
async fn shares_divide_orders_between_connections() {
    let mut terms = terms();
    let route = Route::new([leg("main", 1, 75), leg("second", 1, 25)]).unwrap();
    terms.routes = Routes::default().with(Connection::new("sim_mtn_ci"), route);
    let mut stage = Stage::with(terms, [Conduct::Accepts; 3]).await;
    stage.rest().await;
    let mut first: VecDeque<String> = VecDeque::new();
    for _ in 0..200 {
        let id = stage.create().await;
        first.push_back(stage.found(id).await.connection.to_string());
    }
    let main = first.iter().filter(|it| *it == "main").count();
    assert!((130..=170).contains(&main), "{main} of 200");
}

#[tokio::test]
async fn an_offer_promises_no_more_than_every_gateway_of_its_route_declares() {
    let stage = Stage::set([Conduct::Accepts; 3]).await;
    let all = Capabilities::ALL;
    let build = |capabilities| {
        let rail = Rail { name: "third", networks: stage.networks.clone(), capabilities };
        Engine::builder(stage.networks.store.clone())
            .terms(terms())
            .gateway(Connection::new("third"), Arc::new(rail))
            .build()
    };
    assert!(build(all).is_ok());
    let less = build(Capabilities { partial_refund: false, ..all });
    let Err(BuildError::Promise { network, connection }) = less else {
        panic!("a promise that nobody keeps: {less:?}");
    };
    assert_eq!((network.as_str(), connection.as_str()), ("mtn", "third"));
}
