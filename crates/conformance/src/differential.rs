//! Two stores, one history, equal answers.

use cauri::{
    Balance, Changeset, Claim, CustomerId, Entry, Key, Listed, Query, Record, Scope, Store,
    StoreError, Verdict, Versioned,
};

use crate::{
    fixtures::History,
    observe::{self, assert_same},
};

/// Plays a random history of so many steps to two stores and compares every answer: verdicts,
/// versions, moments, orders, totals. Both must be empty; nobody else may use them meanwhile.
///
/// # Panics
/// When two answers differ, or a store cannot answer. That the sums of a customer do not fit is an
/// answer.
pub async fn differential(left: &dyn Store, right: &dyn Store, seed: u64, steps: usize) {
    differential_of(left, right, History::new(seed), steps).await;
}

/// Plays so many steps of this history, as [`differential`] does.
///
/// # Panics
/// When two answers differ, or a store cannot answer. That the sums of a customer do not fit is an
/// answer.
pub async fn differential_of(
    left: &dyn Store,
    right: &dyn Store,
    mut history: History,
    steps: usize,
) {
    play(left, right, &mut history, steps).await;
    assert_same(left, right, &history).await;
}

/// Plays on.
pub(crate) async fn play(left: &dyn Store, right: &dyn Store, history: &mut History, steps: usize) {
    let both = Both { left, right };
    for step in 0..steps {
        match history.random().below(20) {
            0..=10 => {
                let batch = history.batch();
                let verdicts = both.commit(step, batch.clone()).await;
                history.learn(&batch, &verdicts);
            }
            11..=13 => {
                let held = both.claim(step, &history.claim()).await;
                let batch = history.hold(&held);
                let verdicts = both.commit(step, batch.clone()).await;
                history.learn(&batch, &verdicts);
            }
            14..=16 => both.list(step, &history.query()).await,
            17 => both.get(step, &history.some_keys()).await,
            18 => both.entries(step, &history.entry_query()).await,
            _ => {
                let scope = *history.scopes().first().expect("there are three");
                both.balances(step, scope).await;
                for (scope, customer) in history.customers() {
                    both.statistics(step, scope, customer).await;
                }
            }
        }
    }
}

/// Two stores that must answer alike.
struct Both<'a> {
    left: &'a dyn Store,
    right: &'a dyn Store,
}

impl Both<'_> {
    async fn commit(&self, step: usize, batch: Vec<Changeset>) -> Vec<Verdict> {
        let left = self.left.commit(batch.clone()).await;
        let right = self.right.commit(batch.clone()).await;
        same(step, &batch, left, right)
    }

    async fn claim(&self, step: usize, claim: &Claim) -> Vec<Versioned<Record>> {
        same(step, claim, self.left.claim(claim).await, self.right.claim(claim).await)
    }

    async fn list(&self, step: usize, query: &Query) {
        let left: Result<Listed<_>, _> = self.left.list(query).await;
        same(step, query, left, self.right.list(query).await);
    }

    async fn get(&self, step: usize, keys: &[Key]) {
        same(step, &keys, self.left.get(keys).await, self.right.get(keys).await);
    }

    async fn entries(&self, step: usize, query: &Query) {
        let left: Result<Listed<Entry>, _> = self.left.entries(query).await;
        same(step, query, left, self.right.entries(query).await);
    }

    async fn balances(&self, step: usize, scope: Scope) {
        let left: Result<Vec<Balance>, _> = self.left.balances(scope).await;
        same(step, &scope, left, self.right.balances(scope).await);
    }

    async fn statistics(&self, step: usize, scope: Scope, customer: CustomerId) {
        let left = observe::statistics(self.left, scope, customer).await;
        let right = observe::statistics(self.right, scope, customer).await;
        same(step, &(scope, customer), Ok(left), Ok(right));
    }
}

fn same<Q: std::fmt::Debug, T: std::fmt::Debug + PartialEq>(
    step: usize,
    asked: &Q,
    left: Result<T, StoreError>,
    right: Result<T, StoreError>,
) -> T {
    let left = left.expect("the first store answers");
    let right = right.expect("the second store answers");
    assert_eq!(left, right, "at step {step}, asked {asked:?}");
    left
}
