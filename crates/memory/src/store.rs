//! The store itself: one lock around everything.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cauri::{
    Backlog, Balance, Changeset, Claim, ClaimKind, CustomerId, CustomerStatistics, Entry, Facts,
    Key, Listed, Query, Record, Scope, Store, StoreError, Timestamp, Verdict, Versioned, judge,
};

use crate::{ledger::Ledger, records::Records};

/// Keeps everything in memory, behind one lock that is never held across an await.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: Records,
    ledger: Ledger,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is due of a kind at a moment and nobody has taken on, for metrics.
    #[must_use]
    pub fn backlog(&self, kind: ClaimKind, now: Timestamp) -> Backlog {
        self.state().records.backlog(kind, now)
    }

    /// A panic under the lock is impossible half-way through a commit: all that can fail is
    /// judged before anything moves. So a poisoned lock still guards a whole state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn commit(&mut self, batch: Vec<Changeset>) -> Vec<Verdict> {
        let facts = Facts {
            versions: self.records.versions(batch.iter().flat_map(Changeset::keys)),
            balances: self.ledger.sums(batch.iter().flat_map(Changeset::ledger_accounts)),
            balances_unread: false,
        };
        let (verdicts, mut writes) = judge(batch, &facts);
        let lists = writes.growth().into_keys();
        let mut last = lists.map(|list| (list, self.records.total(list))).collect();
        // Entries are kept in the order of their numbers, so that a place is a number.
        writes.number(&mut last);
        for (key, _) in writes.removes {
            self.records.remove(&key);
        }
        for row in writes.inserts {
            self.records.insert(row);
        }
        for (row, _) in writes.updates {
            self.records.replace(row);
        }
        self.ledger.extend(writes.entries);
        verdicts
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What it holds is the business of the merchants.
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        Ok(self.state().commit(batch))
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        let state = self.state();
        Ok(keys.iter().map(|key| state.records.find(key).cloned()).collect())
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        Ok(self.state().records.list(query))
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        Ok(self.state().records.claim(claim))
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        Ok(self.state().ledger.entries(query))
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        Ok(self.state().ledger.balances(scope))
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        let sum = self.state().records.statistics(scope, customer);
        sum.map_err(|overflow| StoreError::Broken(Box::new(overflow)))
    }
}
