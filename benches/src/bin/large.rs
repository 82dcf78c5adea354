//! What a store that holds very much takes for what it is asked all the time: pages of a list of
//! millions, and claims beside the backlog of a dead endpoint.
//!
//! `cargo run --release -p cauri-benches --bin large -- --store sqlite:/tmp/large.db pages`

use std::{error::Error, sync::Arc, time::Duration};

use cauri::{
    Call, Caller, Claim, ClaimKind, Environment, EventKind, Lanes, List, Metadata, Page, Query,
    Scope, Store, Subscription,
    wire::{CreateCustomer, CreateWebhookEndpoint},
};
use cauri_benches::{
    figures::{Latencies, print},
    stage, store,
};
use clap::{Parser, Subcommand};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use tokio::time::Instant;

type Failure = Box<dyn Error + Send + Sync>;

/// Fills a fresh store and measures it.
#[derive(Debug, Parser)]
struct Arguments {
    /// `sqlite:PATH` or `postgres://…`; what is there is kept, so name a fresh one.
    #[arg(long)]
    store: String,
    #[command(subcommand)]
    what: What,
    /// One line of JSON instead of lines for people.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum What {
    /// The first page of a list, and the last.
    Pages {
        /// How long the list is.
        #[arg(long, default_value_t = 10_000_000)]
        rows: i64,
    },
    /// A claim of deliveries, before and after one endpoint has a backlog.
    Claims {
        /// How many deliveries wait for the dead endpoint.
        #[arg(long, default_value_t = 400_000)]
        backlog: i64,
    },
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let Arguments { store, what, json } = Arguments::parse();
    let opened = store::open(&store, false, None).await?;
    let figures = match what {
        What::Pages { rows } => pages(&store, opened.store, rows).await?,
        What::Claims { backlog } => claims(&store, opened.store, backlog).await?,
    };
    print(&figures, json);
    Ok(())
}

/// How often each of two things is measured, in turn.
const ROUNDS: usize = 300;

async fn pages(
    location: &str,
    store: Arc<dyn Store>,
    rows: i64,
) -> Result<serde_json::Value, Failure> {
    let engine = stage::engine(Arc::clone(&store))?;
    let account = engine.create_account().await?.id;
    let scope = Scope { account, environment: Environment::Sandbox };
    let ask = CreateCustomer { name: Some("Awa".parse()?), ..CreateCustomer::default() };
    engine.create_customer(&Call::by(Caller::secret(scope)), ask).await?;
    multiply(location, "customers", "", rows).await?;
    let list = List::Customers(scope);
    let (mut first, mut last) = (Latencies::default(), Latencies::default());
    for _ in 0..ROUNDS {
        for (offset, latencies) in [(0, &mut first), (rows - 25, &mut last)] {
            let query = Query::all(list).page(Page::new(25, offset).unwrap_or_default());
            let began = Instant::now();
            let listed = store.list(&query).await?;
            latencies.add(began.elapsed());
            if (listed.total, listed.items.len()) != (rows, 25) {
                return Err("the page is not what it should be".into());
            }
        }
    }
    Ok(json!({ "rows": rows, "first_page": first.summary(), "last_page": last.summary() }))
}

async fn claims(
    location: &str,
    store: Arc<dyn Store>,
    backlog: i64,
) -> Result<serde_json::Value, Failure> {
    let engine = stage::engine(Arc::clone(&store))?;
    let account = engine.create_account().await?.id;
    let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
    for kind in [EventKind::PaymentLinkCreated, EventKind::PaymentCreated] {
        let ask = CreateWebhookEndpoint {
            url: "http://127.0.0.1:9/hooks".parse()?,
            events: Subscription::Kinds([kind].into()),
            active: true,
            description: None,
            metadata: Metadata::default(),
        };
        engine.create_webhook_endpoint(&Call::by(me), ask).await?;
    }
    // One delivery waits for each endpoint; that of the payment gets the backlog behind it.
    engine.create_payment(&Call::by(me), stage::payment("LARGE")?).await?;
    engine.create_payment_link(&Call::by(me), stage::payment_link()?).await?;
    let without = claim(&engine, &store).await?;
    multiply(location, "deliveries", "event_kind = 'payment.created'", backlog).await?;
    let with = claim(&engine, &store).await?;
    Ok(json!({ "backlog": backlog, "without": without.summary(), "with": with.summary() }))
}

/// Claims one of each endpoint, again and again, always after the last leases have ended.
async fn claim(engine: &cauri::Engine, store: &Arc<dyn Store>) -> Result<Latencies, Failure> {
    let mut latencies = Latencies::default();
    for _ in 0..ROUNDS {
        let now = engine.now();
        let lanes = Some(Lanes { cap: 1, held: Vec::new() });
        let until = now.plus_millis(1);
        let claim = Claim { kind: ClaimKind::Deliveries, now, until, limit: 64, lanes };
        let began = Instant::now();
        let claimed = store.claim(&claim).await?;
        latencies.add(began.elapsed());
        if claimed.len() != 2 {
            return Err(format!("{} were claimed, not one of each endpoint", claimed.len()).into());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(latencies)
}

/// Copies one row until its list has so many, with ids and numbers of their own, past the store:
/// through it, that would take an hour.
async fn multiply(location: &str, table: &str, only: &str, rows: i64) -> Result<(), Failure> {
    let only = if only.is_empty() { String::new() } else { format!("where {only}") };
    let postgres = location.starts_with("postgres");
    let columns = columns(table).map(|name| match (name, postgres) {
        ("id", true) => "gen_random_uuid()".to_owned(),
        ("id", false) => "randomblob(16)".to_owned(),
        ("number", _) => "base.last + g.n".to_owned(),
        // Due one after the other, as they came to be.
        ("due_at", _) => "one.due_at - g.n".to_owned(),
        (name, _) => format!("one.{name}"),
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let (schema, series) = if postgres {
        ("cauri.", format!("generate_series(1, {rows}) as g(n)"))
    } else {
        ("", "g".to_owned())
    };
    let with = if postgres {
        String::new()
    } else {
        format!("with recursive g(n) as (select 1 union all select n + 1 from g where n < {rows}) ")
    };
    let counted = format!("(select max({table}) from {schema}list_counters)");
    let insert = format!(
        "{with}insert into {schema}{table} select {columns} \
         from (select * from {schema}{table} {only} limit 1) as one, \
         (select {counted} as last) as base, {series} where g.n <= {rows} - base.last"
    );
    let count =
        format!("update {schema}list_counters set {table} = {rows} where {table} = {counted}");
    let mut texts = vec![insert, count];
    if postgres && table == "deliveries" {
        // What is pending is looked for in a table of its own there.
        let apart = cauri_sql::Table::undelivered();
        let columns = apart.columns().iter().map(|column| column.name);
        let columns = columns.collect::<Vec<_>>().join(", ");
        texts.push(format!(
            "insert into {schema}{} ({columns}) select {columns} from {schema}{table} \
             where status <> 'succeeded' on conflict do nothing",
            apart.name()
        ));
    }
    for text in texts {
        let text = AssertSqlSafe(text);
        if postgres {
            let mut connection = PgConnection::connect(location).await?;
            sqlx::raw_sql(text).execute(&mut connection).await?;
        } else {
            let mut connection = SqliteConnection::connect(location).await?;
            sqlx::raw_sql(text).execute(&mut connection).await?;
        }
    }
    Ok(())
}

/// The columns of a table, in order.
fn columns(table: &str) -> impl Iterator<Item = &'static str> {
    let table = cauri_sql::Table::all().find(|it| it.name() == table);
    table.into_iter().flat_map(|table| table.columns()).map(|column| column.name)
}
