//! Returning money (API §7.2, §11).

use serde_json::{Value, json};

use crate::support::check::{REFUND, assert_id, declares};
use crate::support::server::{Server, Store};
use crate::support::shop::{Purse, Shop, path_of, texts};
use crate::support::sink::Sink;
use crate::support::time::stays;
use crate::support::{sample, stories};

stories![
    a_refund_holds_its_net_amount,
    two_refunds_return_the_whole_payment,
    parts_return_exactly_the_fee,
    a_refund_returns_its_share_of_the_fee_rounded_down,
    no_more_is_refunded_than_was_paid,
    only_a_paid_payment_is_refunded,
    a_refunded_payment_is_not_refunded_again,
    orange_does_not_refund,
    wave_refunds_all_or_nothing,
    a_refused_refund_gives_everything_back,
    a_pending_refund_waits_for_simulate,
    several_refunds_are_open_at_once,
    a_refund_needs_funds,
    a_card_refund_is_taken_from_what_is_pending,
    a_card_refund_follows_the_amount_of_its_payment,
    what_was_given_with_a_refund_is_kept,
    refunds_are_filtered,
    a_refund_tells_its_story_in_events,
    a_refund_is_in_the_chronology_of_its_payment,
    kept_fees_are_not_returned,
];

fn a_refund_holds_its_net_amount(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({}));
    let response = shop.refund(&paid, Some(2000));
    let refund = response.ok(201);
    declares(&refund, REFUND);
    assert_id("ref", &refund["id"]);
    assert_eq!(response.header("Location"), Some(path_of(&refund["id"]).as_str()));
    let expected = json!({
        "object": "refund", "environment": "sandbox", "livemode": false, "status": "created",
        "payment": paid["id"], "amount": 2000, "currency": "XOF", "fee_returned_amount": 40,
        "net_amount": 1960, "reason": null, "description": null, "reference": null,
        "metadata": {}, "failure_code": null, "failure_message": null, "succeeded_at": null,
        "failed_at": null
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&refund[name], value, "{name}");
    }
    let payment = shop.see(&paid["id"]);
    assert_eq!(
        (&payment["refundable_amount"], &payment["refunded_amount"]),
        (&json!(3000), &json!(0))
    );
    assert_eq!((&payment["status"], &payment["fee_amount"]), (&json!("succeeded"), &json!(100)));
    assert_eq!(shop.purse("XOF"), Purse { available: 2940, pending: 0, reserved: 1960 });
    assert_eq!(shop.posted(&refund), ["refund_hold", "refund_hold"]);
}

fn two_refunds_return_the_whole_payment(store: &Store) {
    let shop = store.shop();
    let paid = shop.pay(json!({"phone": sample::WILLING}));
    shop.awaits(&paid, "succeeded");
    let first = shop.refund(&paid, Some(2000)).ok(201);
    shop.awaits(&first, "succeeded");
    let payment = shop.see(&paid["id"]);
    assert_eq!(
        (&payment["status"], &payment["refunded_amount"]),
        (&json!("partially_refunded"), &json!(2000))
    );
    assert_eq!(shop.purse("XOF"), Purse { available: 2940, pending: 0, reserved: 0 });
    let rest = shop.refund(&paid, None).ok(201);
    assert_eq!((&rest["amount"], &rest["fee_returned_amount"]), (&json!(3000), &json!(60)));
    assert_eq!(rest["net_amount"], 2940);
    shop.awaits(&rest, "succeeded");
    let payment = shop.see(&paid["id"]);
    assert_eq!(
        (&payment["status"], &payment["refunded_amount"]),
        (&json!("refunded"), &json!(5000))
    );
    assert_eq!((&payment["refundable_amount"], &payment["net_amount"]), (&json!(0), &json!(4900)));
    assert_eq!(shop.purse("XOF"), Purse { available: 0, pending: 0, reserved: 0 });
    let fees = shop.list("/v1/ledger?account=fees");
    assert_eq!(fees[0]["balance_after"], 0);
    let expected = [
        "refund_hold",
        "refund_hold",
        "refund",
        "refund",
        "refund_fee_return",
        "refund_fee_return",
    ];
    assert_eq!(shop.posted(&rest), expected);
}

fn refunded(shop: &Shop, payment: &Value, amount: i64) -> i64 {
    let refund = shop.refund(payment, Some(amount)).ok(201);
    let returned = refund["fee_returned_amount"].as_i64().unwrap();
    assert_eq!(refund["net_amount"], amount - returned);
    shop.simulate(&refund["id"], "success").ok(200);
    returned
}

fn parts_return_exactly_the_fee(store: &Store) {
    let shop = store.shop();
    for (amount, parts) in [
        (5000, &[1, 1, 4998][..]),
        (9999, &[3333, 3333, 3333]),
        (175, &[50, 25, 49, 51]),
        (100, &[33, 33, 33, 1]),
        (12_345, &[1234, 5678, 4321, 1112]),
    ] {
        let paid = shop.paid_patiently(json!({"amount": amount}));
        let fee = paid["fee_amount"].as_i64().unwrap();
        let (mut gone, mut returned) = (0, 0);
        for &part in parts {
            let before = fee * gone / amount;
            gone += part;
            let share = if gone == amount { fee - returned } else { fee * gone / amount - before };
            assert_eq!(refunded(&shop, &paid, part), share.min(fee - returned), "of {amount}");
            returned += share;
        }
        assert_eq!((gone, returned), (amount, fee));
        assert_eq!(shop.see(&paid["id"])["status"], "refunded");
    }
    assert_eq!(shop.purse("XOF"), Purse { available: 0, pending: 0, reserved: 0 });
    assert_eq!(shop.list("/v1/ledger?account=fees")[0]["balance_after"], 0);
    assert_eq!(shop.list("/v1/ledger?account=clearing")[0]["balance_after"], 0);
}

fn a_refund_returns_its_share_of_the_fee_rounded_down(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({"amount": 9999}));
    assert_eq!(refunded(&shop, &paid, 1), 0);
    assert_eq!(refunded(&shop, &paid, 49), 1);
    // A failed refund counts for nothing in the next share.
    let refused = shop.refund(&paid, Some(5000)).ok(201);
    shop.simulate(&refused["id"], "refund_failure").ok(200);
    assert_eq!(refunded(&shop, &paid, 9949), 199);
}

fn no_more_is_refunded_than_was_paid(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({}));
    let exceeds = |amount: i64| {
        shop.refund(&paid, Some(amount)).refused(
            400,
            "refund_amount_exceeds_refundable",
            Some("amount"),
        );
    };
    exceeds(5001);
    for amount in [0, -1] {
        shop.refund(&paid, Some(amount)).invalid("amount");
    }
    shop.refund(&paid, Some(2000)).ok(201);
    exceeds(3001);
    exceeds(5000);
    shop.refund(&paid, Some(3000)).ok(201);
    exceeds(1);
    // Both are still open, so the payment is not refunded yet: there is merely nothing left.
    let nothing = shop.refund(&paid, None);
    nothing.refused(400, "refund_amount_exceeds_refundable", Some("amount"));
    assert_eq!(shop.total("/v1/refunds"), 2);
}

fn only_a_paid_payment_is_refunded(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    shop.awaits(&payment, "processing");
    shop.refund(&payment, None).refused(409, "payment_not_refundable", None);
    let failed = shop.pay(json!({}));
    shop.simulate(&failed["id"], "user_rejected").ok(200);
    shop.refund(&failed, Some(100)).refused(409, "payment_not_refundable", None);
    let expired = shop.pay(json!({}));
    shop.simulate(&expired["id"], "timeout").ok(200);
    shop.refund(&expired, None).refused(409, "payment_not_refundable", None);
    let body = json!({"payment": sample::unknown("pay")});
    shop.post("/v1/refunds", &body).refused(400, "related_resource_not_found", Some("payment"));
    // The state is looked at before the capability and the amount.
    let orange = shop.pay(json!({"network": "orange"}));
    shop.refund(&orange, Some(9999)).refused(409, "payment_not_refundable", None);
    assert_eq!(shop.total("/v1/refunds"), 0);
}

fn a_refunded_payment_is_not_refunded_again(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({}));
    refunded(&shop, &paid, 5000);
    for amount in [None, Some(1), Some(9999)] {
        shop.refund(&paid, amount).refused(409, "payment_already_refunded", None);
    }
}

fn orange_does_not_refund(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({"network": "orange"}));
    for amount in [None, Some(1), Some(9999)] {
        shop.refund(&paid, amount).refused(400, "refund_not_supported", Some("payment"));
    }
}

fn wave_refunds_all_or_nothing(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({"network": "wave"}));
    for amount in [1, 4999] {
        shop.refund(&paid, Some(amount)).refused(
            400,
            "partial_refund_not_supported",
            Some("amount"),
        );
    }
    shop.refund(&paid, Some(5001)).refused(400, "refund_amount_exceeds_refundable", Some("amount"));
    shop.refund(&paid, None).ok(201);
    let other = shop.paid_patiently(json!({"network": "wave"}));
    assert_eq!(refunded(&shop, &other, 5000), 100);
    let kenya = json!({"network": "airtel", "currency": "KES", "phone": "+254710009999"});
    let kenya = shop.paid_patiently(kenya);
    shop.refund(&kenya, Some(100)).refused(400, "partial_refund_not_supported", Some("amount"));
    assert_eq!(refunded(&shop, &kenya, 5000), 100);
}

fn a_refused_refund_gives_everything_back(store: &Store) {
    let shop = store.shop();
    let payment = shop.post("/v1/payments", &sample::payment_of("0401")).ok(201);
    shop.awaits(&payment, "succeeded");
    let refund = shop.refund(&payment, Some(2000)).ok(201);
    assert_eq!(shop.see(&payment["id"])["refundable_amount"], 3000);
    let failed = shop.awaits(&refund, "failed");
    assert_eq!(failed["failure_code"], "refund_rejected");
    assert!(failed["failure_message"].is_string() && !failed["failed_at"].is_null());
    let payment = shop.see(&payment["id"]);
    assert_eq!(
        (&payment["status"], &payment["refundable_amount"]),
        (&json!("succeeded"), &json!(5000))
    );
    assert_eq!(payment["refunded_amount"], 0);
    assert_eq!(shop.purse("XOF"), Purse { available: 4900, pending: 0, reserved: 0 });
    let expected = ["refund_hold", "refund_hold", "refund_release", "refund_release"];
    assert_eq!(shop.posted(&refund), expected);
}

fn a_pending_refund_waits_for_simulate(store: &Store) {
    let shop = store.shop();
    let payment = shop.post("/v1/payments", &sample::payment_of("0402")).ok(201);
    shop.awaits(&payment, "succeeded");
    let refund = shop.refund(&payment, None).ok(201);
    stays(std::time::Duration::from_secs(5), || {
        assert_eq!(shop.see(&refund["id"])["status"], "created");
    });
    assert_eq!(shop.simulate(&refund["id"], "success").ok(200)["status"], "succeeded");
    assert_eq!(shop.see(&payment["id"])["status"], "refunded");
}

fn several_refunds_are_open_at_once(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    shop.simulate(&payment["id"], "refund_pending").ok(200);
    let refunds: Vec<Value> =
        [1000, 1500, 2500].map(|amount| shop.refund(&payment, Some(amount)).ok(201)).into();
    assert_eq!(shop.see(&payment["id"])["refundable_amount"], 0);
    let nothing = shop.refund(&payment, None);
    nothing.refused(400, "refund_amount_exceeds_refundable", Some("amount"));
    shop.simulate(&refunds[1]["id"], "refund_failure").ok(200);
    assert_eq!(shop.see(&payment["id"])["refundable_amount"], 1500);
    shop.simulate(&refunds[2]["id"], "success").ok(200);
    shop.simulate(&refunds[0]["id"], "success").ok(200);
    let seen = shop.see(&payment["id"]);
    assert_eq!(
        (&seen["status"], &seen["refunded_amount"]),
        (&json!("partially_refunded"), &json!(3500))
    );
    let rest = shop.refund(&payment, None).ok(201);
    assert_eq!((&rest["amount"], &rest["fee_returned_amount"]), (&json!(1500), &json!(30)));
    shop.simulate(&rest["id"], "success").ok(200);
    assert_eq!(shop.see(&payment["id"])["status"], "refunded");
    assert_eq!(shop.purse("XOF"), Purse { available: 0, pending: 0, reserved: 0 });
}

fn a_refund_needs_funds(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({}));
    shop.pay_out(json!({"amount": 4000})).ok(201);
    assert_eq!(shop.purse("XOF").available, 800);
    shop.refund(&paid, None).refused(402, "balance_insufficient", None);
    assert_eq!(shop.total("/v1/refunds"), 0);
    assert_eq!(shop.see(&paid["id"])["refundable_amount"], 5000);
    // 816 for its share of 16 leaves exactly 800.
    let refund = shop.refund(&paid, Some(816)).ok(201);
    assert_eq!(refund["net_amount"], 800);
    assert_eq!(shop.purse("XOF").available, 0);
}

fn a_card_refund_is_taken_from_what_is_pending(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_by_card(10_005, "KWD", "KW");
    let refund = shop.refund(&paid, Some(5000)).ok(201);
    assert_eq!(
        (&refund["fee_returned_amount"], &refund["net_amount"]),
        (&json!(174), &json!(4826))
    );
    assert_eq!(shop.purse("KWD"), Purse { available: 0, pending: 4829, reserved: 4826 });
    shop.awaits(&refund, "succeeded");
    assert_eq!(shop.purse("KWD"), Purse { available: 0, pending: 4829, reserved: 0 });
    let rest = shop.refund(&paid, None).ok(201);
    assert_eq!((&rest["amount"], &rest["fee_returned_amount"]), (&json!(5005), &json!(176)));
    shop.simulate(&rest["id"], "refund_failure").ok(200);
    assert_eq!(shop.purse("KWD"), Purse { available: 0, pending: 4829, reserved: 0 });
    assert_eq!(refunded(&shop, &paid, 5005), 176);
    assert_eq!(shop.purse("KWD"), Purse { available: 0, pending: 0, reserved: 0 });
    let hold = shop.list("/v1/ledger?type=refund_hold&direction=debit");
    assert!(hold.iter().all(|line| line["account"] == "merchant_pending"), "{hold:?}");
}

fn a_card_refund_follows_the_amount_of_its_payment(store: &Store) {
    let shop = store.shop();
    let failing = shop.post("/v1/payments", &sample::card(10_941, "XOF", "CI")).ok(201);
    let waiting = shop.post("/v1/payments", &sample::card(10_942, "XOF", "CI")).ok(201);
    shop.awaits(&failing, "succeeded");
    shop.awaits(&waiting, "succeeded");
    let refused = shop.refund(&failing, Some(941)).ok(201);
    let patient = shop.refund(&waiting, Some(942)).ok(201);
    assert_eq!(shop.awaits(&refused, "failed")["failure_code"], "refund_rejected");
    assert_eq!(shop.see(&patient["id"])["status"], "created");
    let plain = shop.paid(json!({"phone": "+2250500000002"}));
    let refund = shop.refund(&plain, Some(100)).ok(201);
    shop.awaits(&refund, "succeeded");
}

fn what_was_given_with_a_refund_is_kept(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({}));
    for reason in ["duplicate", "fraudulent", "requested_by_customer", "other"] {
        let given = json!({
            "payment": paid["id"], "amount": 100, "reason": reason, "description": "Broken",
            "reference": "RET-1", "metadata": {"ticket": "9"}
        });
        let refund = shop.post("/v1/refunds", &given).ok(201);
        for (name, value) in given.as_object().unwrap() {
            assert_eq!(&refund[name], value, "{name}");
            assert_eq!(&shop.see(&refund["id"])[name], value, "{name}");
        }
    }
    let masked = shop.public.get("/v1/refunds").ok(200);
    assert_eq!(masked["data"][0]["metadata"], json!({}));
}

fn refunds_are_filtered(store: &Store) {
    let shop = store.shop();
    let (one, two) = (shop.paid_patiently(json!({})), shop.paid_patiently(json!({})));
    let make = |payment: &Value, reference: &str| {
        let body = json!({"payment": payment["id"], "amount": 100, "reference": reference});
        shop.post("/v1/refunds", &body).ok(201)
    };
    let refunds = [make(&one, "A"), make(&one, "B"), make(&two, "A")];
    shop.simulate(&refunds[1]["id"], "refund_failure").ok(200);
    let ids = |query: &str| texts(&shop.list(&format!("/v1/refunds?{query}")), "id");
    let id = |number: usize| refunds[number]["id"].as_str().unwrap().to_owned();
    let payment = one["id"].as_str().unwrap();
    assert_eq!(ids(&format!("payment={payment}")), [id(1), id(0)]);
    assert_eq!(ids("reference=A"), [id(2), id(0)]);
    assert_eq!(ids("status=failed"), [id(1)]);
    assert_eq!(ids("currency=XOF"), [id(2), id(1), id(0)]);
    assert_eq!(ids(&format!("payment={payment}&reference=A")), [id(0)]);
    assert!(ids("currency=GHS").is_empty());
}

fn a_refund_tells_its_story_in_events(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let paid = shop.paid_patiently(json!({}));
    shop.hook(&sink.url(), &["*"]);
    let part = shop.refund(&paid, Some(2000)).ok(201);
    shop.simulate(&part["id"], "success").ok(200);
    let refused = shop.refund(&paid, Some(1000)).ok(201);
    shop.simulate(&refused["id"], "refund_failure").ok(200);
    let rest = shop.refund(&paid, None).ok(201);
    shop.simulate(&rest["id"], "success").ok(200);
    sink.awaits(8);
    let expected = [
        "refund.created",
        "refund.succeeded",
        "payment.partially_refunded",
        "refund.created",
        "refund.failed",
        "refund.created",
        "refund.succeeded",
        "payment.refunded",
    ];
    assert_eq!(sink.kinds_in_order(), expected);
    let last = sink.event("payment.refunded").event();
    assert_eq!(last["data"]["object"], shop.see(&paid["id"]));
}

fn a_refund_is_in_the_chronology_of_its_payment(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid_patiently(json!({}));
    let part = shop.refund(&paid, Some(2000)).ok(201);
    shop.simulate(&part["id"], "success").ok(200);
    let refused = shop.refund(&paid, Some(1000)).ok(201);
    shop.simulate(&refused["id"], "refund_failure").ok(200);
    let rest = shop.refund(&paid, None).ok(201);
    shop.simulate(&rest["id"], "success").ok(200);
    let expected = [
        "created",
        "processing",
        "succeeded",
        "refund_created",
        "refund_succeeded",
        "partially_refunded",
        "refund_created",
        "refund_failed",
        "refund_created",
        "refund_succeeded",
        "refunded",
    ];
    assert_eq!(shop.chronology(&paid), expected);
    let lines = shop.timeline(&paid);
    for (kind, refund, amount) in [
        ("refund_created", &part, 2000),
        ("refund_succeeded", &part, 2000),
        ("refund_failed", &refused, 1000),
        ("refund_created", &rest, 3000),
    ] {
        let found = lines.iter().find(|l| l["type"] == kind && l["refund"] == refund["id"]);
        let line = found.unwrap_or_else(|| panic!("no {kind} of {refund}"));
        assert_eq!(line["amount"], amount);
        assert_id("evt", &line["event"]);
    }
}

fn kept_fees_are_not_returned(store: &Store) {
    let server = store.serve(&["--refund-fee-policy", "keep"]);
    let shop = Server::next_shop(&server).unwrap();
    let paid = shop.paid(json!({}));
    shop.refund(&paid, None).refused(402, "balance_insufficient", None);
    shop.fund(100, "XOF");
    let refund = shop.refund(&paid, None).ok(201);
    assert_eq!((&refund["fee_returned_amount"], &refund["net_amount"]), (&json!(0), &json!(5000)));
    shop.awaits(&refund, "succeeded");
    assert_eq!(shop.posted(&refund), ["refund_hold", "refund_hold", "refund", "refund"]);
    assert_eq!(shop.purse("XOF"), Purse { available: 0, pending: 0, reserved: 0 });
    assert_eq!(shop.list("/v1/ledger?account=fees")[0]["balance_after"], 100);
}
