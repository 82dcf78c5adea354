//! What belongs to another account or environment does not exist (API §2).

use serde_json::{Value, json};

use crate::support::server::Store;
use crate::support::shop::{Shop, path_of};
use crate::support::sink::Sink;
use crate::support::{sample, stories};

stories![
    another_account_finds_nothing,
    another_environment_finds_nothing,
    an_object_of_another_account_is_not_related,
    events_of_another_account_are_neither_seen_nor_sent,
    every_object_carries_its_environment,
    live_customers_and_endpoints_are_real,
];

struct Possessions {
    payment: Value,
    payout: Value,
    refund: Value,
    link: Value,
    customer: Value,
}

fn possessions(shop: &Shop) -> Possessions {
    shop.fund(100_000, "XOF");
    let payment = shop.paid_patiently(json!({}));
    Possessions {
        payout: shop.pay_out(json!({})).ok(201),
        refund: shop.refund(&payment, Some(100)).ok(201),
        link: shop.link(json!({})),
        customer: shop.customer(json!({"name": "Awa"})),
        payment,
    }
}

fn finds_nothing(stranger: &crate::support::shop::Caller, of: &Possessions) {
    let Possessions { payment, payout, refund, link, customer } = of;
    for object in [payment, payout, refund, link, customer] {
        stranger.get(&path_of(&object["id"])).refused(404, "resource_not_found", None);
    }
    let route = |object: &Value, rest: &str| format!("{}{rest}", path_of(&object["id"]));
    for path in [route(payment, "/timeline"), route(link, "/payments")] {
        stranger.get(&path).refused(404, "resource_not_found", None);
    }
    for (path, body) in [
        (route(payment, "/cancel"), json!({})),
        (route(link, ""), json!({"active": false})),
        (route(customer, ""), json!({"name": "Mine"})),
    ] {
        stranger.post(&path, &body).refused(404, "resource_not_found", None);
    }
    for list in ["payments", "payouts", "refunds", "payment-links", "customers", "ledger"] {
        assert_eq!(stranger.total(&format!("/v1/{list}")), 0, "{list}");
    }
    let source = payment["id"].as_str().unwrap();
    assert_eq!(stranger.total(&format!("/v1/ledger?source={source}")), 0);
    assert_eq!(stranger.total(&format!("/v1/refunds?payment={source}")), 0);
    assert_eq!(stranger.get("/v1/balance").ok(200)["available"], json!([]));
}

fn another_account_finds_nothing(store: &Store) {
    let (shop, stranger) = (store.shop(), store.shop());
    let of = possessions(&shop);
    finds_nothing(&stranger.secret, &of);
    stranger.public.get(&path_of(&of.payment["id"])).refused(404, "resource_not_found", None);
    assert_eq!(shop.see(&of.customer["id"])["name"], "Awa");
}

fn another_environment_finds_nothing(store: &Store) {
    let shop = store.shop();
    let of = possessions(&shop);
    finds_nothing(&shop.live, &of);
    shop.live_public.get(&path_of(&of.payment["id"])).refused(404, "resource_not_found", None);
}

fn an_object_of_another_account_is_not_related(store: &Store) {
    let (shop, stranger) = (store.shop(), store.shop());
    let of = possessions(&shop);
    stranger.fund(100_000, "XOF");
    let unrelated = |path: &str, body: Value, param: &str| {
        let response = stranger.post(path, &body);
        response.refused(400, "related_resource_not_found", Some(param));
    };
    let customer = &of.customer["id"];
    unrelated("/v1/payments", sample::payment(json!({"customer": customer})), "customer");
    unrelated("/v1/payments", sample::via(&of.link, sample::PATIENT), "payment_link");
    unrelated("/v1/payouts", sample::payout(json!({"customer": customer})), "customer");
    unrelated("/v1/refunds", json!({"payment": of.payment["id"]}), "payment");
    for object in [&of.payment, &of.payout, &of.refund] {
        let body = json!({"id": object["id"], "scenario": "success"});
        unrelated("/v1/sandbox/simulate", body, "id");
    }
    let live = json!({"payment": of.payment["id"]});
    shop.live.post("/v1/refunds", &live).refused(
        400,
        "related_resource_not_found",
        Some("payment"),
    );
}

fn events_of_another_account_are_neither_seen_nor_sent(store: &Store) {
    let (shop, stranger) = (store.shop(), store.shop());
    let (sink, foreign) = (Sink::open(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["*"]);
    let payment = shop.pay(json!({}));
    sink.event("payment.created");
    let delivery = shop.list("/v1/webhooks/deliveries").pop().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (payment, endpoint) = (text(&payment["id"]), text(&endpoint["id"]));
    let (event, delivery) = (text(&delivery["event"]), text(&delivery["id"]));
    let since = json!({"since": "2024-11-19T00:00:00Z"});
    for other in [&stranger.secret, &shop.live] {
        let unseen = |path: &str| other.get(path).refused(404, "resource_not_found", None);
        unseen(&format!("/v1/events/{event}"));
        for filter in [String::new(), format!("?resource={payment}")] {
            assert_eq!(other.total(&format!("/v1/events{filter}")), 0, "{filter}");
        }
        assert_eq!(other.total(&format!("/v1/webhooks/deliveries?event={event}")), 0);
        let retry = format!("/v1/webhooks/deliveries/{delivery}/retry");
        other.post(&retry, &json!({})).refused(404, "resource_not_found", None);
        let replay = format!("/v1/webhooks/{endpoint}/replay");
        other.post(&replay, &since).refused(404, "resource_not_found", None);
    }
    let own = stranger.hook(&foreign.url(), &["*"]);
    let replay = format!("{}/replay", path_of(&own["id"]));
    let replayed = stranger.post(&replay, &since).ok(202);
    assert_eq!(replayed["events_count"], 0);
    let after = json!({"since": "2024-11-19T00:00:00Z", "after": event});
    stranger.post(&replay, &after).refused(400, "related_resource_not_found", Some("after"));
    assert!(foreign.hits().is_empty());
}

fn every_object_carries_its_environment(store: &Store) {
    let shop = store.shop();
    let of = possessions(&shop);
    for object in [of.payment, of.payout, of.refund, of.link, of.customer] {
        assert_eq!(
            (&object["environment"], &object["livemode"]),
            (&json!("sandbox"), &json!(false))
        );
    }
    let lines = shop.list("/v1/ledger");
    assert!(lines.iter().all(|line| line["environment"] == "sandbox" && line["livemode"] == false));
}

fn live_customers_and_endpoints_are_real(store: &Store) {
    let shop = store.shop();
    let customer = shop.live.post("/v1/customers", &json!({"name": "Awa"})).ok(201);
    assert_eq!((&customer["environment"], &customer["livemode"]), (&json!("live"), &json!(true)));
    assert_eq!(shop.live.see(&customer["id"])["livemode"], true);
    shop.get(&path_of(&customer["id"])).refused(404, "resource_not_found", None);
    let body = sample::payment(json!({"customer": customer["id"]}));
    shop.post("/v1/payments", &body).refused(400, "related_resource_not_found", Some("customer"));
    // What names an object comes before what the catalogue offers.
    let body = sample::payment(json!({"customer": sample::unknown("cus")}));
    shop.live.post("/v1/payments", &body).refused(
        400,
        "related_resource_not_found",
        Some("customer"),
    );
}
