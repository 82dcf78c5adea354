//! Asking twice is asking once (API §5).

use std::collections::HashSet;
use std::thread;

use serde_json::{Value, json};

use crate::support::http::Response;
use crate::support::server::{Server, Store};
use crate::support::shop::{Shop, path_of};
use crate::support::{sample, stories};

stories![
    the_second_answer_is_the_first_byte_for_byte,
    the_answer_is_that_of_its_time,
    another_payload_under_the_same_key_is_refused,
    another_spelling_of_the_same_json_is_the_same_request,
    a_key_is_one_to_255_visible_characters,
    a_refused_request_frees_its_key,
    a_payout_refused_for_want_of_funds_may_be_asked_again,
    a_reused_key_is_seen_before_the_parameters,
    every_post_can_be_repeated,
    reading_and_deleting_ignore_the_key,
    accounts_and_environments_have_their_own_keys,
    twenty_at_once_get_the_one_answer,
    twenty_at_once_spend_the_money_once,
    a_secret_is_repeated_with_its_endpoint,
    a_strict_server_asks_for_the_key,
];

const PAYMENTS: &str = "/v1/payments";

#[track_caller]
fn same_answer(first: &Response, again: &Response) {
    assert_eq!(again.status, first.status, "{}", again.text());
    assert_eq!(again.body, first.body, "the same bytes");
    assert_eq!(again.header("Location"), first.header("Location"));
    assert_eq!(first.header("Idempotent-Replayed"), None);
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    assert_ne!(again.header("Request-Id"), first.header("Request-Id"));
    again.carries_the_common_headers();
}

fn the_second_answer_is_the_first_byte_for_byte(store: &Store) {
    let shop = store.shop();
    let body = sample::payment(json!({}));
    let first = shop.post_once("k1", PAYMENTS, &body);
    first.ok(201);
    assert!(first.header("Location").is_some());
    for _ in 0..3 {
        same_answer(&first, &shop.post_once("k1", PAYMENTS, &body));
    }
    assert_eq!(shop.total(PAYMENTS), 1);
}

fn the_answer_is_that_of_its_time(store: &Store) {
    let shop = store.shop();
    let body = sample::payment(json!({}));
    let first = shop.post_once("k1", PAYMENTS, &body);
    let payment = first.ok(201);
    shop.simulate(&payment["id"], "success").ok(200);
    let again = shop.post_once("k1", PAYMENTS, &body);
    same_answer(&first, &again);
    assert_eq!(again.json()["status"], "created");
    assert_eq!(shop.see(&payment["id"])["status"], "succeeded");
}

fn another_payload_under_the_same_key_is_refused(store: &Store) {
    let shop = store.shop();
    shop.post_once("k1", PAYMENTS, &sample::payment(json!({}))).ok(201);
    let reused = |response: Response| response.refused(422, "idempotency_key_reused", None);
    reused(shop.post_once("k1", PAYMENTS, &sample::payment(json!({"amount": 6000}))));
    reused(shop.post_once("k1", "/v1/customers", &json!({"name": "A"})));
    reused(shop.post_once("k1", PAYMENTS, &sample::payment(json!({"description": null}))));
    assert_eq!(shop.total(PAYMENTS), 1);
    assert_eq!(shop.total("/v1/customers"), 0);
    // The key still holds the first answer.
    shop.post_once("k1", PAYMENTS, &sample::payment(json!({}))).ok(201);
    shop.post_once("K1", PAYMENTS, &sample::payment(json!({}))).ok(201);
    assert_eq!(shop.total(PAYMENTS), 2, "a key is compared letter by letter");
}

fn another_spelling_of_the_same_json_is_the_same_request(store: &Store) {
    let shop = store.shop();
    let keyed = shop.with("Idempotency-Key", "k1");
    let first = keyed.post_text(
        "/v1/customers",
        r#"{"name":"Awa","metadata":{"a":"1","b":"é"},"phone":"+2250500009999"}"#,
    );
    first.ok(201);
    let again = keyed.post_text(
        "/v1/customers",
        "{ \"phone\" : \"\\u002b2250500009999\",\n \"metadata\": {\"b\": \"\\u00e9\", \"a\":\"1\"},\t\"name\":\"Awa\"}",
    );
    same_answer(&first, &again);
    assert_eq!(shop.total("/v1/customers"), 1);
    let wave = shop.pay(json!({"network": "wave"}));
    let cancel = format!("{}/cancel", path_of(&wave["id"]));
    let keyed = shop.with("Idempotency-Key", "k2");
    let first = keyed.post_text(&cancel, "");
    first.ok(200);
    same_answer(&first, &keyed.post_text(&cancel, "{}"));
}

fn a_key_is_one_to_255_visible_characters(store: &Store) {
    let shop = store.shop();
    let body = json!({"name": "A"});
    let long = "k".repeat(256);
    for key in ["", &long, "two words", "tab\there", "clé"] {
        let refused = shop.post_once(key, "/v1/customers", &body);
        refused.refused(400, "idempotency_key_invalid", None);
    }
    assert_eq!(shop.total("/v1/customers"), 0);
    for key in [&long[..255], "!", "~", "a:b/c?d=e&f\"'{}"] {
        shop.post_once(key, "/v1/customers", &body).ok(201);
    }
    assert_eq!(shop.total("/v1/customers"), 4);
}

fn a_refused_request_frees_its_key(store: &Store) {
    let shop = store.shop();
    let good = sample::payment(json!({}));
    let low = sample::payment(json!({"amount": 1}));
    for _ in 0..2 {
        let refused = shop.post_once("k3", PAYMENTS, &low);
        refused.refused(400, "amount_below_minimum", Some("amount"));
        assert_eq!(refused.header("Idempotent-Replayed"), None);
    }
    let first = shop.post_once("k3", PAYMENTS, &good);
    let payment = first.ok(201);
    assert_eq!(first.header("Idempotent-Replayed"), None);
    // A conflict frees it too.
    let again = json!({"payment": payment["id"]});
    shop.post_once("k4", "/v1/refunds", &again).refused(409, "payment_not_refundable", None);
    shop.simulate(&payment["id"], "success").ok(200);
    shop.post_once("k4", "/v1/refunds", &again).ok(201);
}

fn a_payout_refused_for_want_of_funds_may_be_asked_again(store: &Store) {
    let shop = store.shop();
    let body = sample::payout(json!({}));
    let refused = shop.post_once("k1", "/v1/payouts", &body);
    refused.refused(402, "balance_insufficient", None);
    shop.fund(100_000, "XOF");
    let first = shop.post_once("k1", "/v1/payouts", &body);
    first.ok(201);
    assert_eq!(first.header("Idempotent-Replayed"), None);
    same_answer(&first, &shop.post_once("k1", "/v1/payouts", &body));
    assert_eq!(shop.purse("XOF").available, 89_900);
}

fn a_reused_key_is_seen_before_the_parameters(store: &Store) {
    let shop = store.shop();
    shop.post_once("k1", "/v1/customers", &json!({"name": "A"})).ok(201);
    let reused = |response: Response| response.refused(422, "idempotency_key_reused", None);
    reused(shop.post_once("k1", PAYMENTS, &json!({"amount": "x"})));
    let nobody = format!("/v1/customers/{}", sample::unknown("cus"));
    reused(shop.post_once("k1", &nobody, &json!({"name": "B"})));
    let broken = shop.with("Idempotency-Key", "k1").post_text("/v1/customers", "{");
    broken.refused(400, "json_invalid", None);
}

fn every_post_can_be_repeated(store: &Store) {
    let shop = store.shop();
    shop.fund(100_000, "XOF");
    let paid = shop.paid(json!({}));
    let waiting = shop.pay(json!({}));
    let wave = shop.pay(json!({"network": "wave"}));
    let customer = shop.customer(json!({"name": "A"}));
    let link = shop.link(json!({}));
    let endpoint = shop.hook("http://127.0.0.1:9/x", &["payout.failed"]);
    let route = |object: &Value, rest: &str| format!("{}{rest}", path_of(&object["id"]));
    let requests: Vec<(String, Value)> = vec![
        ("/v1/payouts".into(), sample::payout(json!({}))),
        ("/v1/refunds".into(), json!({"payment": paid["id"], "amount": 1000})),
        ("/v1/payment-links".into(), sample::link(json!({}))),
        ("/v1/customers".into(), json!({"name": "A"})),
        (
            "/v1/webhooks".into(),
            json!({"url": "http://127.0.0.1:9/y", "events": ["payout.failed"]}),
        ),
        ("/v1/sandbox/fund".into(), json!({"amount": 500, "currency": "XOF"})),
        (route(&customer, ""), json!({"name": "B"})),
        (route(&link, ""), json!({"title": "Invoice 43"})),
        (route(&endpoint, ""), json!({"description": "mine"})),
        (route(&wave, "/cancel"), json!({"reason": "changed mind"})),
        ("/v1/sandbox/simulate".into(), json!({"id": waiting["id"], "scenario": "success"})),
        ("/v1/webhooks/test".into(), json!({"webhook_endpoint": endpoint["id"]})),
    ];
    for (number, (path, body)) in requests.iter().enumerate() {
        let key = format!("key-{number}");
        let first = shop.post_once(&key, path, body);
        assert!([200, 201, 202].contains(&first.status), "{path}: {}", first.text());
        same_answer(&first, &shop.post_once(&key, path, body));
    }
    for (list, total) in
        [("payouts", 1), ("refunds", 1), ("payment-links", 2), ("customers", 2), ("webhooks", 2)]
    {
        assert_eq!(shop.total(&format!("/v1/{list}")), total, "{list}");
    }
    assert_eq!(shop.total("/v1/ledger?type=sandbox_funding"), 4);
    assert_eq!(
        shop.total(&format!("/v1/ledger?type=payment&source={}", waiting["id"].as_str().unwrap())),
        2
    );
}

fn reading_and_deleting_ignore_the_key(store: &Store) {
    let shop = store.shop();
    let endpoint = shop.hook("http://127.0.0.1:9/x", &["*"]);
    let keyed = shop.with("Idempotency-Key", "k1");
    for _ in 0..2 {
        let read = keyed.get(PAYMENTS);
        read.ok(200);
        assert_eq!(read.header("Idempotent-Replayed"), None);
    }
    keyed.delete(&path_of(&endpoint["id"])).ok(200);
    keyed.delete(&path_of(&endpoint["id"])).refused(404, "resource_not_found", None);
    assert_eq!(shop.with("Idempotency-Key", "a b").get(PAYMENTS).status, 200);
    shop.post_once("k1", "/v1/customers", &json!({"name": "A"})).ok(201);
}

fn accounts_and_environments_have_their_own_keys(store: &Store) {
    let (shop, other) = (store.shop(), store.shop());
    let body = json!({"name": "A"});
    let first = shop.post_once("k1", "/v1/customers", &body);
    first.ok(201);
    for caller in [&other.secret, &shop.live, &other.live] {
        let own = caller.post_once("k1", "/v1/customers", &body);
        own.ok(201);
        assert_eq!(own.header("Idempotent-Replayed"), None);
        assert_ne!(own.body, first.body);
    }
    assert_eq!(shop.live.total("/v1/customers"), 1);
}

/// Twenty callers with one key at one moment.
fn at_once(shop: &Shop, path: &str, body: &Value) -> Vec<Response> {
    thread::scope(|scope| {
        let ask = || shop.post_once("same", path, body);
        let callers: Vec<_> = (0..20).map(|_| scope.spawn(ask)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

fn one_answer(answers: &[Response]) {
    let bodies: HashSet<&[u8]> = answers.iter().map(|answer| answer.body.as_slice()).collect();
    assert!(answers.iter().all(|answer| answer.status == 201), "{}", answers[0].text());
    assert_eq!(bodies.len(), 1, "the one answer");
    let fresh = answers.iter().filter(|answer| answer.header("Idempotent-Replayed").is_none());
    assert_eq!(fresh.count(), 1, "all but one are replays");
}

fn twenty_at_once_get_the_one_answer(store: &Store) {
    let shop = store.shop();
    one_answer(&at_once(&shop, PAYMENTS, &sample::payment(json!({}))));
    assert_eq!(shop.total(PAYMENTS), 1);
    let other = store.shop();
    one_answer(&at_once(&other, "/v1/customers", &json!({"name": "A"})));
    assert_eq!(other.total("/v1/customers"), 1);
}

/// A loser whose own evaluation finds the funds spent by the winner is answered with the payout.
fn twenty_at_once_spend_the_money_once(store: &Store) {
    let shop = store.shop();
    shop.fund(10_100, "XOF");
    one_answer(&at_once(&shop, "/v1/payouts", &sample::payout(json!({}))));
    assert_eq!(shop.total("/v1/payouts"), 1);
    assert_eq!((shop.purse("XOF").available, shop.purse("XOF").reserved), (0, 10_100));
    let refunding = store.shop();
    let paid = refunding.paid(json!({}));
    one_answer(&at_once(&refunding, "/v1/refunds", &json!({"payment": paid["id"]})));
    assert_eq!(refunding.total("/v1/refunds"), 1);
}

fn a_secret_is_repeated_with_its_endpoint(store: &Store) {
    let shop = store.shop();
    let body = json!({"url": "http://127.0.0.1:9/x"});
    let first = shop.post_once("k1", "/v1/webhooks", &body);
    assert!(first.ok(201)["secret"].is_string());
    same_answer(&first, &shop.post_once("k1", "/v1/webhooks", &body));
    assert_eq!(shop.total("/v1/webhooks"), 1);
}

fn a_strict_server_asks_for_the_key(store: &Store) {
    let server = store.serve(&["--idempotency-required"]);
    let shop = Server::next_shop(&server).unwrap();
    for (path, body) in [
        (PAYMENTS, sample::payment(json!({}))),
        ("/v1/customers", json!({"name": "A"})),
        ("/v1/payment-links", sample::link(json!({}))),
        ("/v1/sandbox/fund", json!({"amount": 1, "currency": "XOF"})),
    ] {
        shop.post(path, &body).refused(400, "idempotency_key_required", None);
        shop.post_once(path, path, &body).ok(201);
    }
    shop.get(PAYMENTS).ok(200);
    assert_eq!(shop.total(PAYMENTS), 1);
}
