//! A store that fails on demand.

use std::{
    collections::BTreeMap,
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned,
};
use tokio::time::sleep;

/// A method of the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a new method must stop every match")]
pub enum Call {
    /// [`Store::commit`].
    Commit,
    /// [`Store::get`].
    Get,
    /// [`Store::list`].
    List,
    /// [`Store::claim`].
    Claim,
    /// [`Store::entries`].
    Entries,
    /// [`Store::balances`].
    Balances,
    /// [`Store::statistics`].
    Statistics,
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are the ways the port allows")]
pub enum Fault {
    /// Nothing was done, and the caller is told so: [`StoreError::Unavailable`].
    Before,
    /// All of it was done, and the answer was lost: [`StoreError::Unknown`].
    After,
    /// Nothing was done, and the caller cannot know: [`StoreError::Unknown`].
    Unknown,
    /// Nothing was done, and asking again will not help: [`StoreError::Broken`].
    Broken,
    /// All of it is done, and answered after a second.
    Late,
    /// Nothing was done, and after twelve seconds without a word the caller cannot know:
    /// [`StoreError::Unknown`].
    Silent,
}

/// A store that answers as another one does, but for the calls it was told to spoil.
///
/// ```
/// use cauri::{Store, StoreError};
/// use cauri_conformance::{Call, Fault, FaultyStore};
/// use cauri_memory::MemoryStore;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = FaultyStore::new(MemoryStore::new()).failing(Call::Commit, 2, Fault::After);
/// assert!(store.commit(vec![]).await.is_ok());
/// assert!(matches!(store.commit(vec![]).await, Err(StoreError::Unknown(_))));
/// assert!(store.commit(vec![]).await.is_ok());
/// assert_eq!(store.calls(Call::Commit), 3);
/// # });
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    inner: S,
    schedule: Mutex<Schedule>,
}

#[derive(Debug, Default)]
struct Schedule {
    faults: BTreeMap<(Call, u64), Fault>,
    calls: BTreeMap<Call, u64>,
    /// Records that cannot be written.
    stuck: BTreeMap<Key, Fault>,
}

impl<S: Store> FaultyStore<S> {
    /// Nothing is spoilt yet.
    pub fn new(inner: S) -> Self {
        Self { inner, schedule: Mutex::default() }
    }

    /// Spoils the `nth` call of a method, counted from 1 and from the beginning.
    #[must_use]
    pub fn failing(self, call: Call, nth: u64, fault: Fault) -> Self {
        self.fail(call, nth, fault);
        self
    }

    /// Spoils the `nth` call of a method, counted from 1 and from the beginning.
    pub fn fail(&self, call: Call, nth: u64, fault: Fault) {
        self.with(|schedule| schedule.faults.insert((call, nth), fault));
    }

    /// Spoils the next call of a method.
    pub fn fail_next(&self, call: Call, fault: Fault) {
        self.fail(call, self.calls(call).saturating_add(1), fault);
    }

    /// Spoils every commit that writes this record.
    pub fn stick(&self, key: Key, fault: Fault) {
        self.with(|schedule| schedule.stuck.insert(key, fault));
    }

    /// How often a method was called.
    pub fn calls(&self, call: Call) -> u64 {
        self.with(|schedule| schedule.calls.get(&call).copied().unwrap_or_default())
    }

    /// The store behind.
    pub const fn inner(&self) -> &S {
        &self.inner
    }

    fn with<T>(&self, act: impl FnOnce(&mut Schedule) -> T) -> T {
        act(&mut self.schedule.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn spoil<T>(
        &self,
        call: Call,
        answer: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        self.spoil_or(call, None, answer).await
    }

    async fn spoil_or<T>(
        &self,
        call: Call,
        otherwise: Option<Fault>,
        answer: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let fault = self.with(|schedule| {
            let count = schedule.calls.entry(call).or_default();
            *count = count.saturating_add(1);
            schedule.faults.remove(&(call, *count))
        });
        let cause = || Box::new(io::Error::other("a fault that the test asked for"));
        match fault.or(otherwise) {
            None => answer.await,
            Some(Fault::Before) => Err(StoreError::Unavailable(cause())),
            Some(Fault::After) => match answer.await {
                Ok(_) => Err(StoreError::Unknown(cause())),
                Err(error) => Err(error),
            },
            Some(Fault::Unknown) => Err(StoreError::Unknown(cause())),
            Some(Fault::Late) => {
                let answer = answer.await;
                sleep(Duration::from_secs(1)).await;
                answer
            }
            Some(Fault::Silent) => {
                sleep(Duration::from_secs(12)).await;
                Err(StoreError::Unknown(cause()))
            }
            Some(Fault::Broken) => Err(StoreError::Broken(cause())),
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for FaultyStore<S> {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        let keys: Vec<Key> = batch.iter().flat_map(Changeset::keys).collect();
        let stuck = self.with(|it| keys.iter().find_map(|key| it.stuck.get(key).copied()));
        self.spoil_or(Call::Commit, stuck, self.inner.commit(batch)).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.spoil(Call::Get, self.inner.get(keys)).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.spoil(Call::List, self.inner.list(query)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.spoil(Call::Claim, self.inner.claim(claim)).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.spoil(Call::Entries, self.inner.entries(query)).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.spoil(Call::Balances, self.inner.balances(scope)).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.spoil(Call::Statistics, self.inner.statistics(scope, customer)).await
    }
}
