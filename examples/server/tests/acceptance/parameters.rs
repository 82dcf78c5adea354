//! Forms of fields (API §2, §7): numbers, strings, metadata, and several faults at once.

use serde_json::{Value, json};

use crate::support::http::Response;
use crate::support::server::Store;
use crate::support::shop::{Shop, path_of};
use crate::support::{sample, stories};

stories![
    an_amount_is_a_json_integer,
    an_amount_is_positive_and_bounded,
    every_money_route_is_as_strict,
    a_currency_is_written_in_capitals,
    every_missing_field_is_listed_in_order,
    every_wrong_field_is_listed_in_order,
    a_text_has_a_length_in_code_points,
    a_text_holds_no_control_character,
    a_text_is_kept_as_it_is,
    metadata_holds_fifty_keys,
    metadata_keys_and_values_have_a_length,
    metadata_is_an_object_of_texts,
    a_return_url_is_a_web_address,
    a_one_time_password_is_digits_and_never_shown,
    an_id_of_another_kind_is_no_customer,
    an_unknown_word_is_invalid,
];

/// The body of a payment with this written as its amount.
fn amount_written(text: &str) -> String {
    let body = sample::payment(json!({"amount": "HERE"})).to_string();
    body.replace("\"HERE\"", text)
}

fn an_amount_is_a_json_integer(store: &Store) {
    let shop = store.shop();
    for text in ["1000.0", "1e3", "1E3", "10.5", "\"1000\"", "true", "[1000]", "{}", "\"\""] {
        shop.post_text("/v1/payments", amount_written(text)).invalid("amount");
    }
    let error = shop.post_text("/v1/payments", amount_written("null")).refusal(400);
    assert_eq!(error["param"], "amount", "{error}");
    assert_eq!(shop.total("/v1/payments"), 0);
    let payment = shop.post_text("/v1/payments", amount_written("1000")).ok(201);
    assert_eq!(payment["amount"], 1000);
}

fn an_amount_is_positive_and_bounded(store: &Store) {
    let shop = store.shop();
    for text in [
        "0",
        "-1",
        "-5000",
        "1000000000000",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
    ] {
        shop.post_text("/v1/payments", amount_written(text)).invalid("amount");
    }
    let largest = shop.post("/v1/payments", &sample::card(999_999_999_999, "XOF", "CI")).ok(201);
    assert_eq!(largest["fee_amount"], 35_000_000_000_i64);
    assert_eq!(largest["net_amount"], 964_999_999_999_i64);
    let smallest = shop.post("/v1/payments", &sample::card(1, "XOF", "CI")).ok(201);
    assert_eq!((&smallest["fee_amount"], &smallest["net_amount"]), (&json!(0), &json!(1)));
}

fn every_money_route_is_as_strict(store: &Store) {
    let shop = store.shop();
    let payment = shop.paid(json!({}));
    for amount in [json!(0), json!(-1), json!("5"), json!(5.0), json!(1_000_000_000_000_i64)] {
        shop.pay_out(json!({"amount": amount})).invalid("amount");
        let body = json!({"payment": payment["id"], "amount": amount});
        shop.post("/v1/refunds", &body).invalid("amount");
        shop.post("/v1/payment-links", &sample::link(json!({"amount": amount}))).invalid("amount");
        let body = json!({"amount": amount, "currency": "XOF"});
        shop.post("/v1/sandbox/fund", &body).invalid("amount");
    }
}

fn a_currency_is_written_in_capitals(store: &Store) {
    let shop = store.shop();
    for currency in [json!("xof"), json!("Xof"), json!("XO"), json!("XOFF"), json!(""), json!(952)]
    {
        shop.post("/v1/payments", &sample::payment(json!({"currency": currency})))
            .invalid("currency");
        shop.pay_out(json!({"currency": currency})).invalid("currency");
        let body = sample::link(json!({"currency": currency}));
        shop.post("/v1/payment-links", &body).invalid("currency");
    }
    shop.get("/v1/balance?currency=xof").invalid("currency");
    shop.get("/v1/ledger?currency=xof").invalid("currency");
    let elsewhere = shop.post("/v1/payments", &sample::payment(json!({"currency": "USD"})));
    elsewhere.refused(400, "currency_not_supported", Some("currency"));
}

#[track_caller]
fn lists(response: &Response, code: &str, params: &[&str]) {
    let expected: Vec<_> =
        params.iter().map(|&param| (code.to_owned(), param.to_owned())).collect();
    assert_eq!(response.faults(), expected);
}

fn every_missing_field_is_listed_in_order(store: &Store) {
    let shop = store.shop();
    let nothing = json!({});
    let missing = |path: &str, body: &Value, params: &[&str]| {
        lists(&shop.post(path, body), "parameter_missing", params);
    };
    missing("/v1/payments", &nothing, &["amount", "currency", "payment_method"]);
    let mobile = json!({"payment_method": "mobile_money"});
    missing("/v1/payments", &mobile, &["amount", "currency", "network", "phone"]);
    let card = json!({"payment_method": "card"});
    missing("/v1/payments", &card, &["amount", "currency", "country"]);
    missing("/v1/payouts", &nothing, &["amount", "currency", "network", "phone"]);
    missing("/v1/refunds", &nothing, &["payment"]);
    missing("/v1/payment-links", &nothing, &["title", "currency", "country"]);
    missing("/v1/customers", &nothing, &["name"]);
    missing("/v1/webhooks", &nothing, &["url"]);
    missing("/v1/webhooks/test", &nothing, &["webhook_endpoint"]);
    missing("/v1/sandbox/simulate", &nothing, &["id", "scenario"]);
    missing("/v1/sandbox/fund", &nothing, &["amount", "currency"]);
}

fn every_wrong_field_is_listed_in_order(store: &Store) {
    let shop = store.shop();
    let body = json!({
        "reference": "", "phone": "+2250500009999", "network": "mtn", "expires_in": 59,
        "payment_method": "mobile_money", "amount": "5000", "currency": "xof"
    });
    let response = shop.post("/v1/payments", &body);
    lists(&response, "parameter_invalid", &["amount", "currency", "reference", "expires_in"]);
    let body = json!({"amount": 0, "currency": "xof", "network": "mtn"});
    let expected = [
        ("parameter_invalid", "amount"),
        ("parameter_invalid", "currency"),
        ("parameter_missing", "phone"),
    ];
    let expected = expected.map(|(code, param)| (code.to_owned(), param.to_owned()));
    assert_eq!(shop.post("/v1/payouts", &body).faults(), expected);
    let page = shop.get("/v1/payments?limit=0&offset=-1");
    let mut faults = page.faults();
    faults.sort();
    let both = ["limit", "offset"].map(|param| ("parameter_invalid".to_owned(), param.to_owned()));
    assert_eq!(faults, both);
}

fn a_text_has_a_length_in_code_points(store: &Store) {
    let shop = store.shop();
    let (wide, far) = ("é".repeat(100), "💸".repeat(255));
    let payment = shop.pay(json!({"reference": wide, "description": far}));
    assert_eq!((&payment["reference"], &payment["description"]), (&json!(wide), &json!(far)));
    let too_long = |path: &str, body: Value, param: &str| shop.post(path, &body).invalid(param);
    let text = |length: usize| "é".repeat(length);
    too_long("/v1/payments", sample::payment(json!({"reference": text(101)})), "reference");
    too_long("/v1/payments", sample::payment(json!({"description": text(256)})), "description");
    too_long("/v1/payouts", sample::payout(json!({"recipient_name": text(101)})), "recipient_name");
    too_long("/v1/payment-links", sample::link(json!({"title": text(101)})), "title");
    too_long("/v1/customers", json!({"name": text(101)}), "name");
    too_long("/v1/customers", json!({"name": "A", "reference": text(101)}), "reference");
    shop.link(json!({"title": text(100)}));
    shop.customer(json!({"name": text(100), "reference": text(100)}));
    let card = shop.post("/v1/payments", &sample::card(500, "XOF", "CI")).ok(201);
    let cancel = format!("{}/cancel", path_of(&card["id"]));
    shop.post(&cancel, &json!({"reason": text(256)})).invalid("reason");
    shop.post(&cancel, &json!({"reason": text(255)})).ok(200);
}

fn a_text_holds_no_control_character(store: &Store) {
    let shop = store.shop();
    for text in ["", "a\u{0}b", "a\nb", "\t", "\u{7f}", "a\u{85}"] {
        for field in ["reference", "description"] {
            shop.post("/v1/payments", &sample::payment(json!({ field: text }))).invalid(field);
        }
        shop.post("/v1/customers", &json!({"name": text})).invalid("name");
        shop.post("/v1/payment-links", &sample::link(json!({"title": text}))).invalid("title");
    }
    for other in [json!(5), json!(true), json!(["a"]), json!({"a": "b"})] {
        shop.post("/v1/payments", &sample::payment(json!({"reference": other})))
            .invalid("reference");
    }
}

fn a_text_is_kept_as_it_is(store: &Store) {
    let shop = store.shop();
    let text = "  Ñandú \"<&>\\ 'é\u{301}  ";
    let payment = shop.pay(json!({"reference": text, "metadata": {"clé": text}}));
    let seen = shop.see(&payment["id"]);
    assert_eq!((&seen["reference"], &seen["metadata"]["clé"]), (&json!(text), &json!(text)));
}

fn metadata_of(count: usize) -> Value {
    (0..count)
        .map(|number| (format!("key{number}"), json!("v")))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn metadata_holds_fifty_keys(store: &Store) {
    let shop = store.shop();
    let full = shop.pay(json!({"metadata": metadata_of(50)}));
    assert_eq!(full["metadata"], metadata_of(50));
    let body = sample::payment(json!({"metadata": metadata_of(51)}));
    shop.post("/v1/payments", &body).invalid("metadata");
    let customer = shop.customer(json!({"name": "A", "metadata": metadata_of(50)}));
    let path = path_of(&customer["id"]);
    shop.post(&path, &json!({"metadata": {"one_more": "v"}})).invalid("metadata");
    shop.post(&path, &json!({"metadata": {"one_more": "v", "key0": null}})).ok(200);
}

fn metadata_keys_and_values_have_a_length(store: &Store) {
    let shop = store.shop();
    let ask = |key: &str, value: &str| {
        shop.post("/v1/payments", &sample::payment(json!({"metadata": {key: value}})))
    };
    ask(&"k".repeat(40), &"é".repeat(500)).ok(201);
    ask("order", &"é".repeat(501)).invalid("metadata.order");
    for key in [&"k".repeat(41), ""] {
        let error = ask(key, "v").refusal(400);
        assert_eq!(error["code"], "parameter_invalid");
        assert!(error["param"].as_str().unwrap().starts_with("metadata"), "{error}");
    }
}

fn metadata_is_an_object_of_texts(store: &Store) {
    let shop = store.shop();
    for value in [json!(5), json!(true), json!({"a": "b"}), json!(["a"])] {
        let body = sample::payment(json!({"metadata": {"order": value}}));
        shop.post("/v1/payments", &body).invalid("metadata.order");
    }
    for metadata in [json!([]), json!("a"), json!(5)] {
        let body = sample::payment(json!({"metadata": metadata}));
        shop.post("/v1/payments", &body).invalid("metadata");
    }
    assert_eq!(shop.pay(json!({}))["metadata"], json!({}));
}

fn a_return_url_is_a_web_address(store: &Store) {
    let shop = store.shop();
    for url in ["https://shop.example.com/thanks?x=1", "http://localhost:3000/"] {
        assert_eq!(shop.pay(json!({"return_url": url}))["return_url"], url);
        assert_eq!(shop.link(json!({"return_url": url}))["return_url"], url);
    }
    let long = format!("https://shop.example.com/{}", "x".repeat(2048));
    for url in ["", "nope", "ftp://shop.example.com/", "javascript:alert(1)", "/thanks", &long] {
        let body = sample::payment(json!({"return_url": url}));
        shop.post("/v1/payments", &body).invalid("return_url");
        shop.post("/v1/payment-links", &sample::link(json!({"return_url": url})))
            .invalid("return_url");
    }
}

fn a_one_time_password_is_digits_and_never_shown(store: &Store) {
    let shop = store.shop();
    for otp in [json!("123"), json!("12345678901"), json!("12a4"), json!(""), json!(1234)] {
        shop.post("/v1/payments", &sample::payment(json!({"otp": otp}))).invalid("otp");
    }
    for otp in ["1234", "9876543210"] {
        let response = shop.post("/v1/payments", &sample::payment(json!({"otp": otp})));
        let payment = response.ok(201);
        assert!(!shows_otp(&shop, &payment, otp), "{payment}");
    }
}

fn shows_otp(shop: &Shop, payment: &Value, otp: &str) -> bool {
    let seen = shop.see(&payment["id"]);
    [payment, &seen].iter().any(|body| {
        let object = body.as_object().unwrap();
        object.contains_key("otp") || object.values().any(|value| value == otp)
    })
}

fn an_id_of_another_kind_is_no_customer(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    for id in [payment["id"].clone(), json!("nonsense"), json!("cus_x")] {
        let response = shop.post("/v1/payments", &sample::payment(json!({"customer": id})));
        let error = response.refusal(400);
        assert_eq!(error["param"], "customer");
        let code = error["code"].as_str().unwrap();
        assert!(["parameter_invalid", "related_resource_not_found"].contains(&code), "{error}");
    }
}

fn an_unknown_word_is_invalid(store: &Store) {
    let shop = store.shop();
    shop.post("/v1/payments", &sample::payment(json!({"payment_method": "cash"})))
        .invalid("payment_method");
    let payment = shop.paid(json!({}));
    let body = json!({"payment": payment["id"], "reason": "boredom"});
    shop.post("/v1/refunds", &body).invalid("reason");
    for methods in [json!(["cash"]), json!(["card", "cash"])] {
        let response =
            shop.post("/v1/payment-links", &sample::link(json!({"payment_methods": methods})));
        let error = response.refusal(400);
        assert_eq!(error["code"], "parameter_invalid");
        assert!(error["param"].as_str().unwrap().starts_with("payment_methods"), "{error}");
    }
    for methods in [json!([]), json!("card"), json!([5])] {
        let response =
            shop.post("/v1/payment-links", &sample::link(json!({"payment_methods": methods})));
        let error = response.refusal(400);
        assert!(error["param"].as_str().unwrap().starts_with("payment_methods"), "{error}");
    }
    shop.get("/v1/payments?status=done").invalid("status");
    shop.get("/v1/payments?payment_method=cash").invalid("payment_method");
    shop.get("/v1/payouts?status=cancelled").invalid("status");
    shop.get("/v1/refunds?status=processing").invalid("status");
    shop.get("/v1/payment-links?active=yes").invalid("active");
}
