//! Every error of the contract, word for word: see `golden/errors.txt`.

use std::collections::BTreeSet;

use cauri::{
    Amount, ApiKeyKind, Capabilities, Connection, FeeSchedule, Flow, Offer, PaymentMethod,
    Timestamp,
    decide::{Offers, Terms},
    retry,
};
use serde_json::{Map, Value, json};

use crate::support::{
    Ask, Plan, Stand, description::DESCRIPTION, link, merged, nothing, path_of, payment, payout,
    tale::Tale,
};

/// Writes down a refusal and remembers its code.
struct Refusals {
    tale: Tale,
    seen: BTreeSet<String>,
}

impl Refusals {
    async fn ask(&mut self, who: &str, ask: Ask, status: u16, code: &str, param: Option<&str>) {
        let told = self.tale.ask(who, ask).await;
        told.refused(status, code, param);
        self.seen.insert(code.to_owned());
    }

    async fn post(
        &mut self,
        path: &str,
        body: Value,
        status: u16,
        code: &str,
        param: Option<&str>,
    ) {
        let ask = Ask::post(path, &body).key(&self.tale.stand.secret);
        self.ask("secret", ask, status, code, param).await;
    }

    async fn faulty(&mut self, path: &str, body: Value, code: &str, param: &str) {
        self.post(path, body, 400, code, Some(param)).await;
    }
}

/// Live, where one network pays out and does nothing else.
fn one_way() -> Offers {
    let offer = Offer {
        method: PaymentMethod::MobileMoney,
        network: "mtn".parse().unwrap(),
        currency: "XOF".parse().unwrap(),
        min: Amount::new(100),
        max: Amount::new(2_000_000),
        capabilities: Capabilities { payout: true, ..Capabilities::default() },
        flow: Flow::Push,
        connection: Connection::new("mtn_ci"),
    };
    let catalogue = Terms::default().live.catalogue;
    let catalogue = catalogue.with_offer("CI".parse().unwrap(), offer).unwrap();
    Offers { catalogue, fees: FeeSchedule::empty() }
}

#[tokio::test]
async fn every_error_is_answered_as_the_contract_says() {
    let plan = Plan { live: Some(one_way()), ..Plan::default() };
    let tale = Tale::with("errors", plan).await;
    let mut all = Refusals { tale, seen: BTreeSet::new() };
    who(&mut all).await;
    http(&mut all).await;
    parameters(&mut all).await;
    catalogue(&mut all).await;
    links(&mut all).await;
    payments_and_refunds(&mut all).await;
    webhooks_and_sandbox(&mut all).await;
    let Refusals { tale, seen } = all;
    tale.ends();
    let error = &DESCRIPTION["components"]["schemas"]["Error"];
    let codes = &error["properties"]["error"]["properties"]["code"]["examples"];
    let codes: BTreeSet<String> =
        codes.as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()).collect();
    let unseen: Vec<&str> = codes.difference(&seen).map(String::as_str).collect();
    // These take another installation, or a store in trouble.
    let elsewhere =
        ["idempotency_key_required", "internal_error", "rate_limited", "service_unavailable"];
    assert_eq!(unseen, elsewhere);
}

async fn who(all: &mut Refusals) {
    all.tale.note("Who calls?");
    let ask = Ask::get("/v1/balance");
    all.ask("nobody", ask.clone(), 401, "api_key_missing", None).await;
    all.ask("nobody", ask.clone().key("sk_test_nope"), 401, "api_key_invalid", None).await;
    let (secret, public, live) = {
        let stand = &all.tale.stand;
        (stand.secret.clone(), stand.public.clone(), stand.live.clone())
    };
    let both = ask.clone().key(&secret).header("X-API-Key", &live);
    all.ask("both", both, 401, "credentials_conflict", None).await;
    let (engine, scope) = (all.tale.stand.engine.clone(), all.tale.stand.scope);
    let now = engine.now();
    let gone = engine.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap();
    engine.revoke_key(scope, gone.key.id).await.unwrap();
    all.ask("revoked", ask.clone().key(gone.clear.reveal()), 401, "api_key_revoked", None).await;
    let ends = Some(Timestamp::from_millis(now.millis()));
    let over = engine.create_key(scope, ApiKeyKind::Secret, None, ends).await.unwrap();
    all.ask("expired", ask.key(over.clear.reveal()), 401, "api_key_expired", None).await;
    let create = Ask::post("/v1/payments", &payment(json!({}))).key(&public);
    all.ask("public", create, 403, "secret_key_required", None).await;
    let scenarios = Ask::get("/v1/sandbox/scenarios").key(&live);
    all.ask("live", scenarios, 403, "sandbox_only", None).await;
}

async fn http(all: &mut Refusals) {
    all.tale.note("HTTP");
    let secret = all.tale.stand.secret.clone();
    all.ask("nobody", Ask::get("/v1/nothing"), 404, "route_not_found", None).await;
    all.ask("nobody", Ask::new("PUT", "/v1/payments"), 405, "method_not_allowed", None).await;
    let text = Ask::new("POST", "/v1/customers").key(&secret).body("hello");
    let text = text.header("Content-Type", "text/plain");
    all.ask("secret", text, 415, "content_type_not_supported", None).await;
    let large = Ask::post("/v1/customers", &json!({ "name": "x".repeat(70_000) })).key(&secret);
    all.ask("secret", large, 413, "body_too_large", None).await;
    for body in ["{", "[]", "{\"a\":1,\"a\":2}"] {
        let ask = Ask::post("/v1/customers", &json!({})).key(&secret).body(body);
        all.ask("secret", ask, 400, "json_invalid", None).await;
    }
    let keyed = Ask::post("/v1/customers", &json!({ "name": "A" })).key(&secret);
    all.ask("secret", keyed.clone().once("a b"), 400, "idempotency_key_invalid", None).await;
    all.tale.ask("secret", keyed.clone().once("k1")).await.ok(201);
    let other = keyed.body(json!({ "name": "B" }).to_string()).once("k1");
    all.ask("secret", other, 422, "idempotency_key_reused", None).await;
    let nobody = format!("/v1/payments/{}", nothing("pay"));
    all.ask("secret", Ask::get(&nobody).key(&secret), 404, "resource_not_found", None).await;
}

async fn parameters(all: &mut Refusals) {
    all.tale.note("Parameters");
    let secret = all.tale.stand.secret.clone();
    all.faulty("/v1/payments", json!({}), "parameter_missing", "amount").await;
    let several = payment(json!({ "amount": "5000", "currency": "xof", "colour": "red" }));
    all.faulty("/v1/payments", several, "parameter_invalid", "amount").await;
    let unknown = Ask::get("/v1/payments?statut=failed").key(&secret);
    all.ask("secret", unknown, 400, "parameter_unknown", Some("statut")).await;
    let garbled = Ask::get("/v1/payments?reference=%ff").key(&secret);
    all.ask("secret", garbled, 400, "parameter_invalid", Some("reference")).await;
    let both = Ask::post("/v1/customers?x=1", &json!({})).key(&secret);
    all.ask("secret", both, 400, "parameter_missing", Some("name")).await;
    let customer = payment(json!({ "customer": nothing("cus") }));
    all.faulty("/v1/payments", customer, "related_resource_not_found", "customer").await;
    all.faulty("/v1/payments", payment(json!({ "phone": "+22505" })), "phone_invalid", "phone")
        .await;
    let elsewhere = payment(json!({ "country": "SN" }));
    all.faulty("/v1/payments", elsewhere, "phone_country_mismatch", "phone").await;
}

async fn catalogue(all: &mut Refusals) {
    all.tale.note("The catalogue");
    for (changes, code, param) in [
        (json!({ "amount": 99 }), "amount_below_minimum", "amount"),
        (json!({ "amount": 2_000_001 }), "amount_above_maximum", "amount"),
        (json!({ "currency": "USD" }), "currency_not_supported", "currency"),
        (json!({ "network": "airtel" }), "network_not_supported", "network"),
    ] {
        all.faulty("/v1/payments", payment(changes), code, param).await;
    }
    let france = Ask::get("/v1/payment-methods?country=FR").key(&all.tale.stand.secret);
    all.ask("secret", france, 400, "country_not_supported", Some("country")).await;
    let card = payout(json!({ "payment_method": "card" }));
    all.faulty("/v1/payouts", card, "payout_not_supported", "payment_method").await;
    let live = all.tale.stand.live.clone();
    let card = json!({
        "amount": 500, "currency": "XOF", "payment_method": "card", "country": "CI",
    });
    let card = Ask::post("/v1/payments", &card).key(&live);
    all.ask("live", card, 400, "payment_method_not_supported", Some("payment_method")).await;
    let mobile = Ask::post("/v1/payments", &payment(json!({}))).key(&live);
    all.ask("live", mobile, 400, "payin_not_supported", Some("network")).await;
    all.post("/v1/payouts", payout(json!({})), 402, "balance_insufficient", None).await;
}

async fn links(all: &mut Refusals) {
    all.tale.note("Payment links");
    let through = |link: &Value, changes: Value| {
        let body = json!({
            "payment_link": link["id"], "payment_method": "mobile_money", "network": "mtn",
            "phone": "+2250500009999",
        });
        merged(body, changes)
    };
    let made = all.tale.stand.post("/v1/payment-links", &link(json!({}))).await.ok(201);
    let path = path_of(&made);
    let other = through(&made, json!({ "amount": 1000 }));
    all.faulty("/v1/payments", other, "payment_link_amount_mismatch", "amount").await;
    all.faulty(&path, json!({ "currency": "XAF" }), "parameter_immutable", "currency").await;
    all.tale.stand.post(&path, &json!({ "active": false })).await.ok(200);
    let ask = through(&made, json!({}));
    all.post("/v1/payments", ask.clone(), 409, "payment_link_inactive", None).await;
    let soon = json!({ "active": true, "expires_at": "2024-11-19T00:00:01Z" });
    all.tale.stand.post(&path, &soon).await.ok(200);
    all.tale.stand.clock.advance_millis(2_000);
    all.post("/v1/payments", ask.clone(), 409, "payment_link_expired", None).await;
    all.tale.stand.post(&path, &json!({ "expires_at": null })).await.ok(200);
    let paying = all.tale.stand.post("/v1/payments", &ask).await.ok(201);
    all.post("/v1/payments", ask.clone(), 409, "payment_link_in_use", None).await;
    all.post(&path, json!({ "amount": 7 }), 409, "payment_link_locked", None).await;
    all.tale.stand.simulate(&paying, "success").await.ok(200);
    all.post("/v1/payments", ask, 409, "payment_link_already_paid", None).await;
}

async fn payments_and_refunds(all: &mut Refusals) {
    all.tale.note("Payments and refunds");
    let failed = all.tale.stand.payment(json!({})).await;
    all.tale.stand.simulate(&failed, "user_rejected").await.ok(200);
    let cancel = format!("{}/cancel", path_of(&failed));
    all.post(&cancel, json!({}), 409, "payment_not_cancellable", None).await;
    let refund = |payment: &Value, amount: Option<i64>| match amount {
        Some(amount) => json!({ "payment": payment["id"], "amount": amount }),
        None => json!({ "payment": payment["id"] }),
    };
    let path = "/v1/refunds";
    all.post(path, refund(&failed, None), 409, "payment_not_refundable", None).await;
    let orange =
        all.tale.stand.paid(json!({ "network": "orange", "phone": "+2250700009999" })).await;
    all.faulty(path, refund(&orange, None), "refund_not_supported", "payment").await;
    let wave = all.tale.stand.paid(json!({ "network": "wave" })).await;
    all.faulty(path, refund(&wave, Some(1)), "partial_refund_not_supported", "amount").await;
    let mtn = all.tale.stand.paid(json!({})).await;
    let code = "refund_amount_exceeds_refundable";
    all.faulty(path, refund(&mtn, Some(5001)), code, "amount").await;
    let made = all.tale.stand.post(path, &refund(&mtn, None)).await.ok(201);
    all.tale.stand.simulate(&made, "success").await.ok(200);
    all.post(path, refund(&mtn, None), 409, "payment_already_refunded", None).await;
}

async fn webhooks_and_sandbox(all: &mut Refusals) {
    all.tale.note("Webhooks and the sandbox");
    let path = "/v1/webhooks";
    let url = "https://shop.example.com/hooks";
    let wrong = json!({ "url": url, "events": ["payment.nope"] });
    all.faulty(path, wrong, "event_kind_unknown", "events[0]").await;
    let plain = Ask::post(path, &json!({ "url": "http://shop.example.com" }));
    let plain = plain.key(&all.tale.stand.live);
    all.ask("live", plain, 400, "url_not_allowed", Some("url")).await;
    let made = all.tale.stand.post(path, &json!({ "url": url, "active": false })).await.ok(201);
    let test = json!({ "webhook_endpoint": made["id"] });
    all.post("/v1/webhooks/test", test, 409, "webhook_endpoint_disabled", None).await;
    for _ in 1..16 {
        all.tale.stand.post(path, &json!({ "url": url })).await.ok(201);
    }
    all.post(path, json!({ "url": url }), 400, "webhook_endpoint_limit_reached", None).await;
    let listed = all.tale.stand.get("/v1/webhooks?limit=1").await.ok(200);
    let test = json!({ "webhook_endpoint": listed["data"][0]["id"] });
    let tried = all.tale.stand.post("/v1/webhooks/test", &test).await.ok(202);
    let again = format!("/v1/webhooks/deliveries/{}/retry", tried["id"].as_str().unwrap());
    all.tale.stand.work().await;
    for _ in 1..retry::ATTEMPTS_KEPT_MAX {
        all.tale.stand.post(&again, &json!({})).await.ok(202);
        all.tale.stand.work().await;
    }
    all.post(&again, json!({}), 409, "webhook_delivery_not_retryable", None).await;
    let failed = all.tale.stand.payment(json!({})).await;
    let simulate = |scenario: &str| json!({ "id": failed["id"], "scenario": scenario });
    let path = "/v1/sandbox/simulate";
    all.faulty(path, simulate("miracle"), "scenario_unknown", "scenario").await;
    all.faulty(path, simulate("card_declined"), "scenario_not_applicable", "scenario").await;
    all.tale.stand.simulate(&failed, "user_rejected").await.ok(200);
    all.post(path, simulate("success"), 409, "simulation_not_allowed", None).await;
}

#[tokio::test]
async fn of_thousands_of_faults_a_hundred_are_told() {
    let stand = Stand::new().await;
    let body: Map<String, Value> = (0..5_000).map(|n| (format!("f{n}"), json!(1))).collect();
    let told = stand.post("/v1/customers", &Value::Object(body)).await;
    told.refused(400, "parameter_missing", Some("name"));
    assert_eq!(told.json()["error"]["details"].as_array().map(Vec::len), Some(100));
    let query = vec!["%"; 4_000].join("&");
    let told = stand.get(&format!("/v1/openapi.json?{query}")).await;
    told.refused(400, "parameter_invalid", None);
    assert_eq!(told.json()["error"]["details"].as_array().map(Vec::len), Some(1));
}
