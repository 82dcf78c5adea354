#[cfg(test)]
mod interleaved;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    hash::Hash,
};

use super::options::{GroupedOptions, Leave};

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
    /// Those of whom something waits or is on its way.
    lanes: HashMap<L, Lane<T>>,
    /// Every lane with somebody who waits, once, in the order of their turns.
    turns: VecDeque<L>,
    /// Changesets in all lanes.
    waiting: usize,
    /// Those of them in lanes of which nothing is on its way.
    apart: usize,
    in_flight: usize,
    /// How many of those are overdue.
    overdue: usize,
}

struct Lane<T> {
    calls: VecDeque<(usize, T)>,
    waiting: usize,
    /// How many batches on their way have calls of it.
    in_flight: usize,
}

impl<T> Lane<T> {
    const fn new() -> Self {
        Self { calls: VecDeque::new(), waiting: 0, in_flight: 0 }
    }
}

/// What leaves together, and the place in flight that it takes until it has
/// [landed](Queue::landed).
#[derive(Debug)]
#[must_use]
pub(super) struct Batch<L, T> {
    pub(super) slot: Slot<L>,
    pub(super) calls: Vec<T>,
}

/// A place in flight. There is one for each batch on its way, and no way to copy or to make one.
#[derive(Debug)]
#[must_use]
pub(super) struct Slot<L> {
    is_overdue: bool,
    /// Whose calls are on board, each once.
    lanes: HashSet<L>,
}

impl<L: Clone + Eq + Hash, T> Queue<L, T> {
    pub(super) fn new(options: GroupedOptions) -> Self {
        Self {
            options,
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            apart: 0,
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
    ) -> Result<Option<Batch<L, T>>, QueueFull> {
        self.admit(&lane, size)?;
        let lane = match self.lanes.entry(lane) {
            Entry::Occupied(known) if !known.get().calls.is_empty() => known.into_mut(),
            entry => {
                self.turns.push_back(entry.key().clone());
                entry.or_insert_with(Lane::new)
            }
        };
        lane.calls.push_back((size, call));
        lane.waiting += size;
        self.waiting += size;
        if lane.in_flight == 0 {
            self.apart += size;
        }
        Ok(self.take_batch())
    }

    /// Gives a place in flight back; answers the batch that takes it next.
    pub(super) fn landed(&mut self, slot: Slot<L>) -> Option<Batch<L, T>> {
        self.free(slot);
        self.take_batch()
    }

    /// A batch takes longer than those who wait should have to wait for it; answers the batch that
    /// leaves beside it, if one may.
    pub(super) fn overdue(&mut self, slot: &mut Slot<L>) -> Option<Batch<L, T>> {
        if !slot.is_overdue {
            slot.is_overdue = true;
            self.overdue += 1;
        }
        self.take_batch()
    }

    /// Gives a place in flight back where nobody can send the next batch. When no other batch is
    /// on its way either, nobody will come for those who wait: they are handed out, to be told.
    pub(super) fn abandoned(&mut self, slot: Slot<L>) -> Vec<T> {
        self.free(slot);
        if self.in_flight > 0 {
            return Vec::new();
        }
        self.turns.clear();
        (self.waiting, self.apart) = (0, 0);
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

    fn take_batch(&mut self) -> Option<Batch<L, T>> {
        let Self { waiting, apart, in_flight, overdue, .. } = *self;
        // Those who may not leave lose no turn: they are the first of the next batch.
        let staying = match self.options.leave(waiting, apart, in_flight, overdue) {
            Leave::Nobody => return None,
            Leave::Anybody => VecDeque::new(),
            Leave::Apart => {
                let turns = std::mem::take(&mut self.turns);
                let flies = |name: &L| self.lanes.get(name).is_some_and(|it| it.in_flight > 0);
                let (staying, going) = turns.into_iter().partition(flies);
                self.turns = going;
                staying
            }
        };
        let (mut calls, mut lanes) = (Vec::new(), HashSet::new());
        let mut left = self.options.batch_max;
        while let Some((size, call)) =
            self.next(&mut lanes, |size| calls.is_empty() || size <= left)
        {
            left = left.saturating_sub(size);
            calls.push(call);
        }
        for name in staying.into_iter().rev() {
            self.turns.push_front(name);
        }
        self.in_flight += 1;
        Some(Batch { slot: Slot { is_overdue: false, lanes }, calls })
    }

    /// Takes the first call of the lane whose turn it is, if it fits. Otherwise the lane keeps its
    /// turn, so that a large call is not passed over for ever.
    fn next(
        &mut self,
        on_board: &mut HashSet<L>,
        fits: impl FnOnce(usize) -> bool,
    ) -> Option<(usize, T)> {
        let name = self.turns.front()?;
        let lane = self.lanes.get_mut(name)?;
        let (size, call) = lane.calls.pop_front_if(|(size, _)| fits(*size))?;
        if on_board.insert(name.clone()) {
            if lane.in_flight == 0 {
                self.apart -= lane.waiting;
            }
            lane.in_flight += 1;
        }
        lane.waiting -= size;
        self.waiting -= size;
        if lane.calls.is_empty() {
            self.turns.pop_front();
        } else {
            self.turns.rotate_left(1);
        }
        Some((size, call))
    }

    fn free(&mut self, slot: Slot<L>) {
        self.in_flight -= 1;
        if slot.is_overdue {
            self.overdue -= 1;
        }
        for name in slot.lanes {
            let Entry::Occupied(mut lane) = self.lanes.entry(name) else { continue };
            lane.get_mut().in_flight -= 1;
            if lane.get().in_flight > 0 {
                continue;
            }
            self.apart += lane.get().waiting;
            if lane.get().calls.is_empty() {
                lane.remove();
            }
        }
    }
}
