//! Who may be attempted now: room per endpoint and in all.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use cauri_core::{Delivery, EndpointId, Event, Lanes, Timestamp, Versioned};

use super::WorkerOptions;

/// After so many failures in a row an endpoint gets one attempt at a time, until one succeeds.
const FAILURES_MAX: u32 = 32;

/// How long an attempt may still take after it began, in milliseconds: less of the lease than this
/// is too little to begin one.
const ATTEMPT_MS: i64 = 10_000;

/// A delivery that waits for room.
pub(super) type Waiting = (Versioned<Delivery>, Option<Arc<Event>>);

/// The lanes of a worker: one per endpoint that has something to do, so that a hanging receiver
/// delays nobody but itself.
#[derive(Debug)]
pub(super) struct Dispatcher {
    lanes: HashMap<EndpointId, Lane>,
    /// Endpoints with something waiting, in the order in which they get their turn.
    turns: VecDeque<EndpointId>,
    in_flight: usize,
    attempts_max: usize,
    per_endpoint_max: u16,
}

#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Waiting>,
    in_flight: u16,
    failures: u32,
    queued: bool,
}

impl Lane {
    const fn cap(&self, per_endpoint_max: u16) -> u16 {
        if self.failures >= FAILURES_MAX { 1 } else { per_endpoint_max }
    }
}

impl Dispatcher {
    pub(super) fn new(options: &WorkerOptions) -> Self {
        Self {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            in_flight: 0,
            attempts_max: options.attempts_max.max(1),
            per_endpoint_max: options.attempts_per_endpoint_max.max(1),
        }
    }

    /// Puts a delivery that is held into its lane.
    pub(super) fn push(&mut self, waiting: Waiting) {
        let endpoint = waiting.0.value.endpoint;
        let lane = self.lanes.entry(endpoint).or_default();
        lane.waiting.push_back(waiting);
        if !lane.queued {
            lane.queued = true;
            self.turns.push_back(endpoint);
        }
    }

    /// The next delivery that there is room for; endpoints take turns. One whose lease is nearly
    /// over is left to whoever claims it next.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<Waiting> {
        if self.in_flight >= self.attempts_max {
            return None;
        }
        for _ in 0..self.turns.len() {
            let endpoint = self.turns.pop_front()?;
            let Some(lane) = self.lanes.get_mut(&endpoint) else { continue };
            let fresh = |(held, _): &Waiting| {
                held.due_at.is_some_and(|until| until >= now.plus_millis(ATTEMPT_MS))
            };
            while lane.waiting.front().is_some_and(|waiting| !fresh(waiting)) {
                lane.waiting.pop_front();
            }
            if lane.waiting.is_empty() {
                lane.queued = false;
                self.tidy(endpoint);
                continue;
            }
            self.turns.push_back(endpoint);
            if lane.in_flight < lane.cap(self.per_endpoint_max) {
                lane.in_flight = lane.in_flight.saturating_add(1);
                self.in_flight = self.in_flight.saturating_add(1);
                return lane.waiting.pop_front();
            }
        }
        None
    }

    /// An attempt has ended.
    pub(super) fn landed(&mut self, endpoint: EndpointId, received: bool) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(lane) = self.lanes.get_mut(&endpoint) {
            lane.in_flight = lane.in_flight.saturating_sub(1);
            lane.failures = if received { 0 } else { lane.failures.saturating_add(1) };
        }
        self.tidy(endpoint);
    }

    /// What may be claimed beside what is held already; `None` when there is no room at all.
    pub(super) fn room(&self) -> Option<(u16, Lanes)> {
        let waiting: usize = self.lanes.values().map(|lane| lane.waiting.len()).sum();
        let room = self.attempts_max.saturating_sub(self.in_flight.saturating_add(waiting));
        let limit = u16::try_from(room).unwrap_or(u16::MAX);
        let held = self
            .lanes
            .iter()
            .map(|(endpoint, lane)| {
                let taken = self.per_endpoint_max.saturating_sub(lane.cap(self.per_endpoint_max));
                let waiting = u16::try_from(lane.waiting.len()).unwrap_or(u16::MAX);
                (*endpoint, lane.in_flight.saturating_add(waiting).saturating_add(taken))
            })
            .collect();
        (limit > 0).then_some((limit, Lanes { cap: self.per_endpoint_max, held }))
    }

    /// Everything that still waits, to be given back.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Versioned<Delivery>> {
        self.turns.clear();
        std::mem::take(&mut self.lanes)
            .into_values()
            .flat_map(|lane| lane.waiting)
            .map(|(held, _)| held)
    }

    fn tidy(&mut self, endpoint: EndpointId) {
        let idle = |lane: &Lane| {
            lane.in_flight == 0 && lane.waiting.is_empty() && !lane.queued && lane.failures == 0
        };
        if self.lanes.get(&endpoint).is_some_and(idle) {
            self.lanes.remove(&endpoint);
        }
    }
}
