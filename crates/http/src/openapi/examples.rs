//! What requests and responses look like: an example of each, which a test holds against its own
//! schema.

use serde_json::{Value, json};

/// The example of a schema that requests or responses have; `None` where the name has none.
pub(crate) fn of(name: &str) -> Option<Value> {
    if let Some(item) = name.strip_suffix("List") {
        let item = of(item)?;
        let page = json!({
            "object": "list", "data": [item], "has_more": false, "total": 1, "limit": 25,
            "offset": 0,
        });
        return Some(page);
    }
    request(name).or_else(|| money(name)).or_else(|| webhook(name))
}

/// An error with a code, as a status answers it.
pub(crate) fn error(kind: &str, code: &str) -> Value {
    json!({ "error": {
        "type": kind,
        "code": code,
        "message": "A sentence for people, which may change.",
        "param": null,
        "request_id": "req_01jd3w8k4f7q2m9x5r6t0v1b3c",
    } })
}

fn request(name: &str) -> Option<Value> {
    Some(match name {
        "CreatePayment" => json!({
            "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
            "phone": "+2250500000000", "reference": "ORDER-1001", "metadata": { "cart": "77" },
        }),
        "CancelPayment" => json!({ "reason": "The order was withdrawn." }),
        "CreatePaymentLink" => json!({
            "title": "Invoice 42", "amount": 15_000, "currency": "XOF", "country": "CI",
            "reference": "INV-42",
        }),
        "ModifyPaymentLink" => json!({ "title": "Invoice 43", "active": false }),
        "CreatePayout" => json!({
            "amount": 10_000, "currency": "XOF", "network": "orange", "phone": "+221770000000",
            "recipient_name": "Awa Diop", "reference": "SAL-11",
        }),
        "CreateRefund" => json!({
            "payment": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "amount": 2000,
            "reason": "requested_by_customer",
        }),
        "CreateCustomer" => json!({
            "name": "Awa Diop", "email": "awa@example.com", "phone": "+2250500000000",
            "country": "CI", "reference": "U-9",
        }),
        "ModifyCustomer" => json!({ "email": null, "metadata": { "tier": "gold" } }),
        "CreateWebhookEndpoint" => json!({
            "url": "https://shop.example.com/hooks",
            "events": ["payment.succeeded", "payment.failed"],
        }),
        "ModifyWebhookEndpoint" => {
            json!({ "rotate_secret": true, "previous_secret_expires_in": 3600 })
        }
        "TestWebhook" => json!({
            "webhook_endpoint": "whe_01jd3w8k4f7q2m9x5r6t0v1b3c",
            "event_type": "payment.succeeded",
        }),
        "RetryDelivery" => json!({}),
        "ReplayEvents" => json!({ "since": "2024-11-19T00:00:00Z", "limit": 100 }),
        "Simulate" => json!({
            "id": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "scenario": "insufficient_funds",
        }),
        "Fund" => json!({ "amount": 100_000, "currency": "XOF" }),
        _ => return None,
    })
}

fn money(name: &str) -> Option<Value> {
    Some(match name {
        "Payment" | "Simulated" => payment(),
        "PaymentLink" => json!({
            "id": "plink_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "payment_link",
            "environment": "sandbox", "livemode": false, "status": "created", "active": true,
            "url": "https://pay.example.com/plink_01jd3w8k4f7q2m9x5r6t0v1b3c",
            "title": "Invoice 42", "description": null, "amount": 15_000, "currency": "XOF",
            "country": "CI", "payment_methods": null, "reusable": false, "expires_at": null,
            "return_url": null, "reference": "INV-42", "metadata": {}, "payments_count": 0,
            "succeeded_payments_count": 0, "collected_amount": 0, "paid_at": null,
            "created_at": "2024-11-19T00:00:00.000Z", "updated_at": "2024-11-19T00:00:00.000Z",
        }),
        "Payout" => json!({
            "id": "pout_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "payout",
            "environment": "sandbox", "livemode": false, "status": "created", "amount": 10_000,
            "currency": "XOF", "fee_amount": 100, "total_amount": 10_100,
            "payment_method": "mobile_money", "network": "orange", "country": "SN",
            "phone": "+221770000000", "recipient_name": "Awa Diop", "customer": null,
            "reference": "SAL-11", "description": null, "metadata": {}, "failure_code": null,
            "failure_message": null, "created_at": "2024-11-19T00:00:00.000Z",
            "updated_at": "2024-11-19T00:00:00.000Z", "processing_at": null,
            "succeeded_at": null, "failed_at": null,
        }),
        "Refund" => json!({
            "id": "ref_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "refund",
            "environment": "sandbox", "livemode": false, "status": "created",
            "payment": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "amount": 2000, "currency": "XOF",
            "fee_returned_amount": 40, "net_amount": 1960, "reason": "requested_by_customer",
            "description": null, "reference": null, "metadata": {}, "failure_code": null,
            "failure_message": null, "created_at": "2024-11-19T01:00:00.000Z",
            "updated_at": "2024-11-19T01:00:00.000Z", "succeeded_at": null, "failed_at": null,
        }),
        "TimelineEntry" => json!({
            "object": "timeline_entry", "environment": "sandbox", "livemode": false,
            "type": "processing", "status": "processing", "actor": "network",
            "message": "The network accepted the request.", "amount": null, "refund": null,
            "event": "evt_01jd3w8k4z7q2m9x5r6t0v1b3c", "created_at": "2024-11-19T00:00:00.250Z",
        }),
        "Customer" => json!({
            "id": "cus_01jd3w8k1f7q2m9x5r6t0v1b3c", "object": "customer",
            "environment": "sandbox", "livemode": false, "name": "Awa Diop",
            "email": "awa@example.com", "phone": "+2250500000000", "country": "CI",
            "reference": "U-9", "metadata": {}, "created_at": "2024-11-18T09:00:00.000Z",
            "updated_at": "2024-11-18T09:00:00.000Z",
        }),
        "PaymentMethods" => json!({
            "object": "list", "country": "CI", "currency": "XOF", "environment": "sandbox",
            "livemode": false, "data": [
                { "payment_method": "mobile_money", "networks": [{
                    "network": "mtn", "connection_key": "sim_mtn_ci", "simulated": true,
                    "min_amount": 100, "max_amount": 2_000_000, "capabilities": {
                        "payin": true, "payout": true, "refund": true, "partial_refund": true,
                        "cancel": false,
                    },
                }] },
                { "payment_method": "card", "networks": [{ "network": "visa" }] },
            ],
        }),
        "Balance" => json!({
            "object": "balance", "environment": "sandbox", "livemode": false,
            "available": [{ "currency": "XOF", "amount": 89_900 }],
            "pending": [{ "currency": "XOF", "amount": 0 }],
            "reserved": [{ "currency": "XOF", "amount": 10_100 }],
        }),
        "LedgerEntry" => json!({
            "id": "led_01jd3w8k6a7q2m9x5r6t0v1b3d", "object": "ledger_entry",
            "environment": "sandbox", "livemode": false,
            "transaction": "ltx_01jd3w8k6a7q2m9x5r6t0v1b3a", "account": "merchant_pending",
            "direction": "credit", "amount": 5000, "currency": "XOF", "type": "payment",
            "source": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "balance_after": 5000,
            "created_at": "2024-11-19T00:00:06.120Z",
        }),
        "SandboxFunding" => json!({
            "object": "sandbox_funding", "environment": "sandbox", "livemode": false,
            "amount": 100_000, "currency": "XOF",
            "transaction": "ltx_01jd3w8k6f7q2m9x5r6t0v1b3c", "available_amount": 100_000,
            "created_at": "2024-11-19T00:00:00.000Z",
        }),
        "SandboxScenario" => json!({
            "object": "sandbox_scenario", "environment": "sandbox", "livemode": false,
            "code": "insufficient_funds", "description": "The payer has not enough money.",
            "applies_to": ["payment"], "outcome": "failed",
            "failure_code": "insufficient_funds", "phone_suffix": "0101",
            "card_amount_suffix": 911, "delay_seconds": 2,
        }),
        _ => return None,
    })
}

fn payment() -> Value {
    json!({
        "id": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "payment", "environment": "sandbox",
        "livemode": false, "status": "succeeded", "amount": 5000, "currency": "XOF",
        "fee_amount": 100, "net_amount": 4900, "payment_method": "mobile_money",
        "network": "mtn", "reference": "ORDER-1001", "country": "CI",
        "phone": "+2250500000000", "customer": "cus_01jd3w8k1f7q2m9x5r6t0v1b3c",
        "payment_link": null, "description": "Order 1001", "metadata": { "cart": "77" },
        "refunded_amount": 0, "refundable_amount": 5000, "return_url": null,
        "next_action": null, "failure_code": null, "failure_message": null,
        "cancellation_reason": null, "expires_at": "2024-11-19T00:15:00.000Z",
        "created_at": "2024-11-19T00:00:00.000Z", "updated_at": "2024-11-19T00:00:02.310Z",
        "processing_at": "2024-11-19T00:00:00.250Z",
        "succeeded_at": "2024-11-19T00:00:02.310Z", "failed_at": null, "cancelled_at": null,
        "expired_at": null, "available_at": "2024-11-19T00:00:02.310Z",
    })
}

fn webhook(name: &str) -> Option<Value> {
    Some(match name {
        "WebhookEndpoint" => json!({
            "id": "whe_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "webhook_endpoint",
            "environment": "sandbox", "livemode": false,
            "url": "https://shop.example.com/hooks", "events": ["*"], "active": true,
            "description": null, "metadata": {}, "created_at": "2024-11-19T00:00:00.000Z",
            "updated_at": "2024-11-19T00:00:00.000Z",
        }),
        "DeletedWebhookEndpoint" => json!({
            "id": "whe_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "webhook_endpoint",
            "environment": "sandbox", "livemode": false, "deleted": true,
        }),
        "WebhookDelivery" => json!({
            "id": "whd_01jd3w8k8f7q2m9x5r6t0v1b3c", "object": "webhook_delivery",
            "environment": "sandbox", "livemode": false,
            "webhook_endpoint": "whe_01jd3w8k4f7q2m9x5r6t0v1b3c",
            "event": "evt_01jd3w8k7f7q2m9x5r6t0v1b3c", "event_type": "payment.succeeded",
            "url": "https://shop.example.com/hooks", "status": "pending", "attempts_count": 1,
            "max_attempts": 6, "next_attempt_at": "2024-11-19T00:00:07.402Z",
            "http_status": 500, "duration_ms": 92, "error": "non_2xx", "attempts": [{
                "number": 1, "started_at": "2024-11-19T00:00:02.310Z", "http_status": 500,
                "duration_ms": 92, "error": "non_2xx",
            }],
            "test": false, "created_at": "2024-11-19T00:00:02.310Z", "completed_at": null,
        }),
        "WebhookReplay" => json!({
            "object": "webhook_replay", "environment": "sandbox", "livemode": false,
            "webhook_endpoint": "whe_01jd3w8k4f7q2m9x5r6t0v1b3c",
            "since": "2024-11-19T00:00:00.000Z", "until": "2024-11-19T06:00:00.001Z",
            "events_count": 100, "deliveries_count": 97,
            "last_event": "evt_01jd3w8k7f7q2m9x5r6t0v1b3c", "has_more": true,
        }),
        "Event" => json!({
            "id": "evt_01jd3w8k7f7q2m9x5r6t0v1b3c", "object": "event",
            "type": "payment.succeeded", "created": "2024-11-19T00:00:02.310Z",
            "environment": "sandbox", "livemode": false, "data": { "object": payment() },
        }),
        _ => return None,
    })
}
