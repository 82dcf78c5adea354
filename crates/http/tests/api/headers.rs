//! Headers: of requests and of responses.

use std::{
    collections::HashSet,
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use cauri::{Caller, Environment, Scope};
use futures_util::{StreamExt as _, stream};
use http::Request;
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use serde_json::json;

use crate::support::{Ask, Plan, Stand, link, path_of, payment};

#[tokio::test]
async fn every_answer_has_a_name_of_its_own() {
    let stand = Stand::new().await;
    let mut ids = HashSet::new();
    for _ in 0..20 {
        let mine = "req_01jd3w8k4f7q2m9x5r6t0v1b3c";
        let told = stand.ask(Ask::get("/v1/nothing").header("Request-Id", mine)).await;
        let id = told.header("Request-Id").unwrap().to_owned();
        assert!(id != mine && ids.insert(id));
    }
}

#[tokio::test]
async fn what_is_left_is_told_with_every_answer_to_a_caller() {
    let stand = Stand::with(Plan { rate: Some((6_000, 60)), ..Plan::default() }).await;
    let asks = [
        (Ask::get("/v1/balance"), 200),
        (Ask::get("/v1/payments/nonsense"), 404),
        (Ask::get("/v1/payments?limit=0"), 400),
        (Ask::new("POST", "/v1/payments").body("x"), 415),
        (Ask::post("/v1/payments", &json!({})).body("{"), 400),
        (Ask::post("/v1/payments", &json!({ "x": "y".repeat(70_000) })), 413),
    ];
    for (number, (ask, status)) in (1..).zip(asks) {
        let told = stand.ask(ask.key(&stand.secret)).await;
        assert_eq!(told.status, status);
        assert_eq!(told.header("RateLimit-Policy"), Some("\"default\";q=6000;w=60"));
        let left = told.header("RateLimit").unwrap();
        // A hundred come back each second.
        let least = format!("\"default\";r={};t=1", 6_000 - number);
        assert!(*left >= *least && left.ends_with(";t=1"), "{left}");
    }
    for ask in [Ask::get("/v1/balance"), Ask::get("/v1/nothing"), Ask::new("PUT", "/v1/ledger")] {
        assert_eq!(stand.ask(ask).await.header("RateLimit"), None);
    }
}

#[tokio::test]
async fn without_a_limit_nothing_is_told_of_it() {
    let stand = Stand::new().await;
    let told = stand.get("/v1/balance").await;
    assert_eq!((told.header("RateLimit"), told.header("RateLimit-Policy")), (None, None));
}

#[tokio::test]
async fn one_too_many_has_no_effect() {
    let stand = Stand::with(Plan { rate: Some((1, 3_600)), ..Plan::default() }).await;
    stand.get("/v1/balance").await.ok(200);
    let ask = Ask::post("/v1/customers", &json!({ "name": "A" })).once("k1");
    let told = stand.ask(ask.clone().key(&stand.secret)).await;
    told.refused(429, "rate_limited", None);
    assert_eq!(told.header("Retry-After"), Some("3600"));
    assert_eq!(told.header("RateLimit"), Some("\"default\";r=0;t=3600"));
    let public = Ask::get("/v1/customers").key(&stand.public);
    assert_eq!(stand.ask(public).await.ok(200)["total"], 0);
}

#[tokio::test]
async fn the_location_is_where_clients_see_it() {
    let stand = Stand::with(Plan { prefix: "pay/", ..Plan::default() }).await;
    for path in ["/v1/customers", "/pay/v1/customers"] {
        let ask = Ask::post(path, &json!({ "name": "A" })).key(&stand.secret);
        let told = stand.ask(ask).await;
        let id = told.ok(201)["id"].as_str().unwrap().to_owned();
        let location = told.header("Location").unwrap();
        assert_eq!(location, format!("/pay/v1/customers/{id}"));
        stand.get(location).await.ok(200);
    }
    for path in ["/pay", "/pay/", "/payv1/customers", "/pay/pay/v1/customers", "/other/v1/balance"]
    {
        stand.get(path).await.refused(404, "route_not_found", None);
    }
}

#[tokio::test]
async fn a_repeat_by_another_path_is_the_same_request() {
    let stand = Stand::with(Plan { prefix: "/pay", ..Plan::default() }).await;
    let body = json!({ "name": "A" });
    let ask = |path: &str| Ask::post(path, &body).key(&stand.secret).once("k1");
    let first = stand.ask(ask("/v1/customers")).await;
    let again = stand.ask(ask("/pay/v1/customers")).await;
    assert_eq!((again.status, again.body), (201, first.body));
}

#[tokio::test]
async fn a_caller_known_to_the_host_needs_no_key() {
    let stand = Stand::with(Plan { rate: Some((2, 60)), ..Plan::default() }).await;
    let account = stand.scope.account;
    let ask = |caller: Caller, path: &str| {
        let mut request = Ask::post(path, &json!({ "name": "A" })).request();
        request.extensions_mut().insert(caller);
        stand.send(request)
    };
    let live = Scope { account, environment: Environment::Live };
    let told = ask(Caller::secret(live), "/v1/customers").await;
    assert_eq!(told.ok(201)["livemode"], true);
    assert_eq!(told.header("RateLimit"), Some("\"default\";r=1;t=30"));
    let told = ask(Caller::public(stand.scope), "/v1/customers").await;
    told.refused(403, "secret_key_required", None);
    let fund = ask(Caller::secret(live), "/v1/sandbox/fund").await;
    fund.refused(403, "sandbox_only", None);
    ask(Caller::secret(live), "/v1/customers").await.refused(429, "rate_limited", None);
}

#[tokio::test]
async fn the_idempotency_key_counts_for_what_is_posted_only() {
    let stand = Stand::new().await;
    for key in ["", "a b", "clé", &"k".repeat(256)] {
        let ask = Ask::post("/v1/customers", &json!({ "name": "A" })).key(&stand.secret);
        stand.ask(ask.once(key)).await.refused(400, "idempotency_key_invalid", None);
        let get = Ask::get("/v1/customers").key(&stand.secret).once(key);
        assert_eq!(stand.ask(get).await.ok(200)["total"], 0);
    }
    let twice = Ask::post("/v1/customers", &json!({ "name": "A" })).once("a").once("a");
    stand.ask(twice.key(&stand.secret)).await.refused(400, "idempotency_key_invalid", None);
    let made = stand.post("/v1/webhooks", &json!({ "url": "https://a.example.com/" })).await;
    let gone = Ask::new("DELETE", &path_of(&made.ok(201))).key(&stand.secret).once("k1");
    stand.ask(gone.clone()).await.ok(200);
    stand.ask(gone).await.refused(404, "resource_not_found", None);
}

#[tokio::test]
async fn a_strict_installation_asks_for_the_key_of_creations_only() {
    let stand = Stand::with(Plan { idempotency_required: true, ..Plan::default() }).await;
    let mut made = 0;
    for (path, body) in [
        ("/v1/payments", payment(json!({}))),
        ("/v1/payment-links", link(json!({}))),
        ("/v1/customers", json!({ "name": "A" })),
        ("/v1/webhooks", json!({ "url": "https://a.example.com/" })),
        ("/v1/sandbox/fund", json!({ "amount": 1, "currency": "XOF" })),
    ] {
        let ask = Ask::post(path, &body).key(&stand.secret);
        stand.ask(ask.clone()).await.refused(400, "idempotency_key_required", None);
        // What is wrong with the parameters is not looked at before.
        let wrong = ask.clone().body("{\"x\":1}");
        stand.ask(wrong).await.refused(400, "idempotency_key_required", None);
        stand.ask(ask.once(path)).await.ok(201);
        made += 1;
    }
    let customer = stand.get("/v1/customers").await.ok(200)["data"][0].clone();
    stand.post(&path_of(&customer), &json!({ "name": "B" })).await.ok(200);
    assert_eq!(made, 5);
}

#[tokio::test]
async fn a_body_in_pieces_is_a_body() {
    let stand = Stand::new().await;
    let ask = async |pieces: Vec<Result<Bytes, &'static str>>, media: &str| {
        let frames = pieces.into_iter().map(|piece| piece.map(Frame::data));
        let body = StreamBody::new(stream::iter(frames));
        let request = Request::post("/v1/customers")
            .header("Authorization", format!("Bearer {}", stand.secret))
            .header("Content-Type", media);
        stand.send(request.body(body).unwrap()).await
    };
    let json = "application/json";
    let pieces = || vec![Ok("{\"na".into()), Ok("".into()), Ok("me\":\"A\"}".into())];
    ask(pieces(), json).await.ok(201);
    ask(pieces(), "text/plain").await.refused(415, "content_type_not_supported", None);
    ask(vec![], "text/plain").await.refused(400, "parameter_missing", Some("name"));
    ask(vec![Ok("".into())], "").await.refused(400, "parameter_missing", Some("name"));
    let long = |last: &'static str| {
        let mut pieces: Vec<Result<Bytes, &'static str>> = vec![Ok("{\"name\":\"A\"}".into())];
        pieces.extend((0..65_524).step_by(4).map(|_| Ok("    ".into())));
        pieces.push(Ok(last.into()));
        pieces
    };
    ask(long(""), json).await.ok(201);
    ask(long(" "), json).await.refused(413, "body_too_large", None);
    ask(vec![Ok("{\"name\":".into()), Err("gone")], json).await.refused(400, "json_invalid", None);
}

#[tokio::test]
async fn a_body_where_none_is_wanted_is_bounded_all_the_same() {
    let stand = Stand::new().await;
    let ask = |length: usize| Ask::get("/v1/balance").key(&stand.secret).body("x".repeat(length));
    stand.ask(ask(65_536)).await.ok(200);
    stand.ask(ask(65_537)).await.refused(413, "body_too_large", None);
    let request = Request::get("/v1/openapi.json").body(Full::<Bytes>::default()).unwrap();
    stand.send(request).await.ok(200);
    stand.ask(Ask::get("/v1/openapi.json?x=1")).await.refused(400, "parameter_unknown", Some("x"));
}

#[tokio::test]
async fn the_route_is_known_to_whoever_counts() {
    let stand = Stand::new().await;
    let route = |told: &crate::support::Told| told.route.map(cauri_http::MatchedRoute::as_str);
    let told = stand.get("/v1/payments/pay_nothing/timeline").await;
    assert_eq!(route(&told), Some("/v1/payments/{id}/timeline"));
    let told = stand.ask(Ask::new("PUT", "/v1/webhooks/whe_x")).await;
    assert_eq!(route(&told), Some("/v1/webhooks/{id}"));
    assert_eq!(route(&stand.get("/v1/nothing").await), None);
}

/// How much of a refused body is read, in KiB: each piece is one.
async fn passed(stand: &Stand, key: &str, path: &str, pieces: usize, expect: bool) -> usize {
    let read = Arc::new(AtomicUsize::new(0));
    let counter = read.clone();
    let frames = stream::iter(0..pieces).map(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[b' '; 1_024])))
    });
    let mut request = Request::post(path)
        .header("Authorization", format!("Bearer {key}"))
        .header("Content-Type", "application/json");
    if expect {
        request = request.header("Expect", "100-continue");
    }
    let told = stand.send(request.body(StreamBody::new(frames)).unwrap()).await;
    assert!([401, 403, 404, 413].contains(&told.status), "{}", told.status);
    read.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_refused_body_passes_unless_it_is_endless() {
    let stand = Stand::new().await;
    let (secret, public) = (stand.secret.clone(), stand.public.clone());
    let path = "/v1/customers";
    assert_eq!(passed(&stand, &secret, path, 100, false).await, 100);
    assert_eq!(passed(&stand, &public, path, 100, false).await, 100);
    // 64 are read, the next is one too many, and 256 more are let pass.
    assert_eq!(passed(&stand, &secret, path, 1_000, false).await, 64 + 1 + 256 + 1);
    assert_eq!(passed(&stand, &secret, path, 1_000, true).await, 64 + 1);
    assert_eq!(passed(&stand, &public, path, 100, true).await, 0);
    assert_eq!(passed(&stand, "nobody", path, 100, false).await, 0);
    assert_eq!(passed(&stand, &secret, "/v1/nothing", 100, false).await, 0);
}
