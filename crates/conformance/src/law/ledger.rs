//! 5. The ledger adds up.

use std::collections::BTreeMap;

use cauri::{
    Amount, Balance, Changeset, Currency, Entry, LedgerAccount, LedgerAccountKind, Page, Posting,
    Query, Refusal, Scope, is_in_balance,
};
use futures_util::future::join_all;

use crate::{
    fixtures::{self, Random, move_money},
    subject::Subject,
};

use LedgerAccountKind::{Clearing, Fees, MerchantAvailable, MerchantPending, MerchantReserved};

fn xof() -> Currency {
    "XOF".parse().expect("a currency")
}

/// A scope, and postings in it.
struct Books {
    random: Random,
    scope: Scope,
}

impl Books {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let scope = random.scope();
        Self { random, scope }
    }

    fn posting(
        &mut self,
        debit: LedgerAccountKind,
        credit: LedgerAccountKind,
        units: i64,
    ) -> Posting {
        move_money(&mut self.random, (self.scope, xof()), (debit, credit), units)
    }

    /// A changeset of these movements.
    fn moves(&mut self, moves: &[(LedgerAccountKind, LedgerAccountKind, i64)]) -> Changeset {
        let mut changes = Changeset::new();
        for (debit, credit, units) in moves {
            changes.post(Some(self.posting(*debit, *credit, *units)));
        }
        changes
    }

    const fn account(&self, currency: Currency, kind: LedgerAccountKind) -> LedgerAccount {
        LedgerAccount { scope: self.scope, currency, kind }
    }

    async fn held(&self, subject: &Subject, kind: LedgerAccountKind) -> Option<i64> {
        let account = self.account(xof(), kind);
        let balances = subject.balances(self.scope).await;
        balances.iter().find(|it| it.account == account).map(|it| it.amount.units())
    }
}

/// Balances are the sums of entries, `balance_after` chains, and all accounts together balance.
async fn assert_adds_up(subject: &Subject, scope: Scope) {
    let mut sums = BTreeMap::<LedgerAccount, Amount>::new();
    for entry in subject.ledger(scope).await {
        let sum = sums.entry(entry.ledger_account()).or_default();
        *sum = sum.plus(entry.moved()).expect("a sum that fits");
        assert_eq!(entry.balance_after, *sum, "{entry:?}");
    }
    let balances = subject.balances(scope).await;
    let expected: Vec<Balance> = sums
        .iter()
        .map(|(account, amount)| Balance { account: *account, amount: *amount })
        .collect();
    assert_eq!(balances, expected);
    let currencies = sums.keys().map(|account| account.currency);
    for currency in currencies.collect::<std::collections::BTreeSet<_>>() {
        let of_currency = sums.iter().filter(|(account, _)| account.currency == currency);
        let sums: Vec<_> = of_currency.map(|(account, sum)| (account.kind, *sum)).collect();
        assert_eq!(is_in_balance(&sums), Ok(true));
    }
}

pub(super) async fn law_5_entries_are_written_in_order_and_chain(subject: Subject) {
    let mut books = Books::new(51);
    let mut expected = Vec::<Entry>::new();
    let mut sums = BTreeMap::<LedgerAccount, Amount>::new();
    for _ in 0..30 {
        let batch: Vec<Changeset> = (0..books.random.below(4))
            .map(|_| {
                let mut changes = Changeset::new();
                for _ in 0..books.random.below(4) {
                    let money = (books.scope, books.random.currency());
                    let units = books.random.within(1..=9);
                    let accounts =
                        *books.random.pick(&[(Clearing, MerchantPending), (Clearing, Fees)]);
                    changes.post(Some(move_money(&mut books.random, money, accounts, units)));
                }
                changes
            })
            .collect();
        for posting in batch.iter().flat_map(Changeset::postings) {
            for line in posting.lines() {
                let sum = sums.entry(posting.account(line)).or_default();
                *sum = sum.plus(line.account.moved(line.direction, line.amount)).expect("fits");
                expected.push(posting.entry(line, *sum));
            }
        }
        subject.accept_all(batch).await;
    }
    assert_eq!(subject.ledger(books.scope).await, expected);
    assert_adds_up(&subject, books.scope).await;
}

pub(super) async fn law_5_an_account_may_reach_its_floor_but_not_pass_it(subject: Subject) {
    for (seed, kind) in (52..).zip([MerchantPending, MerchantAvailable, MerchantReserved]) {
        let mut books = Books::new(seed * 100);
        let floor = Refusal::Floor(books.account(xof(), kind));
        // Nothing is there yet.
        let changes = books.moves(&[(kind, Clearing, 1)]);
        assert_eq!(subject.refuse(changes).await, floor);
        assert_eq!(subject.balances(books.scope).await, []);

        let changes = books.moves(&[(Clearing, kind, 10)]);
        subject.accept(changes).await;
        let changes = books.moves(&[(kind, Fees, 11)]);
        assert_eq!(subject.refuse(changes).await, floor);
        // Of a batch: those that fit go, those that do not stay, whatever is between.
        let batch: Vec<Changeset> =
            [6, 5, 4, 1].map(|units| books.moves(&[(kind, Fees, units)])).into();
        let verdicts = subject.commit(batch).await;
        assert_eq!(verdicts, [Ok(()), Err(floor.clone()), Ok(()), Err(floor.clone())]);
        assert_eq!(books.held(&subject, kind).await, Some(0));
        // What comes in within a batch may go out within it, in that order only.
        let (out, back) = (books.moves(&[(kind, Fees, 3)]), books.moves(&[(Clearing, kind, 3)]));
        let verdicts = subject.commit(vec![out.clone(), back]).await;
        assert_eq!(verdicts, [Err(floor), Ok(())]);
        subject.accept(out).await;
        assert_eq!(books.held(&subject, kind).await, Some(0));
        assert_adds_up(&subject, books.scope).await;
    }
}

pub(super) async fn law_5_clearing_and_fees_have_no_floor(subject: Subject) {
    let mut books = Books::new(53);
    let changes = books.moves(&[(Fees, Clearing, 7)]);
    subject.accept(changes).await;
    assert_eq!(books.held(&subject, Fees).await, Some(-7));
    assert_eq!(books.held(&subject, Clearing).await, Some(-7));
    assert_adds_up(&subject, books.scope).await;
}

pub(super) async fn law_5_only_the_end_of_a_changeset_is_held_against_the_floor(subject: Subject) {
    let mut books = Books::new(54);
    let changes = books.moves(&[(MerchantPending, Fees, 5), (Clearing, MerchantPending, 5)]);
    subject.accept(changes).await;
    let changes = books.moves(&[(Clearing, MerchantPending, 5), (MerchantPending, Fees, 6)]);
    let floor = Refusal::Floor(books.account(xof(), MerchantPending));
    assert_eq!(subject.refuse(changes).await, floor);
    // A transfer passes through without a trace in the middle.
    let changes = books.moves(&[
        (MerchantPending, MerchantAvailable, 9),
        (MerchantAvailable, MerchantReserved, 9),
        (MerchantReserved, MerchantPending, 9),
    ]);
    subject.accept(changes).await;
    assert_adds_up(&subject, books.scope).await;
}

pub(super) async fn law_5_a_sum_that_does_not_fit_is_refused(subject: Subject) {
    let mut books = Books::new(55);
    let changes = books.moves(&[(Clearing, Fees, i64::MAX - 1)]);
    subject.accept(changes).await;
    let changes = books.moves(&[(Clearing, MerchantPending, 2)]);
    let clearing = Refusal::Overflow(books.account(xof(), Clearing));
    assert_eq!(subject.refuse(changes).await, clearing);
    let changes = books.moves(&[(Clearing, MerchantPending, 1)]);
    subject.accept(changes).await;
    assert_eq!(books.held(&subject, Clearing).await, Some(i64::MAX));
    let changes = books.moves(&[(Clearing, MerchantPending, 1)]);
    assert_eq!(subject.refuse(changes).await, clearing);
    assert_adds_up(&subject, books.scope).await;

    // The other end of 64 bits is one further away.
    let mut books = Books::new(56);
    let changes = books.moves(&[(Fees, Clearing, i64::MAX)]);
    subject.accept(changes).await;
    let batch: Vec<Changeset> = [1, 1].map(|units| books.moves(&[(Fees, Clearing, units)])).into();
    let fees = books.account(xof(), Fees);
    assert_eq!(subject.commit(batch).await, [Ok(()), Err(Refusal::Overflow(fees))]);
    assert_eq!(books.held(&subject, Fees).await, Some(i64::MIN));
}

pub(super) async fn law_5_a_large_batch_in_one_account_chains(subject: Subject) {
    let mut books = Books::new(57);
    let batch = (1..=400).map(|units| books.moves(&[(Clearing, MerchantPending, units)])).collect();
    subject.accept_all(batch).await;
    assert_eq!(books.held(&subject, MerchantPending).await, Some(80_200));
    assert_adds_up(&subject, books.scope).await;
}

pub(super) async fn law_5_concurrent_postings_all_count(subject: Subject) {
    let mut books = Books::new(58);
    let tasks = (0..8).map(|_| {
        let batches: Vec<Vec<Changeset>> = (0..12)
            .map(|_| (0..3).map(|_| books.moves(&[(Clearing, MerchantPending, 2)])).collect())
            .collect();
        let store = subject.store.clone();
        tokio::spawn(async move {
            for batch in batches {
                let verdicts = store.commit(batch).await.expect("the store answers");
                assert_eq!(verdicts, [Ok(()), Ok(()), Ok(())]);
            }
        })
    });
    join_all(tasks).await.into_iter().for_each(|ended| ended.expect("a task ends"));
    assert_eq!(books.held(&subject, MerchantPending).await, Some(8 * 12 * 3 * 2));
    assert_eq!(subject.ledger(books.scope).await.len(), 8 * 12 * 3 * 2);
    assert_adds_up(&subject, books.scope).await;
}

pub(super) async fn law_5_concurrent_withdrawals_stop_at_the_floor(subject: Subject) {
    let mut books = Books::new(59);
    let changes = books.moves(&[(Clearing, MerchantAvailable, 25)]);
    subject.accept(changes).await;
    let tasks = (0..8).map(|_| {
        let batch: Vec<Changeset> =
            (0..5).map(|_| books.moves(&[(MerchantAvailable, MerchantReserved, 1)])).collect();
        let store = subject.store.clone();
        tokio::spawn(async move { store.commit(batch).await.expect("the store answers") })
    });
    let verdicts = join_all(tasks).await.into_iter().flat_map(|ended| ended.expect("a task ends"));
    assert_eq!(verdicts.filter(Result::is_ok).count(), 25);
    assert_eq!(books.held(&subject, MerchantAvailable).await, Some(0));
    assert_adds_up(&subject, books.scope).await;
}

pub(super) async fn law_5_balances_are_sorted_and_kept_at_nothing(subject: Subject) {
    let mut books = Books::new(510);
    assert_eq!(subject.balances(books.scope).await, []);
    let mut changes = Changeset::new();
    for currency in ["XOF", "KWD", "GHS"] {
        let currency: Currency = currency.parse().expect("a currency");
        for kind in [MerchantReserved, Fees, MerchantPending, MerchantAvailable] {
            for accounts in [(Clearing, kind), (kind, Clearing)] {
                let money = (books.scope, currency);
                changes.post(Some(move_money(&mut books.random, money, accounts, 4)));
            }
        }
    }
    subject.accept(changes).await;
    let mut expected = Vec::new();
    for currency in ["GHS", "KWD", "XOF"] {
        let currency: Currency = currency.parse().expect("a currency");
        for kind in LedgerAccountKind::ALL {
            let account = books.account(currency, *kind);
            expected.push(Balance { account, amount: Amount::ZERO });
        }
    }
    assert_eq!(subject.balances(books.scope).await, expected);
}

pub(super) async fn law_5_entries_are_filtered(subject: Subject) {
    let mut books = Books::new(511);
    let mut changes = Changeset::new();
    for _ in 0..60 {
        // Some are refused with the floor they meet; so one at a time.
        let posting = fixtures::posting(&mut books.random, books.scope);
        let mut alone = Changeset::new();
        alone.post(Some(posting.clone()));
        if subject.verdict(alone).await.is_ok() {
            changes.post(Some(posting));
        }
    }
    let mut entries = subject.ledger(books.scope).await;
    assert_eq!(entries.len(), changes.postings().len() * 2);
    entries.reverse();
    for _ in 0..150 {
        let query = fixtures::entry_query(&mut books.random, books.scope, &entries);
        let admitted: Vec<&Entry> = entries.iter().filter(|it| query.admits_entry(it)).collect();
        assert_page(&subject, &query, &admitted).await;
    }
    for field in fixtures::FIELDS {
        if let Some(value) = entries.first().and_then(|entry| entry.field(*field)) {
            let query = Query::all(cauri::List::Entries(books.scope)).with(*field, value);
            let query = query.page(Page::new(100, 0).expect("a page"));
            let admitted: Vec<&Entry> =
                entries.iter().filter(|it| query.admits_entry(it)).collect();
            assert_page(&subject, &query, &admitted).await;
        }
    }
}

async fn assert_page(subject: &Subject, query: &Query, admitted: &[&Entry]) {
    let listed = subject.entries(query).await;
    assert_eq!(i64::try_from(admitted.len()), Ok(listed.total), "{query:?}");
    let offset = usize::try_from(query.page.offset()).expect("an offset");
    let page = admitted.iter().skip(offset).take(query.page.limit().into()).copied();
    assert!(listed.items.iter().eq(page), "{query:?}: {:?}", listed.items);
}
