//! How often a key may call (API §6).

use std::sync::Arc;

use serde_json::json;

use crate::support::http::Response;
use crate::support::sample;
use crate::support::server::{Server, Store};
use crate::support::stories;
use crate::support::time::within;

stories![
    every_answer_tells_what_is_left,
    the_sixth_of_five_is_refused,
    a_refused_request_leaves_no_trace,
    the_quota_comes_back,
    a_limit_can_be_off,
];

/// Requests left and seconds until all are back.
#[track_caller]
fn left(response: &Response, quota: u64) -> (u64, u64) {
    let policy = response.header("RateLimit-Policy").expect("a RateLimit-Policy");
    assert!(policy.starts_with(&format!("\"default\";q={quota};w=")), "{policy}");
    let text = response.header("RateLimit").expect("a RateLimit");
    let parts = text.strip_prefix("\"default\";r=").and_then(|rest| rest.split_once(";t="));
    let (requests, seconds) = parts.unwrap_or_else(|| panic!("{text}"));
    (requests.parse().unwrap(), seconds.parse().unwrap())
}

fn every_answer_tells_what_is_left(store: &Store) {
    let shop = store.shop();
    for response in [
        shop.get("/v1/balance"),
        shop.get("/v1/payments/pay_nothing"),
        shop.post("/v1/payments", &json!({})),
        shop.post_text("/v1/payments", "{"),
        shop.public.post("/v1/payments", &json!({})),
        shop.live.get("/v1/sandbox/scenarios"),
    ] {
        assert_eq!(response.header("RateLimit-Policy"), Some("\"default\";q=6000;w=60"));
        let (requests, seconds) = left(&response, 6000);
        assert!(requests < 6000 && seconds <= 60, "{requests} {seconds}");
    }
    let keys = [&shop.secret, &shop.public, &shop.live_public];
    let each = keys.map(|caller| left(&caller.get("/v1/balance"), 6000).0);
    assert!(each.iter().all(|&requests| requests >= 5990), "each key has its own: {each:?}");
}

fn five_a_minute(store: &Store) -> Arc<Server> {
    store.serve(&["--rate-limit", "5/60"])
}

fn the_sixth_of_five_is_refused(store: &Store) {
    let server = five_a_minute(store);
    let shop = Server::next_shop(&server).unwrap();
    for expected in [4, 3, 2, 1, 0] {
        let response = shop.get("/v1/balance");
        response.ok(200);
        assert_eq!(response.header("RateLimit-Policy"), Some("\"default\";q=5;w=60"));
        assert_eq!(left(&response, 5).0, expected);
    }
    for _ in 0..3 {
        let refused = shop.get("/v1/balance");
        refused.refused(429, "rate_limited", None);
        let wait: u64 = refused.header("Retry-After").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    for caller in [&shop.public, &shop.live] {
        caller.get("/v1/balance").ok(200);
    }
    Server::next_shop(&server).unwrap().get("/v1/balance").ok(200);
    // Who is nobody is refused as nobody, and what is nowhere is nowhere.
    shop.anyone.get("/v1/balance").refused(401, "api_key_missing", None);
    shop.get("/v1/nothing").refused(404, "route_not_found", None);
}

fn a_refused_request_leaves_no_trace(store: &Store) {
    let server = store.serve(&["--rate-limit", "5/3"]);
    let shop = Server::next_shop(&server).unwrap();
    let body = sample::payment(json!({}));
    let refused = within(std::time::Duration::from_secs(10), || {
        let response = shop.post_once("k1", "/v1/payments", &json!({"amount": 1}));
        if response.status == 429 { Ok(response) } else { Err(response.text()) }
    });
    refused.refused(429, "rate_limited", None);
    let answered = within(std::time::Duration::from_secs(10), || {
        let response = shop.post_once("k1", "/v1/payments", &body);
        if response.status == 429 { Err(response.text()) } else { Ok(response) }
    });
    answered.ok(201);
    assert_eq!(answered.header("Idempotent-Replayed"), None);
    let total = shop.public.get("/v1/payments").ok(200)["total"].clone();
    assert_eq!(total, 1);
}

fn the_quota_comes_back(store: &Store) {
    let server = store.serve(&["--rate-limit", "5/2"]);
    let shop = Server::next_shop(&server).unwrap();
    let refused = within(std::time::Duration::from_secs(10), || {
        let response = shop.get("/v1/balance");
        if response.status == 429 { Ok(response) } else { Err(response.text()) }
    });
    let wait: u64 = refused.header("Retry-After").unwrap().parse().unwrap();
    // Polling does not prolong it: a refused request does not count.
    let limit = std::time::Duration::from_secs(wait + 1);
    within(limit, || {
        let response = shop.get("/v1/balance");
        if response.status == 200 { Ok(()) } else { Err(response.text()) }
    });
}

fn a_limit_can_be_off(store: &Store) {
    let server = store.serve(&["--rate-limit", "off"]);
    let shop = Server::next_shop(&server).unwrap();
    for _ in 0..50 {
        shop.get("/v1/balance").ok(200);
    }
}
