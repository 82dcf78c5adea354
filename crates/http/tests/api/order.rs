//! What is checked before what (API §2.2): each request here is wrong in two ways, and only the
//! first is told.

use serde_json::json;

use crate::support::{Ask, Plan, Stand, nothing, path_of, payment};

#[tokio::test]
async fn the_route_comes_before_the_key() {
    let stand = Stand::new().await;
    let wrong = |ask: Ask| ask.key("sk_test_nope");
    stand.ask(wrong(Ask::get("/v1/nothing"))).await.refused(404, "route_not_found", None);
    let delete = wrong(Ask::new("DELETE", "/v1/balance"));
    stand.ask(delete).await.refused(405, "method_not_allowed", None);
    let query = wrong(Ask::get("/v1/balance?x=%ff"));
    stand.ask(query).await.refused(401, "api_key_invalid", None);
}

#[tokio::test]
async fn the_key_comes_before_the_rate() {
    let stand = Stand::with(Plan { rate: Some((1, 60)), ..Plan::default() }).await;
    stand.get("/v1/balance").await.ok(200);
    stand.get("/v1/balance").await.refused(429, "rate_limited", None);
    stand.ask(Ask::get("/v1/balance")).await.refused(401, "api_key_missing", None);
}

#[tokio::test]
async fn the_rate_comes_before_the_kind_of_key() {
    let stand = Stand::with(Plan { rate: Some((1, 60)), ..Plan::default() }).await;
    let ask = Ask::post("/v1/payments", &json!({})).key(&stand.public);
    stand.ask(ask.clone()).await.refused(403, "secret_key_required", None);
    stand.ask(ask).await.refused(429, "rate_limited", None);
}

#[tokio::test]
async fn the_kind_of_key_comes_before_the_environment_and_both_before_the_body() {
    let stand = Stand::new().await;
    let public = Ask::new("POST", "/v1/sandbox/fund").key(&stand.public).body("x".repeat(70_000));
    stand.ask(public).await.refused(403, "secret_key_required", None);
    let live = Ask::new("POST", "/v1/sandbox/fund").key(&stand.live).body("{");
    stand.ask(live).await.refused(403, "sandbox_only", None);
}

#[tokio::test]
async fn the_media_type_and_the_size_come_before_the_json() {
    let stand = Stand::new().await;
    let ask = || Ask::new("POST", "/v1/payments").key(&stand.secret);
    let text = ask().header("Content-Type", "text/plain").body("{");
    stand.ask(text).await.refused(415, "content_type_not_supported", None);
    let json = ask().header("Content-Type", "application/json");
    stand.ask(json.body("{".repeat(70_000))).await.refused(413, "body_too_large", None);
}

#[tokio::test]
async fn the_json_comes_before_the_idempotency_key() {
    let stand = Stand::new().await;
    let ask = Ask::post("/v1/payments", &json!({})).key(&stand.secret);
    let ask = ask.once("a b").body("{");
    stand.ask(ask).await.refused(400, "json_invalid", None);
}

#[tokio::test]
async fn the_idempotency_key_comes_before_the_object() {
    let stand = Stand::new().await;
    let customer = Ask::post("/v1/customers", &json!({ "name": "A" })).key(&stand.secret);
    stand.ask(customer.once("k1")).await.ok(201);
    for path in [
        format!("/v1/customers/{}", nothing("cus")),
        format!("/v1/payments/{}/cancel", nothing("pay")),
        format!("/v1/payment-links/{}", nothing("plink")),
        format!("/v1/webhooks/{}", nothing("whe")),
        "/v1/customers/nonsense".to_owned(),
    ] {
        let ask = || Ask::post(&path, &json!({ "colour": 1 })).key(&stand.secret);
        stand.ask(ask().once("a b")).await.refused(400, "idempotency_key_invalid", None);
        stand.ask(ask().once("k1")).await.refused(422, "idempotency_key_reused", None);
        stand.ask(ask().once("k2")).await.refused(404, "resource_not_found", None);
    }
}

#[tokio::test]
async fn the_idempotency_key_comes_before_the_parameters() {
    let stand = Stand::new().await;
    let customer = Ask::post("/v1/customers", &json!({ "name": "A" })).key(&stand.secret);
    stand.ask(customer.clone().once("k1")).await.ok(201);
    let wrong = customer.clone().body("{\"name\":5}");
    stand.ask(wrong.clone().once("k1")).await.refused(422, "idempotency_key_reused", None);
    stand.ask(wrong.once("k2")).await.refused(400, "parameter_invalid", Some("name"));
    // The very same request stays answered, even where it would be refused by now.
    let link = json!({
        "title": "A", "currency": "XOF", "country": "CI", "expires_at": "2024-11-19T00:00:05Z",
    });
    let link = Ask::post("/v1/payment-links", &link).key(&stand.secret);
    let first = stand.ask(link.clone().once("k3")).await;
    first.ok(201);
    stand.clock.advance_millis(10_000);
    stand.ask(link.clone().once("k4")).await.refused(400, "parameter_invalid", Some("expires_at"));
    let again = stand.ask(link.once("k3")).await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    assert_eq!(again.header("Location"), first.header("Location"));
}

#[tokio::test]
async fn a_deleted_object_still_answers_what_it_answered() {
    let stand = Stand::new().await;
    let made = stand.post("/v1/webhooks", &json!({ "url": "https://a.example.com/" })).await;
    let path = path_of(&made.ok(201));
    let change = Ask::post(&path, &json!({ "rotate_secret": true })).key(&stand.secret);
    let first = stand.ask(change.clone().once("k1")).await;
    first.ok(200);
    stand.ask(Ask::new("DELETE", &path).key(&stand.secret)).await.ok(200);
    let again = stand.ask(change.clone().once("k1")).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    stand.ask(change.once("k2")).await.refused(404, "resource_not_found", None);
}

#[tokio::test]
async fn the_object_comes_before_the_parameters() {
    let stand = Stand::new().await;
    for (path, wrong) in [
        (format!("/v1/customers/{}", nothing("cus")), json!({ "name": 5 })),
        (format!("/v1/payment-links/{}", nothing("plink")), json!({ "currency": "XOF" })),
        (format!("/v1/webhooks/{}", nothing("whe")), json!({ "url": "nope" })),
        (format!("/v1/payments/{}/cancel", nothing("pay")), json!({ "reason": "" })),
        (format!("/v1/payments/{}/cancel", nothing("cus")), json!({ "reason": "" })),
    ] {
        stand.post(&path, &wrong).await.refused(404, "resource_not_found", None);
    }
    for path in [
        format!("/v1/payments/{}", nothing("pay")),
        format!("/v1/payments/{}/timeline", nothing("pay")),
        format!("/v1/payouts/{}", nothing("pout")),
        format!("/v1/refunds/{}", nothing("ref")),
        format!("/v1/customers/{}", nothing("cus")),
        format!("/v1/payment-links/{}", nothing("plink")),
        format!("/v1/payment-links/{}/payments", nothing("plink")),
        "/v1/payments/nonsense".to_owned(),
        format!("/v1/payments/{}", nothing("pout")),
    ] {
        for query in ["?colour=red", "?limit=0", "?x=%ff"] {
            let told = stand.get(&format!("{path}{query}")).await;
            told.refused(404, "resource_not_found", None);
        }
    }
    let delete = format!("/v1/webhooks/{}?x=1", nothing("whe"));
    let delete = Ask::new("DELETE", &delete).key(&stand.secret);
    stand.ask(delete).await.refused(404, "resource_not_found", None);
    let made = stand.payment(json!({})).await;
    let told = stand.get(&format!("{}?colour=red", path_of(&made))).await;
    told.refused(400, "parameter_unknown", Some("colour"));
}

#[tokio::test]
async fn the_parameters_come_before_the_objects_they_name_and_these_before_the_catalogue() {
    let stand = Stand::new().await;
    let customer = nothing("cus");
    let both = payment(json!({ "customer": customer, "amount": 0 }));
    let told = stand.post("/v1/payments", &both).await;
    told.refused(400, "parameter_invalid", Some("amount"));
    assert_eq!(told.json()["error"]["details"].as_array().unwrap().len(), 1);
    let both = payment(json!({ "customer": customer, "network": "airtel" }));
    let told = stand.post("/v1/payments", &both).await;
    told.refused(400, "related_resource_not_found", Some("customer"));
}

#[tokio::test]
async fn what_is_refused_writes_nothing() {
    let stand = Stand::new().await;
    stand.post("/v1/payments", &payment(json!({ "amount": 99 }))).await.refused(
        400,
        "amount_below_minimum",
        Some("amount"),
    );
    stand.post("/v1/payments?x=1", &payment(json!({}))).await.refused(
        400,
        "parameter_unknown",
        Some("x"),
    );
    assert_eq!(stand.total("/v1/payments").await, 0);
    assert_eq!(stand.total("/v1/ledger").await, 0);
}
