use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// What a [`Grouped`](crate::Grouped) store has done, and what waits. The counters only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GroupedStats {
    /// Batches sent to the store, parts of one that was cut in two included.
    pub batches: u64,
    /// Changesets in them.
    pub changesets: u64,
    /// Changesets in the largest.
    pub largest_batch: u64,
    /// Batches that were cut in two because the store was broken for the whole, or because somebody
    /// held rows of a part.
    pub halved: u64,
    /// Calls refused because the queue was full.
    pub refused: u64,
    /// Calls that left the queue, or never had to wait.
    pub calls: u64,
    /// How long these waited, in all.
    pub queue_time: Duration,
    /// How long the store took for the batches, in all.
    pub commit_time: Duration,
    /// Changesets that wait now.
    pub waiting: usize,
    /// Batches on their way now.
    pub in_flight: usize,
}

/// The counters. Each is right; read together, they may be of slightly different moments.
#[derive(Debug, Default)]
pub(super) struct Meter {
    batches: AtomicU64,
    changesets: AtomicU64,
    largest_batch: AtomicU64,
    halved: AtomicU64,
    refused: AtomicU64,
    calls: AtomicU64,
    queue_micros: AtomicU64,
    commit_micros: AtomicU64,
}

impl Meter {
    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    pub(super) fn halved(&self) {
        self.halved.fetch_add(1, Relaxed);
    }

    pub(super) fn left(&self, calls: usize, waited: Duration) {
        self.calls.fetch_add(number(calls), Relaxed);
        self.queue_micros.fetch_add(micros(waited), Relaxed);
    }

    pub(super) fn batch(&self, changesets: usize, took: Duration) {
        self.batches.fetch_add(1, Relaxed);
        self.changesets.fetch_add(number(changesets), Relaxed);
        self.largest_batch.fetch_max(number(changesets), Relaxed);
        self.commit_micros.fetch_add(micros(took), Relaxed);
    }

    pub(super) fn read(&self, waiting: usize, in_flight: usize) -> GroupedStats {
        let Self {
            batches,
            changesets,
            largest_batch,
            halved,
            refused,
            calls,
            queue_micros,
            commit_micros,
        } = self;
        GroupedStats {
            batches: batches.load(Relaxed),
            changesets: changesets.load(Relaxed),
            largest_batch: largest_batch.load(Relaxed),
            halved: halved.load(Relaxed),
            refused: refused.load(Relaxed),
            calls: calls.load(Relaxed),
            queue_time: Duration::from_micros(queue_micros.load(Relaxed)),
            commit_time: Duration::from_micros(commit_micros.load(Relaxed)),
            waiting,
            in_flight,
        }
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
