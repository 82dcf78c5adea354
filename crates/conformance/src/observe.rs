//! Everything that can be read.

use std::fmt::Debug;

use cauri::{
    CustomerId, CustomerStatistics, Entry, Key, List, Page, Query, Record, Scope, Store,
    StoreError, Versioned,
};

use crate::fixtures::History;

/// Asserts that two stores show the same of a history.
pub(crate) async fn assert_same(left: &dyn Store, right: &dyn Store, history: &History) {
    let keys = history.keys();
    for keys in keys.chunks(50) {
        let (left, right) = (get(left, keys).await, get(right, keys).await);
        for ((left, right), key) in left.iter().zip(&right).zip(keys) {
            assert_eq!(left, right, "of {key:?}");
        }
        assert_eq!((left.len(), right.len()), (keys.len(), keys.len()), "one answer for each key");
    }
    for list in history.lists() {
        assert_alike(&whole(left, list).await, &whole(right, list).await, &list);
    }
    for scope in history.scopes() {
        assert_alike(&ledger(left, *scope).await, &ledger(right, *scope).await, scope);
        let balances = (left.balances(*scope).await, right.balances(*scope).await);
        assert_eq!(balances.0.expect("balances"), balances.1.expect("balances"), "of {scope:?}");
    }
    for (scope, customer) in history.customers() {
        let left = statistics(left, scope, customer).await;
        assert_eq!(left, statistics(right, scope, customer).await, "of {customer:?} of {scope:?}");
    }
}

/// Tells the first difference only: all that differs would fill screens.
fn assert_alike<T: Debug + PartialEq>(left: &[T], right: &[T], of: &impl Debug) {
    for (at, (left, right)) in left.iter().zip(right).enumerate() {
        assert_eq!(left, right, "at {at} of {of:?}");
    }
    assert_eq!(left.len(), right.len(), "how many there are of {of:?}");
}

pub(crate) async fn get(store: &dyn Store, keys: &[Key]) -> Vec<Option<Versioned<Record>>> {
    store.get(keys).await.expect("the store answers")
}

/// What a customer's payments add up to; `None` when that does not fit into 64 bits.
pub(crate) async fn statistics(
    store: &dyn Store,
    scope: Scope,
    customer: CustomerId,
) -> Option<CustomerStatistics> {
    match store.statistics(scope, customer).await {
        Ok(sums) => Some(sums),
        Err(StoreError::Broken(_)) => None,
        Err(other) => panic!("the store answers, not {other}"),
    }
}

/// All records of a list, page by page.
pub(crate) async fn whole(store: &dyn Store, list: List) -> Vec<Versioned<Record>> {
    let mut all = Vec::new();
    loop {
        let query = Query::all(list).page(next(all.len()));
        let page = store.list(&query).await.expect("the store answers");
        if page.items.is_empty() {
            assert_eq!(i64::try_from(all.len()), Ok(page.total), "the total of {list:?}");
            return all;
        }
        all.extend(page.items);
    }
}

/// All entries of a scope, page by page, newest first.
pub(crate) async fn ledger(store: &dyn Store, scope: Scope) -> Vec<Entry> {
    let mut all = Vec::new();
    loop {
        let query = Query::all(List::Entries(scope)).page(next(all.len()));
        let page = store.entries(&query).await.expect("the store answers");
        if page.items.is_empty() {
            assert_eq!(i64::try_from(all.len()), Ok(page.total), "the total of the ledger");
            return all;
        }
        all.extend(page.items);
    }
}

fn next(offset: usize) -> Page {
    i64::try_from(offset)
        .ok()
        .and_then(|offset| Page::new(Page::LIMIT_MAX, offset))
        .expect("a page")
}
