//! The consequence: an accepted changeset is refused when it is sent again.

use cauri::{Changeset, RecordKind, Refusal, Write};

use crate::{
    fixtures::{self, History, Random},
    observe,
    subject::{Subject, forget, insert, update},
};

/// May it be told from its repeat? One that only moves money, or only lets a key be born again,
/// may not; no use case commits one.
fn is_told(changes: &Changeset) -> bool {
    changes.writes().iter().any(|write| match write {
        Write::Insert { record, .. } => record.kind() != RecordKind::Idempotency,
        Write::Update { .. } => true,
        Write::Remove { .. } => false,
    })
}

pub(super) async fn consequence_an_accepted_changeset_is_refused_when_sent_again(subject: Subject) {
    let mut random = Random::new(1201);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let record = fixtures::record(&mut random, *kind, scope);
        let inserted = insert(record.clone(), None);
        subject.accept(inserted.clone()).await;
        assert_eq!(subject.refuse(inserted).await, Refusal::Exists(record.key()));
        let updated = update(fixtures::revised(&mut random, &record), 1);
        subject.accept(updated.clone()).await;
        assert_eq!(subject.refuse(updated).await, Refusal::Stale(record.key()));
    }
    let answer = fixtures::idempotency(&mut random, scope);
    subject.insert(answer.clone(), None).await;
    let forget = forget(&answer, 1);
    subject.accept(forget.clone()).await;
    assert!(matches!(subject.refuse(forget).await, Refusal::Stale(_)));
}

pub(super) async fn consequence_a_changeset_twice_in_a_batch_is_accepted_once(subject: Subject) {
    let mut random = Random::new(1202);
    let scope = random.scope();
    for kind in RecordKind::ALL {
        let record = fixtures::record(&mut random, *kind, scope);
        let mut changes = insert(record.clone(), None);
        let money = (scope, "XOF".parse().expect("a currency"));
        let accounts = (cauri::LedgerAccountKind::Clearing, cauri::LedgerAccountKind::Fees);
        changes.post(Some(fixtures::move_money(&mut random, money, accounts, 5)));
        let verdicts = subject.commit(vec![changes.clone(), changes]).await;
        assert_eq!(verdicts, [Ok(()), Err(Refusal::Exists(record.key()))]);
    }
    let entries = subject.ledger(scope).await;
    assert_eq!(entries.len(), RecordKind::ALL.len() * 2);
}

pub(super) async fn consequence_a_history_sent_again_changes_nothing(subject: Subject) {
    let mut history = History::new(1203);
    let mut accepted = Vec::new();
    for _ in 0..60 {
        let batch = history.batch();
        let verdicts = subject.commit(batch.clone()).await;
        history.learn(&batch, &verdicts);
        let done = batch.into_iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_ok());
        accepted.extend(done.map(|(changes, _)| changes).filter(is_told));
    }
    assert!(accepted.len() > 50, "a history of some length");
    let keys = history.keys();
    let mut before = Vec::new();
    for scope in history.scopes() {
        before.push(subject.sight(*scope, &keys).await);
    }
    for batch in accepted.chunks(7) {
        let verdicts = subject.commit(batch.to_vec()).await;
        for (changes, verdict) in batch.iter().zip(verdicts) {
            assert!(verdict.is_err(), "accepted again: {changes:?}");
        }
    }
    for (scope, before) in history.scopes().iter().zip(before) {
        assert_eq!(subject.sight(*scope, &keys).await, before);
    }
    assert_eq!(observe::get(&*subject.store, &[]).await, []);
}
