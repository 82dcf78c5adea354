//! A one-time password is kept until the network has it, or no longer wants it (API §9.2).

#![allow(clippy::unwrap_used, reason = "a test that goes wrong should stop")]

#[expect(dead_code, reason = "shared with the other tests and examples")]
mod shop;

use cauri_core::{
    Actor, Amount, Error, FailureCode, NextQuestion, Payment, PaymentMethod, PaymentStatus, Record,
    Report, Write,
    decide::{self, Decision, payment::Case},
    wire,
};
use shop::{Shop, xof};

/// A payment that was given a password, in a shop of its own.
fn with_password() -> (Shop, Case) {
    let mut shop = Shop::open();
    let ask = wire::CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some(xof()),
        network: Some("mtn".parse().unwrap()),
        phone: Some("+2250500000000".parse().unwrap()),
        otp: Some("123456".parse().unwrap()),
        ..wire::CreatePayment::by(PaymentMethod::MobileMoney)
    };
    let decision = decide::payment::create(ask, Default::default(), &mut shop.context());
    shop.done(decision);
    let payment = shop.last::<Payment>();
    assert_eq!(payment.value.otp.as_ref().map(|otp| otp.as_str()), Some("123456"));
    (shop, Case { payment, link: None })
}

/// What a decision leaves of the payment.
fn left(decision: Result<Decision<wire::Payment>, Error>) -> Payment {
    let changes = decision.unwrap().changes;
    let payment = changes.writes().iter().find_map(|write| match write {
        Write::Update { record: Record::Payment(payment), .. } => Some((**payment).clone()),
        _ => None,
    });
    payment.unwrap()
}

fn heard(shop: &mut Shop, case: Case, reports: &[Report]) -> Payment {
    let next = NextQuestion::Never;
    left(decide::payment::report(case, reports, next, Actor::Network, &mut shop.context()))
}

#[test]
fn a_password_is_erased_as_soon_as_the_payment_is_no_longer_created() {
    for (reports, status) in [
        (&[Report::accepted()][..], PaymentStatus::Processing),
        (&[Report::Paid], PaymentStatus::Succeeded),
        (&[Report::Refused(FailureCode::NetworkError)], PaymentStatus::Failed),
        (&[Report::Unreachable], PaymentStatus::Failed),
        (&[Report::Expired], PaymentStatus::Expired),
    ] {
        let (mut shop, case) = with_password();
        let payment = heard(&mut shop, case, reports);
        assert_eq!((payment.status, payment.otp), (status, None), "{reports:?}");
    }
    let (mut shop, case) = with_password();
    let payment = left(decide::payment::cancel(case, None, false, &mut shop.context()));
    assert_eq!((payment.status, payment.otp), (PaymentStatus::Cancelled, None));
}

/// However it came there: what is paid late must not bring one back.
#[test]
fn a_password_is_erased_by_a_success_whatever_was_kept_until_then() {
    let otp = Some("123456".parse().unwrap());
    for status in [PaymentStatus::Processing, PaymentStatus::Expired] {
        let (mut shop, mut case) = with_password();
        (case.payment.value.status, case.payment.value.otp) = (status, otp.clone());
        let payment = heard(&mut shop, case, &[Report::Paid]);
        assert_eq!((payment.status, payment.otp), (PaymentStatus::Succeeded, None));
    }
}

#[test]
fn a_password_is_kept_while_the_network_may_not_have_it() {
    for reports in [&[Report::NotFound][..], &[Report::Unknown]] {
        let (mut shop, case) = with_password();
        let payment = heard(&mut shop, case, reports);
        assert_eq!(payment.status, PaymentStatus::Created);
        assert_eq!(payment.otp, Some("123456".parse().unwrap()), "{reports:?}");
    }
}
