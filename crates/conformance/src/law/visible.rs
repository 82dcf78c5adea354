//! 6. Visible once accepted.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use cauri::{
    Amount, Balance, LedgerAccountKind, List, Page, Payment, Query, Record, Scope, Store,
    is_in_balance,
};
use futures_util::future::join_all;

use crate::{
    fixtures::{self, Random, move_money},
    subject::{Subject, insert},
};

/// How often a writer writes while the readers read.
const ROUNDS: i64 = 60;

/// How many changes the readers must have seen before the writer stops: a reader that only looks
/// between two commits proves nothing.
const MOMENTS: usize = 100;

pub(super) async fn law_6_what_was_accepted_is_seen_by_everybody(subject: Subject) {
    let mut random = Random::new(61);
    let scope = random.scope();
    let (told, mut heard) = tokio::sync::mpsc::channel(1);
    let store = subject.store.clone();
    let writer = tokio::spawn(async move {
        for _ in 0..ROUNDS {
            let customer = Record::from(fixtures::customer(&mut random, scope));
            let key = customer.key();
            store.commit(vec![insert(customer, None)]).await.expect("the store answers");
            told.send(key).await.expect("a listener");
        }
    });
    let mut count = 0;
    while let Some(key) = heard.recv().await {
        count += 1;
        subject.read(&key).await;
        let listed = subject.list(&Query::all(List::Customers(scope))).await;
        assert!(listed.total >= count, "{} of {count}", listed.total);
    }
    writer.await.expect("the writer ends");
    assert_eq!(count, ROUNDS);
}

/// Two payments and the ledger, which every changeset moves together.
struct Together {
    store: Arc<dyn Store>,
    scope: Scope,
    payments: [Payment; 2],
}

impl Together {
    async fn write(&self, random: &mut Random, round: i64) {
        let mut changes = cauri::Changeset::new();
        for payment in &self.payments {
            let moved = Payment { amount: Amount::new(round), ..payment.clone() };
            changes.update(moved, round.unsigned_abs(), None);
        }
        let accounts = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantPending);
        let currency = "XOF".parse().expect("a currency");
        changes.post(Some(move_money(random, (self.scope, currency), accounts, 1)));
        let verdicts = self.store.commit(vec![changes]).await.expect("the store answers");
        assert_eq!(verdicts, [Ok(())]);
    }

    /// Answers the round that was seen.
    async fn read(&self) -> Amount {
        let keys = self.payments.clone().map(|payment| Record::from(payment).key());
        let found = self.store.get(&keys).await.expect("the store answers");
        let round = assert_one_moment(found.into_iter().flatten());
        let query = Query::all(List::Payments(self.scope));
        let listed = self.store.list(&query).await.expect("the store answers");
        assert_one_moment(listed.items.into_iter());

        let query = Query::all(List::Entries(self.scope)).page(Page::new(100, 0).expect("a page"));
        let entries = self.store.entries(&query).await.expect("the store answers");
        assert_eq!(entries.total % 2, 0, "half a posting");
        assert_eq!(i64::try_from(entries.items.len()), Ok(entries.total.min(100)));
        let balances = self.store.balances(self.scope).await.expect("the store answers");
        let sum = |it: &Balance| (it.account.kind, it.amount);
        let sums: Vec<_> = balances.iter().map(sum).collect();
        assert_eq!(is_in_balance(&sums), Ok(true), "{sums:?}");
        round
    }
}

fn assert_one_moment(records: impl Iterator<Item = cauri::Versioned<Record>>) -> Amount {
    let seen: Vec<_> = records
        .map(|it| match it.value {
            Record::Payment(payment) => (payment.amount, it.version),
            other => panic!("{other:?} is no payment"),
        })
        .collect();
    match seen.as_slice() {
        [one, other] if one == other => one.0,
        _ => panic!("half a changeset: {seen:?}"),
    }
}

pub(super) async fn law_6_nobody_sees_half_a_changeset(subject: Subject) {
    let mut random = Random::new(62);
    let scope = random.scope();
    let payments =
        [(); 2].map(|()| Payment { amount: Amount::ZERO, ..fixtures::payment(&mut random, scope) });
    for payment in &payments {
        subject.insert(payment.clone(), None).await;
    }
    let together = Arc::new(Together { store: subject.store.clone(), scope, payments });
    let written = Arc::new(AtomicBool::new(false));
    let moments = Arc::new(AtomicUsize::new(0));
    let readers = (0..3).map(|_| {
        let (together, written, moments) = (together.clone(), written.clone(), moments.clone());
        tokio::spawn(async move {
            let mut last = Amount::ZERO;
            while !written.load(Ordering::SeqCst) {
                let round = together.read().await;
                moments.fetch_add(usize::from(round != last), Ordering::SeqCst);
                last = round;
                tokio::task::yield_now().await;
            }
            together.read().await;
        })
    });
    let readers: Vec<_> = readers.collect();
    for round in 1..=ROUNDS * 50 {
        let ended = readers.iter().any(tokio::task::JoinHandle::is_finished);
        if ended || round > ROUNDS && moments.load(Ordering::SeqCst) >= MOMENTS {
            break;
        }
        together.write(&mut random, round).await;
        tokio::task::yield_now().await;
    }
    written.store(true, Ordering::SeqCst);
    join_all(readers).await.into_iter().for_each(|ended| ended.expect("a reader ends"));
}

pub(super) async fn law_6_a_page_and_its_total_are_of_one_moment(subject: Subject) {
    let mut random = Random::new(63);
    let scope = random.scope();
    let written = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn({
        let (store, written) = (subject.store.clone(), written.clone());
        async move {
            let query = Query::all(List::Customers(scope)).page(Page::new(100, 0).expect("a page"));
            let mut last = 0;
            while !written.load(Ordering::SeqCst) {
                let listed = store.list(&query).await.expect("the store answers");
                assert_eq!(i64::try_from(listed.items.len()), Ok(listed.total));
                // Each changeset brings two.
                assert_eq!(listed.total % 2, 0, "half a changeset");
                assert!(listed.total >= last, "what was seen is seen no more");
                last = listed.total;
                tokio::task::yield_now().await;
            }
        }
    });
    for _ in 0..50 {
        let mut two = insert(fixtures::customer(&mut random, scope), None);
        two.insert(fixtures::customer(&mut random, scope), None);
        subject.accept(two).await;
        tokio::task::yield_now().await;
    }
    written.store(true, Ordering::SeqCst);
    reader.await.expect("the reader ends");
}
