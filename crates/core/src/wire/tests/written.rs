//! Requests as whoever asks writes them: what is not said is not there.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    model::{event::EventKind, scenario::Scenario, webhook_endpoint::Subscription},
    value::{
        metadata::{Metadata, MetadataPatch},
        method::PaymentMethod,
        money::Amount,
        patch::Patch,
    },
    wire,
};

#[track_caller]
fn writes(request: &impl Serialize, expected: &Value) {
    assert_eq!(serde_json::to_value(request).expect("JSON"), *expected);
}

#[test]
fn what_is_left_open_is_left_out() {
    writes(&wire::CreatePayment::by(PaymentMethod::Card), &json!({ "payment_method": "card" }));
    writes(&wire::CancelPayment::default(), &json!({}));
    writes(&wire::CreateCustomer::default(), &json!({}));
    writes(&wire::ModifyCustomer::default(), &json!({}));
    writes(&wire::ModifyPaymentLink::default(), &json!({}));
    writes(&wire::ModifyWebhookEndpoint::default(), &json!({}));
}

#[test]
fn a_payment_is_asked_for_in_the_words_of_the_contract() {
    let payment = wire::CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: "XOF".parse().ok(),
        network: "mtn".parse().ok(),
        phone: "+2250500000000".parse().ok(),
        otp: "1234".parse().ok(),
        metadata: Metadata::of([("cart", "77")]).expect("one key"),
        expires_in: Some(60),
        ..wire::CreatePayment::by(PaymentMethod::MobileMoney)
    };
    writes(
        &payment,
        &json!({
            "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
            "phone": "+2250500000000", "otp": "1234", "metadata": { "cart": "77" },
            "expires_in": 60,
        }),
    );
}

#[test]
fn a_change_tells_nothing_from_null() {
    let change = wire::ModifyPaymentLink {
        title: "Invoice 42".parse().ok(),
        description: Patch::Clear,
        amount: Patch::Set(Amount::new(1)),
        metadata: MetadataPatch::Merge(
            [("a".to_owned(), Some("1".to_owned())), ("b".to_owned(), None)].into(),
        ),
        ..wire::ModifyPaymentLink::default()
    };
    writes(
        &change,
        &json!({
            "title": "Invoice 42", "description": null, "amount": 1,
            "metadata": { "a": "1", "b": null },
        }),
    );
    let cleared =
        wire::ModifyCustomer { metadata: MetadataPatch::Clear, ..wire::ModifyCustomer::default() };
    writes(&cleared, &json!({ "metadata": null }));
}

#[test]
fn a_rotation_is_two_parameters() {
    let rotate = |rotate_secret| wire::ModifyWebhookEndpoint {
        rotate_secret,
        ..wire::ModifyWebhookEndpoint::default()
    };
    writes(&rotate(Some(60)), &json!({ "rotate_secret": true, "previous_secret_expires_in": 60 }));
    writes(&rotate(None), &json!({}));
}

#[test]
fn an_endpoint_names_kinds_or_all_of_them() {
    let at = |events| wire::CreateWebhookEndpoint {
        events,
        ..wire::CreateWebhookEndpoint::at("https://a.example/".parse().expect("a URL"))
    };
    let url = "https://a.example/";
    writes(&at(Subscription::All), &json!({ "url": url, "events": ["*"], "active": true }));
    let kinds = [EventKind::PaymentFailed, EventKind::PaymentSucceeded].into();
    let words = ["payment.failed", "payment.succeeded"];
    writes(
        &at(Subscription::Kinds(kinds)),
        &json!({ "url": url, "events": words, "active": true }),
    );
}

#[test]
fn what_is_asked_of_one_object_names_it() {
    let (payment, endpoint) = ("pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "whe_01jd3w8k4f7q2m9x5r6t0v1b3c");
    let simulate =
        wire::Simulate { id: payment.parse().expect("an id"), scenario: Scenario::Success };
    writes(&simulate, &json!({ "id": payment, "scenario": "success" }));
    let test = wire::TestWebhook {
        endpoint: endpoint.parse().expect("an id"),
        event_kind: EventKind::RefundFailed,
    };
    writes(&test, &json!({ "webhook_endpoint": endpoint, "event_type": "refund.failed" }));
}
