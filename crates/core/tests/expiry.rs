//! A payment expires when its time is over, and not a millisecond before (API §9.4).

#![allow(clippy::unwrap_used, reason = "a test that goes wrong should stop")]

#[expect(dead_code, reason = "shared with the other tests and examples")]
mod shop;

use cauri_core::{
    Actor, Env, NextQuestion, Payment, PaymentStatus, Record, Report, Tick, Write,
    decide::{self, payment::Case},
};
use shop::Shop;

/// What becomes of an open payment whose network has nothing new to say so long after its time.
fn asked_at(first: &[Report], after_millis: i64) -> Payment {
    let mut shop = Shop::open();
    shop.payment(5_000);
    let payment = match first {
        [] => shop.last::<Payment>(),
        reports => shop.hear(reports),
    };
    let now = payment.value.expires_at.plus_millis(after_millis);
    shop.env = Env::new(now, Tick::first(now), [7; 32]);
    let case = Case { payment, link: None };
    let next = NextQuestion::Never;
    let said = [Report::Unknown];
    let cx = &mut shop.context();
    let decision = decide::payment::report(case, &said, next, Actor::Network, cx);
    let changes = decision.unwrap().changes;
    let left = changes.writes().iter().find_map(|write| match write {
        Write::Update { record: Record::Payment(payment), .. } => Some((**payment).clone()),
        _ => None,
    });
    left.unwrap()
}

#[test]
fn a_payment_stays_open_until_the_last_millisecond_and_expires_then() {
    for (first, status) in
        [(&[][..], PaymentStatus::Created), (&[Report::accepted()], PaymentStatus::Processing)]
    {
        let before = asked_at(first, -1);
        assert_eq!((before.status, before.expired_at), (status, None));
        let then = asked_at(first, 0);
        assert_eq!(then.status, PaymentStatus::Expired);
        assert_eq!(then.expired_at, Some(then.expires_at));
    }
}
