//! A store whose every call is told of.

use std::{future::Future, sync::Arc};

use async_trait::async_trait;
use cauri_core::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Verdict, Versioned,
};
use tokio::time::Instant;
use tracing::Instrument;

use crate::{
    port::{
        meter::{Measured, Meter},
        store::{Store, StoreError},
    },
    trace,
};

/// Any store, with a span of every call (at the level `debug`) and, where there is a meter, its
/// duration.
///
/// Beneath [`Grouped`](crate::Grouped) it tells of the batches that really go to the database, above
/// it of the commits that callers wait for.
///
/// ```
/// use cauri::{Changeset, Grouped, Observed, Store};
/// use cauri_memory::MemoryStore;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), cauri::StoreError> {
/// let store = Grouped::new(Observed::new(MemoryStore::new(), "memory"));
/// assert_eq!(store.commit(vec![Changeset::new()]).await?, [Ok(())]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Observed<S> {
    store: S,
    system: &'static str,
    meter: Option<Arc<dyn Meter>>,
}

impl<S: Store> Observed<S> {
    /// A store of a system, as OpenTelemetry names it (`db.system.name`): `postgresql`, `sqlite`.
    #[must_use]
    pub const fn new(store: S, system: &'static str) -> Self {
        Self { store, system, meter: None }
    }

    /// Measures every call as well.
    #[must_use]
    pub fn meter(mut self, meter: Arc<dyn Meter>) -> Self {
        self.meter = Some(meter);
        self
    }

    /// The store.
    #[must_use]
    pub const fn inner(&self) -> &S {
        &self.store
    }

    async fn watch<T>(
        &self,
        operation: &'static str,
        size: usize,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let span = trace::store(self.system, operation, size);
        let since = self.meter.as_ref().map(|_| Instant::now());
        let answer = call.instrument(span.clone()).await;
        let error = answer.as_ref().err().map(trace::kind);
        if let Some(kind) = error {
            trace::failed(&span, kind);
        }
        if let Some((meter, since)) = self.meter.as_ref().zip(since) {
            let took = since.elapsed();
            meter.measured(&Measured::Store { operation, size, error, took });
        }
        answer
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Observed<S> {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.watch("commit", batch.len(), self.store.commit(batch)).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.watch("get", keys.len(), self.store.get(keys)).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.watch("list", 1, self.store.list(query)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.watch("claim", 1, self.store.claim(claim)).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.watch("entries", 1, self.store.entries(query)).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.watch("balances", 1, self.store.balances(scope)).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.watch("statistics", 1, self.store.statistics(scope, customer)).await
    }
}
