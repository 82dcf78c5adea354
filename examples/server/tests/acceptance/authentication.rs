//! Who may call what (API §3; §2.2 for what is checked before what).

use serde_json::{Value, json};

use crate::support::check::is_id;
use crate::support::http::Response;
use crate::support::server::{Server, Store};
use crate::support::shop::path_of;
use crate::support::{sample, stories};

stories![
    a_request_without_a_key_is_refused,
    a_key_that_is_none_is_refused,
    the_key_may_come_in_a_header_of_its_own,
    the_same_key_in_both_headers_is_one_key,
    two_different_keys_contradict_each_other,
    the_name_of_the_scheme_is_read_in_any_case,
    no_other_scheme_is_accepted,
    a_key_in_the_query_is_not_a_key,
    a_public_key_reads_everything_but_webhooks,
    a_public_key_changes_nothing,
    a_public_key_is_refused_before_its_body_is_read,
    a_live_key_finds_no_sandbox,
    the_route_is_looked_up_before_the_key,
    every_key_has_the_form_of_its_kind,
];

#[track_caller]
fn unauthorised(response: &Response, code: &str) {
    response.refused(401, code, None);
    assert_eq!(response.header("WWW-Authenticate"), Some("Bearer"));
}

fn a_request_without_a_key_is_refused(store: &Store) {
    let shop = store.shop();
    let response = shop.anyone.get("/v1/balance");
    unauthorised(&response, "api_key_missing");
    assert!(is_id("req", response.header("Request-Id").unwrap()));
    unauthorised(&shop.anyone.post("/v1/payments", &sample::payment(json!({}))), "api_key_missing");
    unauthorised(&shop.anyone.post_text("/v1/payments", "{"), "api_key_missing");
    unauthorised(&shop.anyone.get("/v1/payments/pay_nothing"), "api_key_missing");
    unauthorised(&shop.anyone.get("/v1/sandbox/scenarios"), "api_key_missing");
}

fn a_key_that_is_none_is_refused(store: &Store) {
    let shop = store.shop();
    let real = &shop.account.secret_sandbox;
    let letters = "a".repeat(40);
    let upper = real.to_uppercase();
    let longer = format!("{real}a");
    let swapped = format!("pk_test_{}", &real["sk_test_".len()..]);
    let unknown = [
        "sk_test_nope",
        "nope",
        &upper,
        &longer,
        &real[..real.len() - 1],
        &swapped,
        &format!("sk_test_{letters}"),
        &format!("sk_live_{letters}"),
        &format!("pk_test_{letters}"),
        &format!("rk_test_{letters}"),
        &format!("sk_test_{}-", &letters[1..]),
    ];
    for key in unknown {
        let refused = Server::caller(&shop.server, key).get("/v1/balance");
        unauthorised(&refused, "api_key_invalid");
        let refused = shop.anyone.with("X-API-Key", key).get("/v1/balance");
        unauthorised(&refused, "api_key_invalid");
    }
}

fn the_key_may_come_in_a_header_of_its_own(store: &Store) {
    let shop = store.shop();
    for name in ["X-API-Key", "x-api-key", "X-Api-Key"] {
        shop.anyone.with(name, &shop.account.secret_sandbox).get("/v1/balance").ok(200);
    }
    let caller = shop.anyone.with("X-API-Key", &shop.account.secret_sandbox);
    caller.post("/v1/payments", &sample::payment(json!({}))).ok(201);
    assert_eq!(shop.total("/v1/payments"), 1);
}

fn the_same_key_in_both_headers_is_one_key(store: &Store) {
    let shop = store.shop();
    shop.secret.with("X-API-Key", &shop.account.secret_sandbox).get("/v1/balance").ok(200);
}

fn two_different_keys_contradict_each_other(store: &Store) {
    let shop = store.shop();
    let other = store.shop();
    for key in [
        &shop.account.public_sandbox,
        &shop.account.secret_live,
        &other.account.secret_sandbox,
        "sk_test_nope",
    ] {
        let response = shop.secret.with("X-API-Key", key).get("/v1/balance");
        unauthorised(&response, "credentials_conflict");
    }
}

fn the_name_of_the_scheme_is_read_in_any_case(store: &Store) {
    let shop = store.shop();
    for scheme in ["bearer", "BEARER", "bEaReR"] {
        let value = format!("{scheme} {}", shop.account.secret_sandbox);
        shop.anyone.with("Authorization", &value).get("/v1/balance").ok(200);
    }
}

fn no_other_scheme_is_accepted(store: &Store) {
    let shop = store.shop();
    let key = &shop.account.secret_sandbox;
    for value in [
        format!("Basic {key}"),
        "Basic c2tfdGVzdF94Og==".to_owned(),
        format!("Token {key}"),
        key.clone(),
        "Bearer".to_owned(),
        format!("Bearer{key}"),
    ] {
        let response = shop.anyone.with("Authorization", &value).get("/v1/balance");
        let error = response.refusal(401);
        let code = error["code"].as_str().unwrap();
        assert!(["api_key_missing", "api_key_invalid"].contains(&code), "{value}: {error}");
        assert_eq!(response.header("WWW-Authenticate"), Some("Bearer"));
    }
}

fn a_key_in_the_query_is_not_a_key(store: &Store) {
    let shop = store.shop();
    let key = &shop.account.secret_sandbox;
    for name in ["api_key", "key", "access_token"] {
        let path = format!("/v1/balance?{name}={key}");
        unauthorised(&shop.anyone.get(&path), "api_key_missing");
        shop.get(&path).refused(400, "parameter_unknown", Some(name));
    }
}

fn a_public_key_reads_everything_but_webhooks(store: &Store) {
    let shop = store.shop();
    for path in [
        "/v1/payments",
        "/v1/payouts",
        "/v1/refunds",
        "/v1/customers",
        "/v1/payment-links",
        "/v1/balance",
        "/v1/ledger",
        "/v1/payment-methods?country=CI",
        "/v1/sandbox/scenarios",
    ] {
        shop.public.get(path).ok(200);
    }
    shop.fund(50_000, "XOF");
    let payment = shop.paid(json!({}));
    let customer = shop.customer(json!({"name": "Awa Diop"}));
    let link = shop.link(json!({}));
    let payout = shop.pay_out(json!({})).ok(201);
    let refund = shop.refund(&payment, Some(100)).ok(201);
    for object in [&payment, &customer, &link, &payout, &refund] {
        assert_eq!(shop.public.see(&object["id"])["id"], object["id"]);
    }
    shop.public.get(&format!("{}/timeline", path_of(&payment["id"]))).ok(200);
    shop.public.get(&format!("{}/payments", path_of(&link["id"]))).ok(200);
    for path in ["/v1/webhooks", "/v1/webhooks/deliveries"] {
        shop.public.get(path).refused(403, "secret_key_required", None);
    }
}

/// Every route that needs a secret key, with a body that would do something.
fn changes_of(
    payment: &Value,
    customer: &Value,
    link: &Value,
    endpoint: &Value,
) -> Vec<(String, Value)> {
    let route = |object: &Value, rest: &str| format!("{}{rest}", path_of(&object["id"]));
    vec![
        ("/v1/payments".into(), sample::payment(json!({}))),
        (route(payment, "/cancel"), json!({})),
        ("/v1/payment-links".into(), sample::link(json!({}))),
        (route(link, ""), json!({"active": false})),
        ("/v1/payouts".into(), sample::payout(json!({}))),
        ("/v1/refunds".into(), json!({"payment": payment["id"]})),
        ("/v1/customers".into(), json!({"name": "A"})),
        (route(customer, ""), json!({"name": "B"})),
        ("/v1/webhooks".into(), json!({"url": "http://127.0.0.1:9/x"})),
        (route(endpoint, ""), json!({"active": false})),
        ("/v1/webhooks/test".into(), json!({"webhook_endpoint": endpoint["id"]})),
        ("/v1/sandbox/simulate".into(), json!({"id": payment["id"], "scenario": "success"})),
        ("/v1/sandbox/fund".into(), json!({"amount": 100, "currency": "XOF"})),
    ]
}

fn a_public_key_changes_nothing(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({"network": "wave"}));
    let customer = shop.customer(json!({"name": "A"}));
    let link = shop.link(json!({}));
    let endpoint = shop.hook("http://127.0.0.1:9/x", &["payout.failed"]);
    for (path, body) in changes_of(&payment, &customer, &link, &endpoint) {
        shop.public.post(&path, &body).refused(403, "secret_key_required", None);
    }
    let gone = shop.public.delete(&path_of(&endpoint["id"]));
    gone.refused(403, "secret_key_required", None);
    assert_eq!(shop.total("/v1/payments"), 1);
    assert_eq!(shop.total("/v1/customers"), 1);
    assert_eq!(shop.total("/v1/webhooks"), 1);
    assert_eq!(shop.total("/v1/ledger"), 0);
    assert_eq!(shop.see(&customer["id"])["name"], "A");
    assert_eq!(shop.see(&link["id"])["active"], true);
}

fn a_public_key_is_refused_before_its_body_is_read(store: &Store) {
    let shop = store.shop();
    let required = |response: Response| response.refused(403, "secret_key_required", None);
    required(shop.public.post_text("/v1/payments", "{"));
    required(shop.public.send("POST", "/v1/payments", Some("text/plain"), "hello"));
    required(shop.public.post_text("/v1/payments", " ".repeat(70_000)));
    required(shop.public.post("/v1/customers/cus_nothing", &json!({})));
    required(shop.public.with("Idempotency-Key", "a b").post("/v1/payments", &json!({})));
}

fn a_live_key_finds_no_sandbox(store: &Store) {
    let shop = store.shop();
    shop.live.get("/v1/sandbox/scenarios").refused(403, "sandbox_only", None);
    shop.live_public.get("/v1/sandbox/scenarios").refused(403, "sandbox_only", None);
    let fund = json!({"amount": 100, "currency": "XOF"});
    shop.live.post("/v1/sandbox/fund", &fund).refused(403, "sandbox_only", None);
    shop.live.post_text("/v1/sandbox/fund", "{").refused(403, "sandbox_only", None);
    let payment = shop.pay(json!({}));
    let simulate = json!({"id": payment["id"], "scenario": "success"});
    shop.live.post("/v1/sandbox/simulate", &simulate).refused(403, "sandbox_only", None);
    let purse = shop.live.get("/v1/balance").ok(200);
    assert_eq!((&purse["environment"], &purse["livemode"]), (&json!("live"), &json!(true)));
    assert_eq!(purse["available"], json!([]));
}

fn the_route_is_looked_up_before_the_key(store: &Store) {
    let shop = store.shop();
    shop.anyone.get("/v1/nothing").refused(404, "route_not_found", None);
    let put = shop.anyone.send("PUT", "/v1/payments", None, "");
    put.refused(405, "method_not_allowed", None);
    let wrong = Server::caller(&shop.server, "sk_test_nope");
    wrong.get("/v1/nothing").refused(404, "route_not_found", None);
    wrong.delete("/v1/balance").refused(405, "method_not_allowed", None);
}

fn every_key_has_the_form_of_its_kind(store: &Store) {
    let account = store.shop().account;
    assert!(account.id.starts_with("acct_"), "{}", account.id);
    for (key, prefix) in [
        (&account.secret_sandbox, "sk_test_"),
        (&account.public_sandbox, "pk_test_"),
        (&account.secret_live, "sk_live_"),
        (&account.public_live, "pk_live_"),
    ] {
        let rest = key.strip_prefix(prefix).unwrap_or_else(|| panic!("{key} is no {prefix}"));
        assert!(rest.len() == 40 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key}");
    }
}
