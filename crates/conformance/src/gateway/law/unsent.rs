//! Law 2: unreachable and refused mean that the network certainly has not taken the order on.

use cauri::Report;

use crate::{
    fixtures::Random,
    gateway::{
        rig::Conduct,
        subject::{Subject, never_carried, now},
    },
};

pub(super) async fn law_2_a_network_that_is_down_is_unreachable(subject: Subject) {
    let mut random = Random::new(21);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let before = subject.rig.taken_on().await;
        subject.rig.conduct(Conduct::Down).await;
        let answer = subject.gateway().await.submit(&order, now()).await;
        subject.rig.conduct(Conduct::Works).await;
        assert_eq!(answer.reports, [Report::Unreachable], "{kind:?}");
        assert_eq!(subject.rig.taken_on().await, before);
    }
}

pub(super) async fn law_2_a_connection_that_breaks_says_nothing(subject: Subject) {
    let mut random = Random::new(22);
    for kind in subject.kinds() {
        for conduct in Conduct::SILENT {
            let order = subject.order(kind, &mut random).await;
            subject.rig.conduct(*conduct).await;
            let answer = subject.gateway().await.submit(&order, now()).await;
            subject.rig.conduct(Conduct::Works).await;
            never_carried(&answer, *conduct);
        }
    }
}

pub(super) async fn law_2_a_refusal_is_one_and_nothing_is_taken_on(subject: Subject) {
    let mut random = Random::new(23);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let before = subject.rig.taken_on().await;
        subject.rig.conduct(Conduct::Refuses).await;
        let answer = subject.gateway().await.submit(&order, now()).await;
        subject.rig.conduct(Conduct::Works).await;
        let [Report::Refused(_)] = answer.reports.as_slice() else {
            panic!("{kind:?} was refused, and the answer is {answer:?}");
        };
        assert_eq!(subject.rig.taken_on().await, before);
    }
}

pub(super) async fn law_2_a_network_that_answers_again_takes_the_order_on(subject: Subject) {
    let mut random = Random::new(24);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let before = subject.rig.taken_on().await;
        let gateway = subject.gateway().await;
        subject.rig.conduct(Conduct::Down).await;
        gateway.submit(&order, now()).await;
        subject.rig.conduct(Conduct::Works).await;
        gateway.submit(&order, now().plus_seconds(5)).await;
        assert_eq!(subject.rig.taken_on().await, before + 1, "{kind:?}");
    }
}
