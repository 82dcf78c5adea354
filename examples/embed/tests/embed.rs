//! The shop's transaction decides about its order and about the payment alike.
#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected ends there")]

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use cauri::{
    Amount, Attempt, AttemptError, Call, Caller, EngineBuilder, Environment, Key, List, Notifier,
    PaymentStatus, Query, Receipt, Scope, Timestamp, Worker,
    wire::{CreateWebhookEndpoint, Payment},
};
use cauri_conformance::ManualClock;
use cauri_example_embed::{Order, Shop, sqlite::SqliteShop};

/// Takes every delivery and remembers its event.
#[derive(Debug, Default)]
struct Receiver(Mutex<Vec<String>>);

#[async_trait]
impl Notifier for Receiver {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        let event: serde_json::Value = serde_json::from_slice(&attempt.body).unwrap();
        self.0.lock().unwrap().push(event["type"].as_str().unwrap().to_owned());
        Receipt { outcome: Ok(204), duration_ms: 1 }
    }

    async fn vet(&self, _: &str, _: Environment) -> Result<(), AttemptError> {
        Ok(())
    }
}

struct Stage {
    clock: Arc<ManualClock>,
    receiver: Arc<Receiver>,
}

impl Stage {
    fn new() -> Self {
        let start = Timestamp::from_millis(1_731_974_400_000);
        Self { clock: Arc::new(ManualClock::at(start)), receiver: Arc::default() }
    }

    fn set_up(&self) -> impl FnOnce(EngineBuilder) -> EngineBuilder {
        let (clock, receiver) = (self.clock.clone(), self.receiver.clone());
        move |builder| builder.clock(clock).notifier(receiver)
    }

    fn received(&self) -> Vec<String> {
        let mut received = self.receiver.0.lock().unwrap().clone();
        // What two commits tell may come in any order.
        received.sort();
        received
    }
}

fn order(number: i64) -> Order {
    Order {
        number,
        price: Amount::new(5_000),
        currency: "XOF".parse().unwrap(),
        network: "mtn".parse().unwrap(),
        phone: "+2250500000000".parse().unwrap(),
    }
}

/// What a shop and cauri show of themselves.
struct Told<'a, S> {
    shop: &'a S,
    stage: &'a Stage,
    worker: Worker,
    me: Caller,
}

impl<S: Shop> Told<'_, S> {
    async fn is_there(&self, payment: &Payment) -> bool {
        let key = Key::Payment(self.me.scope, payment.id);
        self.shop.engine().store().get(&[key]).await.unwrap()[0].is_some()
    }

    async fn counts(&self) -> (usize, i64, i64) {
        let store = self.shop.engine().store();
        let total = async |list| store.list(&Query::all(list)).await.unwrap().total;
        (
            self.shop.orders().await.unwrap().len(),
            total(List::Payments(self.me.scope)).await,
            total(List::Deliveries(self.me.scope)).await,
        )
    }

    /// Works for some seconds, a quarter of one at a time.
    async fn works(&self, seconds: i64) {
        for _ in 0..seconds * 4 {
            while !self.worker.tick().await.unwrap().is_idle() {}
            self.stage.clock.advance_millis(250);
        }
    }
}

async fn the_host_decides(shop: impl Shop, stage: &Stage) {
    let engine = shop.engine().clone();
    let account = engine.create_account().await.unwrap().id;
    let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
    let hooks = CreateWebhookEndpoint::at("https://shop.example/hooks".parse().unwrap());
    engine.create_webhook_endpoint(&Call::by(me), hooks).await.unwrap();
    let told = Told { shop: &shop, stage, worker: Worker::new(engine.clone()), me };

    // Rolled back: neither, and nothing is ever sent.
    let placed = shop.place(me, &order(1)).await.unwrap();
    let payment = placed.payment().clone();
    assert_eq!(payment.status, PaymentStatus::Created);
    placed.rollback().await.unwrap();
    assert!(!told.is_there(&payment).await);
    told.works(5).await;
    assert_eq!(told.counts().await, (0, 0, 0));
    assert!(stage.received().is_empty());

    // Let go of without a word: the same.
    drop(shop.place(me, &order(1)).await.unwrap());
    told.works(5).await;
    assert_eq!(told.counts().await, (0, 0, 0));
    assert!(stage.received().is_empty());

    // Not committed yet: nobody sees it, and nothing is sent, whatever the worker does.
    let placed = shop.place(me, &order(1)).await.unwrap();
    assert!(!told.is_there(placed.payment()).await);
    told.works(5).await;
    assert_eq!(told.counts().await, (0, 0, 0));
    assert!(stage.received().is_empty());

    // Committed: both at once, and everything that was due meanwhile is picked up.
    let payment = placed.commit().await.unwrap();
    assert_eq!(told.counts().await, (1, 1, 1));
    assert_eq!(shop.orders().await.unwrap(), [(1, payment.id.to_string())]);
    told.works(5).await;
    assert_eq!(stage.received(), ["payment.created", "payment.processing", "payment.succeeded"]);
    let payment = engine.payment(&me, payment.id).await.unwrap();
    assert_eq!(payment.status, PaymentStatus::Succeeded);

    // The shop's own table refuses: its payment is gone too.
    shop.place(me, &order(1)).await.unwrap_err();
    told.works(5).await;
    assert_eq!(told.counts().await, (1, 1, 3));

    // cauri refuses: there is no order either.
    let free = Order { price: Amount::ZERO, ..order(2) };
    let refused = shop.place(me, &free).await.unwrap_err();
    assert!(matches!(refused.downcast_ref(), Some(cauri::Error::Refused(_))), "{refused}");
    assert_eq!(told.counts().await, (1, 1, 3));

    // An order that is sold goes the same way, and money is where it should be.
    shop.sell(me, &order(2)).await.unwrap();
    told.works(5).await;
    assert_eq!(told.counts().await, (2, 2, 6));
    assert_eq!(stage.received().len(), 6);
    let audit = engine.audit().await.unwrap();
    assert!(audit.violations.is_empty(), "{:?}", audit.violations);
}

async fn sqlite(file: &Path) {
    let stage = Stage::new();
    the_host_decides(SqliteShop::open(file, stage.set_up()).await.unwrap(), &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_decides_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    sqlite(&folder.path().join("shop.db")).await;
}

#[cfg(feature = "postgres-tests")]
#[tokio::test(flavor = "multi_thread")]
async fn the_host_decides_on_postgres() {
    use std::{process, str::FromStr};

    use cauri_example_embed::postgres::PostgresShop;
    use cauri_postgres::PostgresOptions;
    use sqlx::{
        AssertSqlSafe,
        postgres::{PgConnectOptions, PgPoolOptions},
    };

    let url = std::env::var("CAURI_TEST_POSTGRES").expect("CAURI_TEST_POSTGRES names a server");
    let schema = format!("embed_{}", process::id());
    let options = PgConnectOptions::from_str(&url).unwrap();
    let options = options.options([("search_path", &schema)]);
    let pool = PgPoolOptions::new().max_connections(4).connect_with(options).await.unwrap();
    let text = format!("create schema {schema}");
    sqlx::raw_sql(AssertSqlSafe(text)).execute(&pool).await.unwrap();
    let stage = Stage::new();
    // Its own schema for cauri's tables here too, so that both are gone together.
    let options = PostgresOptions::default().schema(&schema);
    let shop = PostgresShop::open(pool.clone(), options, stage.set_up()).await.unwrap();
    the_host_decides(shop, &stage).await;
    let text = format!("drop schema {schema} cascade");
    sqlx::raw_sql(AssertSqlSafe(text)).execute(&pool).await.unwrap();
}
