//! Where everything is kept.

use std::{error::Error as StdError, fmt::Debug, sync::Arc};

use async_trait::async_trait;
use cauri_core::{
    Balance, Changeset, Claim, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record,
    Scope, Verdict, Versioned,
};

/// Where everything is kept: a contract between the engine, its only caller, and whoever brings a
/// database. `cauri-memory` is the reference; a store is right when it cannot be told from that
/// one, and `cauri-conformance` tells.
///
/// # Laws
/// 1. **Whole or nothing.** A changeset is applied whole or leaves no trace.
/// 2. **In order, one verdict each.** The changesets of a batch are judged in order, each on top of
///    those accepted before it; there is one verdict for each, in the same order, and a refused one
///    never fails its neighbours. `cauri_core::judge` is the meaning of a batch.
/// 3. **Insert once.** A record is inserted only while none of its keys, primary or alternate, is
///    taken.
/// 4. **Optimistic.** An update or a removal is refused unless the record is at exactly the
///    expected version; a record is at its [first version](Record::first_version) after its insert
///    and one on after every update and every claim.
/// 5. **The ledger adds up.** Entries are only added; a balance is the sum of its entries;
///    `balance_after` chains from entry to entry of an account; no merchant account falls below
///    nothing.
/// 6. **Visible once accepted.** When `commit` has answered, every reader sees what was accepted,
///    on every node; before, nobody sees a part of it. One `get` sees one moment.
/// 7. **Numbered lists.** A list holds its records in the order in which they were accepted,
///    without gap or repeat, newest first (a timeline: oldest first); `total` is exact; a page of
///    an unfiltered list costs the same at every offset.
/// 8. **Inert.** A store has no clock, no chance, and no ids or defaults of its own: what is read
///    is what was written.
/// 9. **Durable.** What was accepted is there after the store is closed, or killed, and opened
///    again. A store in memory is exempt by name.
/// 10. **Claims are exclusive.** A record that was claimed is handed to nobody else until the
///     lease ends or its holder writes it; what is due is handed out oldest first, and nothing due
///     is passed over for ever.
/// 11. **Statistics count.** `statistics` is [`CustomerStatistics::add`] over all payments of the
///     customer; where that does not fit, the store is [broken](StoreError::Broken) for it.
///
/// Consequence, tested as if a law: an accepted changeset is refused when it is sent again, so
/// sending again after an unknown outcome is safe.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Store: Debug + Send + Sync + 'static {
    /// Applies each changeset whole or not at all, in order, with one verdict each.
    ///
    /// # Errors
    /// The outer error says that the store could not answer: see [`StoreError`] for what may have
    /// been applied. A verdict says that it answered "no".
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError>;

    /// One consistent snapshot of the named records, in the order of the keys.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not answer.
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError>;

    /// A page of a list in the list's own order, with the total.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not answer.
    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError>;

    /// Hands out what is due, oldest first, and moves its `due_at` to the end of the lease.
    ///
    /// # Errors
    /// [`StoreError`]; what was handed out in vain is due again when the lease ends.
    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError>;

    /// A page of a scope's ledger, newest first, with the total. The query's list is
    /// `List::Entries`.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not answer.
    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError>;

    /// Every balance of a scope that ever had an entry, sorted by currency and account.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not answer.
    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError>;

    /// What a customer's payments add up to.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not answer.
    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError>;
}

/// A store that is shared is a store.
#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        (**self).commit(batch).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        (**self).get(keys).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        (**self).list(query).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        (**self).claim(claim).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        (**self).entries(query).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        (**self).balances(scope).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        (**self).statistics(scope, customer).await
    }
}

/// Why a store could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It cannot be reached or is overloaded. Nothing was applied; asking again may work.
    #[error("the store is unavailable; nothing was applied")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// The connection was lost on the way: the batch may or may not have been applied. Sending the
    /// same changesets again is safe.
    #[error("the store did not say whether the batch was applied")]
    Unknown(#[source] Box<dyn StdError + Send + Sync>),
    /// It answered something that it should not have, such as a row that is no record. Nothing was
    /// applied; asking again will not help.
    #[error("the store is broken")]
    Broken(#[source] Box<dyn StdError + Send + Sync>),
}

/// Why a store was unavailable for a batch of several scopes: somebody holds rows of some of them for
/// longer than a commit takes, such as a host whose transaction is still open. The source of a
/// [`StoreError::Unavailable`]; what belongs to the other scopes can be sent again at once.
///
/// A store that waits for whoever is in the way has no need of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("somebody holds rows of {} of the batch's scopes", .scopes.len())]
#[expect(clippy::exhaustive_structs, reason = "stores build it")]
pub struct ScopesHeld {
    /// The scopes, but never all that the batch has.
    pub scopes: Vec<Scope>,
}

impl StoreError {
    /// May the same call work a little later?
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Unknown(_) => true,
            Self::Broken(_) => false,
        }
    }
}
