//! Bad requests for payments and exactly what is said about them, in order (API §9.2).

use super::{LIVE, SANDBOX, form, reads, verdict};
use crate::{model::catalogue::Catalogue, wire};

const MOBILE: &str = r#"{"amount":5000,"currency":"XOF","payment_method":"mobile_money","network":"mtn","phone":"+2250500009999"}"#;
const CARD: &str = r#"{"amount":5000,"currency":"XOF","payment_method":"card","country":"CI"}"#;

#[test]
fn a_payment_lists_all_its_faults_in_order() {
    reads(
        wire::CreatePayment::read,
        SANDBOX,
        "{}",
        &[
            (
                "{}",
                "parameter_missing amount, parameter_missing currency, parameter_missing payment_method",
            ),
            (
                r#"{"amount":null,"currency":null,"payment_method":null}"#,
                "parameter_missing amount, parameter_missing currency, parameter_missing payment_method",
            ),
            (
                r#"{"payment_method":"mobile_money"}"#,
                "parameter_missing amount, parameter_missing currency, parameter_missing network, parameter_missing phone",
            ),
            (
                r#"{"payment_method":"card"}"#,
                "parameter_missing amount, parameter_missing currency, parameter_missing country",
            ),
            (
                r#"{"zebra":1,"payment_method":"cash","amount":"x","ant":null,"expires_in":59,"metadata":{"b":1,"a":2,"ok":"x"},"reference":""}"#,
                "parameter_invalid amount, parameter_missing currency, parameter_invalid payment_method, \
          parameter_invalid reference, parameter_invalid metadata.a, parameter_invalid metadata.b, \
          parameter_invalid expires_in, parameter_unknown ant, parameter_unknown zebra",
            ),
            (
                r#"{"phone":5,"network":5,"payment_method":"mobile_money","amount":0,"currency":"xof"}"#,
                "parameter_invalid amount, parameter_invalid currency, parameter_invalid network, parameter_invalid phone",
            ),
        ],
    );
}

#[test]
fn the_amount_is_a_json_integer_within_limits() {
    let catalogue = Catalogue::sandbox();
    let form = form(SANDBOX, &catalogue);
    for (text, good) in [
        ("1", true),
        ("999999999999", true),
        ("5000", true),
        ("0", false),
        ("1000000000000", false),
        ("-1", false),
        ("-0", false),
        ("1000.0", false),
        ("1e3", false),
        ("1E3", false),
        ("\"1000\"", false),
        ("true", false),
        ("[1]", false),
        ("{}", false),
        ("9223372036854775808", false),
        ("18446744073709551616", false),
        ("1e300", false),
        ("-9223372036854775809", false),
    ] {
        let body = MOBILE.replace("5000,", &format!("{text},"));
        let body = wire::parse_object(body.as_bytes()).expect(text);
        let expected = if good { "ok" } else { "parameter_invalid amount" };
        assert_eq!(verdict(&wire::CreatePayment::read(&body, &form)), expected, "{text}");
        let fund =
            wire::parse_object(format!(r#"{{"currency":"XOF","amount":{text}}}"#).as_bytes());
        assert_eq!(verdict(&wire::Fund::read(&fund.expect(text), &form)), expected, "{text}");
    }
}

#[test]
fn a_mobile_payment_has_a_network_and_a_phone_of_its_country() {
    reads(
        wire::CreatePayment::read,
        SANDBOX,
        MOBILE,
        &[
            ("{}", "ok"),
            (r#"{"country":"CI"}"#, "ok"),
            (r#"{"network":"-"}"#, "parameter_missing network"),
            (r#"{"network":"MTN"}"#, "parameter_invalid network"),
            (r#"{"phone":"-"}"#, "parameter_missing phone"),
            (r#"{"phone":null}"#, "parameter_missing phone"),
            (r#"{"phone":"-","customer":"cus_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#, "ok"),
            (r#"{"phone":"-","customer":"nobody"}"#, "parameter_invalid customer"),
            (r#"{"phone":"+22505000099"}"#, "phone_invalid phone"),
            (r#"{"phone":"+22505000099990"}"#, "phone_invalid phone"),
            (r#"{"phone":"0500009999"}"#, "phone_invalid phone"),
            (r#"{"phone":"+2250500009999 "}"#, "phone_invalid phone"),
            (r#"{"phone":""}"#, "phone_invalid phone"),
            (r#"{"phone":true}"#, "parameter_invalid phone"),
            (r#"{"country":"SN"}"#, "phone_country_mismatch phone"),
            (r#"{"country":"FR"}"#, "phone_country_mismatch phone"),
            (r#"{"country":"SN","phone":"+22505000099"}"#, "phone_invalid phone"),
            (r#"{"country":"ci"}"#, "parameter_invalid country"),
            (r#"{"country":"CIV"}"#, "parameter_invalid country"),
            (r#"{"country":"ZZ"}"#, "phone_country_mismatch phone"),
            (r#"{"phone":"+33600000000"}"#, "parameter_missing country"),
            (r#"{"phone":"+33600000000","country":"FR"}"#, "ok"),
            (r#"{"phone":"+33600000000","country":"CI"}"#, "phone_country_mismatch phone"),
            (r#"{"phone":"+33600000000","country":5}"#, "parameter_invalid country"),
            (r#"{"phone":"+33600000000","payment_link":"plink_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#, "ok"),
        ],
    );
}

#[test]
fn a_card_payment_has_a_place_and_no_phone() {
    reads(
        wire::CreatePayment::read,
        SANDBOX,
        CARD,
        &[
            ("{}", "ok"),
            (r#"{"network":"visa"}"#, "ok"),
            (r#"{"phone":"+2250500009999"}"#, "parameter_invalid phone"),
            (r#"{"phone":"+2210500009999"}"#, "phone_invalid phone"),
            (r#"{"phone":null}"#, "ok"),
            (r#"{"country":"-"}"#, "parameter_missing country"),
            (
                r#"{"country":"-","phone":"+2250500009999"}"#,
                "parameter_invalid phone, parameter_missing country",
            ),
            (
                r#"{"country":"-","amount":"-","currency":"-","payment_link":"plink_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#,
                "ok",
            ),
            (
                r#"{"country":"-","amount":"-","currency":"-","payment_link":"plink_"}"#,
                "parameter_invalid payment_link",
            ),
        ],
    );
}

#[test]
fn the_rest_of_a_payment_has_its_forms() {
    let long = format!(r#"{{"description":"{}"}}"#, "é".repeat(256));
    let fits =
        format!(r#"{{"description":"{}","reference":"{}"}}"#, "é".repeat(255), "💸".repeat(100));
    let far = format!(r#"{{"return_url":"https://a.example/{}"}}"#, "x".repeat(2048));
    reads(
        wire::CreatePayment::read,
        SANDBOX,
        MOBILE,
        &[
            (&long, "parameter_invalid description"),
            (&fits, "ok"),
            (&far, "parameter_invalid return_url"),
            // What ISO does not list is for the catalogue to refuse, in its turn.
            (r#"{"currency":"ZZZ"}"#, "ok"),
            (r#"{"currency":"XOFF"}"#, "parameter_invalid currency"),
            (r#"{"currency":952}"#, "parameter_invalid currency"),
            (r#"{"otp":"1234"}"#, "ok"),
            (r#"{"otp":"1234567890"}"#, "ok"),
            (r#"{"otp":"123"}"#, "parameter_invalid otp"),
            (r#"{"otp":"12345678901"}"#, "parameter_invalid otp"),
            (r#"{"otp":"12a4"}"#, "parameter_invalid otp"),
            (r#"{"otp":"١٢٣٤"}"#, "parameter_invalid otp"),
            (r#"{"otp":1234}"#, "parameter_invalid otp"),
            (r#"{"expires_in":59}"#, "parameter_invalid expires_in"),
            (r#"{"expires_in":60}"#, "ok"),
            (r#"{"expires_in":86400}"#, "ok"),
            (r#"{"expires_in":86401}"#, "parameter_invalid expires_in"),
            (r#"{"expires_in":60.0}"#, "parameter_invalid expires_in"),
            (r#"{"expires_in":-60}"#, "parameter_invalid expires_in"),
            (r#"{"expires_in":null}"#, "ok"),
            (r#"{"reference":"a\u0000b"}"#, "parameter_invalid reference"),
            (r#"{"reference":["a"]}"#, "parameter_invalid reference"),
            (
                r#"{"customer":"pay_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#,
                "related_resource_not_found customer",
            ),
            (
                r#"{"customer":"xyz_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#,
                "related_resource_not_found customer",
            ),
            (r#"{"customer":"CUS_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#, "parameter_invalid customer"),
            (r#"{"customer":"cus_81jd3w8k4f7q2m9x5r6t0v1b3c"}"#, "parameter_invalid customer"),
            (r#"{"customer":"_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#, "parameter_invalid customer"),
            (r#"{"customer":5}"#, "parameter_invalid customer"),
            (r#"{"return_url":"http://localhost:3000/"}"#, "ok"),
            (r#"{"return_url":"ftp://a.example/"}"#, "parameter_invalid return_url"),
        ],
    );
    reads(
        wire::CreatePayment::read,
        LIVE,
        MOBILE,
        &[
            (r#"{"return_url":"http://a.example/"}"#, "parameter_invalid return_url"),
            (r#"{"return_url":"HTTPS://a.example/"}"#, "ok"),
        ],
    );
}

#[test]
fn metadata_is_fifty_texts() {
    let many = |count: usize| {
        let entries: Vec<String> = (0..count).map(|at| format!(r#""k{at}":"v""#)).collect();
        format!(r#"{{"metadata":{{{}}}}}"#, entries.join(","))
    };
    let entry = |key: &str, value: &str| format!(r#"{{"metadata":{{"{key}":"{value}"}}}}"#);
    let long_key = format!("parameter_invalid metadata.{}", "k".repeat(41));
    reads(
        wire::CreatePayment::read,
        SANDBOX,
        MOBILE,
        &[
            (&many(50), "ok"),
            (&many(51), "parameter_invalid metadata"),
            (&entry(&"é".repeat(40), &"é".repeat(500)), "ok"),
            (&entry(&"k".repeat(41), "v"), &long_key),
            (&entry("order", &"é".repeat(501)), "parameter_invalid metadata.order"),
            (&entry("order", ""), "parameter_invalid metadata.order"),
            (&entry("order", "a\\nb"), "parameter_invalid metadata.order"),
            (&entry("", "v"), "parameter_invalid metadata."),
            (&entry("amount.x[0]", ""), "parameter_invalid metadata.amount.x[0]"),
            (r#"{"metadata":{"order":null}}"#, "parameter_invalid metadata.order"),
            (r#"{"metadata":{"order":{"a":"b"}}}"#, "parameter_invalid metadata.order"),
            (r#"{"metadata":[]}"#, "parameter_invalid metadata"),
            (r#"{"metadata":"a"}"#, "parameter_invalid metadata"),
            (r#"{"metadata":null}"#, "ok"),
            (
                r#"{"amount.x":1,"metadata[0]":1}"#,
                "parameter_unknown amount.x, parameter_unknown metadata[0]",
            ),
        ],
    );
    reads(
        wire::ModifyCustomer::read,
        SANDBOX,
        "{}",
        &[
            (r#"{"metadata":{"order":null,"b":"2"}}"#, "ok"),
            (r#"{"metadata":null}"#, "ok"),
            (r#"{"metadata":{"order":5}}"#, "parameter_invalid metadata.order"),
            (r#"{"metadata":5}"#, "parameter_invalid metadata"),
            (&many(50), "ok"),
            (&many(51), "parameter_invalid metadata"),
        ],
    );
}
