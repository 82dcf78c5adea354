//! 8. Inert: what is read is what was written.

use cauri::{
    Changeset, EntryKind, Event, LedgerAccountKind, Record, RecordKind, Setting, StoredBody,
    TimelineEntry, Timestamp, Versioned,
};

use crate::{
    fixtures::{self, Fill, Random, move_money},
    subject::{Subject, at, insert, nth, update_due},
};

pub(super) async fn law_8_every_kind_is_read_as_it_was_written(subject: Subject) {
    let fills = [(Fill::Nothing, 2), (Fill::Every, 3), (Fill::Some, 10), (Fill::Extreme, 15)];
    for (seed, (fill, count)) in (8_100..).zip(fills) {
        let mut random = Random::new(seed).filling(fill);
        for kind in RecordKind::ALL {
            let mut records = Vec::new();
            for _ in 0..count {
                let scope = random.scope();
                records.push(fixtures::record(&mut random, *kind, scope));
            }
            // Ids at the ends of their bits come more than once.
            records.sort_by_key(Record::key);
            records.dedup_by_key(|record| record.key());
            subject.accept_all(records.iter().map(|it| insert(it.clone(), None)).collect()).await;
            for record in records {
                let key = record.key();
                let version = record.first_version();
                let expected = Versioned { value: record, version, due_at: None };
                assert_eq!(subject.read(&key).await, expected);
                if let Some(list) = expected.value.list() {
                    assert!(subject.whole(list).await.contains(&expected), "{list:?}");
                }
            }
        }
    }
}

pub(super) async fn law_8_moments_of_what_is_due_are_kept(subject: Subject) {
    let mut random = Random::new(82);
    let scope = random.scope();
    for kind in [
        RecordKind::Payment,
        RecordKind::Payout,
        RecordKind::Refund,
        RecordKind::Delivery,
        RecordKind::Idempotency,
    ] {
        let record = fixtures::record(&mut random, kind, scope);
        subject.insert(record.clone(), Some(at(1))).await;
        assert_eq!(subject.read(&record.key()).await.due_at, Some(at(1)));
        let moments = [Some(Timestamp::MAX), None, Some(Timestamp::MIN), Some(Timestamp::EPOCH)];
        for (version, due_at) in (1..).zip(moments) {
            subject.accept(update_due(record.clone(), version, due_at)).await;
            let version = nth(&record, version + 1);
            let expected = Versioned { value: record.clone(), version, due_at };
            assert_eq!(subject.read(&record.key()).await, expected);
        }
    }
}

pub(super) async fn law_8_long_texts_are_kept(subject: Subject) {
    let mut random = Random::new(83);
    let scope = random.scope();
    let long = random.string(400_000);
    assert!(long.len() > 1 << 19, "some half a MiB");
    let event = Event { payload: long.clone(), ..fixtures::event(&mut random, scope) };
    let line = fixtures::timeline_entry(&mut random, scope);
    let line = TimelineEntry { message: long.clone(), ..line };
    let answer = fixtures::idempotency(&mut random, scope);
    let body = StoredBody::Plain(long);
    let answer = cauri::IdempotencyRecord { body, ..answer };
    let bytes = (0..1 << 20).map(|at: u32| at.to_le_bytes()[1]).collect();
    let setting = Setting { value: bytes, ..fixtures::setting(&mut random) };
    let empty = Setting { value: Vec::new(), name: String::new() };
    let records: [Record; 5] =
        [event.into(), line.into(), answer.into(), setting.into(), empty.into()];
    for record in records {
        subject.insert(record.clone(), None).await;
        assert!(subject.read(&record.key()).await.value == record, "a long {:?}", record.kind());
    }
}

pub(super) async fn law_8_entries_are_read_as_they_were_written(subject: Subject) {
    let mut random = Random::new(84).filling(Fill::Extreme);
    let scope = random.scope();
    let mut changes = Changeset::new();
    let mut expected = Vec::new();
    let mut held = 0;
    while changes.postings().len() < 4 * EntryKind::ALL.len() {
        let money = (scope, "XOF".parse().expect("a currency"));
        let accounts = (LedgerAccountKind::Clearing, LedgerAccountKind::Fees);
        let units = random.within(1..=1 << 50);
        let posting = move_money(&mut random, money, accounts, units);
        held += units;
        let after = cauri::Amount::new(held);
        expected.extend(posting.lines().iter().map(|line| posting.entry(line, after)));
        changes.post(Some(posting));
    }
    subject.accept(changes).await;
    assert_eq!(subject.ledger(scope).await, expected);
}

pub(super) async fn law_8_a_get_answers_in_the_order_of_its_keys(subject: Subject) {
    let mut random = Random::new(85);
    let scope = random.scope();
    let mut keys = Vec::new();
    for kind in RecordKind::ALL {
        let known = fixtures::record(&mut random, *kind, scope);
        subject.insert(known.clone(), None).await;
        keys.push((known.key(), Some(known.clone())));
        keys.extend(known.alternate_key().map(|key| (key, Some(known))));
        let elsewhere = random.scope();
        let unknown = fixtures::record(&mut random, *kind, elsewhere);
        keys.extend(unknown.alternate_key().map(|key| (key, None)));
        keys.push((unknown.key(), None));
    }
    assert_eq!(subject.get(&[]).await, []);
    for _ in 0..20 {
        // Some twice, some not at all.
        let asked: Vec<_> = (0..random.below(40)).map(|_| random.pick(&keys).clone()).collect();
        let (asked, expected): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let found = subject.get(&asked).await;
        let found: Vec<_> = found.into_iter().map(|it| it.map(|it| it.value)).collect();
        assert_eq!(found, expected);
    }
}

pub(super) async fn law_8_reading_changes_nothing(subject: Subject) {
    let mut random = Random::new(86);
    let scope = random.scope();
    let mut keys = Vec::new();
    for kind in RecordKind::ALL {
        let record = fixtures::record(&mut random, *kind, scope);
        keys.push(record.key());
        subject.insert(record, None).await;
    }
    let first = subject.sight(scope, &keys).await;
    for _ in 0..5 {
        assert_eq!(subject.sight(scope, &keys).await, first);
    }
}
