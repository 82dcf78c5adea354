//! Forcing outcomes (API §17).

use serde_json::{Value, json};

use crate::support::check::{envelope, fields, names};
use crate::support::server::Store;
use crate::support::shop::{Shop, texts};
use crate::support::sink::Sink;
use crate::support::time::stays;
use crate::support::{sample, stories};

stories![
    the_scenarios_are_those_of_the_contract,
    scenarios_are_filtered_by_what_they_apply_to,
    simulate_asks_for_an_object_and_a_scenario,
    every_outcome_is_visible_in_the_answer,
    a_failure_passes_through_processing,
    a_network_is_only_down_before_it_is_reached,
    a_slow_success_is_still_processing,
    pending_cancels_what_was_scheduled,
    a_late_success_follows_its_expiry,
    only_a_success_comes_late,
    what_has_ended_is_not_simulated,
    a_scenario_must_fit_its_object,
    every_payout_outcome_can_be_forced,
    every_refund_outcome_can_be_forced,
    the_rule_for_refunds_is_set_with_the_success,
];

/// code, applies to, phone, card, outcome, failure, delay in seconds.
type Row = (&'static str, &'static str, &'static str, i64, &'static str, &'static str, i64);

const NONE: &str = "";

const SCENARIOS: [Row; 21] = [
    ("success", "payment payout refund", "0000", 900, "succeeded", NONE, 2),
    ("slow_success", "payment payout", "0001", 901, "succeeded", NONE, 30),
    ("pending", "payment payout refund", "0002", -1, NONE, NONE, -1),
    ("insufficient_funds", "payment", "0101", 911, "failed", "insufficient_funds", 2),
    ("user_rejected", "payment", "0102", -1, "failed", "user_rejected", 2),
    ("payer_not_found", "payment", "0103", -1, "failed", "payer_not_found", 2),
    ("payer_limit_reached", "payment", "0104", -1, "failed", "payer_limit_reached", 2),
    ("authentication_failed", "payment", "0105", 914, "failed", "authentication_failed", 2),
    ("timeout", "payment", "0106", 916, "expired", NONE, 2),
    ("card_declined", "payment", NONE, 912, "failed", "card_declined", 2),
    ("card_expired", "payment", NONE, 913, "failed", "card_expired", 2),
    ("network_down", "payment payout", "0201", 921, "failed", "network_unavailable", 0),
    ("network_error", "payment payout", "0202", 922, "failed", "network_error", 2),
    ("duplicate_callback", "payment payout", "0301", 931, "succeeded", NONE, 2),
    ("conflicting_callback", "payment", "0302", 932, "succeeded", NONE, 2),
    ("late_success_after_expiry", "payment", "0303", 933, "succeeded", NONE, -2),
    ("refund_failure", "payment refund", "0401", 941, "failed", "refund_rejected", 2),
    ("refund_pending", "payment", "0402", 942, "succeeded", NONE, 2),
    ("recipient_not_found", "payout", "0501", -1, "failed", "recipient_not_found", 2),
    ("recipient_limit_reached", "payout", "0502", -1, "failed", "recipient_limit_reached", 2),
    ("recipient_rejected", "payout", "0503", -1, "failed", "recipient_rejected", 2),
];

fn or_null(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { json!(text) }
}

fn the_scenarios_are_those_of_the_contract(store: &Store) {
    let shop = store.shop();
    let page = shop.get("/v1/sandbox/scenarios?limit=100").ok(200);
    let items = envelope(&page);
    let codes = SCENARIOS.map(|row| row.0.to_owned());
    assert_eq!(texts(items, "code"), codes, "in the order of the catalogue");
    let declared = [
        "object",
        "environment",
        "livemode",
        "code",
        "description",
        "applies_to",
        "outcome",
        "failure_code",
        "phone_suffix",
        "card_amount_suffix",
        "delay_seconds",
    ];
    for (item, (code, applies_to, phone, card, outcome, failure, delay)) in
        items.iter().zip(SCENARIOS)
    {
        assert_eq!(fields(item), names(&declared));
        assert_eq!(item["object"], "sandbox_scenario");
        assert!(item["description"].as_str().is_some_and(|text| !text.is_empty()));
        let objects: Vec<&str> = applies_to.split(' ').collect();
        assert_eq!(item["applies_to"], json!(objects), "{code}");
        assert_eq!(item["phone_suffix"], or_null(phone), "{code}");
        assert_eq!(
            item["card_amount_suffix"],
            if card < 0 { Value::Null } else { json!(card) },
            "{code}"
        );
        assert_eq!(item["outcome"], or_null(outcome), "{code}");
        assert_eq!(item["failure_code"], or_null(failure), "{code}");
        if delay != -2 {
            assert_eq!(
                item["delay_seconds"],
                if delay < 0 { Value::Null } else { json!(delay) },
                "{code}"
            );
        }
    }
}

fn scenarios_are_filtered_by_what_they_apply_to(store: &Store) {
    let shop = store.shop();
    for object in ["payment", "payout", "refund"] {
        let found = shop.list(&format!("/v1/sandbox/scenarios?applies_to={object}"));
        let expected = SCENARIOS.iter().filter(|row| row.1.split(' ').any(|word| word == object));
        let expected: Vec<&str> = expected.map(|row| row.0).collect();
        assert_eq!(texts(&found, "code"), expected);
    }
    shop.get("/v1/sandbox/scenarios?applies_to=customer").invalid("applies_to");
    let page = shop.get("/v1/sandbox/scenarios?limit=5&offset=20").ok(200);
    assert_eq!((envelope(&page).len(), &page["total"]), (1, &json!(21)));
}

fn simulate_asks_for_an_object_and_a_scenario(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    let ask = |body: Value| shop.post("/v1/sandbox/simulate", &body);
    ask(json!({"scenario": "success"})).missing("id");
    ask(json!({"id": payment["id"]})).missing("scenario");
    ask(json!({"id": payment["id"], "scenario": "miracle"})).refused(
        400,
        "scenario_unknown",
        Some("scenario"),
    );
    for prefix in ["pay", "pout", "ref"] {
        ask(json!({"id": sample::unknown(prefix), "scenario": "success"})).refused(
            400,
            "related_resource_not_found",
            Some("id"),
        );
    }
    let customer = shop.customer(json!({"name": "A"}));
    let error = ask(json!({"id": customer["id"], "scenario": "success"})).refusal(400);
    assert_eq!(error["param"], "id", "{error}");
    let stranger = store.shop();
    stranger.simulate(&payment["id"], "success").refused(
        400,
        "related_resource_not_found",
        Some("id"),
    );
}

fn every_outcome_is_visible_in_the_answer(store: &Store) {
    let shop = store.shop();
    for (code, applies_to, _, card, outcome, failure, _) in SCENARIOS {
        let special = [
            "slow_success",
            "pending",
            "network_down",
            "late_success_after_expiry",
            "refund_failure",
        ];
        if !applies_to.starts_with("payment") || special.contains(&code) {
            continue;
        }
        if !code.starts_with("card_") {
            let payment = shop.pay(json!({}));
            let seen = shop.simulate(&payment["id"], code).ok(200);
            assert_eq!(seen["status"], outcome, "{code}");
            assert_eq!(seen["failure_code"], or_null(failure), "{code}");
            assert_eq!(shop.see(&payment["id"]), seen);
        }
        if card >= 0 {
            let payment = shop.post("/v1/payments", &sample::card(10_000, "XOF", "CI")).ok(201);
            let seen = shop.simulate(&payment["id"], code).ok(200);
            assert_eq!(
                (&seen["status"], &seen["failure_code"]),
                (&json!(outcome), &or_null(failure)),
                "{code}"
            );
        }
    }
}

fn a_failure_passes_through_processing(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["*"]);
    let payment = shop.pay(json!({}));
    let failed = shop.simulate(&payment["id"], "insufficient_funds").ok(200);
    assert_eq!(
        (&failed["status"], &failed["failure_code"]),
        (&json!("failed"), &json!("insufficient_funds"))
    );
    assert!(!failed["processing_at"].is_null());
    sink.awaits(3);
    assert_eq!(sink.kinds_in_order(), ["payment.created", "payment.processing", "payment.failed"]);
    assert_eq!(shop.chronology(&payment), ["created", "processing", "failed"]);
}

fn a_network_is_only_down_before_it_is_reached(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    shop.awaits(&payment, "processing");
    let refused = shop.simulate(&payment["id"], "network_down");
    refused.refused(409, "simulation_not_allowed", None);
    assert_eq!(shop.see(&payment["id"])["status"], "processing");
    shop.fund(100_000, "XOF");
    let payout = shop.pay_out(json!({})).ok(201);
    shop.awaits(&payout, "processing");
    shop.simulate(&payout["id"], "network_down").refused(409, "simulation_not_allowed", None);
}

fn a_slow_success_is_still_processing(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    let slow = shop.simulate(&payment["id"], "slow_success").ok(200);
    assert_eq!((&slow["status"], &slow["succeeded_at"]), (&json!("processing"), &Value::Null));
    stays(std::time::Duration::from_secs(3), || {
        assert_eq!(shop.see(&payment["id"])["status"], "processing");
    });
    let paid = shop.simulate(&payment["id"], "success").ok(200);
    assert_eq!(paid["status"], "succeeded");
    assert_eq!(shop.total("/v1/ledger"), 6);
}

fn pending_cancels_what_was_scheduled(store: &Store) {
    let shop = store.shop();
    shop.fund(100_000, "XOF");
    let payment = shop.pay(json!({"phone": sample::WILLING}));
    let payout = shop.pay_out(json!({"phone": "+221770009999"})).ok(201);
    let paid = shop.paid(json!({}));
    let refund = shop.refund(&paid, Some(100)).ok(201);
    for object in [&payment, &payout] {
        assert_eq!(shop.simulate(&object["id"], "pending").ok(200)["status"], "processing");
    }
    assert_eq!(shop.simulate(&refund["id"], "pending").ok(200)["status"], "created");
    stays(std::time::Duration::from_secs(4), || {
        assert_eq!(shop.see(&payment["id"])["status"], "processing");
        assert_eq!(shop.see(&payout["id"])["status"], "processing");
        assert_eq!(shop.see(&refund["id"])["status"], "created");
    });
    for object in [&payment, &payout, &refund] {
        assert_eq!(shop.simulate(&object["id"], "success").ok(200)["status"], "succeeded");
    }
}

fn a_late_success_follows_its_expiry(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    let expired = shop.simulate(&payment["id"], "late_success_after_expiry").ok(200);
    assert_eq!(expired["status"], "expired");
    let paid = shop.awaits(&payment, "succeeded");
    assert_eq!(paid["expired_at"], expired["expired_at"]);
    assert_eq!(shop.chronology(&payment), ["created", "processing", "expired", "late_success"]);
}

fn only_a_success_comes_late(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    shop.simulate(&payment["id"], "timeout").ok(200);
    for scenario in ["user_rejected", "timeout", "pending", "slow_success", "network_error"] {
        let refused = shop.simulate(&payment["id"], scenario);
        refused.refused(409, "simulation_not_allowed", None);
    }
    assert_eq!(shop.simulate(&payment["id"], "success").ok(200)["status"], "succeeded");
}

fn what_has_ended_is_not_simulated(store: &Store) {
    let shop = store.shop();
    let ended = |scenario: &str| {
        let payment = shop.pay(json!({}));
        shop.simulate(&payment["id"], scenario).ok(200)
    };
    for payment in [ended("user_rejected"), ended("success")] {
        for scenario in ["success", "user_rejected", "pending"] {
            let refused = shop.simulate(&payment["id"], scenario);
            refused.refused(409, "simulation_not_allowed", None);
        }
        assert_eq!(shop.see(&payment["id"]), payment);
    }
}

fn a_scenario_must_fit_its_object(store: &Store) {
    let shop = store.shop();
    shop.fund(100_000, "XOF");
    let payment = shop.pay(json!({}));
    let payout = shop.pay_out(json!({})).ok(201);
    let paid = shop.paid_patiently(json!({}));
    let refund = shop.refund(&paid, None).ok(201);
    let unfit = |object: &Value, code: &str| {
        let error = shop.simulate(&object["id"], code).refusal(400);
        assert_eq!(error["code"], "scenario_not_applicable", "{code}: {error}");
    };
    for (code, applies_to, ..) in SCENARIOS {
        for (object, kind) in [(&payment, "payment"), (&payout, "payout"), (&refund, "refund")] {
            if !applies_to.split(' ').any(|word| word == kind) {
                unfit(object, code);
            }
        }
    }
    unfit(&payment, "card_declined");
    unfit(&payment, "card_expired");
}

fn funded(store: &Store) -> Shop {
    let shop = store.shop();
    shop.fund(1_000_000, "XOF");
    shop
}

fn every_payout_outcome_can_be_forced(store: &Store) {
    let shop = funded(store);
    for (code, applies_to, _, _, outcome, failure, _) in SCENARIOS {
        if !applies_to.contains("payout")
            || ["slow_success", "pending", "network_down"].contains(&code)
        {
            continue;
        }
        let payout = shop.pay_out(json!({})).ok(201);
        let seen = shop.simulate(&payout["id"], code).ok(200);
        assert_eq!(
            (&seen["status"], &seen["failure_code"]),
            (&json!(outcome), &or_null(failure)),
            "{code}"
        );
        assert!(!seen["processing_at"].is_null());
        shop.simulate(&payout["id"], "success").refused(409, "simulation_not_allowed", None);
    }
    assert_eq!(shop.purse("XOF").available, 1_000_000 - 2 * 10_100);
    let slow = shop.pay_out(json!({})).ok(201);
    assert_eq!(shop.simulate(&slow["id"], "slow_success").ok(200)["status"], "processing");
}

fn every_refund_outcome_can_be_forced(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({}));
    let good = shop.refund(&paid, Some(1000)).ok(201);
    assert_eq!(shop.simulate(&good["id"], "success").ok(200)["status"], "succeeded");
    let bad = shop.refund(&paid, Some(1000)).ok(201);
    let failed = shop.simulate(&bad["id"], "refund_failure").ok(200);
    assert_eq!(
        (&failed["status"], &failed["failure_code"]),
        (&json!("failed"), &json!("refund_rejected"))
    );
    for refund in [&good, &bad] {
        for code in ["success", "refund_failure", "pending"] {
            shop.simulate(&refund["id"], code).refused(409, "simulation_not_allowed", None);
        }
    }
}

fn the_rule_for_refunds_is_set_with_the_success(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    let paid = shop.simulate(&payment["id"], "refund_failure").ok(200);
    assert_eq!(paid["status"], "succeeded");
    let refund = shop.refund(&paid, None).ok(201);
    assert_eq!(shop.awaits(&refund, "failed")["failure_code"], "refund_rejected");
    let patient = shop.paid_patiently(json!({}));
    assert_eq!(patient["status"], "succeeded");
    let refund = shop.refund(&patient, None).ok(201);
    stays(std::time::Duration::from_secs(4), || {
        assert_eq!(shop.see(&refund["id"])["status"], "created");
    });
}
