//! A payment expires when its time is over, and not a millisecond before (API §9.4).

#![allow(clippy::unwrap_used, reason = "a test that goes wrong should stop")]

#[expect(dead_code, reason = "shared with the other tests and examples")]
mod shop;

use cauri_core::{
    Actor, Env, Environment, NextQuestion, Payment, PaymentStatus, Record, Report, Tick, Timestamp,
    Versioned, Write,
    decide::{self, payment::Case},
};
use shop::Shop;

/// What becomes of a payment of which its network says this at a moment.
fn told(
    shop: &mut Shop,
    payment: Versioned<Payment>,
    said: (&[Report], NextQuestion),
    now: Timestamp,
) -> Versioned<Payment> {
    shop.env = Env::new(now, Tick::first(now), [7; 32]);
    let case = Case { payment, link: None };
    let (reports, next) = said;
    let cx = &mut shop.context();
    let decision = decide::payment::report(case, reports, next, Actor::Network, cx);
    let changes = decision.unwrap().changes;
    let left = changes.writes().iter().find_map(|write| match write {
        Write::Update { record: Record::Payment(payment), due_at, .. } => {
            Some(Versioned { value: (**payment).clone(), version: 9, due_at: *due_at })
        }
        _ => None,
    });
    left.unwrap()
}

/// What becomes of an open payment whose network has nothing new to say so long after its time.
fn asked_at(first: &[Report], after_millis: i64) -> Payment {
    let mut shop = Shop::open();
    shop.payment(5_000);
    let payment = match first {
        [] => shop.last::<Payment>(),
        reports => shop.hear(reports),
    };
    let now = payment.value.expires_at.plus_millis(after_millis);
    told(&mut shop, payment, (&[Report::Unknown], NextQuestion::Never), now).value
}

/// After how many seconds an expired payment is asked about whose network never knows, and wants to be
/// asked again after so many; and the payment, when that is over.
fn asked_after(
    environment: Environment,
    again: i64,
    times: usize,
) -> (Vec<i64>, Shop, Versioned<Payment>) {
    let mut shop = Shop::open();
    shop.payment(5_000);
    let mut payment = shop.hear(&[Report::accepted()]);
    payment.value.scope.environment = environment;
    let expires_at = payment.value.expires_at;
    let mut now = expires_at;
    let mut asked = Vec::new();
    while asked.len() < times {
        let next = NextQuestion::At(now.plus_seconds(again));
        payment = told(&mut shop, payment, (&[Report::Unknown], next), now);
        assert_eq!(payment.value.status, PaymentStatus::Expired);
        let Some(at) = payment.due_at else { break };
        asked.push(at.since(expires_at) / 1_000);
        now = at;
    }
    (asked, shop, payment)
}

#[test]
fn an_expired_payment_is_asked_about_less_and_less_often_and_for_a_day() {
    let day = 24 * 60 * 60;
    let (asked, mut shop, payment) = asked_after(Environment::Live, 5, 99);
    assert_eq!(asked.get(..5).unwrap(), [5, 10, 20, 40, 80]);
    assert_eq!(asked.last(), Some(&day), "{asked:?}");
    assert_eq!(asked.len(), 16, "{asked:?}");
    // A network that wants to be asked more rarely is; and the money is booked whenever it comes.
    assert_eq!(asked_after(Environment::Live, 36_000, 99).0, [36_000, 72_000, day]);
    let now = payment.value.expires_at.plus_seconds(30 * day);
    let paid = told(&mut shop, payment, (&[Report::Paid], NextQuestion::AsPlanned), now).value;
    assert_eq!((paid.status, paid.succeeded_at), (PaymentStatus::Succeeded, Some(now)));
}

#[test]
fn the_simulator_is_asked_when_it_says() {
    assert_eq!(asked_after(Environment::Sandbox, 7, 4).0, [7, 14, 21, 28]);
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
