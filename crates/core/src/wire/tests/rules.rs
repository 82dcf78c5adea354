//! What is read from good requests, and what is wrong with requests that were built by hand.

use serde_json::{Map, Value};

use super::{at, form, lines, records::parsed};
use crate::{
    model::{catalogue::Catalogue, event::EventKind, webhook_endpoint::Subscription},
    value::{
        metadata::{Metadata, MetadataPatch},
        method::PaymentMethod,
        money::Amount,
        patch::Patch,
        scope::Environment,
    },
    wire,
};

fn body(text: &str) -> Map<String, Value> {
    wire::parse_object(text.as_bytes()).expect(text)
}

/// A payment that has all it needs.
fn payment() -> wire::CreatePayment {
    wire::CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some(parsed("XOF")),
        method: PaymentMethod::MobileMoney,
        network: Some(parsed("mtn")),
        phone: Some(parsed("+2250500009999")),
        country: None,
        otp: None,
        customer: None,
        payment_link: None,
        reference: None,
        description: None,
        metadata: Metadata::default(),
        return_url: None,
        expires_in: None,
    }
}

#[test]
fn what_is_read_is_what_was_asked() {
    let catalogue = Catalogue::sandbox();
    let form = form(Environment::Sandbox, &catalogue);
    let asked = body(
        r#"{"amount":5000,"currency":"XOF","payment_method":"mobile_money","network":"mtn",
            "phone":"+2250500009999","otp":"1234","reference":"R","metadata":{"a":"1"},
            "return_url":"https://a.example/","expires_in":60,"country":"CI",
            "customer":"cus_01jd3w8k4f7q2m9x5r6t0v1b3c","description":"D"}"#,
    );
    let read = wire::CreatePayment::read(&asked, &form).expect("a payment");
    let expected = wire::CreatePayment {
        country: Some(parsed("CI")),
        otp: Some(parsed("1234")),
        customer: Some(parsed("cus_01jd3w8k4f7q2m9x5r6t0v1b3c")),
        reference: Some(parsed("R")),
        description: Some(parsed("D")),
        metadata: super::records::metadata(&[("a", "1")]),
        return_url: Some(parsed("https://a.example/")),
        expires_in: Some(60),
        ..payment()
    };
    assert_eq!(read, expected);

    let asked = body(
        r#"{"title":"T","currency":"XOF","country":"CI","payment_methods":["card","mobile_money","card"]}"#,
    );
    let link = wire::CreatePaymentLink::read(&asked, &form).expect("a link");
    assert_eq!(link.methods, Some(vec![PaymentMethod::Card, PaymentMethod::MobileMoney]));
    assert_eq!((link.active, link.reusable, link.amount), (true, false, None));

    let asked = body(r#"{"amount":1,"currency":"XOF","network":"mtn","phone":"+2250500009999"}"#);
    let payout = wire::CreatePayout::read(&asked, &form).expect("a payout");
    assert_eq!(payout.method, PaymentMethod::MobileMoney);

    let asked = body(r#"{"webhook_endpoint":"whe_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#);
    let test = wire::TestWebhook::read(&asked, &form).expect("a test");
    assert_eq!(test.event_kind, EventKind::PaymentSucceeded);
}

#[test]
fn a_patch_tells_keep_from_clear_from_set() {
    let catalogue = Catalogue::sandbox();
    let form = form(Environment::Sandbox, &catalogue);
    let asked = body(r#"{"name":"A","email":null,"metadata":{"a":null,"c":"3"}}"#);
    let customer = wire::ModifyCustomer::read(&asked, &form).expect("a change");
    assert_eq!(customer.name, Patch::Set(parsed("A")));
    assert_eq!((customer.email, customer.phone), (Patch::Clear, Patch::Keep));
    let merge = [("a".to_owned(), None), ("c".to_owned(), Some("3".to_owned()))];
    assert_eq!(customer.metadata, MetadataPatch::Merge(merge.into()));
    let cleared = wire::ModifyPaymentLink::read(&body(r#"{"amount":null,"metadata":null}"#), &form);
    let cleared = cleared.expect("a change");
    assert_eq!((cleared.amount, cleared.metadata), (Patch::Clear, MetadataPatch::Clear));
    assert_eq!((cleared.title, cleared.active), (None, None));
}

#[test]
fn one_star_is_every_event_and_a_repeat_is_one() {
    let catalogue = Catalogue::sandbox();
    let form = form(Environment::Sandbox, &catalogue);
    let events = |events: &str| {
        let asked = body(&format!(r#"{{"url":"https://a.example/"{events}}}"#));
        wire::CreateWebhookEndpoint::read(&asked, &form).expect(events).events
    };
    assert_eq!(events(""), Subscription::All);
    assert_eq!(events(r#","events":["payment.failed","*"]"#), Subscription::All);
    let kinds = [EventKind::RefundFailed, EventKind::PaymentCreated];
    assert_eq!(
        events(r#","events":["refund.failed","payment.created","refund.failed"]"#),
        Subscription::Kinds(kinds.into())
    );
    let rotation = |asked: &str| {
        wire::ModifyWebhookEndpoint::read(&body(asked), &form).expect(asked).rotate_secret
    };
    assert_eq!(rotation("{}"), None);
    assert_eq!(rotation(r#"{"rotate_secret":false}"#), None);
    assert_eq!(rotation(r#"{"rotate_secret":true}"#), Some(0));
    assert_eq!(rotation(r#"{"rotate_secret":true,"previous_secret_expires_in":9}"#), Some(9));
}

#[test]
fn a_payment_built_by_hand_is_held_to_the_same_rules() {
    let catalogue = Catalogue::sandbox();
    let live = form(Environment::Live, &catalogue);
    let faults = |payment: wire::CreatePayment| lines(&payment.faults(&live));
    assert_eq!(faults(payment()), "");
    let all = wire::CreatePayment {
        amount: Some(Amount::ZERO),
        currency: None,
        network: None,
        phone: None,
        country: Some(parsed("ZZ")),
        otp: Some(parsed("12")),
        return_url: Some(parsed("http://a.example/")),
        expires_in: Some(59),
        ..payment()
    };
    assert_eq!(
        faults(all),
        "parameter_invalid amount, parameter_missing currency, parameter_missing network, \
         parameter_missing phone, parameter_invalid otp, \
         parameter_invalid return_url, parameter_invalid expires_in"
    );
    let card = wire::CreatePayment { method: PaymentMethod::Card, ..payment() };
    assert_eq!(faults(card), "parameter_invalid phone, parameter_missing country");
    let nowhere = wire::CreatePayment { country: Some(parsed("ZZ")), ..payment() };
    assert_eq!(faults(nowhere), "phone_country_mismatch phone");
    let elsewhere = wire::CreatePayment { country: Some(parsed("SN")), ..payment() };
    assert_eq!(faults(elsewhere), "phone_country_mismatch phone");
    let short = wire::CreatePayment { phone: Some(parsed("+22505000099")), ..payment() };
    assert_eq!(faults(short), "phone_invalid phone");
}

#[test]
fn everything_else_built_by_hand_is_too() {
    let catalogue = Catalogue::sandbox();
    let live = form(Environment::Live, &catalogue);
    let payout = wire::CreatePayout {
        amount: Amount::new(1_000_000_000_000),
        currency: parsed("XOF"),
        method: PaymentMethod::MobileMoney,
        network: parsed("mtn"),
        phone: parsed("+33600000000"),
        country: None,
        recipient_name: None,
        customer: None,
        reference: None,
        description: None,
        metadata: Metadata::default(),
    };
    assert_eq!(lines(&payout.faults(&live)), "parameter_invalid amount, parameter_missing country");
    let refund = wire::CreateRefund {
        payment: parsed("pay_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        amount: Some(Amount::new(-1)),
        reason: None,
        description: None,
        reference: None,
        metadata: Metadata::default(),
    };
    assert_eq!(lines(&refund.faults(&live)), "parameter_invalid amount");
    let fund = wire::Fund { amount: Amount::ZERO, currency: parsed("XOF") };
    assert_eq!(lines(&fund.faults(&live)), "parameter_invalid amount");
    assert_eq!(lines(&wire::CreateCustomer::default().faults(&live)), "parameter_missing name");
    let customer = wire::ModifyCustomer {
        country: Patch::Set(parsed("ZZ")),
        ..wire::ModifyCustomer::default()
    };
    assert_eq!(lines(&customer.faults(&live)), "parameter_invalid country");
    let link = wire::CreatePaymentLink {
        title: parsed("T"),
        currency: parsed("XOF"),
        country: parsed("CI"),
        amount: Some(Amount::ZERO),
        description: None,
        methods: Some(vec![PaymentMethod::Card, PaymentMethod::Card]),
        reusable: false,
        expires_at: Some(at("2024-11-18T00:00:00Z")),
        return_url: Some(parsed("http://a.example/")),
        reference: None,
        metadata: Metadata::default(),
        active: true,
    };
    let expected = "parameter_invalid amount, parameter_invalid payment_methods, \
                    parameter_invalid expires_at, parameter_invalid return_url";
    assert_eq!(lines(&link.faults(&live)), expected);
    let change = wire::ModifyPaymentLink {
        amount: Patch::Set(Amount::ZERO),
        expires_at: Patch::Set(at("2030-01-01T00:00:00Z")),
        return_url: Patch::Clear,
        ..wire::ModifyPaymentLink::default()
    };
    let expected = "parameter_invalid expires_at, parameter_invalid amount";
    assert_eq!(lines(&change.faults(&live)), expected);
    let endpoint = wire::CreateWebhookEndpoint {
        url: parsed("http://a.example/"),
        events: Subscription::Kinds([].into()),
        active: true,
        description: None,
        metadata: Metadata::default(),
    };
    assert_eq!(lines(&endpoint.faults(&live)), "url_not_allowed url, parameter_invalid events");
    let change = wire::ModifyWebhookEndpoint {
        url: Some(parsed("https://u@a.example/")),
        rotate_secret: Some(86_401),
        ..wire::ModifyWebhookEndpoint::default()
    };
    let expected = "parameter_invalid url, parameter_invalid previous_secret_expires_in";
    assert_eq!(lines(&change.faults(&live)), expected);
}

#[test]
fn countries_that_share_a_calling_code_share_its_numbers() {
    use crate::CountryOffer;
    let (us, ca) = (parsed("US"), parsed("CA"));
    let catalogue = Catalogue::empty()
        .with_country(CountryOffer::new(us, 1, 10..=10, parsed("USD")))
        .with_country(CountryOffer::new(ca, 1, 10..=10, parsed("USD")));
    let form = form(Environment::Sandbox, &catalogue);
    for country in [us, ca] {
        let asked = wire::CreatePayment {
            phone: Some(parsed("+12025550123")),
            country: Some(country),
            ..payment()
        };
        assert_eq!(lines(&asked.faults(&form)), "", "{country}");
    }
}
