//! 9. Durable.

use cauri::{Changeset, LedgerAccountKind, List, Query, RecordKind};
use cauri_memory::MemoryStore;

use crate::{
    differential::play,
    fixtures::{self, History, Random, move_money},
    observe::assert_same,
    subject::{Subject, at, insert, update},
};

pub(super) async fn law_9_everything_is_there_after_reopening(subject: Subject) {
    let mut subject = subject;
    let model = MemoryStore::new();
    let mut history = History::new(91);
    for _ in 0..3 {
        play(&*subject.store, &model, &mut history, 120).await;
        subject = subject.reopened().await;
        assert_same(&*subject.store, &model, &history).await;
    }
}

pub(super) async fn law_9_numbers_and_versions_go_on_after_reopening(subject: Subject) {
    let mut subject = subject;
    let mut random = Random::new(92);
    let scope = random.scope();
    let record = fixtures::record(&mut random, RecordKind::Payment, scope);
    subject.insert(record.clone(), Some(at(0))).await;
    for round in 1..=4_u64 {
        let mut changes = Changeset::new();
        changes.insert(fixtures::customer(&mut random, scope), None);
        let accounts = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantPending);
        let currency = "XOF".parse().expect("a currency");
        changes.post(Some(move_money(&mut random, (scope, currency), accounts, 1)));
        subject.accept(changes).await;
        subject.accept(update(record.clone(), round)).await;
        subject = subject.reopened().await;
        assert_eq!(subject.read(&record.key()).await.version, round + 1);
        let listed = subject.list(&Query::all(List::Customers(scope))).await;
        assert_eq!(u64::try_from(listed.total), Ok(round));
        let last = subject.ledger(scope).await.pop().expect("an entry");
        assert_eq!(u64::try_from(last.balance_after.units()), Ok(round));
        subject.refuse(insert(record.clone(), None)).await;
    }
}
