//! Pages and filters (API §2.1).

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::check::envelope;
use crate::support::server::Store;
use crate::support::shop::{Shop, path_of, texts};
use crate::support::time::{date, millis};
use crate::support::{sample, stories};

stories![
    a_page_holds_twenty_five_newest_first,
    pages_follow_one_another_without_gap_or_repeat,
    a_page_past_the_end_is_empty,
    a_limit_and_an_offset_are_integers_in_range,
    an_unknown_filter_is_refused,
    filters_combine,
    a_status_is_filtered_as_it_is_now,
    dates_include_the_first_and_exclude_the_last,
    an_id_that_matches_nothing_gives_an_empty_list,
    every_list_has_the_one_envelope,
    a_filter_keeps_to_its_own_account,
    new_objects_come_first_while_others_page,
];

fn thirty(shop: &Shop) -> Vec<Value> {
    (0..30).map(|_| shop.pay(json!({}))).collect()
}

fn a_page_holds_twenty_five_newest_first(store: &Store) {
    let shop = store.shop();
    let made = thirty(&shop);
    let page = shop.get("/v1/payments").ok(200);
    let data = envelope(&page);
    assert_eq!((&page["limit"], &page["offset"]), (&json!(25), &json!(0)));
    assert_eq!((&page["has_more"], &page["total"]), (&json!(true), &json!(30)));
    let mut expected = texts(&made, "id");
    expected.reverse();
    assert_eq!(texts(data, "id"), expected[..25]);
}

fn pages_follow_one_another_without_gap_or_repeat(store: &Store) {
    let shop = store.shop();
    let made = thirty(&shop);
    for limit in [1_usize, 7, 10, 29, 30, 100] {
        let mut seen = Vec::new();
        loop {
            let path = format!("/v1/payments?limit={limit}&offset={}", seen.len());
            let page = shop.get(&path).ok(200);
            let data = envelope(&page);
            assert_eq!((&page["limit"], &page["offset"]), (&json!(limit), &json!(seen.len())));
            assert_eq!(page["total"], 30);
            seen.extend(texts(data, "id"));
            assert_eq!(page["has_more"], seen.len() < 30);
            if page["has_more"] == false {
                break;
            }
        }
        let distinct: HashSet<&String> = seen.iter().collect();
        assert_eq!(distinct.len(), made.len());
        assert!(seen.is_sorted_by(|before, after| before > after), "newest first");
    }
}

fn a_page_past_the_end_is_empty(store: &Store) {
    let shop = store.shop();
    for _ in 0..3 {
        shop.pay(json!({}));
    }
    for offset in ["3", "4", "1000000", "9223372036854775807"] {
        let page = shop.get(&format!("/v1/payments?offset={offset}")).ok(200);
        assert_eq!(envelope(&page).len(), 0);
        assert_eq!((&page["has_more"], &page["total"]), (&json!(false), &json!(3)));
        assert_eq!(page["offset"].to_string(), offset);
    }
    let last = shop.get("/v1/payments?offset=2&limit=1").ok(200);
    assert_eq!((envelope(&last).len(), &last["has_more"]), (1, &json!(false)));
    let filtered = shop.get("/v1/payments?status=failed&offset=9223372036854775807").ok(200);
    assert_eq!((envelope(&filtered).len(), &filtered["total"]), (0, &json!(0)));
}

fn a_limit_and_an_offset_are_integers_in_range(store: &Store) {
    let shop = store.shop();
    for path in ["/v1/payments", "/v1/ledger", "/v1/customers", "/v1/webhooks/deliveries"] {
        for limit in ["0", "101", "x", "-1", "1.0", "1e1", "", "99999999999999999999", "0x10"] {
            shop.get(&format!("{path}?limit={limit}")).invalid("limit");
        }
        for offset in ["-1", "x", "1.5", "", "9223372036854775808", "99999999999999999999"] {
            shop.get(&format!("{path}?offset={offset}")).invalid("offset");
        }
        for limit in [1, 100] {
            assert_eq!(shop.get(&format!("{path}?limit={limit}")).ok(200)["limit"], limit);
        }
    }
    assert_eq!(shop.get("/v1/payments?limit=1&limit=2").status, 400, "one value each");
}

fn an_unknown_filter_is_refused(store: &Store) {
    let shop = store.shop();
    shop.pay(json!({}));
    for name in ["statut", "Status", "page", "starting_after", "amount"] {
        let response = shop.get(&format!("/v1/payments?{name}=failed"));
        response.refused(400, "parameter_unknown", Some(name));
    }
}

fn filters_combine(store: &Store) {
    let shop = store.shop();
    let customer = shop.customer(json!({"name": "Awa"}));
    for number in 0..6 {
        shop.pay(json!({"reference": format!("ORDER {number}"), "customer": customer["id"]}));
    }
    shop.pay(json!({"network": "wave"}));
    shop.pay(json!({"currency": "XAF", "phone": "+237670009999"}));
    shop.post("/v1/payments", &sample::card(10_000, "XOF", "CI")).ok(201);
    let customer = customer["id"].as_str().unwrap();
    for (query, total) in [
        ("".to_owned(), 9),
        ("network=mtn".to_owned(), 7),
        ("network=mtn&country=CI".to_owned(), 6),
        ("reference=ORDER%203".to_owned(), 1),
        ("reference=ORDER-1&network=mtn".to_owned(), 1),
        ("reference=none".to_owned(), 0),
        ("reference=order%203".to_owned(), 0),
        ("currency=XAF".to_owned(), 1),
        ("currency=XOF&payment_method=card".to_owned(), 1),
        ("payment_method=mobile_money".to_owned(), 8),
        ("country=CM".to_owned(), 1),
        ("country=SN".to_owned(), 0),
        (format!("customer={customer}"), 6),
        (format!("customer={customer}&reference=ORDER%205"), 1),
        (format!("customer={customer}&network=wave"), 0),
    ] {
        assert_eq!(shop.total(&format!("/v1/payments?{query}")), total, "{query}");
    }
}

fn a_status_is_filtered_as_it_is_now(store: &Store) {
    let shop = store.shop();
    let made = thirty(&shop);
    for payment in &made[..3] {
        shop.simulate(&payment["id"], "user_rejected").ok(200);
    }
    let failed = shop.get("/v1/payments?status=failed").ok(200);
    assert_eq!(failed["total"], 3);
    assert!(envelope(&failed).iter().all(|payment| payment["status"] == "failed"));
    shop.get("/v1/payments?status=done").invalid("status");
    assert_eq!(shop.total("/v1/payments?status=succeeded"), 0);
    // Where they move to is asked first: one that moves in between is in neither answer.
    let rest =
        shop.total("/v1/payments?status=processing") + shop.total("/v1/payments?status=created");
    assert!(rest <= 27, "a payment may move between the two questions, never be in both: {rest}");
}

fn dates_include_the_first_and_exclude_the_last(store: &Store) {
    let shop = store.shop();
    let customers: Vec<Value> = (0..4)
        .map(|number| {
            std::thread::sleep(std::time::Duration::from_millis(3));
            shop.customer(json!({"name": format!("C{number}")}))
        })
        .collect();
    let at = |number: usize| customers[number]["created_at"].as_str().unwrap();
    let total = |query: String| shop.total(&format!("/v1/customers?{query}"));
    assert_eq!(total(format!("created_from={}", at(1))), 3);
    assert_eq!(total(format!("created_to={}", at(1))), 1);
    assert_eq!(total(format!("created_from={}&created_to={}", at(1), at(3))), 2);
    assert_eq!(total(format!("created_from={}&created_to={}", at(2), at(2))), 0);
    let after = date(millis(&customers[3]["created_at"]) + 1);
    assert_eq!(total(format!("created_from={after}")), 0);
    assert_eq!(total(format!("created_to={after}")), 4);
    for form in ["2024-11-19T00:00:00Z", "2024-11-19T00:00:00.5Z", "2024-11-19T00:00:00.123Z"] {
        assert_eq!(total(format!("created_from={form}")), 4);
    }
    for text in [
        "2024-11-19",
        "yesterday",
        "1731974400",
        "2024-13-01T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2024-11-19T00:00:00",
        "2024-11-19T00:00:00.1234Z",
        "2024-11-19T25:00:00Z",
        "",
    ] {
        for name in ["created_from", "created_to"] {
            shop.get(&format!("/v1/customers?{name}={text}")).invalid(name);
        }
    }
    for path in ["payments", "payouts", "refunds", "payment-links", "ledger", "webhooks/deliveries"]
    {
        let path = format!("/v1/{path}?created_from={}&created_to={after}", at(0));
        assert_eq!(shop.total(&path), 0);
    }
}

fn an_id_that_matches_nothing_gives_an_empty_list(store: &Store) {
    let shop = store.shop();
    shop.pay(json!({}));
    for (path, filter, prefix) in [
        ("payments", "customer", "cus"),
        ("payments", "payment_link", "plink"),
        ("payouts", "customer", "cus"),
        ("refunds", "payment", "pay"),
        ("ledger", "source", "pay"),
        ("ledger", "transaction", "ltx"),
        ("webhooks/deliveries", "webhook_endpoint", "whe"),
        ("webhooks/deliveries", "event", "evt"),
    ] {
        let id = sample::unknown(prefix);
        assert_eq!(shop.total(&format!("/v1/{path}?{filter}={id}")), 0, "{path} {filter}");
    }
}

fn every_list_has_the_one_envelope(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    let link = shop.link(json!({}));
    for (path, total) in [
        ("/v1/payments", 1),
        ("/v1/payouts", 0),
        ("/v1/refunds", 0),
        ("/v1/payment-links", 1),
        ("/v1/customers", 0),
        ("/v1/ledger", 0),
        ("/v1/webhooks", 0),
        ("/v1/webhooks/deliveries", 0),
        ("/v1/sandbox/scenarios", 21),
        (&format!("{}/payments", path_of(&link["id"])), 0),
    ] {
        let page = shop.get(path).ok(200);
        envelope(&page);
        assert_eq!(page["total"], total, "{path}");
        assert_eq!((&page["limit"], &page["offset"]), (&json!(25), &json!(0)));
        assert_eq!(page["has_more"], false);
    }
    let timeline = shop.get(&format!("{}/timeline", path_of(&payment["id"]))).ok(200);
    assert!(!envelope(&timeline).is_empty());
}

fn a_filter_keeps_to_its_own_account(store: &Store) {
    let (shop, other) = (store.shop(), store.shop());
    shop.pay(json!({}));
    assert_eq!(other.total("/v1/payments"), 0);
    assert_eq!(other.total("/v1/payments?reference=ORDER-1"), 0);
    assert_eq!(shop.live.get("/v1/payments").ok(200)["total"], 0);
}

fn new_objects_come_first_while_others_page(store: &Store) {
    let shop = store.shop();
    let first = shop.customer(json!({"name": "first"}));
    let second = shop.customer(json!({"name": "second"}));
    let page = shop.get("/v1/customers?limit=1").ok(200);
    assert_eq!(page["data"][0]["id"], second["id"]);
    // A change does not move an object in its list.
    shop.post(&path_of(&first["id"]), &json!({"name": "First"})).ok(200);
    let listed = shop.list("/v1/customers");
    assert_eq!(texts(&listed, "name"), ["second", "First"]);
}
