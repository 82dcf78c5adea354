//! The power goes out in the middle of the day.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http::Response;
use crate::support::sample;
use crate::support::server::{Server, Store};
use crate::support::shop::Shop;
use crate::support::sink::Sink;
use crate::support::stories;
use crate::support::time::within;

stories![
    ;
    durable:
    nothing_that_was_answered_is_lost,
    money_in_flight_is_neither_lost_nor_doubled,
];

const CALLERS: usize = 8;

/// Longer than any lease, so that what the dead server held is taken over.
const TAKE_OVER: Duration = Duration::from_secs(90);

/// What one request got: its key and, if there was one, its answer.
type Asked = (String, Option<Response>);

/// Asks without pause until the server is gone, which happens after this many answers.
fn until_the_power_fails(
    server: &Arc<Server>,
    answers: usize,
    ask: impl Fn(&str) -> std::io::Result<Response> + Sync,
) -> Vec<Asked> {
    let answered = AtomicUsize::new(0);
    let caller = |number: usize| {
        let mut asked: Vec<Asked> = Vec::new();
        for count in 0..200 {
            let key = format!("key-{number}-{count}");
            let answer = ask(&key).ok();
            let lost = answer.is_none();
            answered.fetch_add(1, Ordering::Relaxed);
            asked.push((key, answer));
            if lost {
                break;
            }
        }
        asked
    };
    let caller = &caller;
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..CALLERS).map(|number| scope.spawn(move || caller(number))).collect();
        within(Duration::from_secs(60), || match answered.load(Ordering::Relaxed) {
            count if count >= answers => Ok(()),
            count => Err(format!("{count} answers")),
        });
        server.kill();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn restarted(server: &Arc<Server>, shop: &Shop) -> Shop {
    let again = Arc::new(Server::start(&server.place, 1, &["--rate-limit", "off"]));
    Shop::new(&again, &shop.account)
}

/// Repeats everything with its key; the ids of what there is in the end, one for each key.
fn repeated(shop: &Shop, path: &str, body: &Value, asked: &[Asked]) -> HashMap<String, String> {
    let mut ids = HashMap::new();
    for (key, before) in asked {
        let again = shop.post_once(key, path, body);
        let object = again.ok(201);
        if let Some(before) = before {
            assert_eq!(before.status, 201, "{}", before.text());
            assert_eq!(before.body, again.body, "an answer is kept: {key}");
            assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
        }
        ids.insert(object["id"].as_str().unwrap().to_owned(), key.clone());
    }
    assert_eq!(ids.len(), asked.len(), "one for each key");
    ids
}

fn nothing_that_was_answered_is_lost(store: &Store) {
    let sink = Sink::open();
    let server = store.serve(&["--rate-limit", "off"]);
    let shop = Server::next_shop(&server).unwrap();
    shop.hook(&sink.url(), &["*"]);
    let body = sample::payment(json!({"phone": sample::WILLING}));
    let text = body.to_string();
    let asked = until_the_power_fails(&server, 150, |key| {
        let keyed = shop.with("Idempotency-Key", key);
        keyed.try_send("POST", "/v1/payments", Some("application/json"), &text)
    });
    let shop = restarted(&server, &shop);
    for (_, answer) in &asked {
        if let Some(answer) = answer {
            let payment = answer.ok(201);
            assert_eq!(shop.see(&payment["id"])["created_at"], payment["created_at"]);
        }
    }
    let ids = repeated(&shop, "/v1/payments", &body, &asked);
    let listed: HashSet<String> =
        shop.list("/v1/payments").iter().map(|p| p["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(listed, ids.keys().cloned().collect(), "one payment for each key, and no other");
    within(TAKE_OVER, || match shop.total("/v1/payments?status=succeeded") {
        count if count == u64::try_from(ids.len()).unwrap() => Ok(()),
        count => Err(format!("{count} of {} succeeded", ids.len())),
    });
    let mut expected: HashSet<String> = HashSet::new();
    for id in ids.keys() {
        for kind in ["payment.created", "payment.processing", "payment.succeeded"] {
            expected.insert(format!("{kind} {id}"));
        }
    }
    within(TAKE_OVER, || {
        let mut missing = expected.clone();
        for hit in sink.hits() {
            let event = hit.event();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let id = text(&event["data"]["object"]["id"]);
            missing.remove(&format!("{} {id}", text(&event["type"])));
        }
        if missing.is_empty() { Ok(()) } else { Err(format!("{} events", missing.len())) }
    });
    each_event_is_one(&sink);
    let count = i64::try_from(ids.len()).unwrap();
    assert_eq!(shop.purse("XOF").available, 4900 * count);
    shop.server.place.run(&["audit"]);
}

/// Delivered twice is allowed; two events for one step are not, nor two bodies for one event.
fn each_event_is_one(sink: &Sink) {
    let mut bodies: HashMap<String, Vec<u8>> = HashMap::new();
    let mut steps: HashMap<String, String> = HashMap::new();
    for hit in sink.hits() {
        let event = hit.event();
        let id = event["id"].to_string();
        let step = format!("{} {}", event["data"]["object"]["id"], event["type"]);
        assert_eq!(bodies.entry(id.clone()).or_insert_with(|| hit.body.clone()), &hit.body);
        assert_eq!(*steps.entry(step).or_insert_with(|| id.clone()), id);
    }
}

fn money_in_flight_is_neither_lost_nor_doubled(store: &Store) {
    let server = store.serve(&["--rate-limit", "off"]);
    let shop = Server::next_shop(&server).unwrap();
    shop.fund(1_000_000_000, "XOF");
    let body = sample::payout(json!({"phone": "+221770009999"}));
    let text = body.to_string();
    let asked = until_the_power_fails(&server, 100, |key| {
        let keyed = shop.with("Idempotency-Key", key);
        keyed.try_send("POST", "/v1/payouts", Some("application/json"), &text)
    });
    let shop = restarted(&server, &shop);
    let ids = repeated(&shop, "/v1/payouts", &body, &asked);
    let count = i64::try_from(ids.len()).unwrap();
    let purse = shop.purse("XOF");
    assert_eq!(purse.available, 1_000_000_000 - 10_100 * count);
    within(TAKE_OVER, || match shop.purse("XOF").reserved {
        0 => Ok(()),
        left => Err(format!("{left} still reserved")),
    });
    for kind in ["payout_hold", "payout", "payout_fee"] {
        let lines = i64::try_from(shop.total(&format!("/v1/ledger?type={kind}"))).unwrap();
        assert_eq!(lines, 2 * count, "{kind}");
    }
    assert_eq!(shop.total("/v1/ledger?type=payout_release"), 0);
    shop.server.place.run(&["audit"]);
}
