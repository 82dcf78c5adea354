//! Outcomes of attempts on their way to the store.

use std::{mem, time::Duration};

use tokio::time::Instant;

/// How many outcomes may be not yet written down before no more attempts are made: what is sent and
/// not recorded is sent again if this process dies.
const ALL_MAX: usize = 512;

/// How many are written down at once at most. A row costs the database half of what it does in a
/// batch of a few dozen, and nobody waits for an outcome.
const BATCH_MAX: usize = 256;

/// How many such batches are under way at once.
const BATCHES_MAX: usize = 2;

/// How long outcomes wait for those that are being written down, to go together, rather than go
/// beside them: several times what a commit takes. One batch that hangs holds up no other.
const OVERDUE: Duration = Duration::from_millis(20);

/// What has happened and is not yet written down.
#[derive(Debug)]
pub(super) struct Unrecorded<T> {
    waiting: Vec<T>,
    /// How many are being written down.
    under_way: usize,
    /// In how many batches, of which the last began then.
    batches: usize,
    since: Instant,
}

impl<T> Unrecorded<T> {
    pub(super) fn new() -> Self {
        Self { waiting: Vec::new(), under_way: 0, batches: 0, since: Instant::now() }
    }

    /// May more happen?
    pub(super) const fn has_room(&self) -> bool {
        self.waiting.len().saturating_add(self.under_way) < ALL_MAX
    }

    pub(super) fn push(&mut self, outcome: T) {
        self.waiting.push(outcome);
    }

    /// What is to be written down together now. What comes while others are written down goes
    /// together after them.
    pub(super) fn next(&mut self) -> Option<Vec<T>> {
        let is_overdue = || self.since.elapsed() >= OVERDUE;
        let may = self.batches == 0 || (self.batches < BATCHES_MAX && is_overdue());
        if may { self.take() } else { None }
    }

    /// The same, whatever is under way.
    pub(super) fn take(&mut self) -> Option<Vec<T>> {
        let rest = self.waiting.split_off(self.waiting.len().min(BATCH_MAX));
        let batch = mem::replace(&mut self.waiting, rest);
        if batch.is_empty() {
            return None;
        }
        self.under_way = self.under_way.saturating_add(batch.len());
        self.batches = self.batches.saturating_add(1);
        self.since = Instant::now();
        Some(batch)
    }

    /// A batch of so many came back.
    pub(super) fn batch_ended(&mut self, count: usize) {
        self.batches = self.batches.saturating_sub(1);
        self.under_way = self.under_way.saturating_sub(count);
    }

    /// One that could not be written down with others is tried by itself: it may take as long as its
    /// lease, and keeps no batch waiting.
    pub(super) fn alone(&mut self) {
        self.under_way = self.under_way.saturating_add(1);
    }

    /// And came back.
    pub(super) fn alone_ended(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn with(outcomes: usize) -> Unrecorded<usize> {
        let mut unrecorded = Unrecorded::new();
        (0..outcomes).for_each(|it| unrecorded.push(it));
        unrecorded
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_meanwhile_goes_together() {
        let mut unrecorded = with(1);
        assert_eq!(unrecorded.next(), Some(vec![0]), "one alone goes at once");
        (1..=300).for_each(|it| unrecorded.push(it));
        assert_eq!(unrecorded.next(), None);
        unrecorded.batch_ended(1);
        assert_eq!(unrecorded.next(), Some((1..=256).collect()));
        unrecorded.batch_ended(256);
        assert_eq!(unrecorded.next(), Some((257..=300).collect()));
        unrecorded.batch_ended(44);
        assert_eq!(unrecorded.next(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn one_batch_that_hangs_holds_up_no_other() {
        let mut unrecorded = with(1);
        assert_eq!(unrecorded.next(), Some(vec![0]));
        unrecorded.push(1);
        advance(OVERDUE).await;
        assert_eq!(unrecorded.next(), Some(vec![1]), "beside the one that hangs");
        unrecorded.push(2);
        advance(OVERDUE).await;
        assert_eq!(unrecorded.next(), None, "beside two that hang");
        unrecorded.batch_ended(1);
        assert_eq!(unrecorded.next(), Some(vec![2]));
        unrecorded.push(3);
        assert_eq!(unrecorded.take(), Some(vec![3]), "at the end nothing waits");
        assert_eq!(unrecorded.take(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_written_down_is_bounded() {
        let mut unrecorded = with(511);
        assert!(unrecorded.has_room());
        unrecorded.push(511);
        assert!(!unrecorded.has_room());
        let batch = unrecorded.next().map(|batch| batch.len());
        assert!(!unrecorded.has_room(), "what is under way is not there yet");
        (0..10).for_each(|_| unrecorded.alone());
        unrecorded.batch_ended(batch.unwrap_or_default());
        assert!(unrecorded.has_room());
        (0..246).for_each(|it| unrecorded.push(it));
        assert!(!unrecorded.has_room(), "nor is what is tried by itself");
        (0..10).for_each(|_| unrecorded.alone_ended());
        assert!(unrecorded.has_room());
    }
}
