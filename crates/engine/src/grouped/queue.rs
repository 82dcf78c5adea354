#[cfg(test)]
mod interleaved;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    hash::Hash,
    mem,
};

use super::options::{GroupedOptions, Leave, SHARING_MAX};

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
/// it along. No lane is on board more than two batches.
pub(super) struct Queue<L, T> {
    options: GroupedOptions,
    /// Those of whom something waits or is on its way.
    lanes: HashMap<L, Lane<T>>,
    /// Every lane with somebody who waits, once, in the order of their turns.
    turns: VecDeque<L>,
    /// Changesets in all lanes.
    waiting: usize,
    /// Those of them in lanes that are [apart](Lane::is_apart).
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
    /// How many of those are overdue.
    overdue: usize,
}

impl<T> Lane<T> {
    const fn new() -> Self {
        Self { calls: VecDeque::new(), waiting: 0, in_flight: 0, overdue: 0 }
    }

    /// May it leave beside two batches? Nothing of it is on its way, or just one batch, which is not
    /// waited for any more. One that is on board two that are overdue is what holds them up: it
    /// would hold up a third.
    const fn is_apart(&self) -> bool {
        self.in_flight == self.overdue && self.overdue < SHARING_MAX
    }

    /// What it has of those that wait apart.
    const fn apart(&self) -> usize {
        if self.is_apart() { self.waiting } else { 0 }
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
        if lane.is_apart() {
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
            for name in &slot.lanes {
                let Some(lane) = self.lanes.get_mut(name) else { continue };
                // Before, it was on board of one that was not.
                lane.overdue += 1;
                self.apart += lane.apart();
            }
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
        let order = match self.options.leave(waiting, apart, in_flight, overdue) {
            Leave::Nobody => return None,
            Leave::Anybody => None,
            Leave::Apart => {
                let order = mem::take(&mut self.turns);
                let apart = |name: &&L| self.lanes.get(*name).is_some_and(Lane::is_apart);
                self.turns = order.iter().filter(apart).cloned().collect();
                Some(order)
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
        // Whoever had no turn keeps the place; whoever had one and has more to send goes behind.
        if let Some(mut order) = order {
            order.retain(|name| !lanes.contains(name));
            order.extend(self.turns.drain(..).filter(|name| lanes.contains(name)));
            self.turns = order;
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
            self.apart -= lane.apart();
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
            let Entry::Occupied(mut entry) = self.lanes.entry(name) else { continue };
            let lane = entry.get_mut();
            self.apart -= lane.apart();
            lane.in_flight -= 1;
            lane.overdue -= usize::from(slot.is_overdue);
            self.apart += lane.apart();
            if lane.in_flight == 0 && lane.calls.is_empty() {
                entry.remove();
            }
        }
    }
}
