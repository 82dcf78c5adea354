//! Links that lead to payments (API §12).

use serde_json::{Value, json};

use crate::support::check::{LINK, assert_id, declares, envelope};
use crate::support::server::Store;
use crate::support::shop::{path_of, texts};
use crate::support::sink::Sink;
use crate::support::time::{date, millis, soon};
use crate::support::{sample, stories};

stories![
    a_link_begins_as_created,
    what_was_given_with_a_link_is_kept,
    a_payment_through_a_link_pays_it,
    the_payment_takes_its_terms_from_the_link,
    a_link_without_an_amount_lets_the_payer_choose,
    an_inactive_link_takes_no_payment,
    a_paid_link_takes_no_second_payment,
    one_attempt_at_a_time,
    a_reusable_link_collects_again_and_again,
    an_expiry_lies_within_a_year_ahead,
    an_expired_link_takes_no_payment,
    some_things_about_a_link_never_change,
    the_amount_is_locked_while_somebody_pays,
    a_paid_link_changes_its_words_only,
    a_change_leaves_the_rest_alone,
    a_link_may_limit_the_methods,
    a_refund_does_not_reopen_a_link,
    a_link_is_offered_where_the_catalogue_says,
    the_payments_of_a_link_are_listed,
    links_are_filtered,
    a_link_speaks_twice_in_its_life,
];

fn a_link_begins_as_created(store: &Store) {
    let shop = store.shop();
    let response = shop.post("/v1/payment-links", &sample::link(json!({})));
    let link = response.ok(201);
    declares(&link, LINK);
    assert_id("plink", &link["id"]);
    assert_eq!(response.header("Location"), Some(path_of(&link["id"]).as_str()));
    assert!(link["url"].as_str().unwrap().ends_with(&format!("/{}", link["id"].as_str().unwrap())));
    let expected = json!({
        "object": "payment_link", "environment": "sandbox", "livemode": false,
        "status": "created", "active": true, "title": "Invoice 42", "description": null,
        "amount": 15_000, "currency": "XOF", "country": "CI", "payment_methods": null,
        "reusable": false, "expires_at": null, "return_url": null, "reference": null,
        "metadata": {}, "payments_count": 0, "succeeded_payments_count": 0,
        "collected_amount": 0, "paid_at": null
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&link[name], value, "{name}");
    }
    assert_eq!(shop.see(&link["id"]), link);
}

fn what_was_given_with_a_link_is_kept(store: &Store) {
    let shop = store.shop();
    let given = json!({
        "description": "For November", "payment_methods": ["mobile_money"], "reusable": true,
        "expires_at": in_days(&shop.link(json!({})), 30), "active": false,
        "return_url": "https://shop.example.com/thanks", "reference": "INV-42",
        "metadata": {"invoice": "42"}, "amount": null
    });
    let link = shop.link(given.clone());
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(&link[name], value, "{name}");
    }
}

/// A moment counted from when something was made.
fn in_days(object: &Value, days: i64) -> String {
    date(millis(&object["created_at"]) + days * 86_400_000)
}

fn a_payment_through_a_link_pays_it(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["payment.succeeded", "payment_link.paid"]);
    let link = shop.link(json!({}));
    let payment = shop.pay_via(&link, sample::WILLING).ok(201);
    assert_eq!((&payment["amount"], &payment["fee_amount"]), (&json!(15_000), &json!(300)));
    assert_eq!((&payment["payment_link"], &payment["country"]), (&link["id"], &json!("CI")));
    let paid = shop.awaits(&link, "paid");
    assert!(!paid["paid_at"].is_null());
    assert_eq!(
        (&paid["payments_count"], &paid["succeeded_payments_count"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(paid["collected_amount"], 15_000);
    sink.awaits(2);
    assert_eq!(sink.kinds_in_order(), ["payment.succeeded", "payment_link.paid"]);
    assert_eq!(sink.event("payment_link.paid").event()["data"]["object"], paid);
    shop.pay_via(&link, sample::WILLING).refused(409, "payment_link_already_paid", None);
}

fn the_payment_takes_its_terms_from_the_link(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({"return_url": "https://shop.example.com/thanks"}));
    let via = |changes: Value| {
        shop.post("/v1/payments", &sample::changed(sample::via(&link, sample::PATIENT), changes))
    };
    let mismatch = |changes: Value, param: &str| {
        via(changes).refused(400, "payment_link_amount_mismatch", Some(param));
    };
    mismatch(json!({"amount": 1000}), "amount");
    mismatch(json!({"amount": 15_001}), "amount");
    let elsewhere = via(json!({"currency": "XAF"})).refusal(400);
    assert_eq!(elsewhere["param"], "currency", "{elsewhere}");
    let senegal = via(json!({"phone": "+221770009999"})).refusal(400);
    assert_eq!(senegal["code"], "phone_country_mismatch", "{senegal}");
    assert_eq!(shop.see(&link["id"])["payments_count"], 0);
    let payment = via(json!({"amount": 15_000, "currency": "XOF", "country": "CI"})).ok(201);
    assert_eq!(payment["return_url"], "https://shop.example.com/thanks");
    let other = shop.link(json!({}));
    let card = json!({"payment_link": other["id"], "payment_method": "card"});
    let card = shop.post("/v1/payments", &card).ok(201);
    assert_eq!(
        (&card["amount"], &card["country"], &card["fee_amount"]),
        (&json!(15_000), &json!("CI"), &json!(525))
    );
}

fn a_link_without_an_amount_lets_the_payer_choose(store: &Store) {
    let shop = store.shop();
    let link = shop.post("/v1/payment-links", &sample::without(sample::link(json!({})), "amount"));
    let link = link.ok(201);
    assert_eq!(link["amount"], Value::Null);
    shop.pay_via(&link, sample::PATIENT).missing("amount");
    let body = sample::changed(sample::via(&link, sample::PATIENT), json!({"amount": 700}));
    let payment = shop.post("/v1/payments", &body).ok(201);
    assert_eq!((&payment["amount"], &payment["currency"]), (&json!(700), &json!("XOF")));
    shop.simulate(&payment["id"], "success").ok(200);
    assert_eq!(shop.see(&link["id"])["collected_amount"], 700);
}

fn an_inactive_link_takes_no_payment(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({}));
    let changed = shop.post(&path_of(&link["id"]), &json!({"active": false})).ok(200);
    assert_eq!((&changed["active"], &changed["status"]), (&json!(false), &json!("created")));
    shop.pay_via(&link, sample::PATIENT).refused(409, "payment_link_inactive", None);
    shop.post(&path_of(&link["id"]), &json!({"active": true})).ok(200);
    let payment = shop.pay_via(&link, sample::PATIENT).ok(201);
    // Of several reasons, the first of the contract's.
    shop.post(&path_of(&link["id"]), &json!({"active": false})).ok(200);
    shop.simulate(&payment["id"], "success").ok(200);
    assert_eq!(shop.see(&link["id"])["status"], "paid");
    shop.pay_via(&link, sample::PATIENT).refused(409, "payment_link_inactive", None);
}

fn a_paid_link_takes_no_second_payment(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({}));
    let payment = shop.pay_via(&link, sample::PATIENT).ok(201);
    shop.simulate(&payment["id"], "success").ok(200);
    let paid = shop.see(&link["id"]);
    assert_eq!(paid["status"], "paid");
    shop.pay_via(&link, sample::PATIENT).refused(409, "payment_link_already_paid", None);
    assert_eq!(shop.see(&link["id"]), paid);
    assert_eq!(shop.total("/v1/payments"), 1);
}

fn one_attempt_at_a_time(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({}));
    let first = shop.pay_via(&link, sample::PATIENT).ok(201);
    shop.pay_via(&link, sample::PATIENT).refused(409, "payment_link_in_use", None);
    shop.simulate(&first["id"], "user_rejected").ok(200);
    let second = shop.pay_via(&link, sample::PATIENT).ok(201);
    shop.simulate(&second["id"], "timeout").ok(200);
    let third = shop.pay_via(&link, sample::PATIENT).ok(201);
    shop.simulate(&third["id"], "success").ok(200);
    let paid = shop.see(&link["id"]);
    assert_eq!((&paid["status"], &paid["payments_count"]), (&json!("paid"), &json!(3)));
    assert_eq!(
        (&paid["succeeded_payments_count"], &paid["collected_amount"]),
        (&json!(1), &json!(15_000))
    );
    // The second comes through late: the money is real, the link is paid once.
    shop.simulate(&second["id"], "success").ok(200);
    let late = shop.see(&link["id"]);
    assert_eq!(
        (&late["succeeded_payments_count"], &late["collected_amount"]),
        (&json!(2), &json!(30_000))
    );
    assert_eq!(late["paid_at"], paid["paid_at"]);
}

fn a_reusable_link_collects_again_and_again(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["payment.succeeded", "payment_link.paid"]);
    let link = shop.link(json!({"reusable": true}));
    let payments = [0; 3].map(|_| shop.pay_via(&link, sample::PATIENT).ok(201));
    for payment in &payments {
        assert_eq!(shop.simulate(&payment["id"], "success").ok(200)["payment_link"], link["id"]);
    }
    let seen = shop.see(&link["id"]);
    assert_eq!((&seen["status"], &seen["paid_at"]), (&json!("created"), &Value::Null));
    assert_eq!(
        (&seen["payments_count"], &seen["succeeded_payments_count"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(seen["collected_amount"], 45_000);
    sink.awaits(3);
    assert_eq!(sink.kinds_in_order(), ["payment.succeeded"; 3]);
}

fn an_expiry_lies_within_a_year_ahead(store: &Store) {
    let shop = store.shop();
    let now = shop.link(json!({}));
    for moment in
        ["2020-01-01T00:00:00.000Z", &in_days(&now, -1), &in_days(&now, 367), "tomorrow", ""]
    {
        let body = sample::link(json!({"expires_at": moment}));
        shop.post("/v1/payment-links", &body).invalid("expires_at");
        shop.post(&path_of(&now["id"]), &json!({"expires_at": moment})).invalid("expires_at");
    }
    let moment = in_days(&now, 364);
    assert_eq!(shop.link(json!({"expires_at": moment}))["expires_at"], moment);
    let path = path_of(&now["id"]);
    assert_eq!(shop.post(&path, &json!({"expires_at": moment})).ok(200)["expires_at"], moment);
    assert_eq!(shop.post(&path, &json!({"expires_at": null})).ok(200)["expires_at"], Value::Null);
}

fn an_expired_link_takes_no_payment(store: &Store) {
    let shop = store.shop();
    let now = shop.link(json!({}));
    let moment = date(millis(&now["created_at"]) + 2500);
    let link = shop.link(json!({"expires_at": moment, "reusable": true}));
    soon(|| {
        let response = shop.pay_via(&link, sample::PATIENT);
        match response.status {
            201 => Err(response.text()),
            _ => Ok(response),
        }
    })
    .refused(409, "payment_link_expired", None);
    let seen = shop.see(&link["id"]);
    assert_eq!((&seen["status"], &seen["active"]), (&json!("created"), &json!(true)));
}

fn some_things_about_a_link_never_change(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({}));
    let path = path_of(&link["id"]);
    for (field, value) in [
        ("currency", json!("XAF")),
        ("country", json!("SN")),
        ("reusable", json!(true)),
        ("payment_methods", json!(["card"])),
    ] {
        let changed = shop.post(&path, &json!({ field: value }));
        changed.refused(400, "parameter_immutable", Some(field));
    }
    shop.post(&path, &json!({"status": "paid"})).refused(400, "parameter_unknown", Some("status"));
    assert_eq!(shop.see(&link["id"]), link);
}

fn the_amount_is_locked_while_somebody_pays(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({"reusable": true}));
    let path = path_of(&link["id"]);
    let amount = |amount: i64| shop.post(&path, &json!({"amount": amount}));
    assert_eq!(amount(20_000).ok(200)["amount"], 20_000);
    let payment = shop.pay_via(&link, sample::PATIENT).ok(201);
    amount(25_000).refused(409, "payment_link_locked", None);
    shop.post(&path, &json!({"title": "Invoice 43"})).ok(200);
    shop.simulate(&payment["id"], "user_rejected").ok(200);
    assert_eq!(amount(25_000).ok(200)["amount"], 25_000);
    let payment = shop.pay_via(&link, sample::PATIENT).ok(201);
    assert_eq!(payment["amount"], 25_000);
    shop.simulate(&payment["id"], "success").ok(200);
    amount(30_000).refused(409, "payment_link_locked", None);
}

fn a_paid_link_changes_its_words_only(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({}));
    let payment = shop.pay_via(&link, sample::PATIENT).ok(201);
    shop.simulate(&payment["id"], "success").ok(200);
    let path = path_of(&link["id"]);
    let words = json!({
        "title": "Paid", "description": "Thank you", "reference": "R", "metadata": {"a": "b"}
    });
    let changed = shop.post(&path, &words).ok(200);
    for (name, value) in words.as_object().unwrap() {
        assert_eq!(&changed[name], value);
    }
    for change in [
        json!({"active": false}),
        json!({"amount": 1000}),
        json!({"expires_at": in_days(&link, 3)}),
        json!({"return_url": "https://example.com/"}),
    ] {
        shop.post(&path, &change).refused(409, "payment_link_already_paid", None);
    }
}

fn a_change_leaves_the_rest_alone(store: &Store) {
    let shop = store.shop();
    let link =
        shop.link(json!({"description": "x", "reference": "R", "metadata": {"a": "1", "b": "2"}}));
    let path = path_of(&link["id"]);
    assert_eq!(shop.post(&path, &json!({})).ok(200)["title"], "Invoice 42");
    let change = json!({"description": null, "metadata": {"a": null, "c": "3"}});
    let changed = shop.post(&path, &change).ok(200);
    assert_eq!(changed["description"], Value::Null);
    assert_eq!(changed["metadata"], json!({"b": "2", "c": "3"}));
    assert_eq!((&changed["reference"], &changed["amount"]), (&json!("R"), &json!(15_000)));
    assert!(millis(&changed["updated_at"]) > millis(&link["updated_at"]));
    shop.post(&path, &json!({"title": null})).invalid("title");
    assert_eq!(shop.post(&path, &json!({"metadata": null})).ok(200)["metadata"], json!({}));
    assert_eq!(shop.post(&path, &json!({"amount": null})).ok(200)["amount"], Value::Null);
}

fn a_link_may_limit_the_methods(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({"payment_methods": ["card"]}));
    let mobile = shop.pay_via(&link, sample::PATIENT);
    mobile.refused(400, "payment_method_not_supported", Some("payment_method"));
    let body = json!({"payment_link": link["id"], "payment_method": "card"});
    shop.post("/v1/payments", &body).ok(201);
}

fn a_refund_does_not_reopen_a_link(store: &Store) {
    let shop = store.shop();
    let link = shop.link(json!({}));
    let payment = shop.pay_via(&link, sample::PATIENT).ok(201);
    shop.simulate(&payment["id"], "success").ok(200);
    let refund = shop.refund(&payment, None).ok(201);
    shop.simulate(&refund["id"], "success").ok(200);
    let seen = shop.see(&link["id"]);
    assert_eq!((&seen["status"], &seen["collected_amount"]), (&json!("paid"), &json!(15_000)));
    assert_eq!(seen["succeeded_payments_count"], 1);
    shop.pay_via(&link, sample::PATIENT).refused(409, "payment_link_already_paid", None);
}

fn a_link_is_offered_where_the_catalogue_says(store: &Store) {
    let shop = store.shop();
    let ask = |changes: Value| shop.post("/v1/payment-links", &sample::link(changes));
    ask(json!({"country": "FR"})).refused(400, "country_not_supported", Some("country"));
    ask(json!({"currency": "XAF"})).refused(400, "currency_not_supported", Some("currency"));
    ask(json!({"country": "ci"})).invalid("country");
    ask(json!({"country": "CD", "currency": "CDF", "amount": 100_000})).ok(201);
}

fn the_payments_of_a_link_are_listed(store: &Store) {
    let shop = store.shop();
    let (link, other) = (shop.link(json!({"reusable": true})), shop.link(json!({})));
    let first = shop.pay_via(&link, sample::PATIENT).ok(201);
    let second = shop.pay_via(&link, sample::PATIENT).ok(201);
    shop.pay_via(&other, sample::PATIENT).ok(201);
    shop.pay(json!({}));
    shop.simulate(&first["id"], "user_rejected").ok(200);
    let path = format!("{}/payments", path_of(&link["id"]));
    let page = shop.get(&path).ok(200);
    let data = envelope(&page);
    assert!(data.iter().all(|payment| payment["payment_link"] == link["id"]));
    assert_eq!(texts(data, "id"), texts(&[second, first.clone()], "id"));
    let failed = shop.list(&format!("{path}?status=failed"));
    assert_eq!(texts(&failed, "id"), texts(&[first], "id"));
    let filter = format!("/v1/payments?payment_link={}", link["id"].as_str().unwrap());
    assert_eq!(shop.total(&filter), 2);
    shop.get(&format!("{path}?network=mtn")).refused(400, "parameter_unknown", Some("network"));
}

fn links_are_filtered(store: &Store) {
    let shop = store.shop();
    let one = shop.link(json!({"reference": "A"}));
    shop.link(json!({"reference": "B", "active": false}));
    shop.link(json!({"reference": "B", "country": "CM", "currency": "XAF"}));
    let payment = shop.pay_via(&one, sample::PATIENT).ok(201);
    shop.simulate(&payment["id"], "success").ok(200);
    for (query, total) in [
        ("status=paid", 1),
        ("status=created", 2),
        ("active=true", 2),
        ("active=false", 1),
        ("reference=B", 2),
        ("currency=XAF", 1),
        ("reference=B&active=true", 1),
        ("reference=C", 0),
    ] {
        assert_eq!(shop.total(&format!("/v1/payment-links?{query}")), total, "{query}");
    }
}

fn a_link_speaks_twice_in_its_life(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    shop.hook(&sink.url(), &["payment_link.created", "payment_link.paid"]);
    let link = shop.link(json!({}));
    shop.post(&path_of(&link["id"]), &json!({"title": "Invoice 43"})).ok(200);
    let payment = shop.pay_via(&link, sample::PATIENT).ok(201);
    shop.simulate(&payment["id"], "success").ok(200);
    sink.awaits(2);
    assert_eq!(sink.kinds_in_order(), ["payment_link.created", "payment_link.paid"]);
    assert_eq!(sink.event("payment_link.created").event()["data"]["object"], link);
}
