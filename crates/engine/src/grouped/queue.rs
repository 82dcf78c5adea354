#[cfg(test)]
mod interleaved;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

use super::options::GroupedOptions;

/// Why a call was not queued: too much waits already. The source of a
/// [`StoreError::Unavailable`](crate::StoreError::Unavailable).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} of {waiting_max} changesets wait, {own} of them of the same scope")]
#[non_exhaustive]
pub struct QueueFull {
    /// Changesets that wait.
    pub waiting: usize,
    /// How many may.
    pub waiting_max: usize,
    /// How many of those that wait are of the caller's scope.
    pub own: usize,
}

/// Who waits, and how many batches are on their way: no lock, no clock, no future, so that every
/// order of events can be tried. Whoever shares it puts it behind one mutex.
///
/// After every `push` and `landed`, nothing waits unless a batch is on its way, whose landing takes
/// it along.
pub(super) struct Queue<L, T> {
    options: GroupedOptions,
    /// Those who wait, by lane. No lane is empty.
    lanes: HashMap<L, Lane<T>>,
    /// Every lane once, in the order of their turns.
    turns: VecDeque<L>,
    /// Changesets in all lanes.
    waiting: usize,
    in_flight: usize,
    /// How many of those are overdue.
    overdue: usize,
}

struct Lane<T> {
    calls: VecDeque<(usize, T)>,
    waiting: usize,
}

/// What leaves together, and the place in flight that it takes until it has
/// [landed](Queue::landed).
#[derive(Debug)]
#[must_use]
pub(super) struct Batch<T> {
    pub(super) slot: Slot,
    pub(super) calls: Vec<T>,
}

/// A place in flight. There is one for each batch on its way, and no way to copy or to make one.
#[derive(Debug)]
#[must_use]
pub(super) struct Slot {
    is_overdue: bool,
}

impl<L: Clone + Eq + Hash, T> Queue<L, T> {
    pub(super) fn new(options: GroupedOptions) -> Self {
        Self {
            options,
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            in_flight: 0,
            overdue: 0,
        }
    }

    /// How many changesets wait.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many batches are on their way.
    pub(super) const fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Queues a call of so many changesets at the end of its lane; answers the batch that leaves
    /// at once, if one may.
    pub(super) fn push(
        &mut self,
        lane: L,
        size: usize,
        call: T,
    ) -> Result<Option<Batch<T>>, QueueFull> {
        self.admit(&lane, size)?;
        let lane = self.lanes.entry(lane).or_insert_with_key(|lane| {
            self.turns.push_back(lane.clone());
            Lane { calls: VecDeque::new(), waiting: 0 }
        });
        lane.calls.push_back((size, call));
        lane.waiting += size;
        self.waiting += size;
        Ok(self.take_batch())
    }

    /// Gives a place in flight back; answers the batch that takes it next.
    pub(super) fn landed(&mut self, slot: Slot) -> Option<Batch<T>> {
        self.free(slot);
        self.take_batch()
    }

    /// A batch takes longer than those who wait should have to wait for it; answers the batch that
    /// leaves beside it, if one may.
    pub(super) fn overdue(&mut self, slot: &mut Slot) -> Option<Batch<T>> {
        if !slot.is_overdue {
            slot.is_overdue = true;
            self.overdue += 1;
        }
        self.take_batch()
    }

    /// Gives a place in flight back where nobody can send the next batch. When no other batch is
    /// on its way either, nobody will come for those who wait: they are handed out, to be told.
    pub(super) fn abandoned(&mut self, slot: Slot) -> Vec<T> {
        self.free(slot);
        if self.in_flight > 0 {
            return Vec::new();
        }
        self.turns.clear();
        self.waiting = 0;
        let calls = self.lanes.drain().flat_map(|(_, lane)| lane.calls);
        calls.map(|(_, call)| call).collect()
    }

    /// A lane may hold as much as it leaves free, so that one lane takes at most half of the
    /// queue, and n lanes leave room for one more.
    fn admit(&self, lane: &L, size: usize) -> Result<(), QueueFull> {
        let Self { waiting, options: GroupedOptions { waiting_max, .. }, .. } = *self;
        let own = self.lanes.get(lane).map_or(0, |lane| lane.waiting);
        let free = waiting_max.saturating_sub(waiting);
        if waiting == 0 || own + size <= free {
            return Ok(());
        }
        Err(QueueFull { waiting, waiting_max, own })
    }

    fn take_batch(&mut self) -> Option<Batch<T>> {
        if !self.options.lets_go(self.waiting, self.in_flight, self.overdue) {
            return None;
        }
        let mut calls = Vec::new();
        let mut left = self.options.batch_max;
        while let Some((size, call)) = self.next(|size| calls.is_empty() || size <= left) {
            left = left.saturating_sub(size);
            calls.push(call);
        }
        self.in_flight += 1;
        Some(Batch { slot: Slot { is_overdue: false }, calls })
    }

    /// Takes the first call of the lane whose turn it is, if it fits. Otherwise the lane keeps its
    /// turn, so that a large call is not passed over for ever.
    fn next(&mut self, fits: impl FnOnce(usize) -> bool) -> Option<(usize, T)> {
        let name = self.turns.front()?;
        let lane = self.lanes.get_mut(name)?;
        let (size, call) = lane.calls.pop_front_if(|(size, _)| fits(*size))?;
        lane.waiting -= size;
        self.waiting -= size;
        if lane.calls.is_empty() {
            self.lanes.remove(name);
            self.turns.pop_front();
        } else {
            self.turns.rotate_left(1);
        }
        Some((size, call))
    }

    const fn free(&mut self, slot: Slot) {
        self.in_flight -= 1;
        if slot.is_overdue {
            self.overdue -= 1;
        }
    }
}
