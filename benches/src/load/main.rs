//! The load program: callers in a loop, one scenario, one store.
//!
//! `cargo run --release -p cauri-benches --bin load -- --store memory: --scenario create`

mod over_http;

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use cauri::{GroupedOptions, List, OrderId, Page, PaymentId, Query, Report};
use cauri_benches::{
    figures::{Latencies, Written, cpu_ticks, per_second, print, resident_kib},
    stage::{self, Stage},
    store,
};
use clap::{Parser, ValueEnum};
use serde_json::json;
use tokio::time::Instant;

use crate::over_http::{Client, Served};

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
    /// How many changesets must wait for a batch to leave beside another, instead of 32.
    #[arg(long, requires = "batch")]
    least: Option<usize>,
    /// Through the API in an axum server of this process, over connections that are kept alive. Of
    /// `life` only the creation goes this way: what the network says is told to the engine.
    #[arg(long)]
    http: bool,
    /// With `--http` and `read`: a bare axum route that answers the same bytes, without cauri.
    #[arg(long, requires = "http")]
    bare: bool,
    /// Pages from here on, with `list`.
    #[arg(long, default_value_t = 0)]
    offset: i64,
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
        let options = GroupedOptions::default().batch_max(batch).in_flight_max(in_flight);
        arguments.least.map_or(options, |least| options.parallel_min(least))
    });
    let opened = store::open(&arguments.store, !arguments.no_group, options).await?;
    let engine = stage::engine(Arc::clone(&opened.store))?;
    let listening = arguments.scenario == Scenario::Life;
    let stage = Arc::new(Stage::set(engine, arguments.accounts.max(1), listening).await?);
    let known = Arc::new(known(&stage, arguments.scenario).await?);

    let served = match arguments.http {
        true => Some(Arc::new(serve(&arguments, &stage, &known).await?)),
        false => None,
    };

    let failed = Arc::new(AtomicU64::new(0));
    let mut written = Written::of(&arguments.store).await?;
    let before = (cpu_ticks(), opened.grouped.as_ref().map(|it| it.stats()));
    let began = Instant::now();
    let until = began + Duration::from_secs(arguments.seconds);
    let mut callers = tokio::task::JoinSet::new();
    for number in 0..arguments.callers {
        let (stage, known, served) = (Arc::clone(&stage), Arc::clone(&known), served.clone());
        let failed = Arc::clone(&failed);
        let (scenario, offset) = (arguments.scenario, arguments.offset);
        callers.spawn(async move {
            let mut latencies = Latencies::default();
            let mut client = match &served {
                Some(served) => Some(served.connect().await?),
                None => None,
            };
            let mut turn = 0_usize;
            while Instant::now() < until {
                // A store in memory never makes its callers wait; they must not starve the rest.
                tokio::task::yield_now().await;
                let step = Step { stage: &stage, known: &known, scenario, offset, number, turn };
                let started = Instant::now();
                let done = match &mut client {
                    Some(client) => step.over_http(client).await,
                    None => step.by_call().await,
                };
                match done {
                    Ok(()) => latencies.add(started.elapsed()),
                    Err(error) => {
                        if failed.fetch_add(1, Ordering::Relaxed) == 0 {
                            eprintln!("the first failure: {error}");
                        }
                    }
                }
                turn += 1;
            }
            Ok::<_, Failure>(latencies)
        });
    }
    let mut all = Latencies::default();
    while let Some(latencies) = callers.join_next().await {
        all.join(latencies??);
    }
    let took = began.elapsed();
    let written = written.since().await?;
    report(&arguments, &opened, before, all, took, failed.load(Ordering::Relaxed), written);
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

/// What is asked, over HTTP, and by whom.
async fn serve(
    arguments: &Arguments,
    stage: &Stage,
    known: &[PaymentId],
) -> Result<Served, Failure> {
    let served = Served::api(stage).await?;
    if !arguments.bare {
        return Ok(served);
    }
    let id = known.first().ok_or("--bare is for --scenario read")?;
    let body = served.connect().await?.get(0, &format!("/v1/payments/{id}")).await?;
    served.bare(body).await
}

/// One operation of one caller.
#[derive(Debug, Clone, Copy)]
struct Step<'a> {
    stage: &'a Stage,
    known: &'a [PaymentId],
    scenario: Scenario,
    offset: i64,
    number: usize,
    turn: usize,
}

impl Step<'_> {
    /// Which account.
    fn at(&self) -> usize {
        let turns = match self.scenario {
            Scenario::Read => return self.place() % self.stage.callers.len(),
            _ => self.turn.wrapping_mul(7_919),
        };
        self.number.wrapping_add(turns) % self.stage.callers.len()
    }

    /// Which of the payments that are read.
    fn place(&self) -> usize {
        self.turn % self.known.len()
    }

    fn key(&self) -> String {
        format!("{}-{}-{}", self.number, self.turn, self.stage.callers[0].scope.account)
    }

    async fn by_call(self) -> Result<(), Failure> {
        let caller = self.stage.callers[self.at()];
        let engine = &self.stage.engine;
        match self.scenario {
            Scenario::Create => {
                let call = stage::keyed(caller, &self.key())?;
                engine.create_payment(&call, stage::payment("LOAD")?).await?;
            }
            Scenario::Life => {
                let call = stage::keyed(caller, &self.key())?;
                let payment = engine.create_payment(&call, stage::payment("LOAD")?).await?.object;
                self.report(payment.id).await?;
            }
            Scenario::Payout => {
                let call = stage::keyed(caller, &self.key())?;
                engine.create_payout(&call, stage::payout("LOAD")?).await?;
            }
            Scenario::Read => {
                engine.payment(&caller, self.known[self.place()]).await?;
            }
            Scenario::List => {
                let page = Page::new(25, self.offset).unwrap_or_default();
                let query = Query::all(List::Payments(caller.scope)).page(page);
                engine.payments(&caller, &query).await?;
            }
        }
        Ok(())
    }

    async fn over_http(self, client: &mut Client<'_>) -> Result<(), Failure> {
        let at = self.at();
        match self.scenario {
            Scenario::Create | Scenario::Life => {
                let body = stage::payment_body("LOAD");
                let body = client.create(at, "/v1/payments", &self.key(), body.into()).await?;
                if self.scenario == Scenario::Life {
                    self.report(id_of(&body)?).await?;
                }
            }
            Scenario::Payout => {
                let body = stage::payout_body("LOAD");
                client.create(at, "/v1/payouts", &self.key(), body.into()).await?;
            }
            Scenario::Read => {
                client.get(at, &format!("/v1/payments/{}", self.known[self.place()])).await?;
            }
            Scenario::List => {
                let path = format!("/v1/payments?limit=25&offset={}", self.offset);
                client.get(at, &path).await?;
            }
        }
        Ok(())
    }

    /// What its network says: accepted, and then paid.
    async fn report(self, payment: PaymentId) -> Result<(), Failure> {
        let scope = self.stage.callers[self.at()].scope;
        let order = OrderId::Payment(payment);
        self.stage.engine.report(scope, order, Report::accepted()).await?;
        self.stage.engine.report(scope, order, Report::Paid).await?;
        Ok(())
    }
}

fn id_of(body: &Bytes) -> Result<PaymentId, Failure> {
    let payment: serde_json::Value = serde_json::from_slice(body)?;
    Ok(payment["id"].as_str().unwrap_or_default().parse()?)
}

fn report(
    arguments: &Arguments,
    opened: &store::Opened,
    before: (u64, Option<cauri::GroupedStats>),
    latencies: Latencies,
    took: Duration,
    failed: u64,
    written: Option<u64>,
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
        "http": arguments.http,
        "operations": count,
        "failed": failed,
        "per_second": per_second(count, took),
        "latency": latencies.summary(),
        "mean_batch": batch,
        "cpu_us_per_operation":
            ticks.saturating_mul(10_000) / u64::try_from(count.max(1)).unwrap_or(1),
        "written_bytes_per_operation":
            written.map(|bytes| bytes / u64::try_from(count.max(1)).unwrap_or(1)),
        "resident_kib": resident_kib(),
    });
    print(&figures, arguments.json);
}
