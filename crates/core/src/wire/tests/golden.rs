//! The examples of the contract, byte for byte but for spaces: names, order, nulls.

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{at, env, records, records::parsed, scope};
use crate::{
    commit::query::Listed,
    model::{
        catalogue::Catalogue,
        event::EventKind,
        ledger::{Balance, LedgerAccount, LedgerAccountKind},
        scenario::Scenario,
    },
    value::{
        money::{Amount, Overflow},
        page::Page,
        scope::Environment,
        secret::Secret,
    },
    wire,
};

const PAYMENT: &str = r#"{
  "id": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "payment", "environment": "sandbox", "livemode": false,
  "status": "succeeded", "amount": 5000, "currency": "XOF", "fee_amount": 100, "net_amount": 4900,
  "payment_method": "mobile_money", "network": "mtn", "reference": "ORDER-1001",
  "country": "CI", "phone": "+2250500000000", "customer": "cus_01jd3w8k1f7q2m9x5r6t0v1b3c", "payment_link": null,
  "description": "Order 1001", "metadata": { "cart": "77" },
  "refunded_amount": 0, "refundable_amount": 5000, "return_url": null, "next_action": null,
  "failure_code": null, "failure_message": null, "cancellation_reason": null,
  "expires_at": "2024-11-19T00:15:00.000Z", "created_at": "2024-11-19T00:00:00.000Z", "updated_at": "2024-11-19T00:00:02.310Z",
  "processing_at": "2024-11-19T00:00:00.250Z", "succeeded_at": "2024-11-19T00:00:02.310Z", "failed_at": null,
  "cancelled_at": null, "expired_at": null, "available_at": "2024-11-19T00:00:02.310Z"
}"#;

const PAYOUT: &str = r#"{
  "id": "pout_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "payout", "environment": "sandbox", "livemode": false,
  "status": "created", "amount": 10000, "currency": "XOF", "fee_amount": 100, "total_amount": 10100,
  "payment_method": "mobile_money", "network": "orange", "country": "SN", "phone": "+221770000000",
  "recipient_name": "Awa Diop", "customer": null, "reference": "SAL-11", "description": null, "metadata": {},
  "failure_code": null, "failure_message": null, "created_at": "2024-11-19T00:00:00.000Z", "updated_at": "2024-11-19T00:00:00.000Z",
  "processing_at": null, "succeeded_at": null, "failed_at": null
}"#;

const REFUND: &str = r#"{
  "id": "ref_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "refund", "environment": "sandbox", "livemode": false,
  "status": "created", "payment": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "amount": 2000, "currency": "XOF",
  "fee_returned_amount": 40, "net_amount": 1960, "reason": "requested_by_customer", "description": null, "reference": null, "metadata": {},
  "failure_code": null, "failure_message": null, "created_at": "2024-11-19T01:00:00.000Z", "updated_at": "2024-11-19T01:00:00.000Z",
  "succeeded_at": null, "failed_at": null
}"#;

const PAYMENT_LINK: &str = r#"{
  "id": "plink_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "payment_link", "environment": "sandbox", "livemode": false,
  "status": "created", "active": true, "url": "https://pay.example.com/plink_01jd3w8k4f7q2m9x5r6t0v1b3c",
  "title": "Invoice 42", "description": null, "amount": 15000, "currency": "XOF", "country": "CI", "payment_methods": null,
  "reusable": false, "expires_at": null, "return_url": null, "reference": "INV-42", "metadata": {},
  "payments_count": 0, "succeeded_payments_count": 0, "collected_amount": 0, "paid_at": null,
  "created_at": "2024-11-19T00:00:00.000Z", "updated_at": "2024-11-19T00:00:00.000Z"
}"#;

const CUSTOMER: &str = r#"{
  "id": "cus_01jd3w8k1f7q2m9x5r6t0v1b3c", "object": "customer", "environment": "sandbox", "livemode": false,
  "name": "Awa Diop", "email": "awa@example.com", "phone": "+2250500000000", "country": "CI", "reference": "U-9", "metadata": {},
  "created_at": "2024-11-18T09:00:00.000Z", "updated_at": "2024-11-18T09:00:00.000Z",
  "statistics": {
    "payments_count": 3, "succeeded_payments_count": 2, "failed_payments_count": 1, "refunds_count": 1,
    "first_payment_at": "2024-11-19T00:00:00.000Z", "last_payment_at": "2024-11-19T02:00:00.000Z",
    "by_currency": [
      { "currency": "XOF", "succeeded_payments_count": 2, "paid_amount": 12000, "refunded_amount": 2000, "net_paid_amount": 10000, "average_amount": 6000 }
    ]
  }
}"#;

const LEDGER_ENTRY: &str = r#"{
  "id": "led_01jd3w8k6a7q2m9x5r6t0v1b3d", "object": "ledger_entry", "environment": "sandbox", "livemode": false,
  "transaction": "ltx_01jd3w8k6a7q2m9x5r6t0v1b3a", "account": "merchant_pending", "direction": "credit",
  "amount": 5000, "currency": "XOF", "type": "payment", "source": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c",
  "balance_after": 5000, "created_at": "2024-11-19T00:00:06.120Z"
}"#;

const BALANCE: &str = r#"{
  "object": "balance", "environment": "sandbox", "livemode": false,
  "available": [ { "currency": "KWD", "amount": 0 }, { "currency": "XOF", "amount": 89900 } ],
  "pending":   [ { "currency": "KWD", "amount": 9655 }, { "currency": "XOF", "amount": 0 } ],
  "reserved":  [ { "currency": "KWD", "amount": 0 }, { "currency": "XOF", "amount": 10100 } ]
}"#;

const TIMELINE_ENTRY: &str = r#"{ "object": "timeline_entry", "environment": "sandbox", "livemode": false, "type": "processing", "status": "processing",
  "actor": "network", "message": "The network accepted the request.", "amount": null, "refund": null,
  "event": "evt_01jd3w8k4z7q2m9x5r6t0v1b3c", "created_at": "2024-11-19T00:00:00.250Z" }"#;

const ENDPOINT: &str = r#"{ "id": "whe_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "webhook_endpoint", "environment": "sandbox", "livemode": false,
  "url": "https://shop.example.com/hooks", "events": ["*"], "active": true, "description": null, "metadata": {},
  "secret": "whsec_9fJ2kQ7xLm4Tz8Rw1Vb6Nc3Hd5Ys0Ga2Pe7Uo4Xi", "created_at": "2024-11-19T00:00:00.000Z", "updated_at": "2024-11-19T00:00:00.000Z" }"#;

const DELIVERY: &str = r#"{
  "id": "whd_01jd3w8k8f7q2m9x5r6t0v1b3c", "object": "webhook_delivery", "environment": "sandbox", "livemode": false,
  "webhook_endpoint": "whe_01jd3w8k4f7q2m9x5r6t0v1b3c", "event": "evt_01jd3w8k7f7q2m9x5r6t0v1b3c", "event_type": "payment.succeeded",
  "url": "https://shop.example.com/hooks", "status": "pending", "attempts_count": 1, "max_attempts": 6,
  "next_attempt_at": "2024-11-19T00:00:07.402Z", "http_status": 500, "duration_ms": 92, "error": "non_2xx",
  "attempts": [ { "number": 1, "started_at": "2024-11-19T00:00:02.310Z", "http_status": 500, "duration_ms": 92, "error": "non_2xx" } ],
  "test": false, "created_at": "2024-11-19T00:00:02.310Z", "completed_at": null
}"#;

const SCENARIO: &str = r#"{ "object": "sandbox_scenario", "environment": "sandbox", "livemode": false, "code": "insufficient_funds",
  "description": "The payer has not enough money.", "applies_to": ["payment"], "outcome": "failed",
  "failure_code": "insufficient_funds", "phone_suffix": "0101", "card_amount_suffix": 911, "delay_seconds": 2 }"#;

const FUNDING: &str = r#"{ "object": "sandbox_funding", "environment": "sandbox", "livemode": false, "amount": 100000, "currency": "XOF",
  "transaction": "ltx_01jd3w8k9f7q2m9x5r6t0v1b3c", "available_amount": 100000, "created_at": "2024-11-19T00:00:00.000Z" }"#;

const METHODS: &str = r#"{
  "object": "list", "country": "CI", "currency": "XOF", "environment": "sandbox", "livemode": false,
  "data": [
    { "payment_method": "mobile_money", "networks": [
      { "network": "mtn", "connection_key": "sim_mtn_ci", "simulated": true, "min_amount": 100, "max_amount": 2000000,
        "capabilities": { "payin": true, "payout": true, "refund": true, "partial_refund": true, "cancel": false } },
      { "network": "wave", "connection_key": "sim_wave_ci", "simulated": true, "min_amount": 100, "max_amount": 2000000,
        "capabilities": { "payin": true, "payout": true, "refund": true, "partial_refund": false, "cancel": true } }
    ] },
    { "payment_method": "card", "networks": [ { "network": "visa" }, { "network": "mastercard" } ] }
  ]
}"#;

const EVENT: &str = r#"{
  "id": "evt_01jd3w8k7f7q2m9x5r6t0v1b3c", "object": "event", "type": "payment.succeeded", "created": "2024-11-19T00:00:02.310Z",
  "environment": "sandbox", "livemode": false,
  "data": { "object": { "id": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "payment", "status": "succeeded" } }
}"#;

const API_KEY: &str = r#"{
  "id": "key_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "api_key", "environment": "sandbox", "livemode": false,
  "type": "secret", "name": "shop", "hint": "sk_test_…a1B2",
  "created_at": "2024-11-19T00:00:00.000Z", "last_used_at": null, "expires_at": null, "revoked_at": null
}"#;

const DELETED: &str = r#"{"id":"whe_01jd3w8k4f7q2m9x5r6t0v1b3c","object":"webhook_endpoint","environment":"sandbox","livemode":false,"deleted":true}"#;

/// The same JSON without the spaces between its parts.
fn tight(json: &str) -> String {
    let (mut text, mut inside, mut escaped) = (String::new(), false, false);
    for c in json.chars() {
        if inside || !c.is_whitespace() {
            text.push(c);
        }
        inside ^= c == '"' && !escaped;
        escaped = inside && c == '\\' && !escaped;
    }
    text
}

/// Written, it is the example to the byte; read, the example is it.
#[track_caller]
fn is<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    shown: Result<T, Overflow>,
    example: &str,
) {
    let shown = shown.expect("no overflow");
    let written = serde_json::to_string(&shown).expect("JSON");
    assert_eq!(written, tight(example));
    assert_eq!(serde_json::from_str::<T>(&written).expect("the same"), shown);
}

#[test]
fn every_object_is_written_as_the_contract_shows_it() {
    is(wire::Payment::of(&records::payment()), PAYMENT);
    is(wire::Payout::of(&records::payout()), PAYOUT);
    is(wire::Refund::of(&records::refund()), REFUND);
    is(wire::PaymentLink::of(&records::payment_link()), PAYMENT_LINK);
    is(wire::Customer::of(&records::customer(), Some(&records::statistics())), CUSTOMER);
    is(wire::LedgerEntry::of(&records::entry()), LEDGER_ENTRY);
    is(wire::TimelineEntry::of(&records::timeline_entry()), TIMELINE_ENTRY);
    let secret = Secret::new("whsec_9fJ2kQ7xLm4Tz8Rw1Vb6Nc3Hd5Ys0Ga2Pe7Uo4Xi");
    is(wire::WebhookEndpoint::of(&records::endpoint(), Some(&secret)), ENDPOINT);
    is(wire::DeletedEndpoint::of(&records::endpoint()), DELETED);
    is(wire::WebhookDelivery::of(&records::delivery()), DELIVERY);
    is(wire::SandboxScenario::of(Scenario::InsufficientFunds), SCENARIO);
    is(wire::SandboxFunding::of(&records::funding_entry()), FUNDING);
    is(wire::ApiKey::of(&records::api_key()), API_KEY);
}

#[test]
fn what_is_shown_only_at_times_is_absent_at_others() {
    let keys = |value: Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let endpoint = wire::WebhookEndpoint::of(&records::endpoint(), None).expect("an endpoint");
    assert!(!keys(serde_json::to_value(endpoint).expect("JSON")).contains(&"secret".to_owned()));
    let customer = wire::Customer::of(&records::customer(), None).expect("a customer");
    let customer = keys(serde_json::to_value(customer).expect("JSON"));
    assert!(!customer.contains(&"statistics".to_owned()));
}

#[test]
fn a_balance_has_an_item_for_every_currency_that_ever_moved() {
    let balance = |currency: &str, kind, units| Balance {
        account: LedgerAccount { scope: scope(), currency: parsed(currency), kind },
        amount: Amount::new(units),
    };
    use LedgerAccountKind::{Clearing, Fees, MerchantAvailable, MerchantPending, MerchantReserved};
    let mut balances = vec![
        balance("XOF", MerchantReserved, 10_100),
        balance("KWD", Clearing, 10_005),
        balance("KWD", MerchantPending, 9_655),
        balance("KWD", Fees, 350),
        balance("XOF", MerchantAvailable, 89_900),
        balance("XOF", Clearing, 100_000),
    ];
    is(wire::BalanceSheet::of(scope(), &balances, None), BALANCE);
    let empty = wire::BalanceSheet::of(scope(), &[], None).expect("a sheet");
    assert_eq!((empty.available, empty.pending, empty.reserved), (vec![], vec![], vec![]));
    for (code, available) in [("XOF", 89_900), ("GHS", 0)] {
        let sheet = wire::BalanceSheet::of(scope(), &balances, Some(parsed(code))).expect(code);
        assert_eq!(sheet.available.len(), 1);
        assert_eq!(sheet.available[0].currency, parsed(code));
        assert_eq!(sheet.available[0].amount, Amount::new(available));
        assert_eq!((sheet.pending.len(), sheet.reserved.len()), (1, 1));
    }
    let live = crate::Scope { environment: Environment::Live, ..scope() };
    for balance in &mut balances {
        balance.account.scope = live;
    }
    assert!(wire::BalanceSheet::of(scope(), &balances, None).expect("a sheet").pending.is_empty());
    let twice = [balance("XOF", MerchantPending, i64::MAX), balance("XOF", MerchantPending, 1)];
    assert_eq!(wire::BalanceSheet::of(scope(), &twice, None), Err(Overflow));
}

#[test]
fn methods_show_connections_in_the_sandbox_alone_and_nothing_of_cards() {
    let catalogue = Catalogue::sandbox();
    let country = parsed("CI");
    let (currency, methods) = catalogue.methods(country, None).expect("CI");
    let shown = |environment| {
        let mut shown = wire::PaymentMethods::of(environment, country, currency, &methods)
            .expect("no overflow");
        assert_eq!(shown.data[0].networks.len(), 4);
        shown.data[0].networks.retain(|entry| matches!(entry.network.as_str(), "mtn" | "wave"));
        shown
    };
    is(Ok(shown(Environment::Sandbox)), METHODS);
    let live = METHODS
        .replace(r#""sandbox", "livemode": false"#, r#""live", "livemode": true"#)
        .replace(r#""connection_key": "sim_mtn_ci", "simulated": true, "#, "")
        .replace(r#""connection_key": "sim_wave_ci", "simulated": true, "#, "");
    is(Ok(shown(Environment::Live)), &live);
}

#[test]
fn an_event_carries_the_whole_object() {
    let id = parsed("evt_01jd3w8k7f7q2m9x5r6t0v1b3c");
    let created = at("2024-11-19T00:00:02.310Z");
    let kind = EventKind::PaymentSucceeded;
    let payload =
        |test, object: &Value| wire::event_payload(id, kind, created, scope(), test, object);
    let object = serde_json::json!({
        "id": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "object": "payment", "status": "succeeded"
    });
    assert_eq!(payload(false, &object), tight(EVENT));
    let test = payload(true, &object);
    assert!(test.ends_with(r#"}},"test":true}"#), "{test}");
    let event: wire::Event<Value> = serde_json::from_str(&test).expect("an event");
    assert!(event.test);
    let payment = wire::Payment::of(&records::payment()).expect("a payment");
    let whole = wire::event_payload(id, kind, created, scope(), false, &payment);
    assert!(whole.ends_with(&format!(r#""data":{{"object":{}}}}}"#, tight(PAYMENT))), "{whole}");
    let event: wire::Event<wire::Payment> = serde_json::from_str(&whole).expect("an event");
    assert_eq!(event.data.object, payment);
}

#[test]
fn a_list_has_six_fields_and_knows_whether_more_follows() {
    let list = |items: Vec<u8>, total, page| {
        wire::List::of(Listed { items, total }, page).expect("no overflow")
    };
    let page = |limit, offset| Page::new(limit, offset).expect("a page");
    let written = serde_json::to_string(&list(vec![1, 2], 3, page(2, 0))).expect("JSON");
    let example =
        r#"{"object":"list","data":[1,2],"has_more":true,"total":3,"limit":2,"offset":0}"#;
    assert_eq!(written, example);
    assert!(!list(vec![3], 3, page(2, 2)).has_more);
    assert!(!list(vec![], 3, page(2, i64::MAX)).has_more);
    assert!(!list(vec![], 0, page(100, 0)).has_more);
    let failing = wire::List::each(Listed { items: vec![1, 2], total: 2 }, page(2, 0), |it| {
        if it == 2 { Err(Overflow) } else { Ok(it) }
    });
    assert_eq!(failing, Err(Overflow));
}

#[test]
fn a_delivery_that_ended_without_an_attempt_says_why_alone() {
    use crate::model::delivery::AttemptError;
    let ended =
        crate::Delivery { ended_by: Some(AttemptError::EndpointDeleted), ..records::delivery() };
    let shown = wire::WebhookDelivery::of(&ended).expect("a delivery");
    assert_eq!(shown.error, Some(AttemptError::EndpointDeleted));
    assert_eq!((shown.http_status, shown.duration_ms), (None, None));
    assert_eq!((shown.attempts_count, shown.attempts.len()), (1, 1));
    let fresh = crate::Delivery { attempts: Vec::new(), ..records::delivery() };
    let shown = wire::WebhookDelivery::of(&fresh).expect("a delivery");
    assert_eq!((shown.error, shown.attempts_count), (None, 0));
}

#[test]
fn sums_that_do_not_fit_are_told_and_not_shown() {
    let payment = crate::Payment {
        amount: Amount::new(i64::MIN),
        fee_amount: Amount::new(1),
        ..records::payment()
    };
    assert_eq!(wire::Payment::of(&payment), Err(Overflow));
    let payout = crate::Payout { amount: Amount::new(i64::MAX), ..records::payout() };
    assert_eq!(wire::Payout::of(&payout), Err(Overflow));
    let refund = crate::Refund { amount: Amount::new(i64::MIN), ..records::refund() };
    assert_eq!(wire::Refund::of(&refund), Err(Overflow));
    let mut statistics = records::statistics();
    statistics.by_currency[0].succeeded_payments_count = 0;
    let shown = wire::CustomerStatistics::of(&statistics).expect("no division by nothing");
    assert_eq!(shown.by_currency[0].average_amount, Amount::ZERO);
}

#[test]
fn a_sample_of_every_kind_has_the_status_it_tells_of() {
    for kind in EventKind::ALL {
        let (noun, status) = kind.as_str().split_once('.').expect("a family and a word");
        let mut env = env();
        let sample = serde_json::to_string(&wire::sample(*kind, &mut env, scope())).expect("JSON");
        let value: Value = serde_json::from_str(&sample).expect("JSON");
        assert_eq!((&value["object"], &value["status"]), (&noun.into(), &status.into()), "{kind}");
        assert_eq!(value["updated_at"], env.now().to_string(), "{kind}");
        let again = match noun {
            "payment" => again::<wire::Payment>(&sample),
            "payout" => again::<wire::Payout>(&sample),
            "refund" => again::<wire::Refund>(&sample),
            _ => again::<wire::PaymentLink>(&sample),
        };
        assert_eq!(again, sample, "{kind}: a whole object, in the contract's order");
        let milestone = format!("{status}_at");
        if let Some(reached) = value.get(&milestone) {
            assert_eq!(reached, &value["updated_at"], "{kind}");
        }
        assert_eq!(value["failure_code"].is_string(), status == "failed", "{kind}");
    }
}

fn again<T: Serialize + DeserializeOwned>(json: &str) -> String {
    let value: T = serde_json::from_str(json).expect("the object it says it is");
    serde_json::to_string(&value).expect("JSON")
}
