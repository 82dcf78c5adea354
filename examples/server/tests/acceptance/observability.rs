//! What a server tells of itself: numbers, and the traces that it hands on.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::sample;
use crate::support::server::{Server, Store};
use crate::support::shop::{Shop, path_of};
use crate::support::sink::{Answer, Sink};
use crate::support::stories;
use crate::support::time::soon;

stories![
    every_metric_is_documented_and_every_documented_one_is_there,
    what_happens_is_counted,
    a_trace_goes_on_to_the_receiver,
    a_malformed_trace_is_none,
    spans_go_to_a_collector,
];

const GUIDE: &str = include_str!("../../../../docs/observability.md");
const DASHBOARD: &str = include_str!("../../../../docs/grafana.json");

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A little of everything.
fn a_day(shop: &Shop, sink: &Sink) {
    shop.hook(&sink.url(), &["*"]);
    shop.fund(100_000, "XOF");
    shop.paid(json!({}));
    let failing = shop.pay(json!({}));
    shop.simulate(&failing["id"], "insufficient_funds").ok(200);
    shop.pay_out(json!({})).ok(201);
    shop.get("/v1/payments").ok(200);
    shop.get("/v1/balance").ok(200);
    sink.awaits(4);
}

/// The value of a sample, named as it is exported.
fn value(text: &str, sample: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(sample))?;
    line.trim().parse().ok()
}

/// The names of what is exported, as the lines of their types have them.
fn exported(text: &str) -> BTreeSet<String> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// The names in the first column of the table of metrics.
fn documented() -> BTreeSet<String> {
    let (table, _) = GUIDE.split_once("## Alerts").expect("alerts");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| row.split('`').next());
    names.filter(|name| is_metric(name)).map(str::to_owned).collect()
}

/// The names in every expression of a text, without what their types add.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let plain = |name: &str| {
        let mut name = name;
        for suffix in ["_bucket", "_sum", "_count", "_total"] {
            name = name.strip_suffix(suffix).unwrap_or(name);
        }
        name.to_owned()
    };
    words.filter(|word| is_metric(word)).map(plain).collect()
}

fn is_metric(word: &str) -> bool {
    word.starts_with("cauri_") || word.starts_with("process_")
}

/// Every `expr` of the dashboard, in one text.
fn expressions(value: &Value, found: &mut String) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                match value.as_str().filter(|_| name == "expr" || name == "query") {
                    Some(expression) => {
                        found.push_str(expression);
                        found.push('\n');
                    }
                    None => expressions(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

fn every_metric_is_documented_and_every_documented_one_is_there(store: &Store) {
    let server = store.serve(&[]);
    let (shop, sink) = (Server::next_shop(&server).unwrap(), Sink::open());
    a_day(&shop, &sink);
    let mut documented = documented();
    assert!(documented.len() > 30, "{documented:?}");
    let mut queries = String::new();
    expressions(&serde_json::from_str(DASHBOARD).expect("JSON"), &mut queries);
    let shown = named(&queries);
    assert!(shown.len() > 15, "{shown:?}");
    assert!(shown.is_subset(&documented), "not documented: {:?}", &shown - &documented);
    let (_, alerts) = GUIDE.split_once("## Alerts").expect("alerts");
    let alerts = named(alerts);
    assert!(alerts.is_subset(&documented), "no such metrics: {:?}", &alerts - &documented);
    // Only a store of several servers has connections.
    if !store.kind.is_shared() {
        documented.retain(|name| !name.starts_with("cauri_store_sessions"));
    }
    soon(|| {
        let exported = exported(&shop.anyone.get("/metrics").text());
        if exported == documented {
            return Ok(());
        }
        let (more, less) = (&exported - &documented, &documented - &exported);
        Err(format!("exported only: {more:?}, documented only: {less:?}"))
    });
}

fn what_happens_is_counted(store: &Store) {
    let server = store.serve(&[]);
    let shop = Server::next_shop(&server).unwrap();
    let sink = Sink::scripted(vec![Answer::Status(500), Answer::Status(204)]);
    a_day(&shop, &sink);
    let expected = [
        ("cauri_events_total{kind=\"payment.created\",environment=\"sandbox\"}", 2.0),
        ("cauri_events_total{kind=\"payment.succeeded\",environment=\"sandbox\"}", 1.0),
        (
            "cauri_failures_total{object=\"payment\",code=\"insufficient_funds\",\
             environment=\"sandbox\"}",
            1.0,
        ),
        ("cauri_delivery_attempts_total{environment=\"sandbox\",outcome=\"5xx\"}", 1.0),
        ("cauri_due{work=\"payouts\"}", 0.0),
    ];
    for (sample, count) in expected {
        soon(|| {
            let text = shop.anyone.get("/metrics").text();
            if value(&text, sample) == Some(count) {
                Ok(())
            } else {
                Err(format!("{sample}: {text}"))
            }
        });
    }
    let text = shop.anyone.get("/metrics").text();
    for sample in ["process_open_fds", "process_resident_memory_bytes", "process_cpu_seconds_total"]
    {
        assert!(value(&text, sample).is_some_and(|value| value > 0.0), "{sample}: {text}");
    }
}

fn a_trace_goes_on_to_the_receiver(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["*"]);
    let caller = shop.secret.with("traceparent", PARENT).with("tracestate", "vendor=value");
    let payment = caller.post("/v1/payments", &sample::payment(json!({}))).ok(201);
    caller.get(&path_of(&payment["id"])).ok(200);
    for hit in sink.awaits(2) {
        assert!(hit.header("traceparent").starts_with(&format!("00-{TRACE}-")), "{hit:?}");
        assert_eq!(hit.header("tracestate"), "vendor=value");
    }
}

fn a_malformed_trace_is_none(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["payment.created"]);
    let upper = PARENT.to_uppercase();
    let long = "0".repeat(4_000);
    for parent in ["", "nonsense", &upper, &long, "00-0-0-0", &format!("{PARENT}-more")] {
        let caller = shop.secret.with("traceparent", parent);
        caller.post("/v1/payments", &sample::payment(json!({}))).ok(201);
    }
    let twice = shop.secret.with("traceparent", PARENT).with("traceparent", PARENT);
    twice.post("/v1/payments", &sample::payment(json!({}))).ok(201);
    for hit in sink.awaits(7) {
        let told = hit.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("traceparent"));
        assert_eq!(told, None);
    }
}

/// Only builds with the feature `otlp` know how.
fn spans_go_to_a_collector(store: &Store) {
    if cfg!(not(feature = "otlp")) {
        let mut command = store.place().command(&["serve", "--otlp", "http://127.0.0.1:4318"]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("--otlp"), "{said}");
        return;
    }
    let (collector, sink) = (Sink::scripted(vec![Answer::Status(200)]), Sink::open());
    let server = store.serve(&["--otlp", &collector.url_of("")]);
    let shop = Server::next_shop(&server).unwrap();
    shop.hook(&sink.url(), &["*"]);
    let caller = shop.secret.with("traceparent", PARENT);
    caller.post("/v1/payments", &sample::payment(json!({}))).ok(201);
    sink.awaits(2);
    let trace = u128::from_str_radix(TRACE, 16).unwrap().to_be_bytes();
    // A message of protocol buffers holds its texts and ids as they are.
    soon(|| {
        let hits = collector.hits();
        let told: Vec<u8> = hits.iter().flat_map(|hit| hit.body.iter().copied()).collect();
        let holds = |piece: &[u8]| told.windows(piece.len()).any(|it| it == piece);
        let names: [&[u8]; 4] = [b"service.name", b"cauri", b"create_payment", &trace];
        if names.into_iter().all(holds) { Ok(()) } else { Err(format!("{} hits", hits.len())) }
    });
    assert!(
        collector
            .hits()
            .iter()
            .all(|hit| (hit.method.as_str(), hit.path.as_str()) == ("POST", "/v1/traces"))
    );
}
