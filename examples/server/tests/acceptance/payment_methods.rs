//! What is offered where (API §14).

use serde_json::{Value, json};

use crate::support::catalogue::{OFFERS, Offer, capabilities};
use crate::support::check::{fields, names};
use crate::support::server::Store;
use crate::support::{sample, stories};

stories![
    every_country_offers_what_the_catalogue_says,
    a_country_must_be_named_and_known,
    a_currency_must_be_offered,
    nothing_but_country_and_currency_is_asked,
    an_environment_without_a_gateway_offers_nothing,
    a_public_key_may_look,
];

fn expected(offer: &Offer) -> Value {
    let network = |&(name, smallest, largest): &(&str, i64, i64)| {
        let [payin, payout, refund, partial_refund, cancel] = capabilities(name);
        json!({
            "network": name, "connection_key": format!("sim_{name}_{}", offer.country.to_lowercase()),
            "simulated": true, "min_amount": smallest, "max_amount": largest,
            "capabilities": {
                "payin": payin, "payout": payout, "refund": refund,
                "partial_refund": partial_refund, "cancel": cancel
            }
        })
    };
    let mut methods = Vec::new();
    if !offer.networks.is_empty() {
        let networks: Vec<Value> = offer.networks.iter().map(network).collect();
        methods.push(json!({"payment_method": "mobile_money", "networks": networks}));
    }
    if !offer.cards.is_empty() {
        let cards: Vec<Value> = offer.cards.iter().map(|name| json!({"network": name})).collect();
        methods.push(json!({"payment_method": "card", "networks": cards}));
    }
    json!({
        "object": "list", "country": offer.country, "currency": offer.currency,
        "environment": "sandbox", "livemode": false, "data": methods
    })
}

fn every_country_offers_what_the_catalogue_says(store: &Store) {
    let shop = store.shop();
    for (number, offer) in OFFERS.iter().enumerate() {
        let (country, currency) = (offer.country, offer.currency);
        let path = format!("/v1/payment-methods?country={country}&currency={currency}");
        assert_eq!(shop.get(&path).ok(200), expected(offer), "{country} {currency}");
        let first = number == 0 || OFFERS[number - 1].country != country;
        if first {
            let path = format!("/v1/payment-methods?country={country}");
            assert_eq!(shop.get(&path).ok(200), expected(offer), "the default of {country}");
        }
    }
}

fn a_country_must_be_named_and_known(store: &Store) {
    let shop = store.shop();
    shop.get("/v1/payment-methods").missing("country");
    shop.get("/v1/payment-methods?currency=XOF").missing("country");
    let france = shop.get("/v1/payment-methods?country=FR");
    france.refused(400, "country_not_supported", Some("country"));
    for country in ["ci", "CIV", "", "C1"] {
        shop.get(&format!("/v1/payment-methods?country={country}")).invalid("country");
    }
}

fn a_currency_must_be_offered(store: &Store) {
    let shop = store.shop();
    for (country, currency) in [("CI", "USD"), ("CD", "XOF"), ("KW", "XOF")] {
        let response =
            shop.get(&format!("/v1/payment-methods?country={country}&currency={currency}"));
        response.refused(400, "currency_not_supported", Some("currency"));
    }
    shop.get("/v1/payment-methods?country=CI&currency=xof").invalid("currency");
}

fn nothing_but_country_and_currency_is_asked(store: &Store) {
    let shop = store.shop();
    for name in ["limit", "offset", "network", "payment_method"] {
        let response = shop.get(&format!("/v1/payment-methods?country=CI&{name}=5"));
        response.refused(400, "parameter_unknown", Some(name));
    }
}

fn an_environment_without_a_gateway_offers_nothing(store: &Store) {
    let shop = store.shop();
    for country in ["CI", "KW", "CD"] {
        let page = shop.live.get(&format!("/v1/payment-methods?country={country}")).ok(200);
        assert_eq!(page["data"], json!([]), "{page}");
        assert_eq!((&page["environment"], &page["livemode"]), (&json!("live"), &json!(true)));
        let six = ["object", "country", "currency", "environment", "livemode", "data"];
        assert_eq!(fields(&page), names(&six));
    }
    let response = shop.live.get("/v1/payment-methods?country=FR");
    response.refused(400, "country_not_supported", Some("country"));
    for body in [sample::payment(json!({})), sample::card(10_000, "XOF", "CI")] {
        shop.live.post("/v1/payments", &body).refused(
            400,
            "payment_method_not_supported",
            Some("payment_method"),
        );
    }
    shop.live.post("/v1/payouts", &sample::payout(json!({}))).refused(
        400,
        "payment_method_not_supported",
        Some("payment_method"),
    );
    assert_eq!(shop.live.total("/v1/payments"), 0);
}

fn a_public_key_may_look(store: &Store) {
    let shop = store.shop();
    let path = "/v1/payment-methods?country=CI";
    assert_eq!(shop.public.get(path).ok(200), shop.get(path).ok(200));
    assert_eq!(shop.live_public.get(path).ok(200)["data"], json!([]));
}
