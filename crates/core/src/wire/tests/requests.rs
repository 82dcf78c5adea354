//! Other bad requests and exactly what is said about them, in order (API §10–§17).

use super::{LIVE, SANDBOX, reads};
use crate::wire;

#[test]
fn a_payout_goes_to_a_phone_over_a_network() {
    let base = r#"{"amount":10000,"currency":"XOF","network":"orange","phone":"+221770000002"}"#;
    reads(
        wire::CreatePayout::read,
        SANDBOX,
        base,
        &[
            ("{}", "ok"),
            (r#"{"payment_method":"card"}"#, "ok"),
            (r#"{"payment_method":"cash"}"#, "parameter_invalid payment_method"),
            (r#"{"country":"CI"}"#, "phone_country_mismatch phone"),
            (r#"{"country":"SN"}"#, "ok"),
            (r#"{"phone":"+33600000000"}"#, "parameter_missing country"),
            (r#"{"phone":"+22177000000"}"#, "phone_invalid phone"),
            (r#"{"recipient_name":""}"#, "parameter_invalid recipient_name"),
            (r#"{"customer":"cus_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#, "ok"),
            (r#"{"otp":"1234"}"#, "parameter_unknown otp"),
        ],
    );
    reads(
        wire::CreatePayout::read,
        SANDBOX,
        "{}",
        &[
            (
                "{}",
                "parameter_missing amount, parameter_missing currency, parameter_missing network, parameter_missing phone",
            ),
            (
                r#"{"amount":0,"currency":"xof","network":"mtn"}"#,
                "parameter_invalid amount, parameter_invalid currency, parameter_missing phone",
            ),
        ],
    );
}

#[test]
fn a_refund_names_a_payment() {
    let base = r#"{"payment":"pay_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#;
    reads(
        wire::CreateRefund::read,
        SANDBOX,
        base,
        &[
            ("{}", "ok"),
            (r#"{"payment":"-"}"#, "parameter_missing payment"),
            (
                r#"{"payment":"pout_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#,
                "related_resource_not_found payment",
            ),
            (
                r#"{"payment":"x","amount":0,"reason":"boredom","phone":"x"}"#,
                "parameter_invalid payment, parameter_invalid amount, parameter_invalid reason, parameter_unknown phone",
            ),
            (
                r#"{"amount":1,"reason":"other","description":"d","reference":"r","metadata":{"a":"b"}}"#,
                "ok",
            ),
        ],
    );
}

#[test]
fn a_cancellation_may_have_a_reason() {
    let (long, fits) = ("é".repeat(256), "é".repeat(255));
    reads(
        wire::CancelPayment::read,
        SANDBOX,
        "{}",
        &[
            ("{}", "ok"),
            (r#"{"reason":null}"#, "ok"),
            (&format!(r#"{{"reason":"{long}"}}"#), "parameter_invalid reason"),
            (&format!(r#"{{"reason":"{fits}"}}"#), "ok"),
            (r#"{"reasons":"x"}"#, "parameter_unknown reasons"),
        ],
    );
}

#[test]
fn a_payment_link_has_a_title_a_currency_and_a_country() {
    let base = r#"{"title":"Invoice 42","currency":"XOF","country":"CI"}"#;
    reads(
        wire::CreatePaymentLink::read,
        SANDBOX,
        base,
        &[
            ("{}", "ok"),
            (
                r#"{"title":"-","currency":"-","country":"-"}"#,
                "parameter_missing title, parameter_missing currency, parameter_missing country",
            ),
            (r#"{"amount":null,"payment_methods":null,"expires_at":null}"#, "ok"),
            (r#"{"country":"ZZ"}"#, "ok"),
            (r#"{"country":"FR"}"#, "ok"),
            (r#"{"payment_methods":[]}"#, "parameter_invalid payment_methods"),
            (r#"{"payment_methods":"card"}"#, "parameter_invalid payment_methods"),
            (
                r#"{"payment_methods":["card","cash",5]}"#,
                "parameter_invalid payment_methods[1], parameter_invalid payment_methods[2]",
            ),
            (r#"{"payment_methods":["card","card","mobile_money"]}"#, "ok"),
            (
                r#"{"reusable":"yes","active":1}"#,
                "parameter_invalid reusable, parameter_invalid active",
            ),
            (r#"{"expires_at":"2024-11-19T00:00:00.000Z"}"#, "parameter_invalid expires_at"),
            (r#"{"expires_at":"2024-11-19T00:00:00.001Z"}"#, "ok"),
            (r#"{"expires_at":"2025-11-19T00:00:00.000Z"}"#, "ok"),
            (r#"{"expires_at":"2025-11-19T00:00:00.001Z"}"#, "parameter_invalid expires_at"),
            (r#"{"expires_at":"2025-01-01"}"#, "parameter_invalid expires_at"),
            (r#"{"expires_at":1731974401}"#, "parameter_invalid expires_at"),
        ],
    );
}

#[test]
fn a_change_of_a_link_is_a_merge_patch() {
    reads(
        wire::ModifyPaymentLink::read,
        SANDBOX,
        "{}",
        &[
            ("{}", "ok"),
            (r#"{"title":null}"#, "parameter_invalid title"),
            (r#"{"active":null}"#, "parameter_invalid active"),
            (
                r#"{"description":null,"amount":null,"expires_at":null,"return_url":null,"reference":null,"metadata":null}"#,
                "ok",
            ),
            (r#"{"amount":0}"#, "parameter_invalid amount"),
            (
                r#"{"currency":"XOF","country":null,"reusable":false,"payment_methods":["card"],"status":"paid","title":""}"#,
                "parameter_invalid title, parameter_immutable currency, parameter_immutable country, \
          parameter_immutable reusable, parameter_immutable payment_methods, parameter_unknown status",
            ),
            (r#"{"expires_at":"2020-01-01T00:00:00Z"}"#, "parameter_invalid expires_at"),
        ],
    );
}

#[test]
fn a_customer_has_a_name_an_address_or_a_phone() {
    reads(
        wire::CreateCustomer::read,
        SANDBOX,
        "{}",
        &[
            ("{}", "parameter_missing name"),
            (r#"{"name":null,"reference":"U-9"}"#, "parameter_missing name"),
            (r#"{"name":"A"}"#, "ok"),
            (r#"{"email":"awa@example.com"}"#, "ok"),
            (r#"{"phone":"+2250500000000"}"#, "ok"),
            (r#"{"phone":"+33600000000"}"#, "ok"),
            (r#"{"phone":"+2250500000000","country":"SN"}"#, "ok"),
            (r#"{"name":""}"#, "parameter_invalid name"),
            (r#"{"email":"nope"}"#, "parameter_invalid email"),
            (r#"{"phone":"nope"}"#, "phone_invalid phone"),
            // The network that is paid over knows how long its numbers are.
            (r#"{"phone":"+225050000000"}"#, "ok"),
            (
                r#"{"name":5,"email":"a@","phone":[],"country":"ci","reference":"","metadata":[],"x":1}"#,
                "parameter_invalid name, parameter_invalid email, parameter_invalid phone, \
          parameter_invalid country, parameter_invalid reference, parameter_invalid metadata, \
          parameter_unknown x",
            ),
        ],
    );
    reads(
        wire::ModifyCustomer::read,
        SANDBOX,
        "{}",
        &[
            ("{}", "ok"),
            (r#"{"name":null,"email":null,"phone":null,"country":null,"reference":null}"#, "ok"),
            (
                r#"{"name":"","phone":"x","country":"ZZ","id":"x"}"#,
                "parameter_invalid name, phone_invalid phone, parameter_invalid country, parameter_unknown id",
            ),
        ],
    );
}

#[test]
fn an_endpoint_has_an_address_and_kinds() {
    let base = r#"{"url":"https://shop.example.com/hooks?a=1"}"#;
    reads(
        wire::CreateWebhookEndpoint::read,
        SANDBOX,
        base,
        &[
            ("{}", "ok"),
            (r#"{"url":"-"}"#, "parameter_missing url"),
            (r#"{"url":"http://localhost:9/"}"#, "ok"),
            (r#"{"url":"not a url"}"#, "parameter_invalid url"),
            (r#"{"url":"ftp://shop.example.com/"}"#, "parameter_invalid url"),
            (r#"{"url":"https://user@shop.example.com/"}"#, "parameter_invalid url"),
            (r#"{"url":"https://shop.example.com/#part"}"#, "parameter_invalid url"),
            (r#"{"url":5}"#, "parameter_invalid url"),
            (r#"{"events":[]}"#, "parameter_invalid events"),
            (r#"{"events":"*"}"#, "parameter_invalid events"),
            (r#"{"events":null}"#, "ok"),
            (r#"{"events":["payment.nope"]}"#, "event_kind_unknown events[0]"),
            (
                r#"{"events":["*","payment.*",5,"payment.failed",""]}"#,
                "event_kind_unknown events[1], parameter_invalid events[2], event_kind_unknown events[4]",
            ),
            (
                r#"{"events":["*","payment.failed"],"active":false,"description":"d","metadata":{"a":"b"}}"#,
                "ok",
            ),
            (
                r#"{"secret":"x","events":["x"],"active":"x"}"#,
                "event_kind_unknown events[0], parameter_invalid active, parameter_unknown secret",
            ),
        ],
    );
    reads(
        wire::CreateWebhookEndpoint::read,
        LIVE,
        base,
        &[
            ("{}", "ok"),
            (r#"{"url":"http://shop.example.com/"}"#, "url_not_allowed url"),
            (r#"{"url":"http://user@shop.example.com/"}"#, "parameter_invalid url"),
            (r#"{"url":"not a url"}"#, "parameter_invalid url"),
        ],
    );
}

#[test]
fn a_secret_is_rotated_on_request_alone() {
    reads(
        wire::ModifyWebhookEndpoint::read,
        SANDBOX,
        "{}",
        &[
            ("{}", "ok"),
            (
                r#"{"url":null,"events":null,"active":null}"#,
                "parameter_invalid url, parameter_invalid events, parameter_invalid active",
            ),
            (r#"{"description":null,"metadata":null}"#, "ok"),
            (r#"{"rotate_secret":true}"#, "ok"),
            (r#"{"rotate_secret":false}"#, "ok"),
            (r#"{"rotate_secret":true,"previous_secret_expires_in":0}"#, "ok"),
            (r#"{"rotate_secret":true,"previous_secret_expires_in":86400}"#, "ok"),
            (
                r#"{"rotate_secret":true,"previous_secret_expires_in":86401}"#,
                "parameter_invalid previous_secret_expires_in",
            ),
            (
                r#"{"rotate_secret":true,"previous_secret_expires_in":-1}"#,
                "parameter_invalid previous_secret_expires_in",
            ),
            (r#"{"previous_secret_expires_in":5}"#, "parameter_invalid previous_secret_expires_in"),
            (
                r#"{"rotate_secret":false,"previous_secret_expires_in":"5"}"#,
                "parameter_invalid previous_secret_expires_in",
            ),
            (
                r#"{"rotate_secret":"yes","previous_secret_expires_in":5}"#,
                "parameter_invalid rotate_secret",
            ),
        ],
    );
}

#[test]
fn the_tools_of_the_sandbox_ask_for_two_things() {
    reads(
        wire::Simulate::read,
        SANDBOX,
        "{}",
        &[
            ("{}", "parameter_missing id, parameter_missing scenario"),
            (r#"{"id":"ref_01jd3w8k4f7q2m9x5r6t0v1b3c","scenario":"success"}"#, "ok"),
            (
                r#"{"id":"cus_01jd3w8k4f7q2m9x5r6t0v1b3c","scenario":"miracle"}"#,
                "scenario_unknown scenario",
            ),
            (
                r#"{"id":"pay_1","scenario":5,"delay":1}"#,
                "parameter_invalid id, parameter_invalid scenario, parameter_unknown delay",
            ),
        ],
    );
    reads(
        wire::Fund::read,
        SANDBOX,
        "{}",
        &[
            ("{}", "parameter_missing amount, parameter_missing currency"),
            (r#"{"amount":5,"currency":"JPY"}"#, "ok"),
            (r#"{"amount":5,"currency":"xof"}"#, "parameter_invalid currency"),
            (r#"{"amount":5,"currency":"ZZZ"}"#, "parameter_invalid currency"),
        ],
    );
    reads(
        wire::TestWebhook::read,
        SANDBOX,
        r#"{"webhook_endpoint":"whe_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#,
        &[
            ("{}", "ok"),
            (r#"{"event_type":null}"#, "ok"),
            (r#"{"event_type":"payout.failed"}"#, "ok"),
            (r#"{"event_type":"*"}"#, "event_kind_unknown event_type"),
            (r#"{"event_type":5}"#, "parameter_invalid event_type"),
            (r#"{"webhook_endpoint":"-"}"#, "parameter_missing webhook_endpoint"),
            (
                r#"{"webhook_endpoint":"cus_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#,
                "related_resource_not_found webhook_endpoint",
            ),
        ],
    );
}
