use std::{
    future::{Future, poll_fn},
    mem,
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use cauri_core::{Changeset, Scope, Verdict};
use futures_util::FutureExt;
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};
use tracing::{Instrument, Span};

use super::{
    Shared,
    lost::Lost,
    queue::{Batch, Slot},
};
use crate::{
    port::store::{ScopesHeld, Store, StoreError},
    trace,
};

/// How long those who wait wait for a batch on its way, rather than go beside it: several times what
/// a commit takes.
const OVERDUE: Duration = Duration::from_millis(20);

type Answer = Result<Vec<Verdict>, StoreError>;

/// What one caller wants committed, and where it waits for the answer.
pub(super) struct Call {
    changesets: Vec<Changeset>,
    seat: oneshot::Sender<Answer>,
    since: Instant,
    /// What it is part of, where batches are told of.
    span: Span,
}

impl Call {
    pub(super) fn new(changesets: Vec<Changeset>, seat: oneshot::Sender<Answer>) -> Self {
        Self { changesets, seat, since: Instant::now(), span: trace::waiting() }
    }

    /// Nobody may be waiting any more, which is no reason not to have committed.
    fn answer(self, answer: Answer) {
        if let Err(Err(error)) = self.seat.send(answer) {
            tracing::warn!(%error, "a commit failed after its caller had gone away");
        }
    }
}

/// A batch on its way. However it ends, its place in flight is given back and its callers hear.
pub(super) struct Flight<S: Store> {
    shared: Arc<Shared<S>>,
    /// There until it has landed.
    slot: Option<Slot<Option<Scope>>>,
    calls: Vec<Call>,
}

impl<S: Store> Flight<S> {
    pub(super) fn new(shared: &Arc<Shared<S>>, batch: Batch<Option<Scope>, Call>) -> Self {
        let Batch { slot, calls } = batch;
        let now = Instant::now();
        let waited = calls.iter().map(|call| now.duration_since(call.since)).sum();
        shared.meter.left(calls.len(), waited);
        Self { shared: Arc::clone(shared), slot: Some(slot), calls }
    }

    /// Starts it in the task of its first caller, who thus pays for no other task when the store
    /// answers at once. What is not done by then goes on in a task of its own: a caller may be
    /// dropped, or simply not polled, and neither may keep others from their place in flight.
    pub(super) async fn start(self) {
        let mut flight = self.fly();
        let first = poll_fn(|context| Poll::Ready(flight.as_mut().poll(context))).await;
        if first.is_pending() {
            tokio::spawn(flight);
        }
    }

    /// Boxed, since the end of one flight starts the next.
    fn fly(mut self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            // The parts still to be sent, the first on top.
            let mut parts = vec![mem::take(&mut self.calls)];
            while let Some(part) = parts.pop() {
                if let Some((first, second)) = self.send(part).await {
                    parts.extend([second, first]);
                }
            }
            self.land();
        })
    }

    /// Sends some of the calls and answers them; or hands them back in two parts, when the store is
    /// broken for them all together, or cannot take some of them while somebody holds their rows.
    async fn send(&mut self, mut calls: Vec<Call>) -> Option<(Vec<Call>, Vec<Call>)> {
        let sizes: Vec<_> = calls.iter().map(|call| call.changesets.len()).collect();
        let changesets = match calls.as_mut_slice() {
            [call] => mem::take(&mut call.changesets),
            calls => calls.iter().flat_map(|call| &call.changesets).cloned().collect(),
        };
        let span = trace::batch(changesets.len(), calls.iter().map(|call| &call.span));
        match self.commit(changesets).instrument(span).await {
            Ok(mut verdicts) => {
                for (call, size) in calls.into_iter().zip(sizes).rev() {
                    let own = verdicts.split_off(verdicts.len().saturating_sub(size));
                    call.answer(Ok(own));
                }
            }
            Err(StoreError::Broken(_)) if calls.len() > 1 => {
                self.shared.meter.halved();
                let second = calls.split_off(calls.len() / 2);
                return Some((calls, second));
            }
            Err(error) => {
                let (calls, held) = part(calls, &error);
                if !held.is_empty() {
                    self.shared.meter.halved();
                    return Some((calls, held));
                }
                let count = calls.len();
                for (call, error) in calls.into_iter().zip(copies(error, count)) {
                    call.answer(Err(error));
                }
            }
        }
        None
    }

    /// One verdict for each changeset, or an error, whatever the store does.
    async fn commit(&mut self, changesets: Vec<Changeset>) -> Answer {
        let asked = changesets.len();
        let started = Instant::now();
        let shared = Arc::clone(&self.shared);
        let store = &shared.store;
        // Nothing of ours is changed in there, and a store that has panicked must see to itself.
        let answer = AssertUnwindSafe(async { store.commit(changesets).await }).catch_unwind();
        let mut answer = pin!(answer);
        let answer = match timeout(OVERDUE, &mut answer).await {
            Ok(answer) => answer,
            Err(_) => {
                self.overdue();
                answer.await
            }
        };
        self.shared.meter.batch(asked, started.elapsed());
        match answer {
            Ok(Ok(verdicts)) if verdicts.len() == asked => Ok(verdicts),
            Ok(Ok(verdicts)) => Err(Lost::Miscounted { asked, given: verdicts.len() }.into()),
            Ok(Err(error)) => Err(error),
            Err(payload) => Err(Lost::panicked(&*payload).into()),
        }
    }

    /// Lets those who wait go on beside it.
    fn overdue(&mut self) {
        let Some(slot) = &mut self.slot else { return };
        let next = self.shared.queue().overdue(slot);
        if let Some(batch) = next {
            tokio::spawn(Self::new(&self.shared, batch).fly());
        }
    }

    fn land(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        let next = self.shared.queue().landed(slot);
        if let Some(batch) = next {
            tokio::spawn(Self::new(&self.shared, batch).fly());
        }
    }
}

impl<S: Store> Drop for Flight<S> {
    /// On the way, only the end of the runtime drops it: there is nowhere to start the next one.
    /// Its own callers hear by their seats being dropped.
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        let stranded = self.shared.queue().abandoned(slot);
        for call in stranded {
            call.answer(Err(Lost::InTheQueue.into()));
        }
    }
}

/// Those whose rows nobody holds, and those that have to wait for somebody; the second are none when
/// there is nobody to be spared the waiting.
fn part(calls: Vec<Call>, error: &StoreError) -> (Vec<Call>, Vec<Call>) {
    let StoreError::Unavailable(source) = error else { return (calls, Vec::new()) };
    let Some(ScopesHeld { scopes }) = source.downcast_ref() else { return (calls, Vec::new()) };
    let waits = |call: &Call| {
        call.changesets.iter().filter_map(Changeset::scope).any(|scope| scopes.contains(&scope))
    };
    let (held, free): (Vec<_>, Vec<_>) = calls.into_iter().partition(waits);
    if free.is_empty() { (held, free) } else { (free, held) }
}

/// The same error for each: as it is for one, its source shared for several.
fn copies(error: StoreError, count: usize) -> Vec<StoreError> {
    if count == 1 {
        return vec![error];
    }
    let (make, source): (fn(_) -> _, _) = match error {
        StoreError::Unavailable(source) => (StoreError::Unavailable, source),
        StoreError::Unknown(source) => (StoreError::Unknown, source),
        StoreError::Broken(source) => (StoreError::Broken, source),
    };
    let source: Arc<dyn std::error::Error + Send + Sync> = Arc::from(source);
    (0..count).map(|_| make(Box::new(Arc::clone(&source)))).collect()
}
