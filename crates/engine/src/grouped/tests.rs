mod histories;

use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cauri_core::{
    AccountId, ClaimKind, Environment, List, Refusal, Setting, Subscriptions, Timestamp, Write,
};
use futures_util::future::{join_all, poll_immediate};
use tokio::{sync::Semaphore, task::JoinHandle, time::advance};

use super::*;
use crate::port::store::{MockStore, ScopesHeld};

type Answer = Result<Vec<Verdict>, StoreError>;
type Script = fn(&[u64]) -> Result<(), StoreError>;

/// Holds every batch at its gate, then does what its script says; every verdict is a refusal that
/// names its changeset.
#[derive(Debug)]
struct Scripted {
    gate: Semaphore,
    script: Script,
    seen: Mutex<Vec<Vec<u64>>>,
    busy: AtomicUsize,
    peak: AtomicUsize,
}

impl Scripted {
    fn new(script: Script) -> Self {
        let (busy, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { gate: Semaphore::new(0), script, seen: Mutex::default(), busy, peak }
    }

    /// The batches that it was sent, by the names of their changesets.
    fn seen(&self) -> Vec<Vec<u64>> {
        self.seen.lock().unwrap().clone()
    }

    /// How many batches it ever held at once.
    fn peak(&self) -> usize {
        self.peak.load(SeqCst)
    }
}

struct Busy<'a>(&'a AtomicUsize);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[async_trait]
impl Store for Scripted {
    async fn commit(&self, batch: Vec<Changeset>) -> Answer {
        let names: Vec<_> = batch.iter().map(name).collect();
        self.seen.lock().unwrap().push(names.clone());
        self.peak.fetch_max(self.busy.fetch_add(1, SeqCst) + 1, SeqCst);
        let _busy = Busy(&self.busy);
        self.gate.acquire().await.unwrap().forget();
        (self.script)(&names)?;
        Ok(own_verdicts(&names))
    }

    async fn get(&self, _: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        unimplemented!("only commits are scripted")
    }

    async fn list(&self, _: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        unimplemented!("only commits are scripted")
    }

    async fn claim(&self, _: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        unimplemented!("only commits are scripted")
    }

    async fn entries(&self, _: &Query) -> Result<Listed<Entry>, StoreError> {
        unimplemented!("only commits are scripted")
    }

    async fn balances(&self, _: Scope) -> Result<Vec<Balance>, StoreError> {
        unimplemented!("only commits are scripted")
    }

    async fn statistics(&self, _: Scope, _: CustomerId) -> Result<CustomerStatistics, StoreError> {
        unimplemented!("only commits are scripted")
    }
}

fn scope(number: u8) -> Scope {
    let account: AccountId = format!("acct_01j9v8k3xw00000000000000{number:02}").parse().unwrap();
    Scope { account, environment: Environment::Live }
}

const INSTALLATION: u8 = 0;

/// A changeset of a scope, or of the installation, named by the version that it expects.
fn changeset(of: u8, name: u64) -> Changeset {
    let mut changeset = Changeset::new();
    if of == INSTALLATION {
        changeset.update(Setting { name: "limits".to_owned(), value: Vec::new() }, name, None);
    } else {
        changeset.update(Subscriptions { scope: scope(of), endpoints: Vec::new() }, name, None);
    }
    changeset
}

fn name(changeset: &Changeset) -> u64 {
    let [Write::Update { expected, .. }] = changeset.writes() else {
        panic!("not made by these tests")
    };
    *expected
}

fn own_verdicts(names: &[u64]) -> Vec<Verdict> {
    names.iter().map(|name| Err(Refusal::Stale(Key::Setting(name.to_string())))).collect()
}

fn fault_of(answer: &Answer) -> &'static str {
    match answer {
        Ok(_) => "none",
        Err(StoreError::Unavailable(_)) => "unavailable",
        Err(StoreError::Unknown(_)) => "unknown",
        Err(StoreError::Broken(_)) => "broken",
    }
}

/// Lets everybody else go as far as they can.
async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

fn closed(options: GroupedOptions, script: Script) -> Arc<Grouped<Scripted>> {
    Arc::new(Grouped::with(Scripted::new(script), options))
}

fn one_in_flight() -> GroupedOptions {
    GroupedOptions::default().in_flight_max(1)
}

/// Somebody who commits these, in a task of its own, and has gone as far as possible.
async fn caller(store: &Arc<Grouped<Scripted>>, of: u8, names: &[u64]) -> JoinHandle<Answer> {
    let store = Arc::clone(store);
    let batch = names.iter().map(|&name| changeset(of, name)).collect();
    let caller = tokio::spawn(async move { store.commit(batch).await });
    settle().await;
    caller
}

async fn callers(
    store: &Arc<Grouped<Scripted>>,
    of: u8,
    names: impl IntoIterator<Item = u64>,
) -> Vec<JoinHandle<Answer>> {
    let mut all = Vec::new();
    for name in names {
        all.push(caller(store, of, &[name]).await);
    }
    all
}

async fn open(store: &Grouped<Scripted>, batches: usize) {
    store.inner().gate.add_permits(batches);
    settle().await;
}

#[tokio::test]
async fn an_idle_store_is_committed_to_at_once() {
    let store = closed(GroupedOptions::default(), |_| Ok(()));
    store.inner().gate.add_permits(2);
    let mut commit = store.commit(vec![changeset(1, 7)]);
    let answer = poll_immediate(&mut commit).await.unwrap();
    assert_eq!(answer.unwrap(), own_verdicts(&[7]));
    assert_eq!(store.stats().in_flight, 0);
}

#[tokio::test]
async fn nothing_is_sent_for_nothing() {
    let store = closed(GroupedOptions::default(), |_| panic!("nobody asked"));
    assert_eq!(store.commit(Vec::new()).await.unwrap(), []);
    assert_eq!(store.stats(), GroupedStats::default());
}

#[tokio::test]
async fn callers_wait_exactly_while_a_commit_is_on_its_way() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let all = callers(&store, 1, 1..=4).await;
    assert_eq!(store.inner().seen(), [vec![1]]);
    assert_eq!(store.stats().waiting, 3);

    open(&store, 1).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 3, 4]]);
    let late = caller(&store, 1, &[5]).await;
    open(&store, 2).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 3, 4], vec![5]]);

    for (caller, name) in all.into_iter().chain([late]).zip(1..) {
        assert_eq!(caller.await.unwrap().unwrap(), own_verdicts(&[name]));
    }
    let stats = store.stats();
    assert_eq!((stats.batches, stats.changesets, stats.calls), (3, 5, 5));
    assert_eq!((stats.largest_batch, stats.waiting, stats.in_flight), (3, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_small_batch_waits_for_the_one_on_its_way_unless_that_is_overdue() {
    let store = closed(GroupedOptions::default(), |_| Ok(()));
    let all = callers(&store, 1, 1..=3).await;
    advance(Duration::from_millis(19)).await;
    settle().await;
    assert_eq!(store.inner().seen(), [vec![1]]);
    advance(Duration::from_millis(2)).await;
    settle().await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 3]]);
    open(&store, 2).await;
    assert_eq!(join_all(all).await.len(), 3);
    assert_eq!((store.stats().in_flight, store.stats().waiting), (0, 0));
}

#[tokio::test]
async fn two_batches_of_a_scope_are_on_their_way_and_a_third_only_of_others() {
    let store = closed(GroupedOptions::default().parallel_min(1), |_| Ok(()));
    let all = callers(&store, 1, 1..=5).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2]]);
    assert_eq!(store.stats().in_flight, 2);
    let other = caller(&store, 2, &[6]).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2], vec![6]]);
    assert_eq!((store.stats().in_flight, store.stats().waiting), (3, 3));
    open(&store, 10).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2], vec![6], vec![3, 4, 5]]);
    assert_eq!(store.inner().peak(), 3);
    assert_eq!(join_all(all.into_iter().chain([other])).await.len(), 6);
}

#[tokio::test]
async fn a_call_gets_its_own_verdicts_in_order() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let calls: [&[u64]; 4] = [&[1], &[2, 3, 4], &[5], &[6, 7]];
    let mut all = Vec::new();
    for names in calls {
        all.push(caller(&store, 1, names).await);
    }
    open(&store, 2).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 3, 4, 5, 6, 7]]);
    for (caller, names) in all.into_iter().zip(calls) {
        assert_eq!(caller.await.unwrap().unwrap(), own_verdicts(names));
    }
}

#[tokio::test]
async fn a_batch_is_at_the_limit_and_not_above() {
    let store = closed(one_in_flight().batch_max(3), |_| Ok(()));
    let all = callers(&store, 1, 1..=8).await;
    open(&store, 10).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 3, 4], vec![5, 6, 7], vec![8]]);
    assert_eq!(join_all(all).await.len(), 8);
}

#[tokio::test]
async fn a_call_above_the_limit_goes_alone() {
    let store = closed(one_in_flight().batch_max(3), |_| Ok(()));
    let calls: [&[u64]; 6] = [&[1], &[2], &[3, 4, 5, 6], &[7], &[8, 9], &[10]];
    let mut all = Vec::new();
    for names in calls {
        all.push(caller(&store, 1, names).await);
    }
    open(&store, 10).await;
    let seen = store.inner().seen();
    assert_eq!(seen, [vec![1], vec![2], vec![3, 4, 5, 6], vec![7, 8, 9], vec![10]]);
    for (caller, names) in all.into_iter().zip(calls) {
        assert_eq!(caller.await.unwrap().unwrap(), own_verdicts(names));
    }
}

#[tokio::test]
async fn a_scope_with_one_call_does_not_wait_for_one_with_thousands() {
    let store = closed(one_in_flight().batch_max(4), |_| Ok(()));
    let busy = callers(&store, 1, 1..=1_000).await;
    let modest = [caller(&store, 2, &[2_001]).await, caller(&store, INSTALLATION, &[3_001]).await];
    open(&store, 2).await;
    assert_eq!(store.inner().seen()[1..=2], [vec![2, 2_001, 3_001, 3], vec![4, 5, 6, 7]]);
    for caller in modest {
        assert!(caller.await.unwrap().is_ok());
    }
    open(&store, 1_000).await;
    let mut sent = store.inner().seen().concat();
    sent.retain(|name| *name <= 1_000);
    assert!(sent.is_sorted(), "the order of the scope is kept");
    assert_eq!(join_all(busy).await.len(), 1_000);
}

#[tokio::test]
async fn a_full_queue_refuses_before_it_queues() {
    let store = closed(one_in_flight().waiting_max(4), |_| Ok(()));
    let queued = callers(&store, 1, 1..=3).await;
    let refused = store.commit(vec![changeset(1, 4)]).await.unwrap_err();
    let StoreError::Unavailable(source) = refused else { panic!("{refused:?}") };
    let full = source.downcast_ref::<QueueFull>().unwrap();
    assert_eq!(*full, QueueFull { waiting: 2, waiting_max: 4, own: 2 });

    let other = caller(&store, 2, &[5]).await;
    open(&store, 10).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 5, 3]]);
    assert_eq!(store.stats().refused, 1);
    assert_eq!(join_all(queued).await.len(), 3);
    assert!(other.await.unwrap().is_ok());
    store.commit(vec![changeset(1, 6)]).await.unwrap();
}

#[tokio::test]
async fn a_caller_that_never_starts_sends_nothing() {
    let store = closed(GroupedOptions::default().parallel_min(1), |_| Ok(()));
    drop(store.commit(vec![changeset(1, 1)]));
    settle().await;
    assert_eq!(store.inner().seen(), [[0; 0]; 0]);
    assert_eq!(store.stats(), GroupedStats::default());
}

#[tokio::test]
async fn a_caller_that_goes_away_on_the_way_changes_nothing() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let mut leader = store.commit(vec![changeset(1, 1)]);
    assert!(poll_immediate(&mut leader).await.is_none());
    let rest = callers(&store, 1, 2..=3).await;
    drop(leader);
    open(&store, 1).await;

    rest[0].abort();
    settle().await;
    assert!(rest[0].is_finished());
    open(&store, 1).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 3]]);
    let [_, last] = <[_; 2]>::try_from(rest).unwrap();
    assert_eq!(last.await.unwrap().unwrap(), own_verdicts(&[3]));
    assert_eq!(store.stats().in_flight, 0);
}

#[tokio::test]
async fn a_caller_that_goes_away_in_the_queue_is_committed_all_the_same() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let first = caller(&store, 1, &[1]).await;
    let mut queued = store.commit(vec![changeset(1, 2)]);
    assert!(poll_immediate(&mut queued).await.is_none());
    let last = caller(&store, 1, &[3]).await;
    drop(queued);
    open(&store, 2).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 3]]);
    assert_eq!(first.await.unwrap().unwrap(), own_verdicts(&[1]));
    assert_eq!(last.await.unwrap().unwrap(), own_verdicts(&[3]));
}

#[tokio::test]
async fn a_caller_that_goes_away_with_its_answer_ready_leaves_no_trace() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let mut commit = store.commit(vec![changeset(1, 1)]);
    assert!(poll_immediate(&mut commit).await.is_none());
    open(&store, 1).await;
    drop(commit);
    assert_eq!((store.stats().batches, store.stats().in_flight), (1, 0));
}

#[tokio::test]
async fn a_caller_that_is_not_polled_holds_nobody_up() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let mut idle = store.commit(vec![changeset(1, 1)]);
    assert!(poll_immediate(&mut idle).await.is_none());
    store.inner().gate.add_permits(2);
    store.commit(vec![changeset(1, 2)]).await.unwrap();
    assert_eq!(idle.await.unwrap(), own_verdicts(&[1]));
}

#[tokio::test]
async fn everybody_in_the_batch_hears_of_an_outage_and_nobody_else() {
    let outage = |names: &[u64]| match names {
        [2, ..] => Err(StoreError::Unavailable("the database is away".into())),
        [4, ..] => Err(StoreError::Unknown("the line was cut".into())),
        _ => Ok(()),
    };
    let store = closed(one_in_flight().batch_max(2), outage);
    let all = callers(&store, 1, 1..=6).await;
    open(&store, 10).await;
    assert_eq!(store.inner().seen(), [vec![1], vec![2, 3], vec![4, 5], vec![6]]);
    let answers: Vec<_> = join_all(all).await.into_iter().map(Result::unwrap).collect();
    let faults: Vec<_> = answers.iter().map(fault_of).collect();
    assert_eq!(faults, ["none", "unavailable", "unavailable", "unknown", "unknown", "none"]);
    for answer in &answers[1..=2] {
        let source = answer.as_ref().unwrap_err().source().unwrap();
        assert_eq!(source.to_string(), "the database is away");
    }
}

#[tokio::test]
async fn what_breaks_the_store_fails_alone() {
    let poison = |names: &[u64]| {
        let broken = names.contains(&7).then(|| StoreError::Broken("seven".into()));
        broken.map_or(Ok(()), Err)
    };
    let store = closed(one_in_flight(), poison);
    let mut all = callers(&store, 1, 1..=5).await;
    all.push(caller(&store, 1, &[6, 7]).await);
    all.extend(callers(&store, 1, 8..=9).await);
    open(&store, 100).await;
    assert_eq!(
        store.inner().seen(),
        [
            vec![1],
            vec![2, 3, 4, 5, 6, 7, 8, 9],
            vec![2, 3, 4],
            vec![5, 6, 7, 8, 9],
            vec![5, 6, 7],
            vec![5],
            vec![6, 7],
            vec![8, 9],
        ],
    );
    let answers: Vec<_> = join_all(all).await.into_iter().map(Result::unwrap).collect();
    let faults: Vec<_> = answers.iter().map(fault_of).collect();
    assert_eq!(faults, ["none", "none", "none", "none", "none", "broken", "none", "none"]);
    assert_eq!(answers[7].as_ref().unwrap(), &own_verdicts(&[9]));
    assert_eq!((store.stats().halved, store.stats().in_flight), (3, 0));
}

#[tokio::test]
async fn whoever_has_to_wait_for_somebodys_rows_waits_alone() {
    // What is named from 20 on is of the second scope, whose rows somebody holds.
    let held = |names: &[u64]| {
        let held = names.iter().any(|name| *name >= 20);
        let why = ScopesHeld { scopes: vec![scope(2)] };
        if held { Err(StoreError::Unavailable(Box::new(why))) } else { Ok(()) }
    };
    let store = closed(one_in_flight(), held);
    let mut all = callers(&store, 1, 1..=3).await;
    all.push(caller(&store, 2, &[20]).await);
    all.push(caller(&store, INSTALLATION, &[4]).await);
    all.push(caller(&store, 1, &[5, 6]).await);
    all.push(caller(&store, 2, &[21, 22]).await);
    open(&store, 100).await;
    let parts = [vec![1], vec![2, 20, 4, 3, 21, 22, 5, 6], vec![2, 4, 3, 5, 6], vec![20, 21, 22]];
    assert_eq!(store.inner().seen(), parts);
    let answers: Vec<_> = join_all(all).await.into_iter().map(Result::unwrap).collect();
    let faults: Vec<_> = answers.iter().map(fault_of).collect();
    assert_eq!(
        faults,
        ["none", "none", "none", "unavailable", "none", "none", "unavailable"],
        "and nothing is cut in two for ever"
    );
    assert_eq!(answers[5].as_ref().unwrap(), &own_verdicts(&[5, 6]));
    assert_eq!((store.stats().halved, store.stats().in_flight), (1, 0));
}

#[tokio::test]
async fn a_store_that_panics_fails_its_batch_only() {
    let store = closed(one_in_flight(), |names| {
        assert!(!names.contains(&3), "three is too much");
        Ok(())
    });
    let mut all = callers(&store, 1, 1..=3).await;
    open(&store, 1).await;
    all.extend(callers(&store, 1, 4..=5).await);
    open(&store, 10).await;
    let answers: Vec<_> = join_all(all).await.into_iter().map(Result::unwrap).collect();
    let faults: Vec<_> = answers.iter().map(fault_of).collect();
    assert_eq!(faults, ["none", "unknown", "unknown", "none", "none"]);
    let source = answers[1].as_ref().unwrap_err().source().unwrap();
    assert_eq!(source.to_string(), "the store panicked: three is too much");
    assert_eq!(store.stats().in_flight, 0);
}

#[tokio::test]
async fn a_store_that_panics_at_once_fails_its_caller_only() {
    let mut inner = MockStore::new();
    inner.expect_commit().times(1).returning(|_| panic!("no"));
    inner.expect_commit().returning(|batch| Ok(vec![Ok(()); batch.len()]));
    let store = Grouped::with(inner, one_in_flight());
    let answer = store.commit(vec![changeset(1, 1)]).await;
    assert_eq!(fault_of(&answer), "unknown");
    assert_eq!(store.commit(vec![changeset(1, 2)]).await.unwrap(), [Ok(())]);
}

#[tokio::test]
async fn a_store_that_miscounts_is_not_believed() {
    let mut inner = MockStore::new();
    inner.expect_commit().returning(|_| Ok(vec![Ok(()); 2]));
    let store = Grouped::new(inner);
    let answer = store.commit(vec![changeset(1, 1)]).await;
    assert_eq!(fault_of(&answer), "unknown");
    let source = answer.as_ref().unwrap_err().source().unwrap();
    assert_eq!(source.to_string(), "the store gave 2 verdicts for 1 changesets");
    assert!(store.commit(vec![changeset(1, 1), changeset(1, 2)]).await.is_ok());
}

#[test]
fn nobody_is_left_waiting_when_the_runtime_ends() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let mut first = store.commit(vec![changeset(1, 1)]);
    let mut second = store.commit(vec![changeset(1, 2)]);
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let ending = runtime();
    ending.block_on(async {
        assert!(poll_immediate(&mut first).await.is_none());
        assert!(poll_immediate(&mut second).await.is_none());
    });
    drop(ending);
    runtime().block_on(async {
        assert_eq!(fault_of(&first.await), "unknown");
        assert_eq!(fault_of(&second.await), "unavailable");
        store.inner().gate.add_permits(1);
        assert!(store.commit(vec![changeset(1, 3)]).await.is_ok());
    });
}

#[tokio::test(start_paused = true)]
async fn time_in_the_queue_and_in_the_store_is_counted() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let all = callers(&store, 1, 1..=3).await;
    advance(Duration::from_millis(5)).await;
    open(&store, 1).await;
    advance(Duration::from_millis(7)).await;
    open(&store, 1).await;
    assert_eq!(join_all(all).await.len(), 3);
    let stats = store.stats();
    assert_eq!(stats.queue_time, Duration::from_millis(2 * 5));
    assert_eq!(stats.commit_time, Duration::from_millis(5 + 7));
}

#[tokio::test]
async fn reads_pass_through() {
    let mut inner = MockStore::new();
    let away = || StoreError::Unavailable("away".into());
    inner.expect_get().withf(|keys| keys.len() == 1).times(1).returning(move |_| Err(away()));
    inner.expect_list().times(1).returning(move |_| Err(away()));
    inner.expect_claim().times(1).returning(move |_| Err(away()));
    inner.expect_entries().times(1).returning(move |_| Err(away()));
    inner.expect_balances().times(1).returning(move |_| Err(away()));
    inner.expect_statistics().times(1).returning(move |_, _| Err(away()));
    let store = Grouped::new(inner);

    assert!(store.get(&[Key::Subscriptions(scope(1))]).await.is_err());
    let query = Query::all(List::Payments(scope(1)));
    assert!(store.list(&query).await.is_err());
    assert!(store.entries(&query).await.is_err());
    assert!(store.balances(scope(1)).await.is_err());
    assert!(
        store
            .statistics(scope(1), "cus_01j9v8k3xw0000000000000000".parse().unwrap())
            .await
            .is_err()
    );
    let until = Timestamp::from_millis(2);
    let now = Timestamp::from_millis(1);
    let claim = Claim { kind: ClaimKind::Payments, now, until, limit: 1, lanes: None };
    assert!(store.claim(&claim).await.is_err());
}

#[tokio::test]
async fn what_waits_is_not_shown() {
    let store = closed(one_in_flight(), |_| Ok(()));
    let all = callers(&store, 1, 1..=2).await;
    let text = format!("{store:?}");
    assert!(text.contains("waiting: 1") && !text.contains("Update"), "{text}");
    open(&store, 2).await;
    assert_eq!(join_all(all).await.len(), 2);
}

/// Two threads, a store that takes a few turns, callers that come and go.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_on_many_threads_hear_of_their_own() {
    let store = closed(GroupedOptions::default().batch_max(8).parallel_min(1), |_| Ok(()));
    store.inner().gate.add_permits(Semaphore::MAX_PERMITS / 2);
    let tasks = (0..16_u8).map(|task| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for turn in 0..200 {
                let name = u64::from(task) * 1_000 + turn;
                let mut commit = store.commit(vec![changeset(task % 4, name)]);
                if name % 7 == 0 {
                    drop(poll_immediate(&mut commit).await);
                } else {
                    assert_eq!(commit.await.unwrap(), own_verdicts(&[name]));
                }
            }
        })
    });
    for task in join_all(tasks).await {
        task.unwrap();
    }
    let stats = store.stats();
    assert!(stats.largest_batch <= 8 && store.inner().peak() <= 3);
}
