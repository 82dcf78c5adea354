//! Which orders may be with their networks now: room for each connection and in all.

use std::collections::{HashMap, VecDeque};

use cauri_core::{Connection, Environment, Record, Timestamp, Versioned};

use super::{
    WorkerOptions,
    order::{Whose, is_held},
};

/// An order that waits for room, and where it comes from.
pub(super) type Waiting = (Versioned<Record>, Whose);

/// The lanes of a worker's orders, one for each connection that has something to do, so that a
/// network that hangs delays no other. What no network is asked about has a lane of its own.
#[derive(Debug)]
pub(super) struct Desk {
    lanes: HashMap<Option<Connection>, Lane>,
    /// Lanes with something waiting, in the order in which they get their turn.
    turns: VecDeque<Option<Connection>>,
    busy: usize,
    max: usize,
    per_connection_max: usize,
}

#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Waiting>,
    busy: usize,
    queued: bool,
}

impl Desk {
    pub(super) fn new(options: &WorkerOptions) -> Self {
        Self {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            busy: 0,
            max: options.orders_max.max(1),
            per_connection_max: options.orders_per_connection_max.max(1),
        }
    }

    /// Puts an order that is held into its lane. One that was claimed for a lane that is full of
    /// waiting orders is left to its lease: a connection that hangs must not fill the memory. Answers
    /// whether it was put there.
    pub(super) fn push(&mut self, (held, whose): Waiting, now: Timestamp) -> bool {
        let connection = asked(&held.value, now);
        let lane = self.lanes.entry(connection.clone()).or_default();
        let is_full = lane.waiting.len() >= self.per_connection_max;
        if is_full && connection.is_some() && matches!(whose, Whose::Claimed) {
            return false;
        }
        lane.waiting.push_back((held, whose));
        if !lane.queued {
            lane.queued = true;
            self.turns.push_back(connection);
        }
        true
    }

    /// The next order that there is room for, and in which lane; lanes take turns. One that is not
    /// surely ours for long enough is left to whoever claims it: a commit may have taken until the
    /// hold was nearly over, and then somebody else may be about to submit it.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<(Waiting, Option<Connection>)> {
        if self.busy >= self.max {
            return None;
        }
        for _ in 0..self.turns.len() {
            let connection = self.turns.pop_front()?;
            let Some(lane) = self.lanes.get_mut(&connection) else { continue };
            while lane.waiting.front().is_some_and(|(held, _)| !is_held(held.due_at, now)) {
                lane.waiting.pop_front();
            }
            let cap = if connection.is_some() { self.per_connection_max } else { self.max };
            if lane.waiting.is_empty() {
                lane.queued = false;
                self.tidy(&connection);
                continue;
            }
            self.turns.push_back(connection.clone());
            if lane.busy < cap {
                let waiting = lane.waiting.pop_front()?;
                lane.busy = lane.busy.saturating_add(1);
                self.busy = self.busy.saturating_add(1);
                return Some((waiting, connection));
            }
        }
        None
    }

    /// An order has been seen to.
    pub(super) fn landed(&mut self, connection: &Option<Connection>) {
        self.busy = self.busy.saturating_sub(1);
        if let Some(lane) = self.lanes.get_mut(connection) {
            lane.busy = lane.busy.saturating_sub(1);
        }
        self.tidy(connection);
    }

    /// How many more may be begun.
    pub(super) const fn room(&self) -> usize {
        self.max.saturating_sub(self.busy)
    }

    /// Is there room for so many that it is worth a question to the store?
    pub(super) const fn is_half_free(&self) -> bool {
        self.busy <= self.max / 2
    }

    /// Everything that still waits, to be given back.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Versioned<Record>> {
        self.turns.clear();
        let lanes = std::mem::take(&mut self.lanes);
        lanes.into_values().flat_map(|lane| lane.waiting).map(|(held, _)| held)
    }

    fn tidy(&mut self, connection: &Option<Connection>) {
        let is_idle = |lane: &Lane| lane.busy == 0 && !lane.queued;
        if self.lanes.get(connection).is_some_and(is_idle) {
            self.lanes.remove(connection);
        }
    }
}

/// The connection whose network is talked to about an order; `None` when it is the simulator, or
/// when a payment only has to be settled.
fn asked(order: &Record, now: Timestamp) -> Option<Connection> {
    let (scope, connection) = match order {
        Record::Payment(it) if it.is_unsettled() && it.available_at.is_some_and(|at| at <= now) => {
            return None;
        }
        Record::Payment(it) => (it.scope, &it.connection),
        Record::Payout(it) => (it.scope, &it.connection),
        Record::Refund(it) => (it.scope, &it.connection),
        _ => return None,
    };
    (scope.environment == Environment::Live).then(|| connection.clone())
}
