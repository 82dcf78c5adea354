//! Law 4: a gateway says what its network says, and does not remember.

use cauri::Report;

use crate::{
    fixtures::Random,
    gateway::{
        rig::{Conduct, End},
        subject::{Subject, now},
    },
};

pub(super) async fn law_4_whoever_asks_is_told_the_same(subject: Subject) {
    let mut random = Random::new(41);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        subject.taken_on(&order).await;
        subject.rig.end(End::Failed).await;
        let gateway = subject.gateway().await;
        let at = now().plus_seconds(60);
        let first = gateway.query(&order, at).await;
        let failed = |report: &Report| matches!(report, Report::Failed(_));
        assert!(first.reports.iter().any(failed), "{kind:?}, by a process that did not send it");
        assert_eq!(gateway.query(&order, at).await, first, "{kind:?}, asked again");
        let other = subject.gateway().await;
        assert_eq!(other.query(&order, at).await, first, "{kind:?}, asked by another process");
    }
}

pub(super) async fn law_4_a_contradiction_is_passed_on(subject: Subject) {
    let mut random = Random::new(42);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        subject.taken_on(&order).await;
        subject.rig.end(End::Failed).await;
        let gateway = subject.gateway().await;
        let at = now().plus_seconds(60);
        gateway.query(&order, at).await;
        subject.rig.conduct(Conduct::Contradicts).await;
        let answer = gateway.query(&order, at).await;
        subject.rig.conduct(Conduct::Works).await;
        assert!(
            answer.reports.contains(&Report::Paid),
            "{kind:?}: the network says paid by now, and the answer is {answer:?}",
        );
    }
}
