//! The store under test, asked in a few words.

use std::{fmt, sync::Arc};

use cauri::{
    Balance, Changeset, Claim, ClaimKind, CustomerId, CustomerStatistics, Entry, IdempotencyRecord,
    Key, Lanes, List, Listed, Query, Record, Refusal, Scope, Store, Timestamp, Verdict, Versioned,
};
use futures_util::future::BoxFuture;

use crate::{fixtures::lists, harness::Reopen, observe};

/// The store under test. Whatever goes wrong panics.
pub(crate) struct Subject {
    /// To be shared with tasks.
    pub(crate) store: Arc<dyn Store>,
    reopener: Option<Reopener>,
}

/// Closes the store under test and opens it again.
type Reopener = Box<dyn FnOnce() -> BoxFuture<'static, Subject> + Send + Sync>;

/// What a scope shows, and some records.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    records: Vec<Option<Versioned<Record>>>,
    lists: Vec<Vec<Versioned<Record>>>,
    entries: Vec<Entry>,
    balances: Vec<Balance>,
}

impl Subject {
    pub(crate) fn new<S: Store>(store: Arc<S>, reopen: Option<Reopen<S>>) -> Self {
        let mine = Arc::clone(&store);
        let reopener = reopen.map(|reopen| {
            let again: Reopener = Box::new(move || {
                Box::pin(async move {
                    let closed = Arc::try_unwrap(mine).expect("nobody else holds the store");
                    let opened = reopen(closed).await;
                    Self::new(Arc::new(opened), Some(reopen))
                })
            });
            again
        });
        Self { store, reopener }
    }

    /// Closed, and opened again.
    pub(crate) async fn reopened(self) -> Self {
        let Self { store, reopener } = self;
        drop(store);
        let again = reopener.expect("law 9: a store that is not in memory says how it is reopened");
        again().await
    }

    pub(crate) async fn commit(&self, batch: Vec<Changeset>) -> Vec<Verdict> {
        let count = batch.len();
        let verdicts = self.store.commit(batch).await.expect("the store answers");
        assert_eq!(verdicts.len(), count, "one verdict each");
        verdicts
    }

    pub(crate) async fn verdict(&self, changes: Changeset) -> Verdict {
        self.commit(vec![changes]).await.remove(0)
    }

    pub(crate) async fn accept(&self, changes: Changeset) {
        assert_eq!(self.verdict(changes).await, Ok(()));
    }

    pub(crate) async fn accept_all(&self, batch: Vec<Changeset>) {
        for verdict in self.commit(batch).await {
            assert_eq!(verdict, Ok(()));
        }
    }

    pub(crate) async fn refuse(&self, changes: Changeset) -> Refusal {
        self.verdict(changes).await.expect_err("a refusal")
    }

    pub(crate) async fn insert(&self, record: impl Into<Record>, due_at: Option<Timestamp>) {
        self.accept(insert(record, due_at)).await;
    }

    pub(crate) async fn get(&self, keys: &[Key]) -> Vec<Option<Versioned<Record>>> {
        let found = observe::get(&*self.store, keys).await;
        assert_eq!(found.len(), keys.len(), "one answer for each key");
        found
    }

    pub(crate) async fn find(&self, key: &Key) -> Option<Versioned<Record>> {
        self.get(std::slice::from_ref(key)).await.remove(0)
    }

    /// What is certainly there.
    pub(crate) async fn read(&self, key: &Key) -> Versioned<Record> {
        self.find(key).await.unwrap_or_else(|| panic!("{key:?} is there"))
    }

    pub(crate) async fn list(&self, query: &Query) -> Listed<Versioned<Record>> {
        self.store.list(query).await.expect("the store answers")
    }

    /// A whole list, page by page.
    pub(crate) async fn whole(&self, list: List) -> Vec<Versioned<Record>> {
        observe::whole(&*self.store, list).await
    }

    pub(crate) async fn claim(&self, claim: &Claim) -> Vec<Versioned<Record>> {
        self.store.claim(claim).await.expect("the store answers")
    }

    pub(crate) async fn entries(&self, query: &Query) -> Listed<Entry> {
        self.store.entries(query).await.expect("the store answers")
    }

    /// All entries of a scope, oldest first.
    pub(crate) async fn ledger(&self, scope: Scope) -> Vec<Entry> {
        let mut entries = observe::ledger(&*self.store, scope).await;
        entries.reverse();
        entries
    }

    pub(crate) async fn balances(&self, scope: Scope) -> Vec<Balance> {
        self.store.balances(scope).await.expect("the store answers")
    }

    pub(crate) async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> CustomerStatistics {
        self.store.statistics(scope, customer).await.expect("the store answers")
    }

    pub(crate) async fn sight(&self, scope: Scope, keys: &[Key]) -> Sight {
        let mut all = Vec::new();
        for list in lists(scope) {
            all.push(self.whole(list).await);
        }
        Sight {
            records: self.get(keys).await,
            lists: all,
            entries: self.ledger(scope).await,
            balances: self.balances(scope).await,
        }
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("store", &self.store).finish_non_exhaustive()
    }
}

/// A changeset that inserts one record.
pub(crate) fn insert(record: impl Into<Record>, due_at: Option<Timestamp>) -> Changeset {
    let mut changes = Changeset::new();
    changes.insert(record, due_at);
    changes
}

/// A changeset that replaces one record at a version counted from 1.
pub(crate) fn update(record: impl Into<Record>, expected: u64) -> Changeset {
    update_due(record, expected, None)
}

/// A changeset that replaces one record at a version counted from 1, and says when it is due.
pub(crate) fn update_due(
    record: impl Into<Record>,
    expected: u64,
    due_at: Option<Timestamp>,
) -> Changeset {
    let (mut changes, record) = (Changeset::new(), record.into());
    let expected = nth(&record, expected);
    changes.update(record, expected, due_at);
    changes
}

/// A changeset that forgets a record at a version counted from 1.
pub(crate) fn forget(record: &IdempotencyRecord, expected: u64) -> Changeset {
    let mut changes = Changeset::new();
    let version = nth(&record.clone().into(), expected);
    changes.forget(&Versioned { value: record.clone(), version, due_at: None });
    changes
}

/// A version of a record, counted from 1.
pub(crate) fn nth(record: &Record, count: u64) -> u64 {
    record.first_version().saturating_add(count).saturating_sub(1)
}

/// So many milliseconds after some moment.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000).plus_millis(millis)
}

/// Claims up to `limit` of a kind at `now`, for a minute.
pub(crate) fn claim(kind: ClaimKind, now: Timestamp, limit: u16) -> Claim {
    Claim { kind, now, until: now.plus_seconds(60), limit, lanes: None }
}

/// Claims by lanes.
pub(crate) fn by_lanes(kind: ClaimKind, now: Timestamp, limit: u16, lanes: Lanes) -> Claim {
    Claim { lanes: Some(lanes), ..claim(kind, now, limit) }
}
