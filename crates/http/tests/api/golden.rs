//! What each route is asked and tells, word for word: see the files in `golden/`.

use serde_json::json;

use crate::support::{Ask, link, path_of, payment, payout, tale::Tale};

#[tokio::test]
async fn payments() {
    let mut tale = Tale::new("payments").await;
    let asked = payment(json!({ "description": "Order 1", "metadata": { "cart": "77" } }));
    let made = tale.post("/v1/payments", &asked).await.ok(201);
    tale.stand.after(1).await;
    tale.get(&path_of(&made)).await.ok(200);
    tale.peek(&path_of(&made)).await.ok(200);
    tale.get(&format!("{}/timeline?limit=1", path_of(&made))).await.ok(200);
    let card = json!({
        "amount": 10_900, "currency": "XOF", "payment_method": "card", "country": "CI",
        "return_url": "https://shop.example.com/thanks", "expires_in": 60,
    });
    tale.post("/v1/payments", &card).await.ok(201);
    tale.stand.after(2).await;
    tale.get("/v1/payments?payment_method=card").await.ok(200);
    tale.get("/v1/payments?status=failed&created_from=2024-11-19T00:00:00Z").await.ok(200);
    let wave = tale.stand.payment(json!({ "network": "wave" })).await;
    let cancel = format!("{}/cancel", path_of(&wave));
    tale.post(&cancel, &json!({ "reason": "changed mind" })).await.ok(200);
    tale.ends();
}

#[tokio::test]
async fn payment_links() {
    let mut tale = Tale::new("payment_links").await;
    let made =
        tale.post("/v1/payment-links", &link(json!({ "reference": "INV-42" }))).await.ok(201);
    let path = path_of(&made);
    let change = json!({ "title": "Invoice 43", "metadata": { "a": "1" }, "amount": null });
    tale.post(&path, &change).await.ok(200);
    let through = json!({
        "payment_link": made["id"], "amount": 700, "payment_method": "mobile_money",
        "network": "mtn", "phone": "+2250500000000",
    });
    tale.post("/v1/payments", &through).await.ok(201);
    tale.stand.after(1).await;
    tale.stand.after(2).await;
    tale.get(&path).await.ok(200);
    tale.get(&format!("{path}/payments?status=succeeded")).await.ok(200);
    tale.get("/v1/payment-links?active=true").await.ok(200);
    tale.ends();
}

#[tokio::test]
async fn payouts() {
    let mut tale = Tale::new("payouts").await;
    tale.stand.fund(100_000).await;
    let asked = payout(json!({ "recipient_name": "Awa Diop", "reference": "SAL-11" }));
    let made = tale.post("/v1/payouts", &asked).await.ok(201);
    tale.stand.after(1).await;
    tale.get(&path_of(&made)).await.ok(200);
    tale.peek(&path_of(&made)).await.ok(200);
    tale.get("/v1/payouts?reference=SAL-11&limit=1").await.ok(200);
    tale.ends();
}

#[tokio::test]
async fn refunds() {
    let mut tale = Tale::new("refunds").await;
    let paid = tale.stand.paid(json!({})).await;
    let asked = json!({
        "payment": paid["id"], "amount": 2000, "reason": "requested_by_customer",
    });
    let made = tale.post("/v1/refunds", &asked).await.ok(201);
    tale.get(&path_of(&made)).await.ok(200);
    tale.get("/v1/refunds?status=created").await.ok(200);
    tale.ends();
}

#[tokio::test]
async fn customers() {
    let mut tale = Tale::new("customers").await;
    let asked = json!({
        "name": "Awa Diop", "email": "Awa@example.com", "phone": "+2250500000000",
        "metadata": { "a": "1", "b": "2" },
    });
    let made = tale.post("/v1/customers", &asked).await.ok(201);
    let change = json!({ "metadata": { "a": null, "c": "3" }, "email": null });
    tale.post(&path_of(&made), &change).await.ok(200);
    tale.stand.paid(json!({ "customer": made["id"] })).await;
    tale.get(&path_of(&made)).await.ok(200);
    tale.peek("/v1/customers").await.ok(200);
    tale.ends();
}

#[tokio::test]
async fn ledger() {
    let mut tale = Tale::new("ledger").await;
    tale.get("/v1/balance").await.ok(200);
    let paid = tale.stand.paid(json!({})).await;
    tale.get("/v1/balance").await.ok(200);
    tale.get("/v1/balance?currency=GHS").await.ok(200);
    let of_payment = format!("/v1/ledger?source={}&type=payment_fee", paid["id"].as_str().unwrap());
    tale.get(&of_payment).await.ok(200);
    tale.get("/v1/payment-methods?country=CI").await.ok(200);
    let live = Ask::get("/v1/payment-methods?country=CD&currency=USD").key(&tale.stand.live);
    tale.ask("live", live).await.ok(200);
    tale.ends();
}

#[tokio::test]
async fn webhooks() {
    let mut tale = Tale::new("webhooks").await;
    let asked = json!({ "url": "https://shop.example.com/hooks", "events": ["payment.created"] });
    let made = tale.post("/v1/webhooks", &asked).await.ok(201);
    let path = path_of(&made);
    tale.post(&path, &json!({ "description": "mine", "events": ["*"] })).await.ok(200);
    tale.post(&path, &json!({ "rotate_secret": true })).await.ok(200);
    tale.get("/v1/webhooks").await.ok(200);
    let test = json!({ "webhook_endpoint": made["id"], "event_type": "payout.failed" });
    tale.post("/v1/webhooks/test", &test).await.ok(202);
    tale.stand.after(1).await;
    tale.get("/v1/webhooks/deliveries?event_type=payout.failed").await.ok(200);
    tale.delete(&path).await.ok(200);
    tale.ends();
}

#[tokio::test]
async fn events() {
    let mut tale = Tale::new("events").await;
    let paid = tale.stand.payment(json!({})).await;
    let listed = tale.get("/v1/events?type=payment.created").await.ok(200);
    let event = listed["data"][0]["id"].as_str().unwrap().to_owned();
    tale.get(&format!("/v1/events/{event}")).await.ok(200);
    tale.stand.after(1).await;
    let of_payment = format!("/v1/events?resource={}&limit=1", paid["id"].as_str().unwrap());
    tale.get(&of_payment).await.ok(200);
    let hook = json!({ "url": "https://shop.example.com/hooks", "events": ["payment.created"] });
    let hook = tale.stand.post("/v1/webhooks", &hook).await.ok(201);
    let replay = format!("{}/replay", path_of(&hook));
    let since = json!({ "since": "2024-11-19T00:00:00Z", "limit": 1 });
    let done = tale.post(&replay, &since).await.ok(202);
    let rest = json!({ "since": "2024-11-19T00:00:00Z", "after": done["last_event"] });
    tale.post(&replay, &rest).await.ok(202);
    tale.stand.after(0).await;
    let sent = tale.get("/v1/webhooks/deliveries").await.ok(200);
    let delivery = sent["data"][0]["id"].as_str().unwrap().to_owned();
    tale.stand.after(1).await;
    tale.post(&format!("/v1/webhooks/deliveries/{delivery}/retry"), &json!({})).await.ok(202);
    tale.peek("/v1/events").await.refused(403, "secret_key_required", None);
    tale.ends();
}

#[tokio::test]
async fn sandbox() {
    let mut tale = Tale::new("sandbox").await;
    tale.post("/v1/sandbox/fund", &json!({ "amount": 100_000, "currency": "XOF" })).await.ok(201);
    let made = tale.stand.payment(json!({})).await;
    let simulate = json!({ "id": made["id"], "scenario": "insufficient_funds" });
    tale.post("/v1/sandbox/simulate", &simulate).await.ok(200);
    tale.get("/v1/sandbox/scenarios?applies_to=refund&limit=2").await.ok(200);
    tale.ends();
}

#[tokio::test]
async fn repeats() {
    let mut tale = Tale::new("repeats").await;
    let keyed = Ask::post("/v1/customers", &json!({ "name": "Awa" })).once("k1");
    let keyed = keyed.key(&tale.stand.secret);
    let first = tale.ask("secret", keyed.clone()).await;
    first.ok(201);
    let again = tale.ask("secret", keyed.clone()).await;
    assert_eq!((first.body, first.status), (again.body, again.status));
    let other = keyed.clone().body(json!({ "name": "Ama" }).to_string());
    tale.ask("secret", other).await.refused(422, "idempotency_key_reused", None);
    tale.stand.clock.advance_millis(86_400_000);
    let fresh = tale.ask("secret", keyed).await;
    assert_eq!(fresh.header("Idempotent-Replayed"), None);
    tale.ends();
}
