//! The load program: callers in a loop, one scenario, one store.
//!
//! `cargo run --release -p cauri-benches --bin load -- --store memory: --scenario create`

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use cauri::{GroupedOptions, List, OrderId, Page, PaymentId, Query, Report};
use cauri_benches::{
    figures::{Latencies, cpu_ticks, per_second, resident_kib},
    stage::{self, Stage},
    store,
};
use clap::{Parser, ValueEnum};
use serde_json::json;
use tokio::time::Instant;

type Failure = Box<dyn Error + Send + Sync>;

/// Puts load on a store and prints what it took.
#[derive(Debug, Parser)]
struct Arguments {
    /// `memory:`, `sqlite:PATH` or `postgres://…`.
    #[arg(long)]
    store: String,
    /// What each operation is.
    #[arg(long, value_enum)]
    scenario: Scenario,
    /// How many callers there are.
    #[arg(long, default_value_t = 64)]
    callers: usize,
    /// Over how many accounts they are spread.
    #[arg(long, default_value_t = 1)]
    accounts: usize,
    /// For how long.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// One store transaction a commit, instead of group commit.
    #[arg(long)]
    no_group: bool,
    /// How many changesets a batch may hold, instead of what suits the store.
    #[arg(long, requires = "in_flight")]
    batch: Option<usize>,
    /// How many batches may be on their way, instead of what suits the store.
    #[arg(long, requires = "batch")]
    in_flight: Option<usize>,
    /// One line of JSON instead of lines for people.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scenario {
    /// A payment, with its idempotency record.
    Create,
    /// A whole payment: created, processing, succeeded.
    Life,
    /// A payout.
    Payout,
    /// One payment, read.
    Read,
    /// A page of payments.
    List,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let options = arguments.batch.zip(arguments.in_flight).map(|(batch, in_flight)| {
        GroupedOptions::default().batch_max(batch).in_flight_max(in_flight)
    });
    let opened = store::open(&arguments.store, !arguments.no_group, options).await?;
    let engine = stage::engine(Arc::clone(&opened.store))?;
    let listening = arguments.scenario == Scenario::Life;
    let stage = Arc::new(Stage::set(engine, arguments.accounts.max(1), listening).await?);
    let known = Arc::new(known(&stage, arguments.scenario).await?);

    let failed = Arc::new(AtomicU64::new(0));
    let before = (cpu_ticks(), opened.grouped.as_ref().map(|it| it.stats()));
    let began = Instant::now();
    let until = began + Duration::from_secs(arguments.seconds);
    let mut callers = tokio::task::JoinSet::new();
    for number in 0..arguments.callers {
        let (stage, known) = (Arc::clone(&stage), Arc::clone(&known));
        let failed = Arc::clone(&failed);
        let scenario = arguments.scenario;
        callers.spawn(async move {
            let mut latencies = Latencies::default();
            let mut turn = 0_usize;
            while Instant::now() < until {
                // A store in memory never makes its callers wait; they must not starve the rest.
                tokio::task::yield_now().await;
                let started = Instant::now();
                match operate(&stage, &known, scenario, number, turn).await {
                    Ok(()) => latencies.add(started.elapsed()),
                    Err(error) => {
                        if failed.fetch_add(1, Ordering::Relaxed) == 0 {
                            eprintln!("the first failure: {error}");
                        }
                    }
                }
                turn += 1;
            }
            latencies
        });
    }
    let mut all = Latencies::default();
    while let Some(latencies) = callers.join_next().await {
        all.join(latencies?);
    }
    let took = began.elapsed();
    report(&arguments, &opened, before, all, took, failed.load(Ordering::Relaxed));
    Ok(())
}

/// Payments that are there to be read.
async fn known(stage: &Stage, scenario: Scenario) -> Result<Vec<PaymentId>, Failure> {
    let mut known = Vec::new();
    if matches!(scenario, Scenario::Read | Scenario::List) {
        for turn in 0..500 {
            let caller = stage.callers[turn % stage.callers.len()];
            let call = cauri::Call::by(caller);
            let ask = stage::payment("READ")?;
            known.push(stage.engine.create_payment(&call, ask).await?.object.id);
        }
    }
    Ok(known)
}

async fn operate(
    stage: &Stage,
    known: &[PaymentId],
    scenario: Scenario,
    number: usize,
    turn: usize,
) -> Result<(), Failure> {
    let at = number.wrapping_add(turn.wrapping_mul(7_919)) % stage.callers.len();
    let caller = stage.callers[at];
    let engine = &stage.engine;
    let key = format!("{number}-{turn}-{}", stage.callers[0].scope.account);
    match scenario {
        Scenario::Create => {
            engine.create_payment(&stage::keyed(caller, &key)?, stage::payment("LOAD")?).await?;
        }
        Scenario::Life => {
            let call = stage::keyed(caller, &key)?;
            let payment = engine.create_payment(&call, stage::payment("LOAD")?).await?.object;
            let order = OrderId::Payment(payment.id);
            engine.report(caller.scope, order, Report::accepted()).await?;
            engine.report(caller.scope, order, Report::Paid).await?;
        }
        Scenario::Payout => {
            engine.create_payout(&stage::keyed(caller, &key)?, stage::payout("LOAD")?).await?;
        }
        Scenario::Read => {
            let place = turn % known.len();
            let caller = stage.callers[place % stage.callers.len()];
            engine.payment(&caller, known[place]).await?;
        }
        Scenario::List => {
            let page = Page::new(25, 0).unwrap_or_default();
            let query = Query::all(List::Payments(caller.scope)).page(page);
            engine.payments(&caller, &query).await?;
        }
    }
    Ok(())
}

fn report(
    arguments: &Arguments,
    opened: &store::Opened,
    before: (u64, Option<cauri::GroupedStats>),
    latencies: Latencies,
    took: Duration,
    failed: u64,
) {
    let count = latencies.count();
    let ticks = cpu_ticks().saturating_sub(before.0);
    let batch = opened.grouped.as_ref().zip(before.1).map(|(grouped, before)| {
        let after = grouped.stats();
        let batches = after.batches.saturating_sub(before.batches).max(1);
        after.changesets.saturating_sub(before.changesets) / batches
    });
    let figures = json!({
        "store": arguments.store.split_once(':').map(|(kind, _)| kind),
        "scenario": format!("{:?}", arguments.scenario).to_lowercase(),
        "callers": arguments.callers,
        "accounts": arguments.accounts,
        "grouped": opened.grouped.is_some(),
        "operations": count,
        "failed": failed,
        "per_second": per_second(count, took),
        "latency": latencies.summary(),
        "mean_batch": batch,
        "cpu_us_per_operation":
            ticks.saturating_mul(10_000) / u64::try_from(count.max(1)).unwrap_or(1),
        "resident_kib": resident_kib(),
    });
    if arguments.json {
        println!("{figures}");
    } else {
        println!("{figures:#}");
    }
}
