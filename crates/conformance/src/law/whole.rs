//! 1. Whole or nothing.

use cauri::{Changeset, Key, LedgerAccount, LedgerAccountKind, Record, RecordKind, Refusal, Scope};

use crate::{
    fixtures::{self, Random, move_money},
    subject::{Subject, at, nth},
};

/// What one scope holds before the changeset in question.
struct Ground {
    scope: Scope,
    link: Record,
    key: Record,
    answer: cauri::IdempotencyRecord,
}

#[derive(Debug, Clone, Copy)]
enum Poison {
    TakenKey,
    TakenAlternateKey,
    StaleUpdate,
    UpdateOfNothing,
    StaleRemoval,
    BelowTheFloor,
    BeyondTheSum,
}

const POISONS: [Poison; 7] = [
    Poison::TakenKey,
    Poison::TakenAlternateKey,
    Poison::StaleUpdate,
    Poison::UpdateOfNothing,
    Poison::StaleRemoval,
    Poison::BelowTheFloor,
    Poison::BeyondTheSum,
];

impl Ground {
    async fn lay(subject: &Subject, random: &mut Random) -> Self {
        let scope = random.scope();
        let mut changes = Changeset::new();
        let link = fixtures::record(random, RecordKind::PaymentLink, scope);
        let key = fixtures::record(random, RecordKind::ApiKey, scope);
        let answer = fixtures::idempotency(random, scope);
        changes.insert(link.clone(), None);
        changes.insert(key.clone(), None);
        changes.insert(answer.clone(), Some(at(5)));
        changes.post(Some(collect(random, scope, 100)));
        subject.accept(changes).await;
        Self { scope, link, key, answer }
    }

    /// Every verb, and money twice.
    fn good(&self, random: &mut Random, changes: &mut Changeset) {
        // No commit touches what belongs to another account, or to none.
        let elsewhere = [RecordKind::Account, RecordKind::Setting];
        for kind in RecordKind::ALL.iter().filter(|kind| !elsewhere.contains(kind)) {
            changes.insert(fixtures::record(random, *kind, self.scope), None);
        }
        changes.update(fixtures::revised(random, &self.link), 1, None);
        changes.forget(&self.answer());
        changes.post(Some(collect(random, self.scope, 1)));
        changes.post(Some(collect(random, self.scope, 2)));
    }

    fn answer(&self) -> cauri::Versioned<cauri::IdempotencyRecord> {
        let version = nth(&self.answer.clone().into(), 1);
        cauri::Versioned { value: self.answer.clone(), version, due_at: None }
    }

    fn account(&self, kind: LedgerAccountKind) -> LedgerAccount {
        LedgerAccount { scope: self.scope, currency: currency(), kind }
    }

    /// Adds what is refused; answers how.
    fn poison(&self, poison: Poison, random: &mut Random, changes: &mut Changeset) -> Refusal {
        use LedgerAccountKind::{Clearing, Fees, MerchantPending};
        let money = (self.scope, currency());
        match poison {
            Poison::TakenKey => {
                changes.insert(fixtures::revised(random, &self.link), None);
                Refusal::Exists(self.link.key())
            }
            Poison::TakenAlternateKey => {
                let taken = self.key.alternate_key().expect("an API key has a hash");
                let mut key = fixtures::api_key(random, self.scope);
                if let Key::ApiKeyHash(hash) = taken {
                    key.hash = hash;
                }
                changes.insert(key, None);
                Refusal::Exists(taken)
            }
            Poison::StaleUpdate => {
                changes.update(self.key.clone(), 2, None);
                Refusal::Stale(self.key.key())
            }
            Poison::UpdateOfNothing => {
                let nothing = fixtures::record(random, RecordKind::Refund, self.scope);
                changes.update(nothing.clone(), 1, None);
                Refusal::Stale(nothing.key())
            }
            Poison::StaleRemoval => {
                // Of a version that it will never have: a good changeset removes the first.
                changes.forget(&cauri::Versioned { version: 7, ..self.answer() });
                Refusal::Stale(Record::from(self.answer.clone()).key())
            }
            Poison::BelowTheFloor => {
                changes.post(Some(move_money(random, money, (MerchantPending, Fees), 104)));
                Refusal::Floor(self.account(MerchantPending))
            }
            Poison::BeyondTheSum => {
                changes.post(Some(move_money(random, money, (Clearing, Fees), i64::MAX - 50)));
                Refusal::Overflow(self.account(Clearing))
            }
        }
    }
}

fn currency() -> cauri::Currency {
    "XOF".parse().expect("a currency")
}

fn collect(random: &mut Random, scope: Scope, units: i64) -> cauri::Posting {
    let accounts = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantPending);
    move_money(random, (scope, currency()), accounts, units)
}

pub(super) async fn law_1_a_refused_changeset_leaves_no_trace(subject: Subject) {
    let mut random = Random::new(11);
    let ground = Ground::lay(&subject, &mut random).await;
    for poison in POISONS {
        for poison_first in [true, false] {
            let mut changes = Changeset::new();
            let refusal = if poison_first {
                let refusal = ground.poison(poison, &mut random, &mut changes);
                ground.good(&mut random, &mut changes);
                refusal
            } else {
                ground.good(&mut random, &mut changes);
                ground.poison(poison, &mut random, &mut changes)
            };
            let keys: Vec<Key> = changes.keys().collect();
            let before = subject.sight(ground.scope, &keys).await;
            assert_eq!(subject.refuse(changes).await, refusal, "{poison:?}");
            assert_eq!(subject.sight(ground.scope, &keys).await, before, "{poison:?}");
        }
    }
    // Without poison all of it is fine.
    let mut changes = Changeset::new();
    ground.good(&mut random, &mut changes);
    subject.accept(changes).await;
}

pub(super) async fn law_1_an_accepted_changeset_is_applied_whole(subject: Subject) {
    let mut random = Random::new(12);
    let ground = Ground::lay(&subject, &mut random).await;
    let mut changes = Changeset::new();
    ground.good(&mut random, &mut changes);
    subject.accept(changes.clone()).await;
    for write in changes.writes() {
        match write {
            cauri::Write::Insert { record, .. } => {
                let found = subject.read(&record.key()).await;
                assert_eq!((&found.value, found.version), (record, record.first_version()));
            }
            cauri::Write::Update { record, .. } => {
                let found = subject.read(&record.key()).await;
                assert_eq!((&found.value, found.version), (record, 2));
            }
            cauri::Write::Remove { key, .. } => assert_eq!(subject.find(key).await, None),
        }
    }
    let after: Vec<i64> =
        subject.ledger(ground.scope).await.iter().map(|it| it.balance_after.units()).collect();
    assert_eq!(after, [100, 100, 101, 101, 103, 103]);
}

pub(super) async fn law_1_nothing_may_be_asked_for(subject: Subject) {
    let mut random = Random::new(13);
    let ground = Ground::lay(&subject, &mut random).await;
    let before = subject.sight(ground.scope, &[ground.link.key()]).await;
    subject.accept_all(vec![Changeset::new(), Changeset::new()]).await;
    assert_eq!(subject.sight(ground.scope, &[ground.link.key()]).await, before);
}
