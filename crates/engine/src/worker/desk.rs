//! Which orders may be with their networks now: room for each connection and in all.

use std::collections::{HashMap, VecDeque};

use cauri_core::{Lane, Lanes, Record, Timestamp, Versioned};

use super::{
    WorkerOptions,
    order::{Whose, is_held},
};

/// An order that waits for room, and where it comes from.
pub(super) type Waiting = (Versioned<Record>, Whose);

/// The lanes of a worker's orders, one for each connection that has something to do, so that a
/// network that hangs delays no other. What no network is asked about has a lane of its own, with
/// room of its own: it never waits for anybody.
///
/// A connection has no more with its network than there are places left. So whatever hangs, there is
/// room for the others: of `max` places, `n` connections that take all they get leave one part in
/// `n + 1` free, and each of them has as much.
#[derive(Debug)]
pub(super) struct Desk {
    queues: HashMap<Lane, Queue>,
    /// Lanes with something waiting, in the order in which they get their turn.
    turns: VecDeque<Lane>,
    /// How many are with networks.
    busy: usize,
    max: usize,
    per_connection_max: usize,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    busy: usize,
    queued: bool,
}

impl Desk {
    pub(super) fn new(options: &WorkerOptions) -> Self {
        Self {
            queues: HashMap::new(),
            turns: VecDeque::new(),
            busy: 0,
            max: options.orders_max.max(1),
            per_connection_max: options.orders_per_connection_max.max(1),
        }
    }

    /// Puts an order that is held into its lane.
    pub(super) fn push(&mut self, (held, whose): Waiting) {
        let lane = held.value.lane().unwrap_or(Lane::Inside);
        let queue = self.queues.entry(lane.clone()).or_default();
        queue.waiting.push_back((held, whose));
        if !queue.queued {
            queue.queued = true;
            self.turns.push_back(lane);
        }
    }

    /// The next order that there is room for, and in which lane; lanes take turns. One that is not
    /// surely ours for long enough is left to whoever claims it: a commit may have taken until the
    /// hold was nearly over, and then somebody else may be about to submit it.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<(Waiting, Lane)> {
        for _ in 0..self.turns.len() {
            let lane = self.turns.pop_front()?;
            let cap = self.cap(&lane);
            let Some(queue) = self.queues.get_mut(&lane) else { continue };
            while queue.waiting.front().is_some_and(|(held, _)| !is_held(held.due_at, now)) {
                queue.waiting.pop_front();
            }
            if queue.waiting.is_empty() {
                queue.queued = false;
                self.tidy(&lane);
                continue;
            }
            self.turns.push_back(lane.clone());
            if queue.busy < cap {
                let waiting = queue.waiting.pop_front()?;
                queue.busy = queue.busy.saturating_add(1);
                if lane != Lane::Inside {
                    self.busy = self.busy.saturating_add(1);
                }
                return Some((waiting, lane));
            }
        }
        None
    }

    /// An order has been seen to.
    pub(super) fn landed(&mut self, lane: &Lane) {
        if *lane != Lane::Inside {
            self.busy = self.busy.saturating_sub(1);
        }
        if let Some(queue) = self.queues.get_mut(lane) {
            queue.busy = queue.busy.saturating_sub(1);
        }
        self.tidy(lane);
    }

    /// What may be claimed beside what is held already.
    pub(super) fn room(&self) -> Lanes {
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let held = self
            .queues
            .iter()
            .map(|(lane, queue)| {
                (lane.clone(), count(queue.busy.saturating_add(queue.waiting.len())))
            })
            .collect();
        Lanes { cap: count(self.per_connection_max.min(self.free().max(1))), held }
    }

    /// Is there room for so many more at networks? Half of all places are always enough.
    pub(super) fn has_room_for(&self, count: usize) -> bool {
        self.free() >= count.min(self.max / 2)
    }

    const fn free(&self) -> usize {
        self.max.saturating_sub(self.busy)
    }

    /// How many of a lane may be begun.
    fn cap(&self, lane: &Lane) -> usize {
        match lane {
            Lane::Connection(_) | Lane::Endpoint(_) => self.per_connection_max.min(self.free()),
            Lane::Inside => self.max,
        }
    }

    /// Everything that still waits, to be given back.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Versioned<Record>> {
        self.turns.clear();
        let queues = std::mem::take(&mut self.queues);
        queues.into_values().flat_map(|queue| queue.waiting).map(|(held, _)| held)
    }

    fn tidy(&mut self, lane: &Lane) {
        let is_idle = |queue: &Queue| queue.busy == 0 && !queue.queued;
        if self.queues.get(lane).is_some_and(is_idle) {
            self.queues.remove(lane);
        }
    }
}

#[cfg(test)]
mod tests;
