//! What becomes of a payment (API §9.4, §9.5, §9.7, §17.1).

use serde_json::{Value, json};

use crate::support::check::{assert_id, declares};
use crate::support::http::Response;
use crate::support::server::{Server, Store};
use crate::support::shop::{Purse, Shop, path_of, texts};
use crate::support::sink::Sink;
use crate::support::time::{millis, soon, took};
use crate::support::{sample, stories};

stories![
    a_simulated_success_books_the_money_at_once,
    a_success_writes_six_lines,
    a_willing_payer_pays_without_simulate,
    a_failing_payer_fails_for_the_reason_of_the_number,
    a_payer_who_lets_it_lie_makes_it_expire,
    a_network_that_is_down_fails_it_before_it_is_sent,
    a_slow_payer_keeps_it_processing,
    a_success_reported_twice_counts_once,
    a_failure_reported_after_success_is_ignored,
    a_late_success_is_still_money,
    a_card_is_decided_by_its_amount,
    a_card_success_is_pending_for_two_days,
    a_card_scenario_comes_from_its_amount_alone,
    a_wave_payment_can_be_cancelled,
    a_payment_that_the_network_holds_cannot_be_cancelled,
    a_payment_that_ended_cannot_be_cancelled,
    a_payment_not_yet_sent_can_always_be_cancelled,
    the_chronology_tells_who_did_what,
    every_change_moves_updated_at,
    a_suffix_for_payouts_means_nothing_to_a_payment,
];

fn xof(shop: &Shop) -> Purse {
    shop.purse("XOF")
}

fn a_simulated_success_books_the_money_at_once(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    let paid = shop.simulate(&payment["id"], "success").ok(200);
    assert_eq!((&paid["id"], &paid["status"]), (&payment["id"], &json!("succeeded")));
    assert_eq!(paid["next_action"], Value::Null);
    assert_eq!(paid["refundable_amount"], 5000);
    assert_eq!(paid["refunded_amount"], 0);
    assert_eq!(paid["available_at"], paid["succeeded_at"]);
    assert!(millis(&paid["processing_at"]) <= millis(&paid["succeeded_at"]));
    assert!(millis(&paid["created_at"]) <= millis(&paid["processing_at"]));
    let balance = shop.get("/v1/balance").ok(200);
    assert_eq!(balance["available"], json!([{"currency": "XOF", "amount": 4900}]));
    assert_eq!(balance["pending"], json!([{"currency": "XOF", "amount": 0}]));
    assert_eq!(balance["reserved"], json!([{"currency": "XOF", "amount": 0}]));
}

fn a_success_writes_six_lines(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid(json!({}));
    let mut lines: Vec<_> = shop
        .list("/v1/ledger")
        .iter()
        .map(|line| {
            assert_eq!(line["source"], paid["id"]);
            assert_eq!(line["currency"], "XOF");
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            let number = |name: &str| line[name].as_i64().unwrap();
            let way = format!("{} {} {}", text("type"), text("direction"), text("account"));
            (way, number("amount"), number("balance_after"))
        })
        .collect();
    lines.sort();
    let expected = [
        ("payment credit merchant_pending", 5000, 5000),
        ("payment debit clearing", 5000, 5000),
        ("payment_fee credit fees", 100, 100),
        ("payment_fee debit merchant_pending", 100, 4900),
        ("settlement credit merchant_available", 4900, 4900),
        ("settlement debit merchant_pending", 4900, 0),
    ];
    assert_eq!(lines, expected.map(|(way, amount, after)| (way.to_owned(), amount, after)));
}

fn a_willing_payer_pays_without_simulate(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({"phone": sample::WILLING}));
    let paid = shop.awaits(&payment, "succeeded");
    let waited = millis(&paid["succeeded_at"]) - millis(&paid["processing_at"]);
    took(waited, 2000);
    assert_eq!(xof(&shop).available, 4900);
}

fn a_failing_payer_fails_for_the_reason_of_the_number(store: &Store) {
    let shop = store.shop();
    let cases = [
        ("0101", "insufficient_funds"),
        ("0102", "user_rejected"),
        ("0103", "payer_not_found"),
        ("0104", "payer_limit_reached"),
        ("0105", "authentication_failed"),
        ("0202", "network_error"),
    ];
    let payments = cases.map(|(suffix, code)| {
        (shop.post("/v1/payments", &sample::payment_of(suffix)).ok(201), code)
    });
    for (payment, code) in payments {
        assert_eq!(payment["status"], "created");
        let failed = shop.awaits(&payment, "failed");
        assert_eq!(failed["failure_code"], code);
        assert!(failed["failure_message"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(!failed["processing_at"].is_null() && !failed["failed_at"].is_null());
        assert_eq!(
            (&failed["next_action"], &failed["refundable_amount"]),
            (&Value::Null, &json!(0))
        );
        assert_eq!(shop.chronology(&payment), ["created", "processing", "failed"]);
    }
    assert_eq!(shop.total("/v1/ledger"), 0);
    assert_eq!(shop.get("/v1/balance").ok(200)["available"], json!([]));
}

fn a_payer_who_lets_it_lie_makes_it_expire(store: &Store) {
    let shop = store.shop();
    let payment = shop.post("/v1/payments", &sample::payment_of("0106")).ok(201);
    let expired = shop.awaits(&payment, "expired");
    assert!(!expired["expired_at"].is_null());
    assert_eq!((&expired["failure_code"], &expired["next_action"]), (&Value::Null, &Value::Null));
    assert_eq!(shop.chronology(&payment), ["created", "processing", "expired"]);
    assert_eq!(shop.total("/v1/ledger"), 0);
}

fn a_network_that_is_down_fails_it_before_it_is_sent(store: &Store) {
    let shop = store.shop();
    let payment = shop.post("/v1/payments", &sample::payment_of("0201")).ok(201);
    let failed = shop.awaits(&payment, "failed");
    assert_eq!(failed["failure_code"], "network_unavailable");
    assert_eq!(failed["processing_at"], Value::Null);
    assert_eq!(shop.chronology(&payment), ["created", "failed"]);
}

fn a_slow_payer_keeps_it_processing(store: &Store) {
    let shop = store.shop();
    for suffix in ["0001", "0002"] {
        let payment = shop.post("/v1/payments", &sample::payment_of(suffix)).ok(201);
        shop.awaits(&payment, "processing");
        let paid = shop.simulate(&payment["id"], "success").ok(200);
        assert_eq!(paid["status"], "succeeded");
    }
    assert_eq!(xof(&shop).available, 9800);
}

fn a_success_reported_twice_counts_once(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["*"]);
    let payment = shop.post("/v1/payments", &sample::payment_of("0301")).ok(201);
    shop.awaits(&payment, "succeeded");
    let expected = ["created", "processing", "succeeded", "network_report_ignored"];
    soon(|| {
        let types = shop.chronology(&payment);
        if types == expected { Ok(()) } else { Err(format!("{types:?}")) }
    });
    sink.awaits(3);
    assert_eq!(
        sink.kinds_in_order(),
        ["payment.created", "payment.processing", "payment.succeeded"]
    );
    assert_eq!(shop.total("/v1/ledger"), 6);
    assert_eq!(xof(&shop).available, 4900);
}

fn a_failure_reported_after_success_is_ignored(store: &Store) {
    let shop = store.shop();
    let payment = shop.post("/v1/payments", &sample::payment_of("0302")).ok(201);
    shop.awaits(&payment, "succeeded");
    soon(|| {
        let types = shop.chronology(&payment);
        if types.last().unwrap() == "network_report_ignored" {
            Ok(())
        } else {
            Err(format!("{types:?}"))
        }
    });
    let seen = shop.see(&payment["id"]);
    assert_eq!((&seen["status"], &seen["failure_code"]), (&json!("succeeded"), &Value::Null));
    assert_eq!(seen["failed_at"], Value::Null);
    let ignored = shop.timeline(&payment).pop().unwrap();
    assert_eq!((&ignored["event"], &ignored["status"]), (&Value::Null, &json!("succeeded")));
    assert_eq!(shop.total("/v1/ledger"), 6);
}

fn a_late_success_is_still_money(store: &Store) {
    let shop = store.shop();
    let payment = shop.post("/v1/payments", &sample::payment_of("0303")).ok(201);
    shop.awaits(&payment, "expired");
    let paid = shop.awaits(&payment, "succeeded");
    assert!(!paid["expired_at"].is_null() && !paid["succeeded_at"].is_null());
    assert_eq!(paid["refundable_amount"], 5000);
    assert_eq!(shop.chronology(&payment), ["created", "processing", "expired", "late_success"]);
    assert_eq!(shop.total("/v1/ledger"), 6);
    let expired = shop.pay(json!({}));
    shop.simulate(&expired["id"], "timeout").ok(200);
    let late = shop.simulate(&expired["id"], "success").ok(200);
    assert_eq!(late["status"], "succeeded");
    assert_eq!(shop.chronology(&expired).last().unwrap(), "late_success");
    assert_eq!(xof(&shop).available, 9800);
}

fn a_card_is_decided_by_its_amount(store: &Store) {
    let shop = store.shop();
    let ask = |amount: i64| shop.post("/v1/payments", &sample::card(amount, "XOF", "CI")).ok(201);
    let cases = [
        (10_911, "insufficient_funds"),
        (10_912, "card_declined"),
        (10_913, "card_expired"),
        (10_914, "authentication_failed"),
        (10_922, "network_error"),
        (10_921, "network_unavailable"),
    ];
    let failing = cases.map(|(amount, code)| (ask(amount), code));
    let (paid, expired, twice) = (ask(10_900), ask(10_916), ask(10_931));
    for (payment, code) in failing {
        assert_eq!(shop.awaits(&payment, "failed")["failure_code"], code);
    }
    assert_eq!(shop.awaits(&paid, "succeeded")["network"], "visa");
    shop.awaits(&expired, "expired");
    shop.awaits(&twice, "succeeded");
    assert_eq!(shop.total("/v1/ledger"), 8);
}

fn a_card_success_is_pending_for_two_days(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_by_card(10_005, "KWD", "KW");
    assert_eq!((&paid["status"], &paid["network"]), (&json!("succeeded"), &json!("visa")));
    assert_eq!(millis(&paid["available_at"]) - millis(&paid["succeeded_at"]), 172_800_000);
    assert_eq!(shop.purse("KWD"), Purse { available: 0, pending: 9655, reserved: 0 });
    assert_eq!(shop.total("/v1/ledger"), 4);
    let types = texts(&shop.timeline(&paid), "type");
    assert_eq!(types, ["created", "processing", "succeeded"]);
}

fn a_card_scenario_comes_from_its_amount_alone(store: &Store) {
    let shop = store.shop();
    // The same amounts decide nothing on a phone.
    let payment = shop.pay(json!({"amount": 10_911}));
    shop.awaits(&payment, "processing");
    let card = shop.post("/v1/payments", &sample::card(10_101, "XOF", "CI")).ok(201);
    let processing = shop.awaits(&card, "processing");
    assert_eq!(processing["network"], "visa");
    assert_eq!(shop.see(&payment["id"])["status"], "processing");
}

fn cancel(shop: &Shop, payment: &Value, body: Value) -> Response {
    shop.post(&format!("{}/cancel", path_of(&payment["id"])), &body)
}

fn a_wave_payment_can_be_cancelled(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({"network": "wave", "phone": "+2250700009999"}));
    shop.awaits(&payment, "processing");
    let cancelled = cancel(&shop, &payment, json!({"reason": "changed mind"})).ok(200);
    assert_eq!(cancelled["status"], "cancelled");
    assert!(!cancelled["cancelled_at"].is_null());
    assert_eq!(cancelled["cancellation_reason"], "changed mind");
    assert_eq!(cancelled["next_action"], Value::Null);
    assert_eq!(shop.see(&payment["id"]), cancelled);
    cancel(&shop, &payment, json!({})).refused(409, "payment_not_cancellable", None);
    assert_eq!(shop.chronology(&payment), ["created", "processing", "cancelled"]);
    shop.simulate(&payment["id"], "success").refused(409, "simulation_not_allowed", None);
    let card = shop.post("/v1/payments", &sample::card(10_000, "XOF", "CI")).ok(201);
    shop.awaits(&card, "processing");
    assert_eq!(cancel(&shop, &card, json!({})).ok(200)["status"], "cancelled");
    assert_eq!(shop.total("/v1/ledger"), 0);
}

fn a_payment_that_the_network_holds_cannot_be_cancelled(store: &Store) {
    let shop = store.shop();
    for network in ["mtn", "orange", "moov"] {
        let payment = shop.pay(json!({"network": network}));
        shop.awaits(&payment, "processing");
        let error =
            cancel(&shop, &payment, json!({})).refused(409, "payment_not_cancellable", None);
        assert!(
            error["message"].as_str().unwrap().contains("processing"),
            "names the state: {error}"
        );
        assert_eq!(shop.see(&payment["id"])["status"], "processing");
    }
}

fn a_payment_that_ended_cannot_be_cancelled(store: &Store) {
    let shop = store.shop();
    for scenario in ["success", "user_rejected", "timeout"] {
        let payment = shop.pay(json!({"network": "wave"}));
        let ended = shop.simulate(&payment["id"], scenario).ok(200);
        cancel(&shop, &payment, json!({})).refused(409, "payment_not_cancellable", None);
        assert_eq!(shop.see(&payment["id"]), ended);
    }
}

fn a_payment_not_yet_sent_can_always_be_cancelled(store: &Store) {
    let server = store.serve(&["--no-worker"]);
    let shop = Server::next_shop(&server).unwrap();
    let payment = shop.pay(json!({}));
    assert_eq!(shop.see(&payment["id"])["status"], "created", "without a worker nothing is sent");
    let cancelled = cancel(&shop, &payment, json!({})).ok(200);
    assert_eq!(
        (&cancelled["status"], &cancelled["processing_at"]),
        (&json!("cancelled"), &Value::Null)
    );
    assert_eq!(shop.chronology(&payment), ["created", "cancelled"]);
}

fn the_chronology_tells_who_did_what(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    shop.awaits(&payment, "processing");
    shop.simulate(&payment["id"], "success").ok(200);
    let mut entries = shop.timeline(&payment);
    let declared = [
        "object",
        "environment",
        "livemode",
        "type",
        "status",
        "actor",
        "message",
        "amount",
        "refund",
        "event",
        "created_at",
    ];
    for entry in &entries {
        declares(entry, &declared);
        assert_eq!(entry["object"], "timeline_entry");
        assert!(entry["message"].as_str().is_some_and(|text| !text.is_empty()), "{entry}");
        assert_eq!((&entry["amount"], &entry["refund"]), (&Value::Null, &Value::Null));
    }
    entries.retain(|entry| entry["type"] != "settled");
    assert_eq!(texts(&entries, "type"), ["created", "processing", "succeeded"]);
    assert_eq!(texts(&entries, "status"), ["created", "processing", "succeeded"]);
    assert_eq!(texts(&entries, "actor"), ["api", "network", "sandbox"]);
    for entry in &entries {
        assert_id("evt", &entry["event"]);
    }
    let paid = shop.see(&payment["id"]);
    assert_eq!(entries[0]["created_at"], paid["created_at"]);
    assert_eq!(entries[1]["created_at"], paid["processing_at"]);
    assert_eq!(entries[2]["created_at"], paid["succeeded_at"]);
    let page = shop.get(&format!("{}/timeline?limit=1&offset=1", path_of(&payment["id"]))).ok(200);
    assert_eq!(page["data"][0]["type"], "processing");
    assert_eq!((&page["limit"], &page["offset"]), (&json!(1), &json!(1)));
}

fn every_change_moves_updated_at(store: &Store) {
    let shop = store.shop();
    let created = shop.pay(json!({}));
    let processing = shop.awaits(&created, "processing");
    let paid = shop.simulate(&created["id"], "success").ok(200);
    let refund = shop.refund(&paid, Some(1000)).ok(201);
    let refunding = shop.see(&created["id"]);
    shop.simulate(&refund["id"], "success").ok(200);
    let refunded = shop.see(&created["id"]);
    let moments =
        [&created, &processing, &paid, &refunding, &refunded].map(|p| millis(&p["updated_at"]));
    assert!(moments.is_sorted_by(|before, after| before < after), "{moments:?}");
    assert_eq!(created["updated_at"], created["created_at"]);
    assert_eq!(refunding["refundable_amount"], 4000);
    assert_eq!(refunded["status"], "partially_refunded");
}

fn a_suffix_for_payouts_means_nothing_to_a_payment(store: &Store) {
    let shop = store.shop();
    let payments = ["0501", "0502", "0503", "0403", "9000"]
        .map(|suffix| shop.post("/v1/payments", &sample::payment_of(suffix)).ok(201));
    for payment in &payments {
        shop.awaits(payment, "processing");
    }
    let first = soon(|| {
        let seen = shop.see(&payments[0]["id"]);
        let age = millis(&seen["processing_at"]) - millis(&seen["created_at"]);
        if age <= 2000 { Ok(seen) } else { Err(seen.to_string()) }
    });
    assert_eq!(first["status"], "processing");
}
