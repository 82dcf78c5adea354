//! Requests that are built instead of read are held to the same rules, in the same order (API §2.2).

use cauri_core::{
    Amount, Capabilities, Catalogue, Connection, CountryOffer, Error, Faults, Flow, Metadata,
    Offer, PaymentMethod, PaymentStatus, decide,
    wire::{self, CreatePayment},
};

#[expect(dead_code, reason = "shared with the other tests and examples")]
mod shop;
use shop::Shop;

fn mobile() -> CreatePayment {
    CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some(shop::xof()),
        network: Some("mtn".parse().expect("a network")),
        phone: Some("+2250500000000".parse().expect("a phone")),
        ..CreatePayment::by(PaymentMethod::MobileMoney)
    }
}

fn pay(ask: CreatePayment, shop: &mut Shop) -> Result<wire::Payment, Error> {
    decide::payment::create(ask, Default::default(), &mut shop.context()).map(|it| it.value)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>, expected: &str) {
    let Error::Invalid(faults) = outcome.expect_err(expected) else {
        panic!("refused, but not for its parameters");
    };
    assert_eq!(lines(&faults), expected);
}

fn lines(faults: &Faults) -> String {
    let line = |fault: &cauri_core::Fault| {
        format!("{} {}", fault.problem.code(), fault.param.as_deref().unwrap_or("-"))
    };
    faults.all().iter().map(line).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_decision_refuses_parameters_that_reading_would() {
    let mut shop = Shop::open();
    let ask = CreatePayment { network: None, expires_in: Some(0), ..mobile() };
    refused(pay(ask, &mut shop), "parameter_missing network, parameter_invalid expires_in");

    let metadata = || Metadata::of([("a\0b", "x")]).unwrap();
    let ask = CreatePayment { metadata: metadata(), ..mobile() };
    refused(pay(ask, &mut shop), "parameter_invalid metadata.a\0b");

    let ask = wire::Fund { amount: Amount::ZERO, currency: shop::xof() };
    let cx = &mut shop.context();
    refused(decide::sandbox::fund(ask, Amount::ZERO, cx), "parameter_invalid amount");

    let ask = wire::CreatePayout { amount: Amount::ZERO, ..Shop::ask_payout(1) };
    refused(decide::payout::create(ask, false, cx), "parameter_invalid amount");

    let past = Some(cx.env.now());
    let ask = wire::CreatePaymentLink { expires_at: past, ..Shop::ask_link(5_000) };
    refused(decide::payment_link::create(ask, cx), "parameter_invalid expires_at");
    let link = shop.link(5_000);
    let ask = wire::ModifyPaymentLink {
        expires_at: cauri_core::Patch::Set(shop.now()),
        ..Default::default()
    };
    let cx = &mut shop.context();
    refused(decide::payment_link::modify(ask, link, cx), "parameter_invalid expires_at");

    let ask = wire::CreateCustomer { metadata: metadata(), ..Default::default() };
    let expected = "parameter_missing name, parameter_invalid metadata.a\0b";
    refused(decide::customer::create(ask, cx), expected);
    let customer = shop.customer("Awa Diop");
    let country = cauri_core::Patch::Set("ZZ".parse().unwrap());
    let ask = wire::ModifyCustomer { country, ..Default::default() };
    let cx = &mut shop.context();
    refused(decide::customer::modify(ask, customer, cx), "parameter_invalid country");

    // What only the object tells is told together, too.
    let mut customer = shop.customer("Awa Diop");
    customer.value.metadata = Metadata::of((0..50).map(|at| (at.to_string(), "x"))).unwrap();
    let ask = wire::ModifyCustomer {
        name: cauri_core::Patch::Clear,
        metadata: cauri_core::MetadataPatch::Merge([("one more".into(), Some("x".into()))].into()),
        ..Default::default()
    };
    let cx = &mut shop.context();
    let expected = "parameter_missing name, parameter_invalid metadata";
    refused(decide::customer::modify(ask, customer, cx), expected);

    let keys = shop.keys.clone();
    let ask = wire::CreateWebhookEndpoint::at("https://a@shop.example.com/".parse().unwrap());
    let outcome = decide::webhook_endpoint::create(ask, None, &keys, &mut shop.context());
    refused(outcome, "parameter_invalid url");
    let endpoint = shop.endpoint();
    let ask = wire::ModifyWebhookEndpoint { rotate_secret: Some(u32::MAX), ..Default::default() };
    let listeners = Some(shop.last());
    let cx = &mut shop.context();
    let outcome = decide::webhook_endpoint::modify(ask, endpoint, listeners, &keys, cx);
    refused(outcome, "parameter_invalid previous_secret_expires_in");

    let payment = shop.settled(5_000);
    let ask = wire::CreateRefund {
        payment: payment.value.id,
        amount: Some(Amount::new(-1)),
        reason: None,
        description: None,
        reference: None,
        metadata: Metadata::default(),
    };
    let outcome = decide::refund::create(ask, Some(payment), &mut shop.context());
    refused(outcome, "parameter_invalid amount");
}

#[test]
fn what_iso_does_not_list_waits_for_its_turn() {
    let mut shop = Shop::open();
    let read = |shop: &Shop, body: &str| {
        let body = wire::parse_object(body.as_bytes()).unwrap();
        CreatePayment::read(&body, &shop.form()).unwrap()
    };
    let nowhere = r#"{"amount":5,"currency":"ZZZ","payment_method":"card","country":"ZZ"}"#;
    let ask = read(&shop, nowhere);
    refused(pay(ask.clone(), &mut shop), "country_not_supported country");
    let unknown =
        CreatePayment { customer: Some("cus_01jd3w8k4f7q2m9x5r6t0v1b3c".parse().unwrap()), ..ask };
    let related = decide::payment::Related { customer: Some(None), link: None };
    let outcome = decide::payment::create(unknown, related, &mut shop.context());
    refused(outcome, "related_resource_not_found customer");
    let mtn = r#"{"amount":500,"currency":"ZZZ","payment_method":"mobile_money","network":"mtn","phone":"+2250500000000"}"#;
    let ask = read(&shop, mtn);
    refused(pay(ask.clone(), &mut shop), "currency_not_supported currency");
    let ask = CreatePayment { network: Some("nope".parse().unwrap()), ..ask };
    refused(pay(ask, &mut shop), "network_not_supported network");
}

#[test]
fn countries_that_share_a_calling_code_are_paid_in_by_their_own_numbers() {
    let (us, ca, usd) = ("US".parse().unwrap(), "CA".parse().unwrap(), "USD".parse().unwrap());
    let offer = |network: &str| Offer {
        method: PaymentMethod::MobileMoney,
        network: network.parse().unwrap(),
        currency: usd,
        min: Amount::SMALLEST,
        max: Amount::LARGEST,
        capabilities: Capabilities::ALL,
        flow: Flow::Push,
        connection: Connection::new(network),
    };
    let catalogue = Catalogue::empty()
        .with_country(CountryOffer::new(us, 1, 10..=10, usd))
        .with_country(CountryOffer::new(ca, 1, 10..=11, usd))
        .with_offer(us, offer("zelle"))
        .and_then(|it| it.with_offer(ca, offer("interac")))
        .unwrap();
    let mut shop = Shop::open();
    shop.terms.sandbox.catalogue = catalogue;
    let ask = |phone: &str, country, network: &str| CreatePayment {
        currency: Some(usd),
        phone: Some(phone.parse().unwrap()),
        network: Some(network.parse().unwrap()),
        country,
        ..mobile()
    };
    let paid = pay(ask("+14165550123", Some(ca), "interac"), &mut shop).unwrap();
    assert_eq!((paid.country, paid.status), (ca, PaymentStatus::Created));
    let by_itself = pay(ask("+12025550123", None, "zelle"), &mut shop).unwrap();
    assert_eq!(by_itself.country, us, "the first with the code");
    let long = "+141655501234";
    assert!(pay(ask(long, Some(ca), "interac"), &mut shop).is_ok(), "as long as Canada wants");
    refused(pay(ask(long, Some(us), "zelle"), &mut shop), "phone_invalid phone");
}
