//! Where events go (API §16.1, §16.2).

use serde_json::{Value, json};

use crate::support::check::{ENDPOINT, assert_id, declares, fields, names};
use crate::support::server::Store;
use crate::support::shop::path_of;
use crate::support::sink::Sink;
use crate::support::time::millis;
use crate::support::{sample, signature, stories};

stories![
    an_endpoint_shows_its_secret_once,
    an_endpoint_names_the_kinds_it_wants,
    an_address_is_a_web_address,
    a_live_address_is_public_and_encrypted,
    sixteen_endpoints_are_the_most,
    an_endpoint_is_changed_in_part,
    a_rotated_secret_signs_at_once,
    two_secrets_overlap_when_asked_to,
    a_deleted_endpoint_is_gone,
    endpoints_belong_to_an_environment,
    the_published_signature_is_ours_too,
];

fn an_endpoint_shows_its_secret_once(store: &Store) {
    let shop = store.shop();
    let response = shop.post("/v1/webhooks", &json!({"url": "http://127.0.0.1:9/hooks"}));
    let endpoint = response.ok(201);
    let mut declared = ENDPOINT.to_vec();
    declared.push("secret");
    declares(&endpoint, &declared);
    assert_id("whe", &endpoint["id"]);
    assert_eq!(endpoint["object"], "webhook_endpoint");
    assert_eq!((&endpoint["events"], &endpoint["active"]), (&json!(["*"]), &json!(true)));
    assert_eq!((&endpoint["description"], &endpoint["metadata"]), (&Value::Null, &json!({})));
    assert_is_secret(&endpoint["secret"]);
    let page = shop.get("/v1/webhooks").ok(200);
    let listed = sample::without(endpoint.clone(), "secret");
    assert_eq!(page["data"], json!([listed]));
    let other = shop.hook("http://127.0.0.1:9/hooks", &["*"]);
    assert_ne!(other["secret"], endpoint["secret"]);
    let listed = shop.list("/v1/webhooks");
    assert_eq!((&listed[0]["id"], &listed[1]["id"]), (&other["id"], &endpoint["id"]));
}

#[track_caller]
fn assert_is_secret(secret: &Value) {
    let rest = secret.as_str().and_then(|text| text.strip_prefix("whsec_")).expect("a secret");
    assert!(rest.len() == 40 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{rest}");
}

fn an_endpoint_names_the_kinds_it_wants(store: &Store) {
    let shop = store.shop();
    let ask = |events: Value| {
        shop.post("/v1/webhooks", &json!({"url": "http://127.0.0.1:9/", "events": events}))
    };
    for kind in ["payment.nope", "payment.*", "payment", "**", "PAYMENT.CREATED", ""] {
        ask(json!([kind])).refused(400, "event_kind_unknown", Some("events[0]"));
    }
    ask(json!(["payment.created", "payment.nope"])).refused(
        400,
        "event_kind_unknown",
        Some("events[1]"),
    );
    ask(json!([])).invalid("events");
    ask(json!("*")).invalid("events");
    let error = ask(json!([5])).refusal(400);
    assert!(error["param"].as_str().unwrap().starts_with("events"), "{error}");
    assert_eq!(ask(json!(["*", "payment.created"])).ok(201)["events"], json!(["*"]));
    let twice = ask(json!(["refund.failed", "payment.created", "refund.failed"])).ok(201);
    let mut kept: Vec<&str> =
        twice["events"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    kept.sort_unstable();
    assert_eq!(kept, ["payment.created", "refund.failed"]);
    let all = json!([
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
        "payment_link.paid"
    ]);
    assert_eq!(ask(all).ok(201)["events"].as_array().unwrap().len(), 17);
}

fn an_address_is_a_web_address(store: &Store) {
    let shop = store.shop();
    let ask = |url: Value| shop.post("/v1/webhooks", &json!({"url": url}));
    let long = format!("https://shop.example.com/{}", "x".repeat(2048));
    for url in [
        "not a url",
        "",
        "/hooks",
        "shop.example.com",
        "ftp://shop.example.com/",
        "https://user:word@shop.example.com/",
        "https://shop.example.com/#part",
        "https://",
        &long,
    ] {
        ask(json!(url)).invalid("url");
    }
    ask(json!(5)).invalid("url");
    for url in
        ["https://shop.example.com/hooks?a=b", "http://localhost:9/", "https://not-yet.invalid/"]
    {
        assert_eq!(ask(json!(url)).ok(201)["url"], url);
    }
}

fn a_live_address_is_public_and_encrypted(store: &Store) {
    let shop = store.shop();
    for url in [
        "http://shop.example.com",
        "https://127.0.0.1/x",
        "https://10.0.0.1/",
        "https://[::1]/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://172.16.0.1/",
        "https://[::ffff:127.0.0.1]/",
        "https://0.0.0.0/",
        "https://100.64.0.1/",
        "https://[fd00::1]/",
        "https://[fe80::1]/",
        "https://224.0.0.1/",
        "https://localhost/",
        "https://localhost./",
        "https://2130706433/",
    ] {
        let response = shop.live.post("/v1/webhooks", &json!({"url": url}));
        response.refused(400, "url_not_allowed", Some("url"));
    }
    shop.live.post("/v1/webhooks", &json!({"url": "not a url"})).invalid("url");
    let endpoint =
        shop.live.post("/v1/webhooks", &json!({"url": "https://shop.example.com/"})).ok(201);
    assert_eq!((&endpoint["environment"], &endpoint["livemode"]), (&json!("live"), &json!(true)));
    let change = json!({"url": "https://127.0.0.1/"});
    shop.live.post(&path_of(&endpoint["id"]), &change).refused(400, "url_not_allowed", Some("url"));
}

fn sixteen_endpoints_are_the_most(store: &Store) {
    let shop = store.shop();
    let endpoints: Vec<Value> =
        (0..16).map(|number| shop.hook(&format!("http://127.0.0.1:9/{number}"), &["*"])).collect();
    let body = json!({"url": "http://127.0.0.1:9/16"});
    let refused = shop.post("/v1/webhooks", &body);
    refused.refused(400, "webhook_endpoint_limit_reached", None);
    shop.live.post("/v1/webhooks", &json!({"url": "https://shop.example.com/"})).ok(201);
    shop.delete(&path_of(&endpoints[3]["id"])).ok(200);
    shop.post("/v1/webhooks", &body).ok(201);
    assert_eq!(shop.total("/v1/webhooks"), 16);
}

fn an_endpoint_is_changed_in_part(store: &Store) {
    let shop = store.shop();
    let endpoint = shop.hook("http://127.0.0.1:9/x", &["payment.failed"]);
    let path = path_of(&endpoint["id"]);
    let change = json!({"description": "mine", "metadata": {"a": "1"}, "active": false});
    let changed = shop.post(&path, &change).ok(200);
    declares(&changed, ENDPOINT);
    assert_eq!((&changed["description"], &changed["active"]), (&json!("mine"), &json!(false)));
    assert_eq!((&changed["events"], &changed["url"]), (&endpoint["events"], &endpoint["url"]));
    assert!(millis(&changed["updated_at"]) > millis(&endpoint["updated_at"]));
    let change = json!({"description": null, "metadata": {"a": null, "b": "2"}, "events": ["*"]});
    let changed = shop.post(&path, &change).ok(200);
    assert_eq!((&changed["description"], &changed["metadata"]), (&Value::Null, &json!({"b": "2"})));
    shop.post(&path, &json!({"events": ["payment.nope"]})).refused(
        400,
        "event_kind_unknown",
        Some("events[0]"),
    );
    shop.post(&path, &json!({"url": "nope"})).invalid("url");
    shop.post(&path, &json!({"secret": "whsec_x"})).refused(
        400,
        "parameter_unknown",
        Some("secret"),
    );
    for seconds in [json!(-1), json!(86_401), json!("5")] {
        let body = json!({"rotate_secret": true, "previous_secret_expires_in": seconds});
        shop.post(&path, &body).invalid("previous_secret_expires_in");
    }
    let nobody = format!("/v1/webhooks/{}", sample::unknown("whe"));
    shop.post(&nobody, &json!({})).refused(404, "resource_not_found", None);
}

fn a_rotated_secret_signs_at_once(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["payment_link.created"]);
    shop.link(json!({}));
    let rotated = shop.post(&path_of(&endpoint["id"]), &json!({"rotate_secret": true})).ok(200);
    sink.awaits(1);
    assert_is_secret(&rotated["secret"]);
    assert_ne!(rotated["secret"], endpoint["secret"]);
    shop.link(json!({}));
    let hits = sink.awaits(2);
    assert!(hits[1].is_signed_by(&rotated["secret"]));
    assert!(!hits[1].is_signed_by(&endpoint["secret"]));
    assert_eq!(hits[1].signatures(), 1);
    assert!(shop.list("/v1/webhooks")[0].get("secret").is_none());
}

fn two_secrets_overlap_when_asked_to(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["payment_link.created"]);
    let body = json!({"rotate_secret": true, "previous_secret_expires_in": 3600});
    let rotated = shop.post(&path_of(&endpoint["id"]), &body).ok(200);
    shop.link(json!({}));
    let hit = sink.awaits(1).remove(0);
    let (time, signatures) = signature::parts(hit.header("X-Webhook-Signature"));
    let by = |secret: &Value| signature::sign(secret.as_str().unwrap(), &time, &hit.body);
    assert_eq!(signatures, [by(&rotated["secret"]), by(&endpoint["secret"])], "new first");
    let again = shop.post(&path_of(&endpoint["id"]), &json!({"rotate_secret": true})).ok(200);
    shop.link(json!({}));
    let hit = sink.awaits(2).remove(1);
    assert!(hit.is_signed_by(&again["secret"]) && !hit.is_signed_by(&rotated["secret"]));
    assert_eq!(hit.signatures(), 1);
}

fn a_deleted_endpoint_is_gone(store: &Store) {
    let shop = store.shop();
    let endpoint = shop.hook("http://127.0.0.1:9/x", &["*"]);
    let path = path_of(&endpoint["id"]);
    let deleted = shop.delete(&path).ok(200);
    let expected = json!({
        "id": endpoint["id"], "object": "webhook_endpoint", "environment": "sandbox",
        "livemode": false, "deleted": true
    });
    assert_eq!(deleted, expected);
    assert_eq!(fields(&deleted), names(&["id", "object", "environment", "livemode", "deleted"]));
    shop.delete(&path).refused(404, "resource_not_found", None);
    shop.post(&path, &json!({"active": true})).refused(404, "resource_not_found", None);
    shop.post("/v1/webhooks/test", &json!({"webhook_endpoint": endpoint["id"]})).refused(
        400,
        "related_resource_not_found",
        Some("webhook_endpoint"),
    );
    assert_eq!(shop.total("/v1/webhooks"), 0);
    shop.delete("/v1/webhooks/whe_nothing").refused(404, "resource_not_found", None);
}

fn endpoints_belong_to_an_environment(store: &Store) {
    let (shop, other) = (store.shop(), store.shop());
    let endpoint = shop.hook("http://127.0.0.1:9/x", &["*"]);
    for stranger in [&shop.live, &other.secret] {
        assert_eq!(stranger.total("/v1/webhooks"), 0);
        stranger.delete(&path_of(&endpoint["id"])).refused(404, "resource_not_found", None);
        stranger.post(&path_of(&endpoint["id"]), &json!({"rotate_secret": true})).refused(
            404,
            "resource_not_found",
            None,
        );
        let test = json!({"webhook_endpoint": endpoint["id"]});
        stranger.post("/v1/webhooks/test", &test).refused(
            400,
            "related_resource_not_found",
            Some("webhook_endpoint"),
        );
    }
    assert_eq!(shop.total("/v1/webhooks"), 1);
}

/// The vector of the contract, so that the check these stories use is itself checked.
fn the_published_signature_is_ours_too(_: &Store) {
    let body = br#"{"id":"evt_01jd3w8k5000000000000000a1","type":"payment.succeeded"}"#;
    let secret = "whsec_test_0123456789abcdefghijklmnopqrstuv";
    let expected = "7ae203e9a1b70f471f77821b7aeb5d5ba5062ecab0908885f3eea20111d05b2c";
    assert_eq!(signature::sign(secret, "1731974400", body), expected);
}
