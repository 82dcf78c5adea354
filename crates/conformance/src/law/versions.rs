//! 4. Optimistic.

use cauri::{ClaimKind, IdempotencyRecord, Key, Record, RecordKind, Refusal, Timestamp, Versioned};
use futures_util::future::join_all;

use crate::{
    fixtures::{self, Fill, Random},
    subject::{Subject, at, claim, forget, insert, nth, update, update_due},
};

fn payment(random: &mut Random) -> Record {
    let scope = random.scope();
    fixtures::record(random, RecordKind::Payment, scope)
}

pub(super) async fn law_4_versions_count_from_one(subject: Subject) {
    let mut random = Random::new(41);
    let payment = payment(&mut random);
    let key = payment.key();
    subject.insert(payment.clone(), Some(at(0))).await;
    assert_eq!(subject.read(&key).await.version, 1);
    for version in 1..5 {
        subject.accept(update_due(payment.clone(), version, Some(at(0)))).await;
        assert_eq!(subject.read(&key).await.version, version + 1);
    }
    subject.claim(&claim(ClaimKind::Payments, at(0), 1)).await;
    assert_eq!(subject.read(&key).await.version, 6);
    subject.accept(update(payment, 6)).await;
    assert_eq!(subject.read(&key).await.version, 7);
}

pub(super) async fn law_4_an_update_at_another_version_is_refused(subject: Subject) {
    let mut random = Random::new(42);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let record = fixtures::record(&mut random, *kind, scope);
        subject.insert(record.clone(), None).await;
        subject.accept(update(record.clone(), 1)).await;
        let before = subject.read(&record.key()).await;
        for version in [0, 1, 3, i64::MAX.unsigned_abs(), u64::MAX] {
            let revised = fixtures::revised(&mut random, &record);
            let refusal = subject.refuse(update(revised, version)).await;
            assert_eq!(refusal, Refusal::Stale(record.key()), "at {version}");
        }
        assert_eq!(subject.read(&record.key()).await, before);
    }
}

pub(super) async fn law_4_an_update_of_nothing_is_refused(subject: Subject) {
    let mut random = Random::new(43);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let record = fixtures::record(&mut random, *kind, scope);
        for version in [0, 1] {
            let refusal = subject.refuse(update(record.clone(), version)).await;
            assert_eq!(refusal, Refusal::Stale(record.key()));
        }
        assert_eq!(subject.find(&record.key()).await, None);
    }
}

pub(super) async fn law_4_updates_of_a_batch_build_on_one_another(subject: Subject) {
    let mut random = Random::new(44);
    let payment = payment(&mut random);
    let third = fixtures::revised(&mut random, &payment);
    let batch = vec![
        insert(payment.clone(), Some(at(1))),
        update_due(fixtures::revised(&mut random, &payment), 1, Some(at(2))),
        update_due(third.clone(), 2, Some(at(3))),
    ];
    subject.accept_all(batch).await;
    let expected = Versioned { value: third.clone(), version: 3, due_at: Some(at(3)) };
    assert_eq!(subject.read(&payment.key()).await, expected);

    let fifth = fixtures::revised(&mut random, &payment);
    let batch = vec![update(third, 3), update(payment.clone(), 3), update(fifth.clone(), 4)];
    let verdicts = subject.commit(batch).await;
    assert_eq!(verdicts, [Ok(()), Err(Refusal::Stale(payment.key())), Ok(())]);
    let expected = Versioned { value: fifth, version: 5, due_at: None };
    assert_eq!(subject.read(&payment.key()).await, expected);
}

pub(super) async fn law_4_updates_of_a_changeset_build_on_one_another(subject: Subject) {
    let mut random = Random::new(45);
    let payment = payment(&mut random);
    let last = fixtures::revised(&mut random, &payment);
    let mut changes = insert(payment.clone(), None);
    changes.update(payment.clone(), 1, Some(at(1)));
    changes.update(last.clone(), 2, Some(at(2)));
    subject.accept(changes).await;
    let expected = Versioned { value: last.clone(), version: 3, due_at: Some(at(2)) };
    assert_eq!(subject.read(&payment.key()).await, expected);

    let mut twice = update(last.clone(), 3);
    twice.update(last, 3, None);
    assert_eq!(subject.refuse(twice).await, Refusal::Stale(payment.key()));
    assert_eq!(subject.read(&payment.key()).await, expected);
}

pub(super) async fn law_4_of_two_updates_at_one_version_the_second_is_refused(subject: Subject) {
    let mut random = Random::new(46);
    let payment = payment(&mut random);
    subject.insert(payment.clone(), None).await;
    let first = fixtures::revised(&mut random, &payment);
    let second = fixtures::revised(&mut random, &payment);
    let verdicts = subject.commit(vec![update(first.clone(), 1), update(second, 1)]).await;
    assert_eq!(verdicts, [Ok(()), Err(Refusal::Stale(payment.key()))]);
    assert_eq!(subject.read(&payment.key()).await.value, first);
}

pub(super) async fn law_4_of_concurrent_updates_at_one_version_one_is_accepted(subject: Subject) {
    let mut random = Random::new(47);
    let payment = payment(&mut random);
    subject.insert(payment.clone(), None).await;
    for version in 1..=10 {
        let tasks = (0..8).map(|_| {
            let (store, rival) = (subject.store.clone(), fixtures::revised(&mut random, &payment));
            tokio::spawn(async move {
                (rival.clone(), store.commit(vec![update(rival, version)]).await)
            })
        });
        let mut accepted = Vec::new();
        for ended in join_all(tasks).await {
            let (rival, verdicts) = ended.expect("a task ends");
            match verdicts.expect("the store answers").as_slice() {
                [Ok(())] => accepted.push(rival),
                verdicts => assert_eq!(verdicts, [Err(Refusal::Stale(payment.key()))]),
            }
        }
        let found = subject.read(&payment.key()).await;
        assert_eq!((accepted, found.version), (vec![found.value], version + 1));
    }
}

pub(super) async fn law_4_a_removal_at_another_version_is_refused(subject: Subject) {
    let mut random = Random::new(48);
    let scope = random.scope();
    let answer = fixtures::idempotency(&mut random, scope);
    let key = Key::Idempotency(scope, answer.key.clone());
    assert_eq!(subject.refuse(forget(&answer, 1)).await, Refusal::Stale(key.clone()));
    subject.insert(answer.clone(), None).await;
    subject.accept(update(answer.clone(), 1)).await;
    for version in [0, 1, 3, u64::MAX] {
        let refusal = subject.refuse(forget(&answer, version)).await;
        assert_eq!(refusal, Refusal::Stale(key.clone()));
    }
    assert_eq!(subject.read(&key).await.version, nth(&answer.into(), 2));
}

/// Whoever has read what was forgotten since does not replace, or forget, what came after it.
pub(super) async fn law_4_no_version_of_a_key_is_met_twice(subject: Subject) {
    let mut random = Random::new(418);
    let scope = random.scope();
    let created_at = Timestamp::from_millis(1_700_000_000_000);
    let old = IdempotencyRecord { created_at, ..fixtures::idempotency(&mut random, scope) };
    subject.insert(old.clone(), None).await;
    subject.accept(forget(&old, 1)).await;
    let created_at = created_at.plus_seconds(86_400);
    let new = IdempotencyRecord { created_at, key: old.key.clone(), ..old.clone() };
    subject.insert(new.clone(), None).await;
    let key = Record::from(new.clone()).key();
    for stale in [update(old.clone(), 1), forget(&old, 1)] {
        assert_eq!(subject.refuse(stale).await, Refusal::Stale(key.clone()));
    }
    let version = 1_700_086_400_000;
    let expected = Versioned { value: new.clone().into(), version, due_at: None };
    assert_eq!(subject.read(&key).await, expected);
    // One that is used anew when its time is over is one on, whenever it says that it was made.
    let created_at = created_at.plus_seconds(90_000);
    let next = IdempotencyRecord { created_at, ..new };
    let mut changes = cauri::Changeset::new();
    changes.update(next.clone(), version, None);
    subject.accept(changes).await;
    let expected = Versioned { value: next.into(), version: version + 1, due_at: None };
    assert_eq!(subject.read(&key).await, expected);
}

pub(super) async fn law_4_what_was_removed_is_gone_and_its_key_free(subject: Subject) {
    let mut random = Random::new(49);
    let scope = random.scope();
    let answer = fixtures::idempotency(&mut random, scope);
    let key = Key::Idempotency(scope, answer.key.clone());
    subject.insert(answer.clone(), Some(at(0))).await;
    subject.accept(update(answer.clone(), 1)).await;
    subject.accept(forget(&answer, 2)).await;
    assert_eq!(subject.find(&key).await, None);
    assert_eq!(subject.refuse(forget(&answer, 2)).await, Refusal::Stale(key.clone()));
    assert_eq!(subject.refuse(update(answer.clone(), 2)).await, Refusal::Stale(key.clone()));
    let other = fixtures::revised(&mut random, &answer.clone().into());
    subject.insert(other.clone(), None).await;
    let expected = Versioned { version: nth(&other, 1), value: other, due_at: None };
    assert_eq!(subject.read(&key).await, expected);
}

pub(super) async fn law_4_a_key_is_born_again_within_a_changeset(subject: Subject) {
    let mut random = Random::new(410);
    let scope = random.scope();
    let answer = fixtures::idempotency(&mut random, scope);
    let other = fixtures::revised(&mut random, &answer.clone().into());
    subject.insert(answer.clone(), None).await;
    subject.accept(update(answer.clone(), 1)).await;
    let mut changes = forget(&answer, 2);
    changes.insert(other.clone(), Some(at(1)));
    subject.accept(changes).await;
    let expected = Versioned { version: nth(&other, 1), value: other, due_at: Some(at(1)) };
    assert_eq!(subject.read(&expected.value.key()).await, expected);

    // Born and gone within one leaves nothing; so does gone, born and gone.
    let brief = fixtures::idempotency(&mut random, scope);
    let first = |it: &IdempotencyRecord| {
        let version = nth(&it.clone().into(), 1);
        Versioned { value: it.clone(), version, due_at: None }
    };
    let mut changes = insert(brief.clone(), None);
    changes.forget(&first(&brief));
    let mut again = forget(&answer, 1);
    again.insert(answer.clone(), None);
    again.forget(&first(&answer));
    subject.accept_all(vec![changes, again]).await;
    let keys = [Record::from(brief).key(), Record::from(answer).key()];
    assert_eq!(subject.get(&keys).await, [None, None]);
}

pub(super) async fn law_4_a_key_is_born_again_within_a_batch(subject: Subject) {
    let mut random = Random::new(411);
    let scope = random.scope();
    let answer = fixtures::idempotency(&mut random, scope);
    let other = fixtures::revised(&mut random, &answer.clone().into());
    let last = fixtures::revised(&mut random, &other);
    subject.insert(answer.clone(), None).await;
    let verdicts = subject
        .commit(vec![
            update(answer.clone(), 1),
            forget(&answer, 1),
            forget(&answer, 2),
            update(answer.clone(), 2),
            insert(other.clone(), None),
            insert(other.clone(), None),
            update_due(last.clone(), 1, Some(at(7))),
        ])
        .await;
    let accepted: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
    assert_eq!(accepted, [true, false, true, false, true, false, true]);
    let expected = Versioned { version: nth(&last, 2), value: last, due_at: Some(at(7)) };
    assert_eq!(subject.read(&other.key()).await, expected);
}

pub(super) async fn law_4_an_update_replaces_everything(subject: Subject) {
    let mut random = Random::new(412);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let mut bare = Random::new(413).filling(Fill::Nothing);
        let mut full = Random::new(414).filling(Fill::Every);
        let record = fixtures::record(&mut random, *kind, scope);
        subject.insert(record.clone(), None).await;
        // From bare to full and back, so that nothing is kept that went, or lost that came.
        let mut version = 1;
        for _ in 0..3 {
            for random in [&mut bare, &mut full, &mut random] {
                let revised = fixtures::revised(random, &record);
                subject.accept(update(revised.clone(), version)).await;
                version += 1;
                let version = nth(&revised, version);
                let expected = Versioned { value: revised, version, due_at: None };
                assert_eq!(subject.read(&record.key()).await, expected);
            }
        }
    }
}
