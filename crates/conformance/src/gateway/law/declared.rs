//! Law 5: a gateway can do what it declares, and nothing else.

use cauri::{Amount, Capabilities, Order, Report};

use crate::{
    fixtures::Random,
    gateway::{
        rig::{Conduct, End},
        subject::{Kind, Subject, now},
    },
};

pub(super) async fn law_5_it_declares_what_it_is_known_for(subject: Subject) {
    assert_eq!(subject.gateway().await.capabilities(), subject.declared);
}

pub(super) async fn law_5_what_is_not_declared_is_refused(subject: Subject) {
    let mut random = Random::new(51);
    let Capabilities { payin, payout, refund, .. } = subject.declared;
    for (kind, can) in [(Kind::Payment, payin), (Kind::Payout, payout)] {
        if !can {
            let order = subject.order(kind, &mut random).await;
            refused(&subject, &order).await;
        }
    }
    if payin && !refund {
        let order = subject.order(Kind::Refund, &mut random).await;
        refused(&subject, &order).await;
    }
}

pub(super) async fn law_5_a_part_that_is_not_declared_is_refused(subject: Subject) {
    let mut order = subject.order(Kind::Refund, &mut Random::new(58)).await;
    order.amount = half(&order);
    refused(&subject, &order).await;
}

/// A part of what the order is about.
fn half(order: &Order) -> Amount {
    let whole = order.amount.units();
    assert!(whole > 1, "the least amount of the rig's offer cannot be divided");
    Amount::new(whole / 2)
}

async fn refused(subject: &Subject, order: &Order) {
    let before = subject.rig.taken_on().await;
    let answer = subject.gateway().await.submit(order, now()).await;
    let [Report::Refused(_)] = answer.reports.as_slice() else {
        panic!("{:?} is not declared, and the answer is {answer:?}", order.id);
    };
    assert_eq!(subject.rig.taken_on().await, before);
}

pub(super) async fn law_5_what_cannot_be_cancelled_is_not(subject: Subject) {
    let mut random = Random::new(52);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        subject.taken_on(&order).await;
        assert!(!subject.gateway().await.cancel(&order, now()).await, "{kind:?}");
    }
}

pub(super) async fn law_5_what_is_cancelled_is_not_paid(subject: Subject) {
    let order = subject.order(Kind::Payment, &mut Random::new(53)).await;
    subject.taken_on(&order).await;
    assert!(subject.gateway().await.cancel(&order, now().plus_seconds(1)).await);
    subject.rig.end(End::Paid).await;
    assert_eq!(subject.rig.collected().await, 0);
    let answer = subject.gateway().await.query(&order, now().plus_seconds(60)).await;
    assert!(!answer.reports.contains(&Report::Paid), "{answer:?}");
}

pub(super) async fn law_5_what_is_paid_is_not_cancelled(subject: Subject) {
    let order = subject.order(Kind::Payment, &mut Random::new(54)).await;
    subject.taken_on(&order).await;
    subject.rig.end(End::Paid).await;
    assert!(!subject.gateway().await.cancel(&order, now().plus_seconds(60)).await);
}

pub(super) async fn law_5_what_has_not_arrived_is_not_cancelled(subject: Subject) {
    let order = subject.order(Kind::Payment, &mut Random::new(56)).await;
    assert!(!subject.gateway().await.cancel(&order, now()).await, "it may be on its way");
    subject.taken_on(&order).await;
    assert!(subject.gateway().await.cancel(&order, now().plus_seconds(5)).await, "asked again");
}

pub(super) async fn law_5_no_answer_confirms_no_cancellation(subject: Subject) {
    let mut random = Random::new(55);
    for conduct in Conduct::SILENT.iter().chain([&Conduct::Down]) {
        let order = subject.order(Kind::Payment, &mut random).await;
        subject.taken_on(&order).await;
        subject.rig.conduct(*conduct).await;
        let confirmed = subject.gateway().await.cancel(&order, now().plus_seconds(1)).await;
        subject.rig.conduct(Conduct::Works).await;
        assert!(!confirmed, "{conduct:?}");
    }
}

pub(super) async fn law_5_a_refund_gives_the_money_back(subject: Subject) {
    let order = subject.order(Kind::Refund, &mut Random::new(56)).await;
    assert_eq!(subject.rig.collected().await, order.amount.units());
    subject.taken_on(&order).await;
    subject.rig.end(End::Paid).await;
    assert_eq!(subject.rig.collected().await, 0);
}

pub(super) async fn law_5_a_part_of_a_payment_is_given_back(subject: Subject) {
    let mut order = subject.order(Kind::Refund, &mut Random::new(57)).await;
    let paid = order.amount.units();
    order.amount = half(&order);
    let returned = order.amount.units();
    subject.taken_on(&order).await;
    subject.rig.end(End::Paid).await;
    assert_eq!(subject.rig.collected().await, paid - returned);
}
