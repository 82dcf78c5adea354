//! Creating and reading payments (API §9.1–9.3).

use serde_json::{Value, json};

use crate::support::catalogue::{OFFERS, share};
use crate::support::check::{PAYMENT, assert_id, declares};
use crate::support::server::Store;
use crate::support::shop::path_of;
use crate::support::time::millis;
use crate::support::{sample, stories};

stories![
    a_payment_begins_as_created,
    what_was_given_is_kept,
    the_fee_is_two_percent_rounded_half_up,
    a_card_payment_names_no_phone_and_leads_to_a_page,
    a_card_payment_may_name_its_network,
    a_card_payment_needs_a_country_it_is_offered_in,
    every_network_has_its_smallest_and_largest_amount,
    the_catalogue_is_asked_in_order,
    a_phone_has_the_form_of_its_country,
    a_phone_and_a_country_agree,
    a_mobile_payment_needs_a_network_and_a_phone,
    the_phone_may_be_that_of_the_customer,
    a_wave_payment_leads_to_a_page,
    an_expiry_lies_between_a_minute_and_a_day,
    objects_that_are_named_must_exist,
    two_requests_without_a_key_are_two_payments,
    a_payment_is_read_as_it_was_made,
    what_does_not_exist_is_not_found,
    a_public_key_sees_no_personal_data,
    no_answer_tells_the_connection,
];

fn a_payment_begins_as_created(store: &Store) {
    let shop = store.shop();
    let response = shop.post("/v1/payments", &sample::payment(json!({})));
    let payment = response.ok(201);
    declares(&payment, PAYMENT);
    assert_id("pay", &payment["id"]);
    assert_eq!(response.header("Location"), Some(path_of(&payment["id"]).as_str()));
    let expected = json!({
        "object": "payment", "environment": "sandbox", "livemode": false, "status": "created",
        "amount": 5000, "currency": "XOF", "fee_amount": 100, "net_amount": 4900,
        "payment_method": "mobile_money", "network": "mtn", "reference": "ORDER-1",
        "country": "CI", "phone": sample::PATIENT, "customer": null, "payment_link": null,
        "description": null, "metadata": {}, "refunded_amount": 0, "refundable_amount": 0,
        "return_url": null, "next_action": {"type": "approve_on_phone"}, "failure_code": null,
        "failure_message": null, "cancellation_reason": null, "processing_at": null,
        "succeeded_at": null, "failed_at": null, "cancelled_at": null, "expired_at": null,
        "available_at": null
    });
    assert_holds(&payment, &expected);
    assert_eq!(millis(&payment["expires_at"]) - millis(&payment["created_at"]), 900_000);
    assert!(!response.text().contains("connection"), "{payment}");
}

#[track_caller]
fn assert_holds(object: &Value, expected: &Value) {
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&object[name], value, "{name} of {object}");
    }
}

fn what_was_given_is_kept(store: &Store) {
    let shop = store.shop();
    let customer = shop.customer(json!({"name": "Awa Diop"}));
    let given = json!({
        "country": "CI", "customer": customer["id"], "description": "Order 1001",
        "metadata": {"cart": "77", "shop": "4"}, "return_url": "https://shop.example.com/thanks",
        "reference": "ORDER-1001"
    });
    let payment = shop.pay(given.clone());
    assert_holds(&payment, &given);
    assert_holds(&shop.see(&payment["id"]), &given);
}

fn the_fee_is_two_percent_rounded_half_up(store: &Store) {
    let shop = store.shop();
    for (amount, fee) in
        [(100, 2), (124, 2), (125, 3), (5000, 100), (9999, 200), (2_000_000, 40_000)]
    {
        let payment = shop.pay(json!({"amount": amount}));
        assert_eq!(payment["fee_amount"], fee, "of {amount}");
        assert_eq!(payment["net_amount"], amount - fee);
    }
    let ghana = json!({
        "amount": 125, "currency": "GHS", "network": "telecel", "phone": "+233540009999"
    });
    assert_eq!(shop.pay(ghana)["fee_amount"], 3);
    for (amount, currency, country, fee) in [
        (10_000, "XOF", "CI", 350),
        (10_005, "KWD", "KW", 350),
        (14, "XOF", "CI", 0),
        (15, "XOF", "CI", 1),
        (100, "NGN", "NG", 4),
        (99, "USD", "CD", 3),
    ] {
        let payment = shop.post("/v1/payments", &sample::card(amount, currency, country)).ok(201);
        assert_eq!(payment["fee_amount"], fee, "of {amount} {currency}");
        assert_eq!(payment["net_amount"], amount - fee);
        assert_eq!(payment["fee_amount"], share(amount, 350));
    }
}

fn a_card_payment_names_no_phone_and_leads_to_a_page(store: &Store) {
    let shop = store.shop();
    let payment = shop.post("/v1/payments", &sample::card(10_000, "XOF", "CI")).ok(201);
    declares(&payment, PAYMENT);
    let expected = json!({
        "status": "created", "payment_method": "card", "network": null, "phone": null,
        "country": "CI", "fee_amount": 350, "net_amount": 9650
    });
    assert_holds(&payment, &expected);
    assert_eq!(payment["next_action"]["type"], "redirect");
    assert!(payment["next_action"]["url"].as_str().unwrap().starts_with("https://"), "{payment}");
    let mut body = sample::card(10_000, "XOF", "CI");
    body["phone"] = json!("+2250500009999");
    shop.post("/v1/payments", &body).invalid("phone");
}

fn a_card_payment_may_name_its_network(store: &Store) {
    let shop = store.shop();
    let ask = |country: &str, currency: &str, network: &str| {
        let mut body = sample::card(10_000, currency, country);
        body["network"] = json!(network);
        shop.post("/v1/payments", &body)
    };
    for (country, currency, network) in
        [("CI", "XOF", "visa"), ("KW", "KWD", "mastercard"), ("NG", "NGN", "verve")]
    {
        assert_eq!(ask(country, currency, network).ok(201)["network"], network);
    }
    for network in ["verve", "mtn", "amex"] {
        ask("CI", "XOF", network).refused(400, "network_not_supported", Some("network"));
    }
    shop.post("/v1/payments", &sample::payment(json!({"network": "visa"}))).refused(
        400,
        "network_not_supported",
        Some("network"),
    );
}

fn a_card_payment_needs_a_country_it_is_offered_in(store: &Store) {
    let shop = store.shop();
    let nowhere = json!({"amount": 10_000, "currency": "XOF", "payment_method": "card"});
    shop.post("/v1/payments", &nowhere).missing("country");
    let ask = |currency: &str, country: &str| {
        shop.post("/v1/payments", &sample::card(10_000, currency, country))
    };
    ask("EUR", "FR").refused(400, "country_not_supported", Some("country"));
    ask("XAF", "CI").refused(400, "currency_not_supported", Some("currency"));
    ask("CDF", "CD").refused(400, "currency_not_supported", Some("currency"));
    ask("USD", "CD").ok(201);
    for country in ["ci", "CIV", "", "C1"] {
        ask("XOF", country).invalid("country");
    }
}

fn every_network_has_its_smallest_and_largest_amount(store: &Store) {
    let shop = store.shop();
    for offer in OFFERS {
        for &(network, smallest, largest) in offer.networks {
            let ask = |amount: i64| {
                let body = json!({
                    "amount": amount, "currency": offer.currency, "network": network,
                    "phone": offer.phone
                });
                shop.post("/v1/payments", &sample::payment(body))
            };
            for amount in [smallest, largest] {
                let payment = ask(amount).ok(201);
                assert_eq!(payment["country"], offer.country);
                assert_eq!(payment["fee_amount"], share(amount, 200));
            }
            ask(smallest - 1).refused(400, "amount_below_minimum", Some("amount"));
            ask(largest + 1).refused(400, "amount_above_maximum", Some("amount"));
        }
    }
}

/// Country, method, network, currency, capability, smallest, largest.
fn the_catalogue_is_asked_in_order(store: &Store) {
    let shop = store.shop();
    let ask = |changes: Value| shop.post("/v1/payments", &sample::payment(changes));
    let kuwait = json!({
        "phone": "+96550009999", "network": "mtn", "currency": "XOF", "amount": 1
    });
    ask(kuwait).refused(400, "payment_method_not_supported", Some("payment_method"));
    let unknown = json!({"network": "airtel", "currency": "USD", "amount": 1});
    ask(unknown).refused(400, "network_not_supported", Some("network"));
    let foreign = json!({"currency": "USD", "amount": 1});
    ask(foreign).refused(400, "currency_not_supported", Some("currency"));
    ask(json!({"amount": 1})).refused(400, "amount_below_minimum", Some("amount"));
    let mut france = sample::card(1, "XOF", "FR");
    france["network"] = json!("mtn");
    let refused = shop.post("/v1/payments", &france);
    refused.refused(400, "country_not_supported", Some("country"));
}

fn a_phone_has_the_form_of_its_country(store: &Store) {
    let shop = store.shop();
    for phone in [
        "0500009999",
        "2250500009999",
        "+225050000999",
        "+22505000099990",
        "+225 0500009999",
        "+225-0500009999",
        "+22505OOO09999",
        "+",
        "+225",
        "++2250500009999",
        "+0250500009999",
        "002250500009999",
        "+2250500009999 ",
        "+1234567890123456",
    ] {
        let response = shop.post("/v1/payments", &sample::payment(json!({"phone": phone})));
        response.refused(400, "phone_invalid", Some("phone"));
        shop.pay_out(json!({"phone": phone})).refused(400, "phone_invalid", Some("phone"));
    }
    for phone in [json!(2250500009999_i64), json!(true), json!([])] {
        let response = shop.post("/v1/payments", &sample::payment(json!({"phone": phone})));
        assert_eq!(response.refusal(400)["param"], "phone");
    }
    assert_eq!(shop.total("/v1/payments"), 0);
}

fn a_phone_and_a_country_agree(store: &Store) {
    let shop = store.shop();
    assert_eq!(shop.pay(json!({"country": "CI"}))["country"], "CI");
    for country in ["SN", "KW", "CM"] {
        let body = sample::payment(json!({"country": country}));
        let error = shop.post("/v1/payments", &body).refusal(400);
        assert_eq!(error["code"], "phone_country_mismatch", "{error}");
        let error = shop.pay_out(json!({"country": "CI"})).refusal(400);
        assert_eq!(error["code"], "phone_country_mismatch", "{error}");
    }
    // A parameter fault, so the catalogue is not asked.
    let body = sample::payment(json!({"country": "SN", "network": "nothing"}));
    let error = shop.post("/v1/payments", &body).refusal(400);
    assert_eq!(error["code"], "phone_country_mismatch", "{error}");
}

fn a_mobile_payment_needs_a_network_and_a_phone(store: &Store) {
    let shop = store.shop();
    let body = sample::payment(json!({}));
    shop.post("/v1/payments", &sample::without(body.clone(), "phone")).missing("phone");
    shop.post("/v1/payments", &sample::without(body.clone(), "network")).missing("network");
    shop.post("/v1/payments", &sample::without(body, "payment_method")).missing("payment_method");
    let airtel = shop.post("/v1/payments", &sample::payment(json!({"network": "airtel"})));
    airtel.refused(400, "network_not_supported", Some("network"));
}

fn the_phone_may_be_that_of_the_customer(store: &Store) {
    let shop = store.shop();
    let reachable = shop.customer(json!({"name": "Awa", "phone": "+2250500008888"}));
    let silent = shop.customer(json!({"name": "Kofi"}));
    let body = sample::without(sample::payment(json!({"customer": reachable["id"]})), "phone");
    let payment = shop.post("/v1/payments", &body).ok(201);
    assert_eq!(payment["phone"], "+2250500008888");
    assert_eq!(payment["country"], "CI");
    let body = sample::without(sample::payment(json!({"customer": silent["id"]})), "phone");
    shop.post("/v1/payments", &body).missing("phone");
    let other = shop.pay(json!({"customer": reachable["id"]}));
    assert_eq!(other["phone"], sample::PATIENT);
}

fn a_wave_payment_leads_to_a_page(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({"network": "wave"}));
    assert_eq!(payment["next_action"]["type"], "redirect");
    assert!(payment["next_action"]["url"].as_str().unwrap().starts_with("https://"), "{payment}");
}

fn an_expiry_lies_between_a_minute_and_a_day(store: &Store) {
    let shop = store.shop();
    for seconds in [json!(59), json!(86_401), json!(0), json!(-60), json!("60"), json!(60.5)] {
        let body = sample::payment(json!({"expires_in": seconds}));
        shop.post("/v1/payments", &body).invalid("expires_in");
    }
    for seconds in [60, 86_400] {
        let payment = shop.pay(json!({"expires_in": seconds}));
        let span = millis(&payment["expires_at"]) - millis(&payment["created_at"]);
        assert_eq!(span, seconds * 1000);
    }
}

fn objects_that_are_named_must_exist(store: &Store) {
    let shop = store.shop();
    let customer = sample::unknown("cus");
    shop.post("/v1/payments", &sample::payment(json!({"customer": customer}))).refused(
        400,
        "related_resource_not_found",
        Some("customer"),
    );
    shop.pay_out(json!({"customer": customer})).refused(
        400,
        "related_resource_not_found",
        Some("customer"),
    );
    let link = json!({"id": sample::unknown("plink")});
    shop.pay_via(&link, sample::PATIENT).refused(
        400,
        "related_resource_not_found",
        Some("payment_link"),
    );
}

fn two_requests_without_a_key_are_two_payments(store: &Store) {
    let shop = store.shop();
    let (first, second) = (shop.pay(json!({})), shop.pay(json!({})));
    assert_ne!(first["id"], second["id"]);
    assert_eq!(first["reference"], second["reference"]);
    assert!(first["id"].as_str() < second["id"].as_str(), "ids rise with time");
    assert_eq!(shop.total("/v1/payments"), 2);
}

fn a_payment_is_read_as_it_was_made(store: &Store) {
    let shop = store.shop();
    let paid = shop.paid(json!({"reference": "R-1"}));
    assert_eq!(shop.see(&paid["id"]), paid);
    let page = shop.get("/v1/payments").ok(200);
    assert_eq!(page["data"], json!([paid]));
}

fn what_does_not_exist_is_not_found(store: &Store) {
    let shop = store.shop();
    shop.fund(50_000, "XOF");
    let payout = shop.pay_out(json!({})).ok(201);
    let payout = payout["id"].as_str().unwrap();
    for id in
        ["pay_00000000000000000000000000", &sample::unknown("pay"), payout, "pay_", "x", "%20"]
    {
        for path in [format!("/v1/payments/{id}"), format!("/v1/payments/{id}/timeline")] {
            shop.get(&path).refused(404, "resource_not_found", None);
        }
        let cancel = format!("/v1/payments/{id}/cancel");
        shop.post(&cancel, &json!({})).refused(404, "resource_not_found", None);
    }
    for (family, prefix) in
        [("payouts", "pout"), ("refunds", "ref"), ("customers", "cus"), ("payment-links", "plink")]
    {
        let path = format!("/v1/{family}/{}", sample::unknown(prefix));
        shop.get(&path).refused(404, "resource_not_found", None);
        let wrong = format!("/v1/{family}/{}", sample::unknown("pay"));
        shop.get(&wrong).refused(404, "resource_not_found", None);
    }
    let link = format!("/v1/payment-links/{}/payments", sample::unknown("plink"));
    shop.get(&link).refused(404, "resource_not_found", None);
}

fn a_public_key_sees_no_personal_data(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({"metadata": {"cart": "77"}}));
    let masked = shop.public.see(&payment["id"]);
    let expected = sample::changed(
        shop.see(&payment["id"]),
        json!({"phone": "+225********99", "metadata": {}}),
    );
    for field in ["id", "amount", "fee_amount", "reference", "phone", "metadata", "country"] {
        assert_eq!(masked[field], expected[field], "{field}");
    }
    declares(&masked, PAYMENT);
    let listed = shop.public.get("/v1/payments").ok(200);
    assert_eq!(listed["data"][0]["phone"], "+225********99");
    shop.fund(50_000, "XOF");
    let changes = json!({"recipient_name": "Awa Diop", "metadata": {"a": "b"}});
    let payout = shop.pay_out(changes).ok(201);
    let masked = shop.public.see(&payout["id"]);
    assert_eq!(masked["phone"], "+221*******02");
    assert_eq!(masked["recipient_name"], "A***");
    assert_eq!(masked["metadata"], json!({}));
}

fn no_answer_tells_the_connection(store: &Store) {
    let shop = store.shop();
    let payment = shop.paid(json!({}));
    for path in [
        path_of(&payment["id"]),
        format!("{}/timeline", path_of(&payment["id"])),
        "/v1/ledger".to_owned(),
        "/v1/payments".to_owned(),
    ] {
        let text = shop.get(&path).text();
        assert!(!text.contains("connection") && !text.contains("sim_mtn"), "{path}: {text}");
    }
}
