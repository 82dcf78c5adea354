//! Sells three times: once it goes well, once the shop changes its mind, once the shop's own table
//! refuses.
//!
//! ```text
//! cargo run -p cauri-example-embed
//! cargo run -p cauri-example-embed -- --store postgres://user@localhost/database
//! ```

use std::{env, process::ExitCode, sync::Arc};

use async_trait::async_trait;
use cauri::{
    Amount, Attempt, AttemptError, Call, Caller, EngineBuilder, Environment, Key, List, Notifier,
    Query, Receipt, Scope, Worker, wire::CreateWebhookEndpoint,
};
use cauri_example_embed::{Failure, Order, Shop, postgres::PostgresShop, sqlite::SqliteShop};
use cauri_postgres::PostgresOptions;
use sqlx::PgPool;
use tokio::sync::{mpsc, oneshot};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failure> {
    let (sender, events) = mpsc::unbounded_channel();
    // A shop that keeps its database from run to run also gives the engine `keys`, which seal the
    // webhook secrets that are kept there.
    let set_up = |builder: EngineBuilder| builder.notifier(Arc::new(InProcess(sender)));
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let folder = tempfile::tempdir()?;
            story(SqliteShop::open(&folder.path().join("shop.db"), set_up).await?, events).await
        }
        ["--store", url] => {
            let pool = PgPool::connect(url).await?;
            let options = PostgresOptions::default();
            story(PostgresShop::open(pool, options, set_up).await?, events).await
        }
        _ => Err("usage: cauri-example-embed [--store postgres://…]".into()),
    }
}

async fn story(
    shop: impl Shop,
    mut events: mpsc::UnboundedReceiver<String>,
) -> Result<(), Failure> {
    let engine = shop.engine().clone();
    let account = engine.create_account().await?.id;
    let scope = Scope { account, environment: Environment::Sandbox };
    let me = Caller::secret(scope);
    let hooks = CreateWebhookEndpoint::at("https://shop.example/hooks".parse()?);
    engine.create_webhook_endpoint(&Call::by(me), hooks).await?;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(Worker::new(engine.clone()).run(async {
        let _ = stopped.await;
    }));

    // Numbers that go on from what is there, so that this may be run again.
    let first = shop.orders().await?.last().map_or(1, |(number, _)| number.saturating_add(1));
    // In the sandbox, a phone that ends in 0000 pays by itself after two seconds.
    let mut order = Order {
        number: first,
        price: Amount::new(5_000),
        currency: "XOF".parse()?,
        network: "mtn".parse()?,
        phone: "+2250500000000".parse()?,
    };

    let payment = shop.sell(me, &order).await?;
    println!("order {first} and {} are one commit", payment.id);

    order.number = first.saturating_add(1);
    let placed = shop.place(me, &order).await?;
    let id = placed.payment().id;
    placed.rollback().await?;
    let found = engine.store().get(&[Key::Payment(scope, id)]).await?;
    println!("order {} was rolled back; its payment is {found:?}", order.number);

    order.number = first;
    let refused = shop.place(me, &order).await.err().ok_or("the number is taken")?;
    println!("order {first} again: {refused}");

    while let Some(event) = events.recv().await {
        println!("event {event}");
        if event == "payment.succeeded" {
            break;
        }
    }
    let payments = engine.store().list(&Query::all(List::Payments(scope))).await?.total;
    println!("orders: {:?}, payments of this run: {payments}", shop.orders().await?);
    let _ = stop.send(());
    worker.await?;
    Ok(())
}

/// Webhooks that never leave the process.
#[derive(Debug)]
struct InProcess(mpsc::UnboundedSender<String>);

#[async_trait]
impl Notifier for InProcess {
    async fn deliver(&self, attempt: &Attempt) -> Receipt {
        let kind = serde_json::from_slice::<serde_json::Value>(&attempt.body).ok();
        let kind = kind.and_then(|event| event["type"].as_str().map(str::to_owned));
        let taken = self.0.send(kind.unwrap_or_default());
        let outcome = taken.map(|()| 204).map_err(|_| AttemptError::ConnectionFailed);
        Receipt { outcome, duration_ms: 0 }
    }

    async fn vet(&self, _url: &str, _environment: Environment) -> Result<(), AttemptError> {
        Ok(())
    }
}
