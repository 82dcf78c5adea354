//! Funding, the balance, and sending money out (API §7.1, §8.4, §10, §17.3).

use serde_json::{Value, json};

use crate::support::catalogue::{OFFERS, payout_fee_limits, share};
use crate::support::check::{ENTRY, PAYOUT, assert_id, declares, fields, names};
use crate::support::server::Store;
use crate::support::shop::{Purse, Shop, path_of, texts};
use crate::support::sink::Sink;
use crate::support::time::{millis, took};
use crate::support::{sample, stories};

stories![
    a_new_account_has_an_empty_balance,
    funding_credits_what_is_available,
    funding_asks_for_an_amount_and_a_currency,
    funding_says_where_its_lines_are_and_takes_no_key,
    the_balance_is_sorted_by_currency,
    a_payout_reserves_the_amount_and_its_fee,
    a_paid_payout_takes_the_reserve,
    a_failed_payout_gives_everything_back,
    what_was_given_with_a_payout_is_kept,
    a_payout_beyond_the_funds_leaves_no_trace,
    the_last_unit_can_be_paid_out,
    one_currency_does_not_pay_for_another,
    pending_money_is_not_paid_out,
    a_payout_without_a_scenario_succeeds_by_itself,
    a_payout_fails_for_the_reason_of_its_number,
    a_payout_of_patience_waits,
    the_fee_has_a_floor_and_a_ceiling,
    every_network_pays_out_within_its_limits,
    a_payout_goes_to_a_phone_alone,
    payouts_are_filtered,
    a_payout_tells_its_story_in_events,
];

fn a_new_account_has_an_empty_balance(store: &Store) {
    let shop = store.shop();
    let balance = shop.get("/v1/balance").ok(200);
    let expected = json!({
        "object": "balance", "environment": "sandbox", "livemode": false,
        "available": [], "pending": [], "reserved": []
    });
    assert_eq!(balance, expected);
    assert_eq!(shop.purse("XOF"), Purse { available: 0, pending: 0, reserved: 0 });
}

fn funding_credits_what_is_available(store: &Store) {
    let shop = store.shop();
    let funding = shop.fund(100_000, "XOF");
    let declared = [
        "object",
        "environment",
        "livemode",
        "amount",
        "currency",
        "transaction",
        "available_amount",
        "created_at",
    ];
    declares(&funding, &declared);
    assert_eq!(funding["object"], "sandbox_funding");
    assert_eq!(
        (&funding["amount"], &funding["available_amount"]),
        (&json!(100_000), &json!(100_000))
    );
    assert_id("ltx", &funding["transaction"]);
    assert_eq!(shop.purse("XOF"), Purse { available: 100_000, pending: 0, reserved: 0 });
    let lines = shop.list("/v1/ledger");
    let mut ways: Vec<_> = lines
        .iter()
        .map(|line| {
            declares(line, ENTRY);
            assert_id("led", &line["id"]);
            assert_eq!(line["transaction"], funding["transaction"]);
            assert_eq!((&line["type"], &line["source"]), (&json!("sandbox_funding"), &Value::Null));
            assert_eq!(
                (&line["amount"], &line["balance_after"]),
                (&json!(100_000), &json!(100_000))
            );
            format!("{} {}", line["direction"].as_str().unwrap(), line["account"].as_str().unwrap())
        })
        .collect();
    ways.sort();
    assert_eq!(ways, ["credit merchant_available", "debit clearing"]);
    assert_eq!(shop.fund(1, "XOF")["available_amount"], 100_001);
}

fn funding_says_where_its_lines_are_and_takes_no_key(store: &Store) {
    let shop = store.shop();
    let told = shop.post("/v1/sandbox/fund", &json!({"amount": 700, "currency": "XOF"}));
    let transaction = told.ok(201)["transaction"].as_str().unwrap().to_owned();
    let lines = shop.get(told.header("Location").unwrap()).ok(200);
    assert_eq!((&lines["total"], &lines["data"][0]["amount"]), (&json!(2), &json!(700)));
    assert_eq!(lines["data"][0]["transaction"], transaction);
    let made = shop.post_once(&transaction, "/v1/customers", &json!({"name": "A"}));
    assert_eq!((made.status, made.header("Idempotent-Replayed")), (201, None), "{}", made.text());
}

fn funding_asks_for_an_amount_and_a_currency(store: &Store) {
    let shop = store.shop();
    let ask = |body: Value| shop.post("/v1/sandbox/fund", &body);
    ask(json!({"amount": 0, "currency": "XOF"})).invalid("amount");
    ask(json!({"amount": 5, "currency": "xof"})).invalid("currency");
    ask(json!({"currency": "XOF"})).missing("amount");
    ask(json!({"amount": 5})).missing("currency");
    for currency in ["XOF", "EUR", "JPY", "KWD", "USD", "CDF"] {
        assert_eq!(shop.fund(5, currency)["available_amount"], 5);
    }
    assert_eq!(shop.fund(999_999_999_999, "GHS")["available_amount"], 999_999_999_999_i64);
}

fn the_balance_is_sorted_by_currency(store: &Store) {
    let shop = store.shop();
    shop.fund(5000, "KWD");
    shop.fund(7, "GHS");
    let balance = shop.get("/v1/balance").ok(200);
    let items = |ghs: i64, kwd: i64| json!([{"currency": "GHS", "amount": ghs}, {"currency": "KWD", "amount": kwd}]);
    assert_eq!(balance["available"], items(7, 5000));
    assert_eq!(balance["pending"], items(0, 0));
    assert_eq!(balance["reserved"], items(0, 0));
    let kwd = shop.get("/v1/balance?currency=KWD").ok(200);
    assert_eq!(kwd["available"], json!([{"currency": "KWD", "amount": 5000}]));
    assert_eq!(kwd["pending"], json!([{"currency": "KWD", "amount": 0}]));
    assert_eq!(
        fields(&kwd),
        names(&["object", "environment", "livemode", "available", "pending", "reserved"])
    );
}

fn funded(store: &Store) -> Shop {
    let shop = store.shop();
    shop.fund(100_000, "XOF");
    shop
}

fn a_payout_reserves_the_amount_and_its_fee(store: &Store) {
    let shop = funded(store);
    let response = shop.pay_out(json!({}));
    let payout = response.ok(201);
    declares(&payout, PAYOUT);
    assert_id("pout", &payout["id"]);
    assert_eq!(response.header("Location"), Some(path_of(&payout["id"]).as_str()));
    let expected = json!({
        "object": "payout", "environment": "sandbox", "livemode": false, "status": "created",
        "amount": 10_000, "currency": "XOF", "fee_amount": 100, "total_amount": 10_100,
        "payment_method": "mobile_money", "network": "orange", "country": "SN",
        "phone": "+221770000002", "recipient_name": null, "customer": null, "reference": null,
        "description": null, "metadata": {}, "failure_code": null, "failure_message": null,
        "processing_at": null, "succeeded_at": null, "failed_at": null
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&payout[name], value, "{name}");
    }
    assert_eq!(shop.purse("XOF"), Purse { available: 89_900, pending: 0, reserved: 10_100 });
    assert_eq!(shop.posted(&payout), ["payout_hold", "payout_hold"]);
}

fn a_paid_payout_takes_the_reserve(store: &Store) {
    let shop = funded(store);
    let payout = shop.pay_out(json!({})).ok(201);
    let paid = shop.simulate(&payout["id"], "success").ok(200);
    assert_eq!(paid["status"], "succeeded");
    assert!(!paid["processing_at"].is_null() && !paid["succeeded_at"].is_null());
    assert_eq!(shop.see(&payout["id"]), paid);
    assert_eq!(shop.purse("XOF"), Purse { available: 89_900, pending: 0, reserved: 0 });
    let expected = ["payout_hold", "payout_hold", "payout", "payout", "payout_fee", "payout_fee"];
    assert_eq!(shop.posted(&payout), expected);
    let clearing = shop.list("/v1/ledger?account=clearing&currency=XOF");
    assert_eq!(clearing[0]["balance_after"], 90_000);
    let fees = shop.list("/v1/ledger?account=fees&currency=XOF");
    assert_eq!((&fees[0]["direction"], &fees[0]["balance_after"]), (&json!("credit"), &json!(100)));
    shop.simulate(&payout["id"], "success").refused(409, "simulation_not_allowed", None);
}

fn a_failed_payout_gives_everything_back(store: &Store) {
    let shop = funded(store);
    let payout = shop.pay_out(json!({})).ok(201);
    let failed = shop.simulate(&payout["id"], "recipient_not_found").ok(200);
    assert_eq!(
        (&failed["status"], &failed["failure_code"]),
        (&json!("failed"), &json!("recipient_not_found"))
    );
    assert!(failed["failure_message"].is_string() && !failed["failed_at"].is_null());
    assert_eq!(shop.purse("XOF"), Purse { available: 100_000, pending: 0, reserved: 0 });
    let expected = ["payout_hold", "payout_hold", "payout_release", "payout_release"];
    assert_eq!(shop.posted(&payout), expected);
    assert_eq!(shop.total("/v1/ledger?account=fees"), 0);
}

fn what_was_given_with_a_payout_is_kept(store: &Store) {
    let shop = funded(store);
    let customer = shop.customer(json!({"name": "Awa Diop"}));
    let given = json!({
        "country": "SN", "payment_method": "mobile_money", "recipient_name": "Awa Diop",
        "customer": customer["id"], "reference": "SAL-11", "description": "November",
        "metadata": {"team": "7"}
    });
    let payout = shop.pay_out(given.clone()).ok(201);
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(&payout[name], value, "{name}");
        assert_eq!(&shop.see(&payout["id"])[name], value, "{name}");
    }
    let statistics = &shop.see(&customer["id"])["statistics"];
    assert_eq!(statistics["payments_count"], 0, "payouts do not count");
}

fn a_payout_beyond_the_funds_leaves_no_trace(store: &Store) {
    let shop = funded(store);
    shop.pay_out(json!({"amount": 100_000})).refused(402, "balance_insufficient", None);
    assert_eq!(shop.total("/v1/payouts"), 0);
    assert_eq!(shop.total("/v1/ledger"), 2);
    assert_eq!(shop.purse("XOF"), Purse { available: 100_000, pending: 0, reserved: 0 });
}

fn the_last_unit_can_be_paid_out(store: &Store) {
    let shop = store.shop();
    shop.fund(10_099, "XOF");
    shop.pay_out(json!({})).refused(402, "balance_insufficient", None);
    shop.fund(1, "XOF");
    shop.pay_out(json!({})).ok(201);
    assert_eq!(shop.purse("XOF"), Purse { available: 0, pending: 0, reserved: 10_100 });
    shop.pay_out(json!({"amount": 100})).refused(402, "balance_insufficient", None);
}

fn one_currency_does_not_pay_for_another(store: &Store) {
    let shop = store.shop();
    shop.fund(100_000, "XAF");
    shop.pay_out(json!({})).refused(402, "balance_insufficient", None);
    let other = store.shop();
    other.fund(100_000, "XOF");
    shop.pay_out(json!({})).refused(402, "balance_insufficient", None);
}

fn pending_money_is_not_paid_out(store: &Store) {
    let shop = store.shop();
    shop.paid_by_card(1_000_000, "XOF", "CI");
    assert_eq!(shop.purse("XOF"), Purse { available: 0, pending: 965_000, reserved: 0 });
    shop.pay_out(json!({})).refused(402, "balance_insufficient", None);
}

fn a_payout_without_a_scenario_succeeds_by_itself(store: &Store) {
    let shop = funded(store);
    let payouts = ["+221770000000", "+221770009999", "+221770000101", "+221770000301"]
        .map(|phone| shop.pay_out(json!({"phone": phone})).ok(201));
    for payout in &payouts {
        let paid = shop.awaits(payout, "succeeded");
        let waited = millis(&paid["succeeded_at"]) - millis(&paid["processing_at"]);
        took(waited, 2000);
        let expected =
            ["payout_hold", "payout_hold", "payout", "payout", "payout_fee", "payout_fee"];
        assert_eq!(shop.posted(payout), expected);
    }
    assert_eq!(shop.purse("XOF"), Purse { available: 59_600, pending: 0, reserved: 0 });
}

fn a_payout_fails_for_the_reason_of_its_number(store: &Store) {
    let shop = funded(store);
    let cases = [
        ("0501", "recipient_not_found"),
        ("0502", "recipient_limit_reached"),
        ("0503", "recipient_rejected"),
        ("0202", "network_error"),
        ("0201", "network_unavailable"),
    ];
    let payouts = cases.map(|(suffix, code)| {
        (shop.pay_out(json!({"phone": format!("+22177000{suffix}")})).ok(201), code)
    });
    for (payout, code) in &payouts {
        let failed = shop.awaits(payout, "failed");
        assert_eq!(failed["failure_code"], *code);
        assert_eq!(failed["processing_at"].is_null(), *code == "network_unavailable");
        let expected = ["payout_hold", "payout_hold", "payout_release", "payout_release"];
        assert_eq!(shop.posted(payout), expected);
    }
    assert_eq!(shop.purse("XOF"), Purse { available: 100_000, pending: 0, reserved: 0 });
}

fn a_payout_of_patience_waits(store: &Store) {
    let shop = funded(store);
    for suffix in ["0001", "0002"] {
        let payout = shop.pay_out(json!({"phone": format!("+22177000{suffix}")})).ok(201);
        let processing = shop.awaits(&payout, "processing");
        assert_eq!(processing["succeeded_at"], Value::Null);
        assert_eq!(shop.simulate(&payout["id"], "success").ok(200)["status"], "succeeded");
    }
}

fn the_fee_has_a_floor_and_a_ceiling(store: &Store) {
    let shop = store.shop();
    shop.fund(10_000_000, "XOF");
    for (amount, fee) in [
        (100, 100),
        (2000, 100),
        (10_000, 100),
        (10_049, 100),
        (10_050, 101),
        (20_000, 200),
        (499_999, 5000),
        (600_000, 5000),
        (2_000_000, 5000),
    ] {
        let payout = shop.pay_out(json!({"amount": amount})).ok(201);
        assert_eq!(payout["fee_amount"], fee, "of {amount}");
        assert_eq!(payout["total_amount"], amount + fee);
    }
}

fn every_network_pays_out_within_its_limits(store: &Store) {
    let shop = store.shop();
    for offer in OFFERS {
        for &(network, smallest, largest) in offer.networks {
            let ask = |amount: i64| {
                let body = json!({
                    "amount": amount, "currency": offer.currency, "network": network,
                    "phone": offer.phone
                });
                shop.post("/v1/payouts", &body)
            };
            ask(smallest - 1).refused(400, "amount_below_minimum", Some("amount"));
            ask(largest + 1).refused(400, "amount_above_maximum", Some("amount"));
            let (least, most) = payout_fee_limits(offer.currency);
            for amount in [smallest, largest] {
                let fee = share(amount, 100).clamp(least, most);
                shop.fund(amount + fee, offer.currency);
                let payout = ask(amount).ok(201);
                assert_eq!(
                    (&payout["fee_amount"], &payout["country"]),
                    (&json!(fee), &json!(offer.country))
                );
            }
        }
    }
}

fn a_payout_goes_to_a_phone_alone(store: &Store) {
    let shop = funded(store);
    let card = shop.pay_out(json!({"payment_method": "card"}));
    card.refused(400, "payout_not_supported", Some("payment_method"));
    let kuwait = shop.pay_out(json!({"phone": "+96550009999", "currency": "KWD"}));
    kuwait.refused(400, "payment_method_not_supported", Some("payment_method"));
    let foreign = shop.pay_out(json!({"currency": "XAF"}));
    foreign.refused(400, "currency_not_supported", Some("currency"));
    shop.pay_out(json!({"network": "mtn"})).refused(400, "network_not_supported", Some("network"));
    for field in ["amount", "currency", "network", "phone"] {
        let body = sample::without(sample::payout(json!({})), field);
        shop.post("/v1/payouts", &body).missing(field);
    }
    assert_eq!(shop.total("/v1/payouts"), 0);
}

fn payouts_are_filtered(store: &Store) {
    let shop = funded(store);
    let customer = shop.customer(json!({"name": "Awa"}));
    let first = shop.pay_out(json!({"reference": "A", "customer": customer["id"]})).ok(201);
    let second = shop.pay_out(json!({"network": "wave", "reference": "B"})).ok(201);
    let third = json!({"phone": "+2250500000002", "network": "mtn", "reference": "B"});
    let third = shop.pay_out(third).ok(201);
    shop.simulate(&first["id"], "success").ok(200);
    shop.simulate(&second["id"], "network_error").ok(200);
    let ids = |query: &str| texts(&shop.list(&format!("/v1/payouts?{query}")), "id");
    let id = |payout: &Value| payout["id"].as_str().unwrap().to_owned();
    assert_eq!(ids("currency=XOF"), [id(&third), id(&second), id(&first)]);
    assert_eq!(ids("status=succeeded"), [id(&first)]);
    assert_eq!(ids("status=failed"), [id(&second)]);
    assert_eq!(ids("reference=B"), [id(&third), id(&second)]);
    assert_eq!(ids("country=CI"), [id(&third)]);
    assert_eq!(ids("network=wave"), [id(&second)]);
    assert_eq!(ids("reference=B&country=SN"), [id(&second)]);
    assert_eq!(ids(&format!("customer={}", customer["id"].as_str().unwrap())), [id(&first)]);
    assert!(ids("currency=GHS").is_empty());
    shop.get("/v1/payouts?phone=x").refused(400, "parameter_unknown", Some("phone"));
}

fn a_payout_tells_its_story_in_events(store: &Store) {
    let (shop, sink) = (funded(store), Sink::open());
    shop.hook(&sink.url(), &["*"]);
    let payout = shop.pay_out(json!({})).ok(201);
    shop.simulate(&payout["id"], "success").ok(200);
    sink.awaits(3);
    assert_eq!(sink.kinds_in_order(), ["payout.created", "payout.processing", "payout.succeeded"]);
    let event = sink.event("payout.succeeded").event();
    assert_eq!(event["data"]["object"], shop.see(&payout["id"]));
}
