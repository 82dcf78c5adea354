//! 8. Nothing of one scope is read in another.

use std::sync::Arc;

use cauri::{
    ApiKey, Balance, Changeset, ClaimKind, Environment, KeyHash, LedgerAccountKind, List, Query,
    Record, RecordKind, Scope,
};

use crate::{
    fixtures::{self, Random, move_money},
    subject::{Subject, at, claim, insert, nth, update},
};

/// The same id elsewhere, and nothing else in common.
fn twin(random: &mut Random, record: &Record, scope: Scope) -> Record {
    let mut twin = fixtures::revised(random, record);
    match &mut twin {
        Record::Account(_) | Record::Setting(_) => {}
        Record::ApiKey(it) => {
            let hash = KeyHash::from_bytes(random.bytes());
            *Arc::make_mut(it) = ApiKey { scope, hash, ..(**it).clone() };
        }
        Record::Customer(it) => Arc::make_mut(it).scope = scope,
        Record::PaymentLink(it) => Arc::make_mut(it).scope = scope,
        Record::Payment(it) => Arc::make_mut(it).scope = scope,
        Record::Payout(it) => Arc::make_mut(it).scope = scope,
        Record::Refund(it) => Arc::make_mut(it).scope = scope,
        Record::TimelineEntry(it) => Arc::make_mut(it).scope = scope,
        Record::WebhookEndpoint(it) => Arc::make_mut(it).scope = scope,
        Record::Subscriptions(it) => Arc::make_mut(it).scope = scope,
        Record::Event(it) => Arc::make_mut(it).scope = scope,
        Record::Delivery(it) => Arc::make_mut(it).scope = scope,
        Record::Idempotency(it) => Arc::make_mut(it).scope = scope,
    }
    twin
}

fn scopes(random: &mut Random) -> [Scope; 4] {
    let accounts = [random.id(), random.id()];
    let [here, there] = accounts.map(|account| {
        [Environment::Sandbox, Environment::Live].map(|environment| Scope { account, environment })
    });
    [here[0], here[1], there[0], there[1]]
}

pub(super) async fn law_8_the_same_ids_in_two_scopes_are_two_records(subject: Subject) {
    let mut random = Random::new(87);
    let scopes = scopes(&mut random);
    for kind in RecordKind::ALL {
        if matches!(kind, RecordKind::Account | RecordKind::Setting) {
            continue;
        }
        let first = fixtures::record(&mut random, *kind, scopes[0]);
        let twins = scopes.map(|scope| twin(&mut random, &first, scope));
        let due_at = (*kind == RecordKind::Payment).then(|| at(0));
        subject.accept_all(twins.iter().map(|it| insert(it.clone(), due_at)).collect()).await;
        let changed = fixtures::revised(&mut random, &twins[1]);
        subject.accept(update(changed.clone(), 1)).await;
        for (place, twin) in twins.iter().enumerate() {
            let found = subject.read(&twin.key()).await;
            let (record, version) = if place == 1 { (&changed, 2) } else { (twin, 1) };
            assert_eq!((&found.value, found.version), (record, nth(record, version)));
            if let Some(list) = twin.list() {
                let listed = subject.list(&Query::all(list)).await;
                assert_eq!((listed.items, listed.total), (vec![found], 1));
            }
            if let Record::TimelineEntry(line) = &twin {
                let list = List::Timeline(line.scope, line.payment);
                assert_eq!(subject.list(&Query::all(list)).await.total, 1);
            }
        }
    }
    // What is due in all of them is handed out for each, but the one that was changed.
    let claimed = subject.claim(&claim(ClaimKind::Payments, at(0), 100)).await;
    assert_eq!(claimed.len(), 3);
}

pub(super) async fn law_8_ledgers_of_two_scopes_are_two_ledgers(subject: Subject) {
    let mut random = Random::new(88);
    let scopes = scopes(&mut random);
    let currency = "XOF".parse().expect("a currency");
    let accounts = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantPending);
    for (units, scope) in (1..).zip(scopes) {
        for _ in 0..units {
            let mut changes = Changeset::new();
            let posting = move_money(&mut random, (scope, currency), accounts, units);
            changes.post(Some(posting));
            subject.accept(changes).await;
        }
    }
    for (units, scope) in (1..).zip(scopes) {
        let entries = subject.entries(&Query::all(List::Entries(scope))).await;
        assert_eq!(entries.total, units * 2);
        assert!(entries.items.iter().all(|it| it.scope == scope && it.amount.units() == units));
        let sum = |it: &Balance| (it.account.scope, it.account.kind, it.amount.units());
        let balances: Vec<_> = subject.balances(scope).await.iter().map(sum).collect();
        assert_eq!(
            balances,
            [(scope, accounts.0, units * units), (scope, accounts.1, units * units)]
        );
    }
}
