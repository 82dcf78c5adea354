//! 2. In order, one verdict each.

use cauri::{Changeset, Key, List, Record, RecordKind, Refusal, Store};
use cauri_memory::MemoryStore;

use crate::{
    fixtures::{self, History, Random},
    observe::assert_same,
    subject::{Subject, insert, update},
};

fn links(random: &mut Random, count: usize) -> Vec<Record> {
    let scope = random.scope();
    (0..count).map(|_| fixtures::record(random, RecordKind::PaymentLink, scope)).collect()
}

pub(super) async fn law_2_there_is_one_verdict_each_in_order(subject: Subject) {
    let mut random = Random::new(21);
    let links = links(&mut random, 5);
    let [a, b, c, d, e] = links.as_slice() else { unreachable!("there are five") };
    subject.accept_all(vec![insert(a.clone(), None), insert(b.clone(), None)]).await;
    let exists = |record: &Record| Err(Refusal::Exists(record.key()));
    let stale = |record: &Record| Err(Refusal::Stale(record.key()));
    let verdicts = subject
        .commit(vec![
            insert(a.clone(), None),
            insert(c.clone(), None),
            update(b.clone(), 2),
            update(d.clone(), 1),
            Changeset::new(),
            insert(c.clone(), None),
            update(b.clone(), 1),
            insert(e.clone(), None),
        ])
        .await;
    let expected = [exists(a), Ok(()), stale(b), stale(d), Ok(()), exists(c), Ok(()), Ok(())];
    assert_eq!(verdicts, expected);
}

pub(super) async fn law_2_a_refused_changeset_does_not_fail_its_neighbours(subject: Subject) {
    let mut random = Random::new(22);
    let links = links(&mut random, 9);
    let (taken, fresh) = links.split_first().expect("nine links");
    subject.insert(taken.clone(), None).await;
    // Refused ones first, last, and between.
    let mut batch = vec![insert(taken.clone(), None)];
    for record in fresh {
        batch.push(insert(record.clone(), None));
        batch.push(insert(taken.clone(), None));
    }
    for (place, verdict) in subject.commit(batch).await.into_iter().enumerate() {
        assert_eq!(verdict.is_ok(), place % 2 == 1, "at {place}");
    }
    let keys: Vec<Key> = links.iter().map(Record::key).collect();
    assert!(subject.get(&keys).await.iter().all(Option::is_some));
}

pub(super) async fn law_2_each_is_judged_on_top_of_those_accepted_before(subject: Subject) {
    let mut random = Random::new(23);
    let link = links(&mut random, 1).remove(0);
    let revised = fixtures::revised(&mut random, &link);
    let verdicts = subject
        .commit(vec![
            update(link.clone(), 1),
            insert(link.clone(), None),
            update(link.clone(), 1),
            update(revised.clone(), 2),
            insert(link.clone(), None),
        ])
        .await;
    let accepted: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
    assert_eq!(accepted, [false, true, true, true, false]);
    let found = subject.read(&link.key()).await;
    assert_eq!((found.value, found.version), (revised, 3));
}

pub(super) async fn law_2_a_refused_changeset_is_no_ground_for_the_next(subject: Subject) {
    let mut random = Random::new(24);
    let links = links(&mut random, 2);
    let [taken, fresh] = links.as_slice() else { unreachable!("there are two") };
    subject.insert(taken.clone(), None).await;
    let mut refused = insert(fresh.clone(), None);
    refused.insert(taken.clone(), None);
    let mut refused_update = update(taken.clone(), 1);
    refused_update.insert(taken.clone(), None);
    let verdicts = subject
        .commit(vec![
            refused,
            update(fresh.clone(), 1),
            insert(fresh.clone(), None),
            refused_update,
            update(taken.clone(), 2),
            update(taken.clone(), 1),
        ])
        .await;
    let accepted: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
    assert_eq!(accepted, [false, false, true, false, false, true]);
    assert_eq!(subject.read(&fresh.key()).await.version, 1);
    assert_eq!(subject.read(&taken.key()).await.version, 2);
}

pub(super) async fn law_2_an_empty_batch_has_no_verdicts(subject: Subject) {
    assert_eq!(subject.commit(Vec::new()).await, []);
}

pub(super) async fn law_2_a_large_batch_is_accepted(subject: Subject) {
    let mut random = Random::new(25);
    let links = links(&mut random, 1_000);
    subject.accept_all(links.iter().map(|it| insert(it.clone(), None)).collect()).await;
    let scope = links.first().and_then(Record::scope).expect("a scope");
    let listed = subject.whole(List::PaymentLinks(scope)).await;
    assert!(listed.iter().rev().map(|it| &it.value).eq(&links));
}

pub(super) async fn law_2_a_batch_is_as_its_changesets_one_by_one(subject: Subject) {
    let model = MemoryStore::new();
    let mut history = History::new(26);
    for _ in 0..40 {
        let batch: Vec<Changeset> = (0..4).flat_map(|_| history.batch()).collect();
        let verdicts = subject.commit(batch.clone()).await;
        for (changes, verdict) in batch.iter().zip(&verdicts) {
            let alone = model.commit(vec![changes.clone()]).await.expect("the model answers");
            assert_eq!(alone.first(), Some(verdict), "{changes:?}");
        }
        history.learn(&batch, &verdicts);
    }
    assert_same(&*subject.store, &model, &history).await;
}
