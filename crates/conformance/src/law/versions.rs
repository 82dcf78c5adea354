//! 4. Optimistic.

use cauri::{ClaimKind, IdempotencyRecord, Key, Record, RecordKind, Refusal, Versioned};
use futures_util::future::join_all;

use crate::{
    fixtures::{self, Fill, Random},
    subject::{Subject, at, claim, insert, update, update_due},
};

fn payment(random: &mut Random) -> Record {
    let scope = random.scope();
    fixtures::record(random, RecordKind::Payment, scope)
}

fn forget(record: &IdempotencyRecord, version: u64) -> cauri::Changeset {
    let mut changes = cauri::Changeset::new();
    changes.forget(&Versioned { value: record.clone(), version, due_at: None });
    changes
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
    assert_eq!(subject.read(&key).await.version, 2);
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
    let expected = Versioned { value: other, version: 1, due_at: None };
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
    let expected = Versioned { value: other, version: 1, due_at: Some(at(1)) };
    assert_eq!(subject.read(&expected.value.key()).await, expected);

    // Born and gone within one leaves nothing; so does gone, born and gone.
    let brief = fixtures::idempotency(&mut random, scope);
    let mut changes = insert(brief.clone(), None);
    changes.forget(&Versioned { value: brief.clone(), version: 1, due_at: None });
    let mut again = forget(&answer, 1);
    again.insert(answer.clone(), None);
    again.forget(&Versioned { value: answer.clone(), version: 1, due_at: None });
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
    let expected = Versioned { value: last, version: 2, due_at: Some(at(7)) };
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
                let expected = Versioned { value: revised, version, due_at: None };
                assert_eq!(subject.read(&record.key()).await, expected);
            }
        }
    }
}
