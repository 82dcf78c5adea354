//! The audit: every balance again from its entries, every invariant of API §8.2.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cauri_core::{
    Amount, Direction, Entry, Environment, LedgerAccount, List, Page, Query, Scope, TransactionId,
    is_in_balance,
};

use crate::{engine::Engine, error::Error};

/// How many violations are named.
const NAMED_MAX: usize = 100;

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Audit {
    /// How many accounts were looked at.
    pub accounts: u64,
    /// How many ledger entries were added up.
    pub entries: u64,
    /// What is wrong; nothing when all is well.
    pub violations: Vec<Violation>,
}

/// How far an audit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AuditProgress {
    /// How many accounts there were when it began.
    pub accounts: u64,
    /// How many of them are done.
    pub accounts_done: u64,
    /// How many ledger entries were added up so far.
    pub entries: u64,
    /// How many invariants were found not to hold so far, counted no further than they are named.
    pub violations: u64,
}

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// The lines of a transaction do not balance.
    #[error("the lines of {transaction} do not balance: debits {debits}, credits {credits}")]
    Unbalanced {
        /// Which.
        transaction: TransactionId,
        /// The sum of its debits.
        debits: Amount,
        /// The sum of its credits.
        credits: Amount,
    },
    /// A balance is not the sum of its entries.
    #[error("{} holds {balance}, but its entries add up to {sum}", named(account))]
    Balance {
        /// Which account.
        account: LedgerAccount,
        /// What the store says.
        balance: Amount,
        /// What its entries say.
        sum: Amount,
    },
    /// An entry's `balance_after` does not follow from the one before it.
    #[error("the balance after {entry} should be {expected}")]
    Chain {
        /// Which entry.
        entry: cauri_core::EntryId,
        /// What it should be.
        expected: Amount,
    },
    /// There are fewer entries than were written.
    #[error("of entries {first} to {last}, {} of {}, {found} are there",
        scope.environment, scope.account)]
    Missing {
        /// Whose.
        scope: Scope,
        /// Among which, in the order in which they were written; the first of all is 1.
        first: i64,
        /// Up to which.
        last: i64,
        /// How many of these there are.
        found: usize,
    },
    /// A merchant account was below nothing.
    #[error("{} fell below nothing, to {balance}", named(account))]
    Floor {
        /// Which account.
        account: LedgerAccount,
        /// What it held.
        balance: Amount,
    },
    /// What is held is not what is owed.
    #[error("{currency}, {} of {}: clearing is not pending + available + reserved + fees",
        scope.environment, scope.account)]
    Equation {
        /// Whose.
        scope: Scope,
        /// In which currency.
        currency: cauri_core::Currency,
    },
    /// A sum does not fit into 64 bits.
    #[error("the entries of {} do not fit into 64 bits", named(.0))]
    Overflow(LedgerAccount),
}

/// A ledger account, for people.
fn named(account: &LedgerAccount) -> String {
    let LedgerAccount { scope, currency, kind } = account;
    format!("{kind} in {currency}, {} of {}", scope.environment, scope.account)
}

impl Engine {
    /// Recomputes every balance of every account from its entries and checks every invariant. May
    /// run while others write, and ends though they never rest: each account is looked at as it was
    /// at a moment.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn audit(&self) -> Result<Audit, Error> {
        self.audit_with(|_| {}).await
    }

    /// The same, telling how far it is: it reads every entry of the store, a page of a hundred at
    /// a time, so that it takes as long as there are entries, and little memory.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn audit_with(&self, mut tell: impl FnMut(AuditProgress)) -> Result<Audit, Error> {
        let mut audit = Audit::default();
        let accounts = self.accounts().await?;
        let mut progress =
            AuditProgress { accounts: count(accounts.len()), ..AuditProgress::default() };
        for account in accounts {
            for &environment in Environment::ALL {
                let scope = Scope { account: account.id, environment };
                let mut read = |books: &Books| {
                    let entries = audit.entries.saturating_add(books.read());
                    let violations = count(audit.violations.len() + books.violations.len());
                    tell(AuditProgress { entries, violations, ..progress });
                };
                let books = self.audit_scope(scope, &mut read).await?;
                audit.entries = audit.entries.saturating_add(books.read());
                let room = NAMED_MAX.saturating_sub(audit.violations.len());
                audit.violations.extend(books.violations.into_iter().take(room));
            }
            audit.accounts = audit.accounts.saturating_add(1);
            progress.accounts_done = audit.accounts;
        }
        Ok(audit)
    }

    async fn audit_scope(
        &self,
        scope: Scope,
        tell: &mut impl FnMut(&Books),
    ) -> Result<Books, Error> {
        let mut books = Books::new(scope);
        self.read_entries(scope, &mut books, tell, |_| false).await?;
        let balances = self.0.store.balances(scope).await?;
        let stored = balances.iter().map(|it| (it.account, it.amount)).collect();
        // They belong to a moment after that: what was written before it is read as well, up to
        // where they agree with it.
        self.read_entries(scope, &mut books, tell, |books| books.agrees_with(&stored)).await?;
        books.close(&stored);
        Ok(books)
    }

    /// Reads on, oldest first, from where the books are to the end that there is now, or until they
    /// are complete.
    async fn read_entries(
        &self,
        scope: Scope,
        books: &mut Books,
        tell: &mut impl FnMut(&Books),
        mut is_complete: impl FnMut(&mut Books) -> bool,
    ) -> Result<(), Error> {
        let end = self.total(scope).await?;
        let (mut total, mut growth) = (end, 0);
        while !is_complete(books) && books.read < end {
            // Pages run from the newest down: the next ones in order are this far from the top, and
            // as much further as is written until the page is read.
            let left = total.saturating_sub(books.read).saturating_add(growth);
            let limit = left.min(i64::from(Page::LIMIT_MAX));
            let offset = left.saturating_sub(limit);
            let page = u8::try_from(limit).ok().and_then(|limit| Page::new(limit, offset));
            let page = page.unwrap_or_default();
            let listed = self.0.store.entries(&Query::all(List::Entries(scope)).page(page)).await?;
            // The newest has the number of the total, and the others follow without a gap.
            let last = listed.total.saturating_sub(offset);
            let first = last.saturating_sub(limit).saturating_add(1).max(1);
            let found: Vec<_> = (first..=last).rev().zip(&listed.items).collect();
            if i64::try_from(found.len()).is_ok_and(|found| found <= last.saturating_sub(first)) {
                books.miss(first, last, found.len());
            }
            for (number, entry) in found.into_iter().rev() {
                if number == books.read.saturating_add(1) && number <= end && !is_complete(books) {
                    books.add(entry);
                }
            }
            growth = listed.total.saturating_sub(total);
            tell(books);
            total = listed.total;
        }
        Ok(())
    }

    async fn total(&self, scope: Scope) -> Result<i64, Error> {
        let top = Page::new(1, 0).unwrap_or_default();
        Ok(self.0.store.entries(&Query::all(List::Entries(scope)).page(top)).await?.total)
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The entries of a scope, added up.
struct Books {
    scope: Scope,
    read: i64,
    sums: BTreeMap<LedgerAccount, Amount>,
    open: HashMap<TransactionId, (Amount, Amount)>,
    /// The accounts whose entries added up to what the store says, at a moment that it may be of.
    sound: BTreeSet<LedgerAccount>,
    violations: Vec<Violation>,
}

impl Books {
    fn new(scope: Scope) -> Self {
        Self {
            scope,
            read: 0,
            sums: BTreeMap::new(),
            open: HashMap::new(),
            sound: BTreeSet::new(),
            violations: Vec::new(),
        }
    }

    /// How many entries were read.
    fn read(&self) -> u64 {
        u64::try_from(self.read).unwrap_or_default()
    }

    /// Keeps what is wrong. Where one entry is wrong all that follow are, and a store may have
    /// millions: only the first are named.
    fn note(&mut self, violation: Violation) {
        if self.violations.len() < NAMED_MAX {
            self.violations.push(violation);
        }
    }

    /// So many are found of the entries with these numbers, and nobody knows which: they are passed
    /// over.
    fn miss(&mut self, first: i64, last: i64, found: usize) {
        if last > self.read {
            self.note(Violation::Missing { scope: self.scope, first, last, found });
            self.read = last;
        }
    }

    fn add(&mut self, entry: &Entry) {
        self.read = self.read.saturating_add(1);
        let account = entry.ledger_account();
        let before = self.sums.get(&account).copied().unwrap_or_default();
        let sum = before.plus(entry.moved()).unwrap_or_else(|_| {
            self.note(Violation::Overflow(account));
            before
        });
        self.sums.insert(account, sum);
        if entry.balance_after != sum {
            self.note(Violation::Chain { entry: entry.id, expected: sum });
        }
        let sides = self.open.entry(entry.transaction).or_default();
        let side = match entry.direction {
            Direction::Debit => &mut sides.0,
            Direction::Credit => &mut sides.1,
        };
        *side = side.plus(entry.amount).unwrap_or(*side);
        if sides.0 == sides.1 {
            self.open.remove(&entry.transaction);
        }
    }

    /// Are these the balances after what was read?
    fn agrees_with(&mut self, stored: &BTreeMap<LedgerAccount, Amount>) -> bool {
        let mut agrees = self.open.is_empty();
        for account in self.accounts(stored) {
            let sum = self.sums.get(&account).copied().unwrap_or_default();
            if sum == stored.get(&account).copied().unwrap_or_default() {
                self.sound.insert(account);
            } else {
                agrees = false;
            }
        }
        agrees
    }

    fn accounts(&self, stored: &BTreeMap<LedgerAccount, Amount>) -> BTreeSet<LedgerAccount> {
        self.sums.keys().chain(stored.keys()).copied().collect()
    }

    fn close(&mut self, stored: &BTreeMap<LedgerAccount, Amount>) {
        for (transaction, (debits, credits)) in std::mem::take(&mut self.open) {
            self.note(Violation::Unbalanced { transaction, debits, credits });
        }
        for account in self.accounts(stored) {
            let sum = self.sums.get(&account).copied().unwrap_or_default();
            let balance = stored.get(&account).copied().unwrap_or_default();
            if !self.sound.contains(&account) {
                self.note(Violation::Balance { account, balance, sum });
            }
            if account.kind.has_floor() && balance < Amount::ZERO {
                self.note(Violation::Floor { account, balance });
            }
        }
        let mut by_currency = BTreeMap::<_, Vec<_>>::new();
        for (account, amount) in stored {
            by_currency.entry(account.currency).or_default().push((account.kind, *amount));
        }
        for (currency, sums) in by_currency {
            if is_in_balance(&sums) != Ok(true) {
                self.note(Violation::Equation { scope: self.scope, currency });
            }
        }
    }
}
