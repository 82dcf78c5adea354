//! Group commit: while a batch is on its way to the store, whoever else commits waits for the next.

mod flight;
mod lost;
mod meter;
mod options;
mod queue;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cauri_core::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Verdict, Versioned,
};
use tokio::sync::oneshot;

use self::{
    flight::{Call, Flight},
    lost::Lost,
    meter::Meter,
    queue::Queue,
};
pub use self::{meter::GroupedStats, options::GroupedOptions, queue::QueueFull};
#[cfg(doc)]
use crate::port::store::ScopesHeld;
use crate::port::store::{Store, StoreError};

/// Any store, with its commits grouped.
///
/// A database takes hardly longer to commit a hundred changesets than one. So while a commit is on
/// its way, callers that arrive queue up, and when it returns, all of them go in one batch. There
/// is no timer: an idle store is committed to at once. Reads pass through.
///
/// ```
/// use cauri::{Changeset, Grouped, GroupedOptions, Store};
/// use cauri_memory::MemoryStore;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), cauri::StoreError> {
/// let store = Grouped::with(MemoryStore::new(), GroupedOptions::default().batch_max(64));
/// assert_eq!(store.commit(vec![Changeset::new()]).await?, [Ok(())]);
/// assert_eq!(store.stats().batches, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Order
/// The changesets of one call stay together, in order, in one batch. Calls of one scope leave in
/// the order in which they came; two that are on their way at once, in two batches, may arrive in
/// either order, as they may without grouping.
///
/// # Fairness
/// Scopes take turns, one call a turn, so that no scope has a second call in a batch before every
/// other that waits and may leave has its first; and none has a second turn while another waits of
/// which nothing is on its way. A call counts for the first scope in it. A scope may fill as much of the queue as it leaves free, so that
/// there is always room for another. What belongs to the installation counts as a scope.
///
/// # When it is too much
/// A call for which the queue has no room is refused before it is queued: the error is
/// [`StoreError::Unavailable`], and its source is a [`QueueFull`].
///
/// # When the caller goes away
/// What was queued is committed all the same, and its neighbours never notice.
///
/// # When the store fails
/// Everybody in the batch gets the error. There are three exceptions. A batch of several calls for
/// which the store is [broken](StoreError::Broken) has left no trace, so its halves are sent again,
/// down to single calls: what breaks the store fails alone. Likewise, when somebody
/// [holds](ScopesHeld) rows of some scopes, what belongs to the others is sent again at once, and
/// those wait alone. And a store that panics, or that gives
/// more or fewer verdicts than it was asked for, has not said what it applied, so the error is
/// [`StoreError::Unknown`].
///
/// # Runtime
/// What does not end at once goes on in a task of its own, and is overdue after a while, so commits
/// need a Tokio runtime with its timer. When one ends under its callers, they get an error, not
/// silence.
pub struct Grouped<S> {
    shared: Arc<Shared<S>>,
}

impl<S: Store> Grouped<S> {
    /// With batches of at most 128 changesets, two of them at once and a third of scopes that are on
    /// neither, and 8,192 changesets waiting.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self::with(store, GroupedOptions::default())
    }

    /// With other limits.
    #[must_use]
    pub fn with(store: S, options: GroupedOptions) -> Self {
        let queue = Mutex::new(Queue::new(options));
        Self { shared: Arc::new(Shared { store, queue, meter: Meter::default() }) }
    }

    /// The store.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.shared.store
    }

    /// What happened since it was made, and what waits now.
    #[must_use]
    pub fn stats(&self) -> GroupedStats {
        self.shared.stats()
    }
}

impl<S: Store> fmt::Debug for Grouped<S> {
    /// Without what waits, which is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grouped")
            .field("store", self.inner())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Grouped<S> {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let scope = batch.iter().find_map(Changeset::scope);
        let size = batch.len();
        let (seat, answer) = oneshot::channel();
        let call = Call::new(batch, seat);
        let departing = self.shared.queue().push(scope, size, call);
        match departing {
            Ok(Some(batch)) => Flight::new(&self.shared, batch).start().await,
            Ok(None) => {}
            Err(full) => {
                self.shared.meter.refused();
                return Err(StoreError::Unavailable(Box::new(full)));
            }
        }
        answer.await.unwrap_or_else(|_| Err(Lost::OnTheWay.into()))
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.inner().get(keys).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.inner().list(query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.inner().claim(claim).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.inner().entries(query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.inner().balances(scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.inner().statistics(scope, customer).await
    }
}

/// What callers and flights have in common.
struct Shared<S> {
    store: S,
    queue: Mutex<Queue<Option<Scope>, Call>>,
    meter: Meter,
}

impl<S> Shared<S> {
    fn queue(&self) -> MutexGuard<'_, Queue<Option<Scope>, Call>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stats(&self) -> GroupedStats {
        let (waiting, in_flight) = {
            let queue = self.queue();
            (queue.waiting(), queue.in_flight())
        };
        self.meter.read(waiting, in_flight)
    }
}
