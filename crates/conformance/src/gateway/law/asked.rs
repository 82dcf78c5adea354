//! Law 3: an unknown outcome is asked about.

use cauri::Report;

use crate::{
    fixtures::Random,
    gateway::{
        rig::{Conduct, End},
        subject::{Subject, is_accepted, is_final, now},
    },
};

pub(super) async fn law_3_an_order_that_was_never_sent_is_not_found(subject: Subject) {
    let mut random = Random::new(31);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let answer = subject.gateway().await.query(&order, now()).await;
        assert_eq!(answer.reports, [Report::NotFound], "{kind:?}");
    }
}

pub(super) async fn law_3_an_order_that_was_taken_on_is_found_and_open(subject: Subject) {
    let mut random = Random::new(32);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        subject.taken_on(&order).await;
        let answer = subject.gateway().await.query(&order, now().plus_seconds(1)).await;
        assert!(is_accepted(&answer.reports), "{kind:?}: {answer:?}");
    }
}

pub(super) async fn law_3_an_open_order_has_no_end(subject: Subject) {
    let mut random = Random::new(38);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let gateway = subject.gateway().await;
        let sent = gateway.submit(&order, now()).await;
        let asked = gateway.query(&order, now().plus_seconds(1)).await;
        // Its network knows it by now, and may say so in other words.
        let sent_again = gateway.submit(&order, now().plus_seconds(2)).await;
        for answer in [sent, asked, sent_again] {
            let said = answer.reports.iter().find(|it| is_final(it));
            assert_eq!(said, None, "{kind:?} is open, and the answer is {answer:?}");
        }
    }
}

pub(super) async fn law_3_what_nobody_answered_for_is_found_by_asking(subject: Subject) {
    let mut random = Random::new(33);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let before = subject.rig.taken_on().await;
        subject.given_up(&order, before + 1).await;
        let answer = subject.gateway().await.query(&order, now().plus_seconds(30)).await;
        assert!(is_accepted(&answer.reports), "{kind:?}: {answer:?}");

        for conduct in [Conduct::HangsUpAfterwards, Conduct::Garbles] {
            let order = subject.order(kind, &mut random).await;
            subject.rig.conduct(conduct).await;
            subject.gateway().await.submit(&order, now()).await;
            subject.rig.conduct(Conduct::Works).await;
            let answer = subject.gateway().await.query(&order, now().plus_seconds(5)).await;
            assert!(is_accepted(&answer.reports), "{kind:?} after {conduct:?}: {answer:?}");
        }
    }
}

pub(super) async fn law_3_an_open_order_is_asked_about_again(subject: Subject) {
    let mut random = Random::new(37);
    for kind in subject.kinds() {
        let order = subject.order(kind, &mut random).await;
        let gateway = subject.gateway().await;
        let sent = gateway.submit(&order, now()).await;
        let later = now().plus_seconds(60);
        let found = gateway.query(&order, later).await;
        for (answer, at) in [(sent, now()), (found, later)] {
            // Its network may call back. But callbacks get lost.
            let again = answer.ask_again_at.is_some_and(|again| again > at);
            assert!(again, "{kind:?} is open, and nobody asks again: {answer:?}");
        }
    }
}

pub(super) async fn law_3_asking_moves_nothing(subject: Subject) {
    let mut random = Random::new(34);
    for kind in subject.kinds() {
        let (sent, unsent) =
            (subject.order(kind, &mut random).await, subject.order(kind, &mut random).await);
        subject.taken_on(&sent).await;
        let before = (subject.rig.taken_on().await, subject.rig.collected().await);
        for order in [&sent, &unsent] {
            subject.gateway().await.query(order, now().plus_seconds(1)).await;
        }
        let after = (subject.rig.taken_on().await, subject.rig.collected().await);
        assert_eq!(after, before, "{kind:?}");
    }
}

pub(super) async fn law_3_the_end_is_told(subject: Subject) {
    let mut random = Random::new(35);
    for kind in subject.kinds() {
        for end in [End::Paid, End::Failed] {
            let order = subject.order(kind, &mut random).await;
            subject.taken_on(&order).await;
            subject.rig.end(end).await;
            let answer = subject.gateway().await.query(&order, now().plus_seconds(60)).await;
            let said: Vec<&Report> = answer.reports.iter().filter(|it| is_final(it)).collect();
            match (end, said.as_slice()) {
                (End::Paid, [Report::Paid]) | (End::Failed, [Report::Failed(_)]) => {}
                _ => panic!("{kind:?} ended {end:?}, and the answer is {answer:?}"),
            }
        }
    }
}

pub(super) async fn law_3_no_answer_is_no_end(subject: Subject) {
    let mut random = Random::new(36);
    for kind in subject.kinds() {
        let (sent, unsent) =
            (subject.order(kind, &mut random).await, subject.order(kind, &mut random).await);
        subject.taken_on(&sent).await;
        for conduct in Conduct::SILENT.iter().chain([&Conduct::Down]) {
            subject.rig.conduct(*conduct).await;
            for order in [&sent, &unsent] {
                let answer = subject.gateway().await.query(order, now().plus_seconds(5)).await;
                let said = answer.reports.iter().find(|it| is_final(it));
                assert_eq!(said, None, "{kind:?}, of a network that did not answer ({conduct:?})");
            }
            subject.rig.conduct(Conduct::Works).await;
        }
    }
}
