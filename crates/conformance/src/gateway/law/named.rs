//! Law 1: an order is known by our id.

use futures_util::future::join;

use crate::{
    fixtures::Random,
    gateway::subject::{Subject, now},
};

pub(super) async fn law_1_an_order_submitted_twice_is_taken_on_once(subject: Subject) {
    let mut random = Random::new(11);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let before = subject.rig.taken_on().await;
        subject.taken_on(&order).await;
        let again = subject.gateway().await.submit(&order, now().plus_seconds(1)).await;
        assert_eq!(subject.rig.taken_on().await, before + 1, "{kind:?}, answered {again:?}");
    }
}

pub(super) async fn law_1_an_order_submitted_by_two_processes_at_once_is_taken_on_once(
    subject: Subject,
) {
    let mut random = Random::new(12);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let before = subject.rig.taken_on().await;
        let (one, other) = (subject.gateway().await, subject.gateway().await);
        join(one.submit(&order, now()), other.submit(&order, now())).await;
        assert_eq!(subject.rig.taken_on().await, before + 1, "{kind:?}");
    }
}

pub(super) async fn law_1_an_order_that_was_given_up_is_taken_on_once(subject: Subject) {
    let mut random = Random::new(13);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let before = subject.rig.taken_on().await;
        subject.given_up(&order, before + 1).await;
        subject.gateway().await.submit(&order, now().plus_seconds(30)).await;
        assert_eq!(subject.rig.taken_on().await, before + 1, "{kind:?}");
    }
}

pub(super) async fn law_1_two_orders_are_two(subject: Subject) {
    let mut random = Random::new(14);
    for kind in subject.kinds() {
        let one = subject.order(kind, &mut random).await;
        let other = subject.order(kind, &mut random).await;
        let before = subject.rig.taken_on().await;
        subject.taken_on(&one).await;
        subject.taken_on(&other).await;
        assert_eq!(subject.rig.taken_on().await, before + 2, "{kind:?}");
    }
}
