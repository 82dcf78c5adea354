//! Entries and the balances they add up to.

use std::collections::{BTreeMap, HashMap};

use cauri::{Amount, Balance, Entry, LedgerAccount, Listed, Query, Scope};

use crate::lists;

/// All ledgers, a book for each scope.
#[derive(Default)]
pub(crate) struct Ledger {
    books: HashMap<Scope, Book>,
}

/// One scope's entries, number 1 first, and its balances.
#[derive(Default)]
struct Book {
    entries: Vec<Entry>,
    balances: BTreeMap<LedgerAccount, Amount>,
}

impl Ledger {
    /// What those of these accounts hold that ever moved.
    pub(crate) fn sums(
        &self,
        accounts: impl Iterator<Item = LedgerAccount>,
    ) -> HashMap<LedgerAccount, Amount> {
        let sum = |account: &LedgerAccount| self.books.get(&account.scope)?.balances.get(account);
        accounts.filter_map(|account| sum(&account).map(|amount| (account, *amount))).collect()
    }

    /// Writes entries that were judged.
    pub(crate) fn extend(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let book = self.books.entry(entry.scope).or_default();
            book.balances.insert(entry.ledger_account(), entry.balance_after);
            book.entries.push(entry);
        }
    }

    pub(crate) fn entries(&self, query: &Query) -> Listed<Entry> {
        let book = query.list.scope().and_then(|scope| self.books.get(&scope));
        let entries = book.map(|book| book.entries.as_slice()).unwrap_or_default();
        if query.is_unfiltered() {
            let total = i64::try_from(entries.len()).unwrap_or(i64::MAX);
            let items = query.page.numbers(total, false).and_then(|(low, high)| {
                let low = usize::try_from(low).ok()?.checked_sub(1)?;
                entries.get(low..usize::try_from(high).ok()?)
            });
            let items = items.unwrap_or_default().iter().rev().cloned().collect();
            return Listed { items, total };
        }
        lists::page(query, entries.iter().rev().filter(|entry| query.admits_entry(entry)))
    }

    pub(crate) fn balances(&self, scope: Scope) -> Vec<Balance> {
        let sums = self.books.get(&scope).into_iter().flat_map(|book| &book.balances);
        sums.map(|(account, amount)| Balance { account: *account, amount: *amount }).collect()
    }
}
