//! The audit: every balance again from its entries, every invariant of API §8.2.

use std::collections::{BTreeMap, HashMap};

use cauri_core::{
    Amount, Balance, Direction, Entry, Environment, LedgerAccount, List, Page, Query, Scope,
    TransactionId, is_in_balance,
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
    #[error("{account:?} holds {balance}, but its entries add up to {sum}")]
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
    /// A merchant account was below nothing.
    #[error("{account:?} fell below nothing, to {balance}")]
    Floor {
        /// Which account.
        account: LedgerAccount,
        /// What it held.
        balance: Amount,
    },
    /// What is held is not what is owed.
    #[error("in {currency} of {scope:?}, clearing is not pending + available + reserved + fees")]
    Equation {
        /// Whose.
        scope: Scope,
        /// In which currency.
        currency: cauri_core::Currency,
    },
    /// A sum does not fit into 64 bits.
    #[error("the entries of {0:?} do not fit into 64 bits")]
    Overflow(LedgerAccount),
}

impl Engine {
    /// Recomputes every balance of every account from its entries and checks every invariant. May
    /// run while others write: what is committed meanwhile is looked at too.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn audit(&self) -> Result<Audit, Error> {
        let mut audit = Audit::default();
        for account in self.accounts().await? {
            audit.accounts = audit.accounts.saturating_add(1);
            for &environment in Environment::ALL {
                let scope = Scope { account: account.id, environment };
                self.audit_scope(scope, &mut audit).await?;
            }
        }
        Ok(audit)
    }

    async fn audit_scope(&self, scope: Scope, audit: &mut Audit) -> Result<(), Error> {
        let mut books = Books::new(scope);
        loop {
            self.read_entries(scope, &mut books).await?;
            let balances = self.0.store.balances(scope).await?;
            // Balances belong to this moment only if nothing was added since the last page.
            if self.total(scope).await? == books.read {
                books.close(&balances);
                break;
            }
        }
        let read = u64::try_from(books.read).unwrap_or_default();
        audit.entries = audit.entries.saturating_add(read);
        let room = NAMED_MAX.saturating_sub(audit.violations.len());
        audit.violations.extend(books.violations.into_iter().take(room));
        Ok(())
    }

    /// Reads on, oldest first, from where the books are to the end.
    async fn read_entries(&self, scope: Scope, books: &mut Books) -> Result<(), Error> {
        let mut total = self.total(scope).await?;
        while books.read < total {
            // Pages run from the newest down: the next ones in order are this far from the top.
            let left = total.saturating_sub(books.read);
            let limit = left.min(i64::from(Page::LIMIT_MAX));
            let page = u8::try_from(limit)
                .ok()
                .and_then(|limit| Page::new(limit, left.saturating_sub(i64::from(limit))))
                .unwrap_or_default();
            let listed = self.0.store.entries(&Query::all(List::Entries(scope)).page(page)).await?;
            if listed.total == total {
                for entry in listed.items.iter().rev() {
                    books.add(entry);
                }
            }
            total = listed.total;
        }
        Ok(())
    }

    async fn total(&self, scope: Scope) -> Result<i64, Error> {
        let top = Page::new(1, 0).unwrap_or_default();
        Ok(self.0.store.entries(&Query::all(List::Entries(scope)).page(top)).await?.total)
    }
}

/// The entries of a scope, added up.
struct Books {
    scope: Scope,
    read: i64,
    sums: BTreeMap<LedgerAccount, Amount>,
    open: HashMap<TransactionId, (Amount, Amount)>,
    violations: Vec<Violation>,
}

impl Books {
    fn new(scope: Scope) -> Self {
        Self { scope, read: 0, sums: BTreeMap::new(), open: HashMap::new(), violations: Vec::new() }
    }

    fn add(&mut self, entry: &Entry) {
        self.read = self.read.saturating_add(1);
        let account = entry.ledger_account();
        let sum = self.sums.entry(account).or_default();
        match sum.plus(entry.moved()) {
            Ok(after) => *sum = after,
            Err(_) => self.violations.push(Violation::Overflow(account)),
        }
        if entry.balance_after != *sum {
            self.violations.push(Violation::Chain { entry: entry.id, expected: *sum });
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

    fn close(&mut self, balances: &[Balance]) {
        for (transaction, (debits, credits)) in self.open.drain() {
            self.violations.push(Violation::Unbalanced { transaction, debits, credits });
        }
        let stored: BTreeMap<LedgerAccount, Amount> =
            balances.iter().map(|it| (it.account, it.amount)).collect();
        let accounts = self.sums.keys().chain(stored.keys()).copied();
        for account in accounts.collect::<std::collections::BTreeSet<_>>() {
            let sum = self.sums.get(&account).copied().unwrap_or_default();
            let balance = stored.get(&account).copied().unwrap_or_default();
            if sum != balance {
                self.violations.push(Violation::Balance { account, balance, sum });
            }
            if account.kind.has_floor() && balance < Amount::ZERO {
                self.violations.push(Violation::Floor { account, balance });
            }
        }
        let mut by_currency = BTreeMap::<_, Vec<_>>::new();
        for (account, amount) in &stored {
            by_currency.entry(account.currency).or_default().push((account.kind, *amount));
        }
        for (currency, sums) in by_currency {
            if is_in_balance(&sums) != Ok(true) {
                self.violations.push(Violation::Equation { scope: self.scope, currency });
            }
        }
    }
}
