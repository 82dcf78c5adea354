//! 3. Insert once.

use cauri::{ApiKey, Key, Record, RecordKind, Refusal};
use futures_util::future::join_all;

use crate::{
    fixtures::{self, Random},
    subject::{Subject, insert, update},
};

fn with_hash_of(key: &ApiKey, random: &mut Random) -> ApiKey {
    let scope = random.scope();
    ApiKey { hash: key.hash, ..fixtures::api_key(random, scope) }
}

pub(super) async fn law_3_a_record_of_any_kind_is_inserted_once(subject: Subject) {
    let mut random = Random::new(31);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let record = fixtures::record(&mut random, *kind, scope);
        subject.insert(record.clone(), None).await;
        // The same again, and another of the same key.
        for again in [record.clone(), fixtures::revised(&mut random, &record)] {
            let refusal = subject.refuse(insert(again, None)).await;
            assert_eq!(refusal, Refusal::Exists(record.key()));
        }
        let found = subject.read(&record.key()).await;
        assert_eq!((&found.value, found.version), (&record, record.first_version()));
    }
}

pub(super) async fn law_3_a_key_is_taken_once_within_a_batch(subject: Subject) {
    let mut random = Random::new(32);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let first = fixtures::record(&mut random, *kind, scope);
        let second = fixtures::revised(&mut random, &first);
        let batch = vec![insert(first.clone(), None), insert(second, None)];
        let verdicts = subject.commit(batch).await;
        assert_eq!(verdicts, [Ok(()), Err(Refusal::Exists(first.key()))]);
        assert_eq!(subject.read(&first.key()).await.value, first);
    }
}

pub(super) async fn law_3_a_key_is_taken_once_within_a_changeset(subject: Subject) {
    let mut random = Random::new(33);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let record = fixtures::record(&mut random, *kind, scope);
        let mut twice = insert(record.clone(), None);
        twice.insert(record.clone(), None);
        assert_eq!(subject.refuse(twice).await, Refusal::Exists(record.key()));
        assert_eq!(subject.find(&record.key()).await, None);
    }
}

pub(super) async fn law_3_an_alternate_key_is_unique_over_all_accounts(subject: Subject) {
    let mut random = Random::new(34);
    let scope = random.scope();
    let key = fixtures::api_key(&mut random, scope);
    let other = with_hash_of(&key, &mut random);
    subject.insert(key.clone(), None).await;
    let refusal = subject.refuse(insert(other.clone(), None)).await;
    assert_eq!(refusal, Refusal::Exists(Key::ApiKeyHash(key.hash)));
    assert_eq!(subject.find(&Key::ApiKey(other.scope, other.id)).await, None);
    assert_eq!(subject.read(&Key::ApiKeyHash(key.hash)).await.value, Record::from(key));
}

pub(super) async fn law_3_an_alternate_key_is_taken_once_within_a_batch(subject: Subject) {
    let mut random = Random::new(35);
    let scope = random.scope();
    let key = fixtures::api_key(&mut random, scope);
    let other = with_hash_of(&key, &mut random);
    let batch = vec![insert(key.clone(), None), insert(other.clone(), None)];
    let taken = Refusal::Exists(Key::ApiKeyHash(key.hash));
    assert_eq!(subject.commit(batch).await, [Ok(()), Err(taken)]);

    let key = fixtures::api_key(&mut random, scope);
    let mut both = insert(key.clone(), None);
    both.insert(ApiKey { id: other.id, hash: key.hash, ..other }, None);
    assert_eq!(subject.refuse(both).await, Refusal::Exists(Key::ApiKeyHash(key.hash)));
    assert_eq!(subject.find(&Key::ApiKeyHash(key.hash)).await, None);
}

pub(super) async fn law_3_an_alternate_key_finds_its_record(subject: Subject) {
    let mut random = Random::new(36);
    let scope = random.scope();
    let key = Record::from(fixtures::api_key(&mut random, scope));
    let alternate = key.alternate_key().expect("an API key has a hash");
    assert_eq!(subject.find(&alternate).await, None);
    subject.insert(key.clone(), None).await;
    subject.accept(update(fixtures::revised(&mut random, &key), 1)).await;
    let found = subject.get(&[alternate, key.key()]).await;
    assert_eq!(found.first(), found.last());
    assert_eq!(found.first().and_then(Option::as_ref).map(|it| it.version), Some(2));
}

pub(super) async fn law_3_a_refused_insert_takes_no_key(subject: Subject) {
    let mut random = Random::new(37);
    let scope = random.scope();
    let taken = fixtures::api_key(&mut random, scope);
    let fresh = fixtures::api_key(&mut random, scope);
    subject.insert(taken.clone(), None).await;
    let mut refused = insert(fresh.clone(), None);
    refused.insert(taken, None);
    let verdicts = subject.commit(vec![refused.clone(), insert(fresh.clone(), None)]).await;
    assert!(matches!(verdicts.as_slice(), [Err(Refusal::Exists(_)), Ok(())]));
    let other = fixtures::api_key(&mut random, scope);
    let mut refused = insert(other.clone(), None);
    refused.insert(fresh, None);
    subject.refuse(refused).await;
    subject.insert(with_hash_of(&other, &mut random), None).await;
}

pub(super) async fn law_3_of_concurrent_inserts_one_is_accepted(subject: Subject) {
    let mut random = Random::new(38);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let first = fixtures::record(&mut random, *kind, scope);
        let rivals = (0..8).map(|_| fixtures::revised(&mut random, &first)).collect::<Vec<_>>();
        let tasks = rivals.iter().cloned().map(|rival| {
            let store = subject.store.clone();
            tokio::spawn(async move { store.commit(vec![insert(rival, None)]).await })
        });
        let mut accepted = Vec::new();
        for (rival, verdicts) in rivals.iter().zip(join_all(tasks).await) {
            match verdicts.expect("a task ends").expect("the store answers").as_slice() {
                [Ok(())] => accepted.push(rival),
                verdicts => assert_eq!(verdicts, [Err(Refusal::Exists(first.key()))]),
            }
        }
        assert_eq!(accepted, [&subject.read(&first.key()).await.value]);
    }
}
