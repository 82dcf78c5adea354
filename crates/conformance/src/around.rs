//! A store that does what another does, but for what a test says.

use std::{fmt::Debug, ops::Deref};

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Store, StoreError, Verdict, Versioned,
};

/// What happens around the calls of a store. Whatever is not said otherwise is left to the store
/// within. In an [`Outer`] it is a store itself.
///
/// ```
/// use async_trait::async_trait;
/// use cauri::{Balance, Scope, Store, StoreError};
/// use cauri_conformance::{Around, Outer};
/// use cauri_memory::MemoryStore;
///
/// #[derive(Debug)]
/// struct Poor(MemoryStore);
///
/// #[async_trait]
/// impl Around for Poor {
///     type Inner = MemoryStore;
///
///     fn inner(&self) -> &MemoryStore {
///         &self.0
///     }
///
///     async fn balances(&self, _: Scope) -> Result<Vec<Balance>, StoreError> {
///         Ok(Vec::new())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = Outer(Poor(MemoryStore::new()));
/// assert!(store.commit(Vec::new()).await.is_ok());
/// # });
/// ```
#[async_trait]
pub trait Around: Debug + Send + Sync + 'static {
    /// The store within.
    type Inner: Store;

    /// The store within.
    fn inner(&self) -> &Self::Inner;

    /// In place of [`Store::commit`].
    ///
    /// # Errors
    /// As there.
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.inner().commit(batch).await
    }

    /// In place of [`Store::get`].
    ///
    /// # Errors
    /// As there.
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.inner().get(keys).await
    }

    /// In place of [`Store::list`].
    ///
    /// # Errors
    /// As there.
    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.inner().list(query).await
    }

    /// In place of [`Store::claim`].
    ///
    /// # Errors
    /// As there.
    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.inner().claim(claim).await
    }

    /// In place of [`Store::entries`].
    ///
    /// # Errors
    /// As there.
    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.inner().entries(query).await
    }

    /// In place of [`Store::balances`].
    ///
    /// # Errors
    /// As there.
    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.inner().balances(scope).await
    }

    /// In place of [`Store::statistics`].
    ///
    /// # Errors
    /// As there.
    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.inner().statistics(scope, customer).await
    }
}

/// An [`Around`] as a store.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper and nothing else")]
pub struct Outer<A>(pub A);

impl<A> Deref for Outer<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<A: Around> Store for Outer<A> {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        self.0.commit(batch).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        self.0.get(keys).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        self.0.list(query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        self.0.claim(claim).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        self.0.entries(query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.0.balances(scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        self.0.statistics(scope, customer).await
    }
}
