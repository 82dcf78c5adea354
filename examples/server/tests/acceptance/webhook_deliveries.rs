//! Events on their way (API §15, §16.3, §16.4).

use serde_json::{Value, json};

use crate::support::check::{DELIVERY, PAYMENT, assert_id, declares, envelope, fields, names};
use crate::support::server::Store;
use crate::support::shop::{Shop, path_of, texts};
use crate::support::sink::{Answer, Sink};
use crate::support::time::{SLACK, millis, soon, stays, took, within};
use crate::support::{sample, stories};

stories![
    every_step_of_a_payment_is_delivered_signed,
    an_event_shows_the_object_as_it_was,
    only_the_kinds_asked_for_arrive,
    every_endpoint_gets_its_own_delivery,
    a_second_attempt_carries_the_same_bytes,
    a_delivery_ends_with_the_first_success,
    a_redirect_is_not_followed,
    an_answer_that_is_not_2xx_is_a_failure,
    a_receiver_that_hangs_up_is_tried_again,
    a_receiver_that_is_not_there_is_tried_again,
    a_receiver_that_hangs_is_given_eight_seconds,
    a_receiver_that_drips_is_given_eight_seconds,
    a_hanging_receiver_holds_up_nobody_else,
    a_deleted_endpoint_fails_what_was_due,
    an_inactive_endpoint_fails_what_was_due,
    an_inactive_endpoint_gets_nothing_new,
    a_test_event_goes_to_one_endpoint,
    every_kind_can_be_tested,
    deliveries_are_filtered,
    environments_do_not_hear_each_other,
];

fn every_step_of_a_payment_is_delivered_signed(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url_of("/hooks?shop=4"), &["*"]);
    let payment = shop.pay(json!({"phone": sample::WILLING}));
    let hits = sink.awaits(3);
    assert_eq!(
        sink.kinds_in_order(),
        ["payment.created", "payment.processing", "payment.succeeded"]
    );
    for hit in &hits {
        assert_eq!((hit.method.as_str(), hit.path.as_str()), ("POST", "/hooks?shop=4"));
        assert_eq!(hit.header("Content-Type"), "application/json");
        assert!(!hit.header("User-Agent").is_empty());
        assert!(hit.is_signed_by(&endpoint["secret"]) && hit.signatures() == 1);
        let event = hit.event();
        let seven = ["id", "object", "type", "created", "environment", "livemode", "data"];
        assert_eq!(fields(&event), names(&seven));
        assert_id("evt", &event["id"]);
        assert_eq!((&event["object"], &event["livemode"]), (&json!("event"), &json!(false)));
        assert_eq!(hit.header("X-Webhook-Event"), event["type"].as_str().unwrap());
        assert_eq!(hit.header("X-Webhook-Attempt"), "1");
        assert!(hit.header("X-Webhook-Delivery").starts_with("whd_"));
        let object = &event["data"]["object"];
        declares(object, PAYMENT);
        assert_eq!(object["id"], payment["id"]);
        assert_eq!(event["created"], object["updated_at"]);
        let last_word = event["type"].as_str().unwrap().rsplit('.').next().unwrap();
        assert_eq!(object["status"], last_word);
    }
    let succeeded = sink.event("payment.succeeded").event();
    assert_eq!(succeeded["data"]["object"], shop.see(&payment["id"]));
    let of_timeline: Vec<String> =
        texts(&shop.timeline(&payment), "event").into_iter().filter(|id| id != "null").collect();
    let mut delivered: Vec<String> =
        hits.iter().map(|hit| hit.event()["id"].as_str().unwrap().to_owned()).collect();
    delivered.sort();
    assert_eq!(of_timeline, delivered);
}

fn an_event_shows_the_object_as_it_was(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["payment.created"]);
    let created = shop.pay(json!({}));
    shop.simulate(&created["id"], "success").ok(200);
    let event = sink.event("payment.created").event();
    assert_eq!(event["data"]["object"], created);
}

fn only_the_kinds_asked_for_arrive(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["payment.failed"]);
    let paid = shop.pay(json!({"phone": sample::WILLING}));
    let failing = shop.post("/v1/payments", &sample::payment_of("0101")).ok(201);
    shop.awaits(&paid, "succeeded");
    shop.awaits(&failing, "failed");
    let hit = sink.awaits(1).remove(0);
    assert_eq!(hit.event()["data"]["object"]["id"], failing["id"]);
    assert_eq!(shop.total("/v1/webhooks/deliveries"), 1);
    assert_eq!(sink.kinds(), ["payment.failed"]);
}

fn every_endpoint_gets_its_own_delivery(store: &Store) {
    let (shop, one, two) = (store.shop(), Sink::open(), Sink::open());
    let first = shop.hook(&one.url(), &["payment_link.created"]);
    let second = shop.hook(&two.url(), &["*"]);
    shop.link(json!({}));
    let (hit_one, hit_two) = (one.awaits(1).remove(0), two.awaits(1).remove(0));
    assert_eq!(hit_one.event(), hit_two.event());
    assert!(hit_one.is_signed_by(&first["secret"]) && hit_two.is_signed_by(&second["secret"]));
    assert_ne!(hit_one.header("X-Webhook-Delivery"), hit_two.header("X-Webhook-Delivery"));
}

/// The one delivery of this account, once it satisfies.
fn delivery(shop: &Shop, satisfies: impl Fn(&Value) -> bool) -> Value {
    within(std::time::Duration::from_secs(10) + SLACK, || {
        let page = shop.get("/v1/webhooks/deliveries").ok(200);
        match envelope(&page).as_slice() {
            [only] if satisfies(only) => Ok(only.clone()),
            _ => Err(page.to_string()),
        }
    })
}

fn a_second_attempt_carries_the_same_bytes(store: &Store) {
    let (shop, sink) =
        (store.shop(), Sink::scripted(vec![Answer::Status(500), Answer::Status(204)]));
    let endpoint = shop.hook(&sink.url(), &["payment_link.created"]);
    let link = shop.link(json!({}));
    shop.post(&path_of(&link["id"]), &json!({"title": "Changed meanwhile"})).ok(200);
    let hits = sink.awaits_within(std::time::Duration::from_secs(6) + SLACK, 2);
    assert_eq!(hits[0].body, hits[1].body, "the same bytes");
    let waited = hits[1].at - hits[0].at + std::time::Duration::from_secs(1);
    took(i64::try_from(waited.as_millis()).unwrap(), 5000);
    assert!(hits.iter().all(|hit| hit.is_signed_by(&endpoint["secret"])));
    assert_ne!(hits[0].header("X-Webhook-Signature"), hits[1].header("X-Webhook-Signature"));
    assert_eq!(hits[0].header("X-Webhook-Delivery"), hits[1].header("X-Webhook-Delivery"));
    assert_eq!(
        [hits[0].header("X-Webhook-Attempt"), hits[1].header("X-Webhook-Attempt")],
        ["1", "2"]
    );
    let ended = delivery(&shop, |delivery| delivery["status"] == "succeeded");
    assert_eq!((&ended["attempts_count"], &ended["http_status"]), (&json!(2), &json!(204)));
    assert_eq!((&ended["next_attempt_at"], &ended["error"]), (&Value::Null, &Value::Null));
    assert!(!ended["completed_at"].is_null());
    let attempts = ended["attempts"].as_array().unwrap();
    assert_eq!(
        (&attempts[0]["http_status"], &attempts[1]["http_status"]),
        (&json!(500), &json!(204))
    );
    assert_eq!((&attempts[0]["error"], &attempts[1]["error"]), (&json!("non_2xx"), &Value::Null));
}

fn a_delivery_ends_with_the_first_success(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::scripted(vec![Answer::Status(200)]));
    let endpoint = shop.hook(&sink.url(), &["payment_link.created"]);
    shop.link(json!({}));
    let hit = sink.awaits(1).remove(0);
    let ended = delivery(&shop, |delivery| delivery["status"] == "succeeded");
    declares(&ended, DELIVERY);
    assert_id("whd", &ended["id"]);
    let expected = json!({
        "id": hit.header("X-Webhook-Delivery"), "object": "webhook_delivery",
        "webhook_endpoint": endpoint["id"], "event": hit.event()["id"],
        "event_type": "payment_link.created", "url": sink.url(), "attempts_count": 1,
        "max_attempts": 6, "next_attempt_at": null, "http_status": 200, "error": null,
        "test": false
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&ended[name], value, "{name}");
    }
    let attempt = &ended["attempts"][0];
    let five = ["number", "started_at", "http_status", "duration_ms", "error"];
    assert_eq!(fields(attempt), names(&five));
    assert_eq!((&attempt["number"], &attempt["duration_ms"]), (&json!(1), &ended["duration_ms"]));
    assert!(ended["duration_ms"].as_u64().is_some());
    stays(std::time::Duration::from_secs(1), || assert_eq!(sink.hits().len(), 1));
}

/// After one failed attempt, with nothing but the first second passed.
fn failed_once(store: &Store, answer: Answer) -> (Shop, Sink, Value) {
    let (shop, sink) = (store.shop(), Sink::scripted(vec![answer]));
    shop.hook(&sink.url(), &["payment_link.created"]);
    shop.link(json!({}));
    let seen = delivery(&shop, |delivery| delivery["attempts_count"] == 1);
    assert_eq!((&seen["status"], &seen["completed_at"]), (&json!("pending"), &Value::Null));
    let started = millis(&seen["attempts"][0]["started_at"]);
    let took = seen["duration_ms"].as_i64().unwrap();
    let wait = millis(&seen["next_attempt_at"]) - started - took;
    assert!((4900..5600).contains(&wait), "five seconds after its end, not {wait} ms");
    (shop, sink, seen)
}

fn a_redirect_is_not_followed(store: &Store) {
    let elsewhere = Sink::open();
    let (_, _, seen) = failed_once(store, Answer::Redirect(elsewhere.url()));
    assert_eq!((&seen["http_status"], &seen["error"]), (&json!(302), &json!("non_2xx")));
    assert!(elsewhere.hits().is_empty());
}

fn an_answer_that_is_not_2xx_is_a_failure(store: &Store) {
    for status in [400, 404, 410, 500, 503] {
        let (_, _, seen) = failed_once(store, Answer::Status(status));
        assert_eq!((&seen["http_status"], &seen["error"]), (&json!(status), &json!("non_2xx")));
    }
}

fn a_receiver_that_hangs_up_is_tried_again(store: &Store) {
    let (_, sink, seen) = failed_once(store, Answer::Drop);
    assert_eq!((&seen["http_status"], &seen["error"]), (&Value::Null, &json!("connection_failed")));
    sink.answer(Answer::Status(204));
    sink.awaits_within(std::time::Duration::from_secs(6) + SLACK, 2);
}

fn a_receiver_that_is_not_there_is_tried_again(store: &Store) {
    let shop = store.shop();
    let closed = Sink::open().url();
    shop.hook(&closed, &["payment_link.created"]);
    shop.link(json!({}));
    let seen = delivery(&shop, |delivery| delivery["attempts_count"] == 1);
    assert_eq!((&seen["http_status"], &seen["error"]), (&Value::Null, &json!("connection_failed")));
    let other = store.shop();
    other.hook("http://no-such-host.invalid/hooks", &["payment_link.created"]);
    other.link(json!({}));
    let seen = delivery(&other, |delivery| delivery["attempts_count"] == 1);
    assert_eq!((&seen["http_status"], &seen["error"]), (&Value::Null, &json!("dns_error")));
}

fn timed_out(store: &Store, answer: Answer) {
    let (_, _, seen) = failed_once(store, answer);
    assert_eq!((&seen["http_status"], &seen["error"]), (&Value::Null, &json!("timeout")));
    took(seen["duration_ms"].as_i64().unwrap(), 8000);
}

fn a_receiver_that_hangs_is_given_eight_seconds(store: &Store) {
    timed_out(store, Answer::Hang);
}

fn a_receiver_that_drips_is_given_eight_seconds(store: &Store) {
    timed_out(store, Answer::Drip);
}

fn a_hanging_receiver_holds_up_nobody_else(store: &Store) {
    let (shop, other) = (store.shop(), store.shop());
    let (stuck, healthy) = (Sink::scripted(vec![Answer::Hang]), Sink::open());
    shop.hook(&stuck.url(), &["payment_link.created"]);
    for _ in 0..40 {
        shop.link(json!({}));
    }
    soon(|| if stuck.hits().is_empty() { Err("not stuck yet".to_owned()) } else { Ok(()) });
    shop.hook(&healthy.url(), &["payment_link.created"]);
    other.hook(&healthy.url(), &["payment_link.created"]);
    shop.link(json!({}));
    other.link(json!({}));
    // Less than the eight seconds for which the other one hangs.
    healthy.awaits_within(std::time::Duration::from_secs(7), 2);
}

fn ended_without_an_attempt(shop: &Shop, error: &str) {
    let ended = delivery(shop, |delivery| delivery["status"] == "failed");
    assert_eq!(ended["error"], error);
    assert_eq!((&ended["http_status"], &ended["duration_ms"]), (&Value::Null, &Value::Null));
    assert_eq!((&ended["attempts_count"], &ended["next_attempt_at"]), (&json!(1), &Value::Null));
    assert_eq!(ended["attempts"].as_array().unwrap().len(), 1, "nothing is added to the attempts");
    assert!(!ended["completed_at"].is_null());
}

fn a_deleted_endpoint_fails_what_was_due(store: &Store) {
    let (shop, sink, seen) = failed_once(store, Answer::Status(500));
    shop.delete(&format!("/v1/webhooks/{}", seen["webhook_endpoint"].as_str().unwrap())).ok(200);
    ended_without_an_attempt(&shop, "endpoint_deleted");
    assert_eq!(sink.hits().len(), 1, "nothing is sent");
}

fn an_inactive_endpoint_fails_what_was_due(store: &Store) {
    let (shop, sink, seen) = failed_once(store, Answer::Status(500));
    let path = format!("/v1/webhooks/{}", seen["webhook_endpoint"].as_str().unwrap());
    shop.post(&path, &json!({"active": false})).ok(200);
    ended_without_an_attempt(&shop, "endpoint_inactive");
    assert_eq!(sink.hits().len(), 1, "nothing is sent");
}

fn an_inactive_endpoint_gets_nothing_new(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["*"]);
    let path = path_of(&endpoint["id"]);
    shop.post(&path, &json!({"active": false})).ok(200);
    shop.link(json!({}));
    assert_eq!(shop.total("/v1/webhooks/deliveries"), 0);
    let test = json!({"webhook_endpoint": endpoint["id"]});
    shop.post("/v1/webhooks/test", &test).refused(409, "webhook_endpoint_disabled", None);
    shop.post(&path, &json!({"active": true})).ok(200);
    let link = shop.link(json!({"title": "Heard"}));
    assert_eq!(sink.awaits(1)[0].event()["data"]["object"]["id"], link["id"]);
    assert_eq!(shop.total("/v1/webhooks/deliveries"), 1);
}

fn a_test_event_goes_to_one_endpoint(store: &Store) {
    let (shop, sink, other) = (store.shop(), Sink::open(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["payment.failed"]);
    shop.hook(&other.url(), &["*"]);
    let body = json!({"webhook_endpoint": endpoint["id"], "event_type": "payout.failed"});
    let sent = shop.post("/v1/webhooks/test", &body).ok(202);
    declares(&sent, DELIVERY);
    assert_eq!((&sent["status"], &sent["test"]), (&json!("pending"), &json!(true)));
    assert_eq!(
        (&sent["event_type"], &sent["attempts_count"]),
        (&json!("payout.failed"), &json!(0))
    );
    assert_eq!(sent["webhook_endpoint"], endpoint["id"]);
    let hit = sink.awaits(1).remove(0);
    let event = hit.event();
    assert!(hit.is_signed_by(&endpoint["secret"]));
    assert_eq!((&event["type"], &event["test"]), (&json!("payout.failed"), &json!(true)));
    assert_eq!(event["data"]["object"]["object"], "payout");
    assert_eq!(event["data"]["object"]["status"], "failed");
    assert_eq!((shop.total("/v1/payouts"), shop.total("/v1/ledger")), (0, 0));
    delivery(&shop, |delivery| delivery["status"] == "succeeded" && delivery["test"] == true);
    assert!(other.hits().is_empty(), "to that endpoint only");
}

fn every_kind_can_be_tested(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["payment.failed"]);
    let ask = |changes: Value| {
        let body = sample::changed(json!({"webhook_endpoint": endpoint["id"]}), changes);
        shop.post("/v1/webhooks/test", &body)
    };
    let kinds = [
        "payment.created",
        "payment.processing",
        "payment.succeeded",
        "payment.failed",
        "payment.cancelled",
        "payment.expired",
        "payment.refunded",
        "payment.partially_refunded",
        "payout.created",
        "payout.processing",
        "payout.succeeded",
        "payout.failed",
        "refund.created",
        "refund.succeeded",
        "refund.failed",
        "payment_link.created",
        "payment_link.paid",
    ];
    for kind in kinds {
        assert_eq!(ask(json!({"event_type": kind})).ok(202)["event_type"], kind);
    }
    assert_eq!(ask(json!({})).ok(202)["event_type"], "payment.succeeded");
    for hit in sink.awaits(18) {
        let event = hit.event();
        let last_word = event["type"].as_str().unwrap().rsplit('.').next().unwrap().to_owned();
        assert_eq!(event["data"]["object"]["status"], last_word, "{event}");
        assert_eq!(event["test"], true);
    }
    for kind in ["*", "payment.nope", "payment.*"] {
        ask(json!({"event_type": kind})).refused(400, "event_kind_unknown", Some("event_type"));
    }
    let nobody = json!({"webhook_endpoint": sample::unknown("whe")});
    ask(nobody).refused(400, "related_resource_not_found", Some("webhook_endpoint"));
}

fn deliveries_are_filtered(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let heard = shop.hook(&sink.url(), &["payment_link.created", "payment.created"]);
    let doomed = shop.hook(&sink.url(), &["payment_link.created"]);
    shop.link(json!({}));
    shop.pay(json!({}));
    sink.awaits(3);
    let total = |query: String| shop.total(&format!("/v1/webhooks/deliveries?{query}"));
    let id = |object: &Value| object["id"].as_str().unwrap().to_owned();
    soon(|| match total("status=succeeded".to_owned()) {
        3 => Ok(()),
        other => Err(format!("{other} succeeded")),
    });
    assert_eq!(total("status=failed".to_owned()), 0);
    assert_eq!(total("status=pending".to_owned()), 0);
    assert_eq!(total(format!("webhook_endpoint={}", id(&heard))), 2);
    assert_eq!(total(format!("webhook_endpoint={}", id(&doomed))), 1);
    assert_eq!(total("event_type=payment_link.created".to_owned()), 2);
    assert_eq!(total("event_type=payment_link.paid".to_owned()), 0);
    let event = sink.event("payment_link.created").event();
    assert_eq!(total(format!("event={}", id(&event))), 2);
    assert_eq!(total(format!("event={}&webhook_endpoint={}", id(&event), id(&heard))), 1);
    shop.get("/v1/webhooks/deliveries?status=done").invalid("status");
    let error = shop.get("/v1/webhooks/deliveries?event_type=payment.nope").refusal(400);
    assert_eq!(error["param"], "event_type");
    let listed = texts(&shop.list("/v1/webhooks/deliveries"), "id");
    assert!(listed.is_sorted_by(|before, after| before > after), "newest first");
}

fn environments_do_not_hear_each_other(store: &Store) {
    let (shop, other, sink) = (store.shop(), store.shop(), Sink::open());
    other.hook(&sink.url(), &["*"]);
    shop.link(json!({}));
    shop.live.post("/v1/payment-links", &sample::link(json!({"country": "CI"})));
    let own = other.link(json!({}));
    assert_eq!(sink.awaits(1)[0].event()["data"]["object"]["id"], own["id"]);
    assert_eq!(shop.total("/v1/webhooks/deliveries"), 0);
    assert_eq!(shop.live.total("/v1/webhooks/deliveries"), 0);
    assert_eq!(sink.hits().len(), 1);
}
