//! Events that are looked up, sent again and replayed (API §22).

use serde_json::{Value, json};

use crate::support::check::{declares, envelope, fields};
use crate::support::server::Store;
use crate::support::shop::{Shop, path_of, texts};
use crate::support::sink::{Answer, Hit, Sink};
use crate::support::time::{millis, soon, stays};
use crate::support::{sample, stories};

stories![
    an_event_is_shown_as_it_was_sent,
    events_are_listed_newest_first_and_filtered,
    nonsense_about_events_is_refused,
    a_retry_reaches_the_receiver_once_more,
    a_retry_does_not_wait_for_the_schedule,
    a_retry_to_nobody_is_refused,
    a_replay_sends_each_event_once,
    a_replay_goes_on_page_by_page,
    a_replay_with_a_key_happens_once,
    nonsense_about_replays_is_refused,
    a_public_key_sees_no_events,
];

const REPLAY: &[&str] = &[
    "object",
    "environment",
    "livemode",
    "webhook_endpoint",
    "since",
    "until",
    "events_count",
    "deliveries_count",
    "last_event",
    "has_more",
];

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A payment of which all three events were emitted.
fn paid(shop: &Shop) -> Value {
    let paid = shop.pay(json!({"phone": sample::WILLING}));
    shop.awaits(&paid, "succeeded")
}

/// The ids of what arrived, in their own order: that of arrival is no promise.
fn ids(hits: &[Hit]) -> Vec<String> {
    let mut ids: Vec<String> = hits.iter().map(|hit| text(&hit.event()["id"])).collect();
    ids.sort();
    ids
}

/// Waits until the newest delivery has this status.
fn delivered(shop: &Shop, status: &str) -> Value {
    soon(|| {
        let newest = shop.list("/v1/webhooks/deliveries").remove(0);
        if newest["status"] == status { Ok(newest) } else { Err(newest.to_string()) }
    })
}

fn retry_of(delivery: &Value) -> String {
    format!("/v1/webhooks/deliveries/{}/retry", text(&delivery["id"]))
}

fn replay_to(endpoint: &Value) -> String {
    format!("{}/replay", path_of(&endpoint["id"]))
}

fn an_event_is_shown_as_it_was_sent(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["payment.created"]);
    let created = shop.pay(json!({}));
    let hit = sink.event("payment.created");
    let path = format!("/v1/events/{}", text(&hit.event()["id"]));
    let shown = shop.get(&path);
    assert_eq!(shown.ok(200)["data"]["object"], created);
    assert_eq!(shown.body, hit.body, "byte for byte");
    shop.get("/v1/events/evt_1").refused(404, "resource_not_found", None);
    let unknown = format!("/v1/events/{}", sample::unknown("evt"));
    shop.get(&unknown).refused(404, "resource_not_found", None);
    shop.post(&path, &json!({})).refused(405, "method_not_allowed", None);
}

fn events_are_listed_newest_first_and_filtered(store: &Store) {
    let shop = store.shop();
    let (one, other) = (paid(&shop), shop.pay(json!({})));
    let link = shop.link(json!({}));
    let all = shop.list("/v1/events");
    let mut ids = texts(&all, "id");
    assert!(ids.is_sorted_by(|newer, older| newer > older), "{ids:?}");
    ids.dedup();
    assert!(ids.len() >= 5);
    let of = |object: &Value| {
        let id = text(&object["id"]);
        texts(&shop.list(&format!("/v1/events?resource={id}")), "type")
    };
    assert_eq!(of(&one), ["payment.succeeded", "payment.processing", "payment.created"]);
    assert_eq!(of(&link), ["payment_link.created"]);
    let created = shop.list("/v1/events?type=payment.created");
    let named: Vec<&Value> = created.iter().map(|it| &it["data"]["object"]["id"]).collect();
    assert_eq!(named, [&other["id"], &one["id"]]);
    let last = &all[all.len() - 1];
    let at = text(&last["created"]);
    let since = shop.list(&format!("/v1/events?created_from={at}"));
    assert_eq!(since.len(), all.len());
    assert_eq!(shop.total(&format!("/v1/events?created_to={at}")), 0);
    let page = shop.get("/v1/events?limit=2&offset=1").ok(200);
    assert_eq!(envelope(&page)[..], all[1..3]);
    let unknown = sample::unknown("pay");
    assert_eq!(shop.total(&format!("/v1/events?resource={unknown}")), 0);
}

fn nonsense_about_events_is_refused(store: &Store) {
    let shop = store.shop();
    for (query, param) in [
        ("type=payment.*", "type"),
        ("type=", "type"),
        ("resource=whe_01jd3w8k4f7q2m9x5r6t0v1b3c", "resource"),
        ("resource=pay_1", "resource"),
        ("resource=%00", "resource"),
        ("created_from=yesterday", "created_from"),
        ("limit=0", "limit"),
        ("limit=1e2", "limit"),
        ("offset=-1", "offset"),
        ("offset=9223372036854775808", "offset"),
    ] {
        shop.get(&format!("/v1/events?{query}")).invalid(param);
    }
    let unknown = shop.get("/v1/events?event_type=payment.created");
    unknown.refused(400, "parameter_unknown", Some("event_type"));
}

fn a_retry_reaches_the_receiver_once_more(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["payment.created"]);
    shop.pay(json!({}));
    let done = delivered(&shop, "succeeded");
    let again = shop.post(&retry_of(&done), &json!({})).ok(202);
    assert_eq!((&again["status"], &again["id"]), (&json!("pending"), &done["id"]));
    assert_eq!(fields(&again), fields(&done));
    let hits = sink.awaits(2);
    assert_eq!(hits[0].body, hits[1].body);
    assert_eq!(hits[1].header("X-Webhook-Attempt"), "2");
    // Signed for the moment of this attempt, not of the first.
    assert!(hits[1].is_signed_by(&endpoint["secret"]));
    let done = delivered(&shop, "succeeded");
    assert_eq!((&done["attempts_count"], &done["max_attempts"]), (&json!(2), &json!(6)));
    assert_eq!(shop.total("/v1/webhooks/deliveries"), 1);
    let unknown = format!("/v1/webhooks/deliveries/{}/retry", sample::unknown("whd"));
    shop.post(&unknown, &json!({})).refused(404, "resource_not_found", None);
    let field = shop.post(&retry_of(&done), &json!({"url": sink.url()}));
    field.refused(400, "parameter_unknown", Some("url"));
}

fn a_retry_does_not_wait_for_the_schedule(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::scripted(vec![Answer::Status(500); 2]));
    shop.hook(&sink.url(), &["payment.created"]);
    shop.pay(json!({}));
    // Two attempts have failed, so that the third is half a minute away.
    sink.awaits(1);
    soon(|| {
        let newest = shop.list("/v1/webhooks/deliveries").remove(0);
        if newest["attempts_count"] == 1 { Ok(()) } else { Err(newest.to_string()) }
    });
    let waiting = shop.list("/v1/webhooks/deliveries").remove(0);
    shop.post(&retry_of(&waiting), &json!({})).ok(202);
    sink.awaits(2);
    sink.answer(Answer::Status(204));
    let late = soon(|| {
        let newest = shop.list("/v1/webhooks/deliveries").remove(0);
        if newest["attempts_count"] == 2 { Ok(newest) } else { Err(newest.to_string()) }
    });
    let wait = millis(&late["next_attempt_at"]) - millis(&late["attempts"][1]["started_at"]);
    assert!(wait >= 30_000, "the schedule goes on: {late}");
    shop.post(&retry_of(&late), &json!({})).ok(202);
    delivered(&shop, "succeeded");
    assert_eq!(sink.hits().len(), 3);
}

fn a_retry_to_nobody_is_refused(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["payment.created"]);
    shop.pay(json!({}));
    let done = delivered(&shop, "succeeded");
    shop.post(&path_of(&endpoint["id"]), &json!({"active": false})).ok(200);
    let disabled = |path: &str, body: Value| {
        shop.post(path, &body).refused(409, "webhook_endpoint_disabled", None);
    };
    disabled(&retry_of(&done), json!({}));
    disabled(&replay_to(&endpoint), json!({"since": "2024-11-19T00:00:00Z"}));
    shop.delete(&path_of(&endpoint["id"])).ok(200);
    disabled(&retry_of(&done), json!({}));
    let gone = shop.post(&replay_to(&endpoint), &json!({"since": "2024-11-19T00:00:00Z"}));
    gone.refused(404, "resource_not_found", None);
    assert_eq!(sink.hits().len(), 1);
}

fn a_replay_sends_each_event_once(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    paid(&shop);
    let since = text(&shop.list("/v1/events").pop().unwrap()["created"]);
    let endpoint = shop.hook(&sink.url(), &["payment.created", "payment.succeeded"]);
    let done = shop.post(&replay_to(&endpoint), &json!({"since": since})).ok(202);
    declares(&done, REPLAY);
    assert_eq!((&done["object"], &done["since"]), (&json!("webhook_replay"), &json!(since)));
    assert_eq!((&done["events_count"], &done["deliveries_count"]), (&json!(3), &json!(2)));
    assert_eq!(done["has_more"], false);
    let hits = sink.awaits(2);
    assert_eq!(sink.kinds_in_order(), ["payment.created", "payment.succeeded"]);
    assert!(hits.iter().all(|hit| hit.is_signed_by(&endpoint["secret"])));
    let mut told: Vec<String> = texts(&shop.list("/v1/events"), "id");
    told.reverse();
    assert_eq!(ids(&hits), [told[0].clone(), told[2].clone()]);
    // Asked for again, they come again, in deliveries of their own.
    let before = shop.list("/v1/webhooks/deliveries");
    shop.post(&replay_to(&endpoint), &json!({"since": since})).ok(202);
    let again = sink.awaits(4);
    assert_eq!(ids(&again[2..]), ids(&hits));
    let deliveries = texts(&shop.list("/v1/webhooks/deliveries"), "id");
    assert_eq!(deliveries.len(), 4);
    assert!(texts(&before, "id").iter().all(|id| deliveries.contains(id)));
    // Nothing since a moment after all of them.
    let now = shop.post(&replay_to(&endpoint), &json!({"since": done["until"]}));
    let now = now.ok(202);
    assert_eq!((&now["events_count"], &now["last_event"]), (&json!(0), &Value::Null));
}

fn a_replay_goes_on_page_by_page(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    for _ in 0..3 {
        shop.paid(json!({}));
    }
    let mut told = texts(&shop.list("/v1/events"), "id");
    let endpoint = shop.hook(&sink.url(), &["*"]);
    let mut body = json!({"since": "2024-11-19T00:00:00Z", "limit": 4});
    let mut counts = Vec::new();
    loop {
        let page = shop.post(&replay_to(&endpoint), &body).ok(202);
        counts.push(page["events_count"].as_u64().unwrap());
        body["after"] = page["last_event"].clone();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(counts, [4, 4, 1]);
    told.sort();
    assert_eq!(ids(&sink.awaits(9)), told);
}

fn a_replay_with_a_key_happens_once(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.pay(json!({}));
    let endpoint = shop.hook(&sink.url(), &["payment.created"]);
    let body = json!({"since": "2024-11-19T00:00:00Z"});
    let first = shop.post_once("again", &replay_to(&endpoint), &body);
    let second = shop.post_once("again", &replay_to(&endpoint), &body);
    assert_eq!((first.ok(202), &first.body), (second.ok(202), &second.body));
    assert_eq!(second.header("Idempotent-Replayed"), Some("true"));
    let done = delivered(&shop, "succeeded");
    for _ in 0..2 {
        shop.post_once("retry", &retry_of(&done), &json!({})).ok(202);
    }
    sink.awaits(2);
    stays(std::time::Duration::from_millis(700), || assert_eq!(sink.hits().len(), 2));
    let other = shop.post_once("again", &retry_of(&done), &json!({}));
    other.refused(422, "idempotency_key_reused", None);
}

fn nonsense_about_replays_is_refused(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["*"]);
    let replay = replay_to(&endpoint);
    shop.post(&replay, &json!({})).missing("since");
    let good = "2024-11-19T00:00:00Z";
    for (body, param) in [
        (json!({"since": "2024-11-19"}), "since"),
        (json!({"since": 0}), "since"),
        (json!({"since": "9999-01-01T00:00:00Z"}), "since"),
        (json!({"since": good, "until": good}), "until"),
        (json!({"since": good, "limit": 0}), "limit"),
        (json!({"since": good, "limit": 101}), "limit"),
        (json!({"since": good, "limit": "1"}), "limit"),
        (json!({"since": good, "after": "evt_1"}), "after"),
    ] {
        shop.post(&replay, &body).invalid(param);
    }
    for after in [sample::unknown("evt"), sample::unknown("pay")] {
        let response = shop.post(&replay, &json!({"since": good, "after": after}));
        response.refused(400, "related_resource_not_found", Some("after"));
    }
    let field = shop.post(&replay, &json!({"since": good, "type": "*"}));
    field.refused(400, "parameter_unknown", Some("type"));
    let unknown = format!("/v1/webhooks/{}/replay", sample::unknown("whe"));
    shop.post(&unknown, &json!({"since": good})).refused(404, "resource_not_found", None);
    assert_eq!(shop.total("/v1/webhooks/deliveries"), 0);
}

fn a_public_key_sees_no_events(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["*"]);
    shop.pay(json!({}));
    let event = text(&sink.event("payment.created").event()["id"]);
    let delivery = shop.list("/v1/webhooks/deliveries").pop().unwrap();
    for path in ["/v1/events".to_owned(), format!("/v1/events/{event}")] {
        shop.public.get(&path).refused(403, "secret_key_required", None);
        shop.anyone.get(&path).refused(401, "api_key_missing", None);
    }
    for path in [retry_of(&delivery), replay_to(&endpoint)] {
        shop.public.post(&path, &json!({})).refused(403, "secret_key_required", None);
        shop.anyone.post(&path, &json!({})).refused(401, "api_key_missing", None);
    }
}
