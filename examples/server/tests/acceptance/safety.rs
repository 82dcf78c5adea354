//! Many at the same moment (API §19).

use std::collections::HashSet;
use std::thread;

use serde_json::{Value, json};

use crate::support::http::Response;
use crate::support::server::Store;
use crate::support::shop::{Purse, path_of, texts};
use crate::support::sink::Sink;
use crate::support::{sample, stories};

stories![
    fifty_successes_are_one,
    parallel_payouts_cannot_overspend,
    parallel_refunds_cannot_exceed_the_payment,
    parallel_refunds_cannot_overspend,
    one_of_many_takes_the_link,
    a_payment_is_cancelled_or_paid_never_both,
    sixteen_of_forty_endpoints_are_made,
    parallel_changes_are_all_kept,
    parallel_creations_are_all_listed_once,
    a_walk_through_a_growing_list_repeats_nothing_it_should_not,
    many_currencies_move_side_by_side,
];

/// The same thing by this many callers at once, each told its number.
fn at_once(callers: usize, ask: impl Fn(usize) -> Response + Sync) -> Vec<Response> {
    thread::scope(|scope| {
        let ask = &ask;
        let threads: Vec<_> = (0..callers).map(|number| scope.spawn(move || ask(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// How many had this status; all others were refused with this status and code.
#[track_caller]
fn split(responses: &[Response], accepted: u16, refused: u16, code: &str) -> usize {
    let mut count = 0;
    for response in responses {
        if response.status == accepted {
            count += 1;
        } else {
            assert_eq!(response.refusal(refused)["code"], code);
        }
    }
    count
}

fn fifty_successes_are_one(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["*"]);
    let payment = shop.pay(json!({}));
    let answers = at_once(50, |_| shop.simulate(&payment["id"], "success"));
    assert_eq!(split(&answers, 200, 409, "simulation_not_allowed"), 1);
    assert_eq!(shop.total("/v1/ledger"), 6);
    assert_eq!(shop.purse("XOF"), Purse { available: 4900, pending: 0, reserved: 0 });
    sink.awaits(3);
    assert_eq!(
        sink.kinds_in_order(),
        ["payment.created", "payment.processing", "payment.succeeded"]
    );
    assert_eq!(shop.total("/v1/webhooks/deliveries?event_type=payment.succeeded"), 1);
    let succeeded = shop.chronology(&payment).iter().filter(|kind| *kind == "succeeded").count();
    assert_eq!(succeeded, 1);
}

fn parallel_payouts_cannot_overspend(store: &Store) {
    let shop = store.shop();
    shop.fund(10 * 10_100 + 10_099, "XOF");
    let answers = at_once(40, |_| shop.pay_out(json!({})));
    assert_eq!(split(&answers, 201, 402, "balance_insufficient"), 10);
    assert_eq!(shop.total("/v1/payouts"), 10);
    assert_eq!(shop.purse("XOF"), Purse { available: 10_099, pending: 0, reserved: 101_000 });
}

fn parallel_refunds_cannot_exceed_the_payment(store: &Store) {
    let shop = store.shop();
    shop.fund(1_000_000, "XOF");
    let paid = shop.paid_patiently(json!({}));
    let answers = at_once(40, |_| shop.refund(&paid, Some(499)));
    let code = "refund_amount_exceeds_refundable";
    assert_eq!(split(&answers, 201, 400, code), 10);
    let seen = shop.see(&paid["id"]);
    assert_eq!((&seen["refundable_amount"], &seen["status"]), (&json!(10), &json!("succeeded")));
    let rest = shop.refund(&paid, None).ok(201);
    assert_eq!(rest["amount"], 10);
    let returned: i64 = shop
        .list("/v1/refunds")
        .iter()
        .map(|refund| refund["fee_returned_amount"].as_i64().unwrap())
        .sum();
    assert_eq!(returned, 100, "exactly the fee");
}

fn parallel_refunds_cannot_overspend(store: &Store) {
    let shop = store.shop();
    let payments: Vec<Value> = (0..10).map(|_| shop.paid_patiently(json!({}))).collect();
    // What this leaves is enough for five refunds of 4,900, not for six.
    shop.pay_out(json!({"amount": 23_550})).ok(201);
    let left = shop.purse("XOF").available;
    let answers = at_once(10, |number| shop.refund(&payments[number], None));
    let made = split(&answers, 201, 402, "balance_insufficient");
    assert_eq!(i64::try_from(made).unwrap(), left / 4900);
    assert_eq!(shop.purse("XOF").available, left % 4900);
}

fn one_of_many_takes_the_link(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({}));
    let answers = at_once(20, |_| shop.pay_via(&link, sample::PATIENT));
    assert_eq!(split(&answers, 201, 409, "payment_link_in_use"), 1);
    assert_eq!(shop.see(&link["id"])["payments_count"], 1);
    let open = shop.link(json!({"reusable": true}));
    let answers = at_once(20, |_| shop.pay_via(&open, sample::PATIENT));
    assert!(answers.iter().all(|answer| answer.status == 201));
    assert_eq!(shop.see(&open["id"])["payments_count"], 20);
    let paid = at_once(20, |number| shop.simulate(&answers[number].json()["id"], "success"));
    assert!(paid.iter().all(|answer| answer.status == 200), "{}", paid[0].text());
    let seen = shop.see(&open["id"]);
    assert_eq!(
        (&seen["succeeded_payments_count"], &seen["collected_amount"]),
        (&json!(20), &json!(300_000))
    );
}

fn a_payment_is_cancelled_or_paid_never_both(store: &Store) {
    let shop = store.shop();
    for _ in 0..5 {
        let payment = shop.pay(json!({"network": "wave"}));
        let cancel = format!("{}/cancel", path_of(&payment["id"]));
        let answers = at_once(10, |number| match number % 2 {
            0 => shop.simulate(&payment["id"], "success"),
            _ => shop.post(&cancel, &json!({})),
        });
        let accepted: Vec<&Response> =
            answers.iter().filter(|answer| answer.status == 200).collect();
        assert_eq!(accepted.len(), 1, "one of them wins");
        assert_eq!(shop.see(&payment["id"])["status"], accepted[0].json()["status"]);
        let lines = shop.posted(&payment).len();
        let paid = accepted[0].json()["status"] == "succeeded";
        assert_eq!(lines, if paid { 6 } else { 0 });
    }
}

fn sixteen_of_forty_endpoints_are_made(store: &Store) {
    let shop = store.shop();
    let answers = at_once(40, |number| {
        shop.post("/v1/webhooks", &json!({"url": format!("http://127.0.0.1:9/{number}")}))
    });
    assert_eq!(split(&answers, 201, 400, "webhook_endpoint_limit_reached"), 16);
    assert_eq!(shop.total("/v1/webhooks"), 16);
}

fn parallel_changes_are_all_kept(store: &Store) {
    let shop = store.shop();
    let customer = shop.customer(json!({"name": "Awa"}));
    let path = path_of(&customer["id"]);
    let answers =
        at_once(20, |number| shop.post(&path, &json!({"metadata": {format!("key{number}"): "v"}})));
    assert!(answers.iter().all(|answer| answer.status == 200), "{}", answers[0].text());
    let seen = shop.see(&customer["id"]);
    assert_eq!(seen["metadata"].as_object().unwrap().len(), 20);
    let moments: HashSet<String> =
        answers.iter().map(|answer| answer.json()["updated_at"].to_string()).collect();
    assert_eq!(moments.len(), 20, "updated_at rises with every change");
}

fn parallel_creations_are_all_listed_once(store: &Store) {
    let shop = store.shop();
    let made: HashSet<String> = thread::scope(|scope| {
        let make = || -> Vec<String> {
            (0..25).map(|_| shop.pay(json!({}))["id"].as_str().unwrap().to_owned()).collect()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(made.len(), 200);
    let listed = texts(&shop.list("/v1/payments"), "id");
    assert_eq!(listed.len(), 200);
    assert_eq!(listed.into_iter().collect::<HashSet<_>>(), made);
}

/// New objects come at the front, so a page may repeat what moved back, but never skips.
fn a_walk_through_a_growing_list_repeats_nothing_it_should_not(store: &Store) {
    let shop = store.shop();
    let old: HashSet<String> =
        (0..40).map(|_| shop.customer(json!({"name": "A"}))["id"].to_string()).collect();
    let seen: HashSet<String> = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..40 {
                shop.customer(json!({"name": "B"}));
            }
        });
        let mut seen = HashSet::new();
        let mut offset = 0;
        loop {
            let page = shop.get(&format!("/v1/customers?limit=10&offset={offset}")).ok(200);
            let data = page["data"].as_array().unwrap();
            seen.extend(data.iter().map(|customer| customer["id"].to_string()));
            offset += data.len();
            if page["has_more"] == false {
                break;
            }
        }
        writer.join().unwrap();
        seen
    });
    assert!(old.is_subset(&seen), "nothing that was there is skipped");
}

fn many_currencies_move_side_by_side(store: &Store) {
    let shop = store.shop();
    let currencies = ["XOF", "XAF", "GHS", "KES", "KWD", "USD"];
    let answers = at_once(60, |number| {
        let body = json!({"amount": 7, "currency": currencies[number % currencies.len()]});
        shop.post("/v1/sandbox/fund", &body)
    });
    assert!(answers.iter().all(|answer| answer.status == 201));
    for currency in currencies {
        assert_eq!(shop.purse(currency).available, 70);
        let lines =
            shop.list(&format!("/v1/ledger?currency={currency}&account=merchant_available"));
        let after: Vec<i64> =
            lines.iter().map(|line| line["balance_after"].as_i64().unwrap()).collect();
        assert_eq!(after, [70, 63, 56, 49, 42, 35, 28, 21, 14, 7], "a chain without a gap");
    }
}
