//! Who may be attempted now: room per endpoint and in all.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use cauri_core::{Delivery, EndpointId, Event, Id, Lanes, Timestamp, TraceContext, Versioned};

use super::WorkerOptions;
use crate::mailbox::Place;

/// After so many failures in a row an endpoint gets one attempt at a time, until one succeeds.
const FAILURES_MAX: u32 = 32;

/// How many failing endpoints are remembered.
const REMEMBERED_MAX: usize = 4_096;

/// How long an attempt may still take after it began, in milliseconds: less of the lease than this
/// is too little to begin one.
const ATTEMPT_MS: i64 = 10_000;

/// A delivery that waits for room, with what is known of it where this process has just made it.
pub(super) type Waiting = (Versioned<Delivery>, Option<Known>);

/// The event of a delivery, and the trace that it is part of.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) event: Arc<Event>,
    pub(super) trace: Option<TraceContext>,
    /// Among what waits; free as soon as this is begun.
    pub(super) place: Place,
}

/// What events of one commit have in common: the time and tick of its ids.
pub(super) fn commit_of(held: &Delivery) -> u128 {
    held.event.uuid().as_u128() >> 64
}

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
    /// The commits whose events are under way: those of one commit go one after the other, so that
    /// a receiver that answers sees them in the order in which they were told.
    flying: Vec<u128>,
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
            if lane.flying.len() < usize::from(lane.cap(self.per_endpoint_max)) {
                let flying = &lane.flying;
                let first = |(held, _): &Waiting| !flying.contains(&commit_of(&held.value));
                // Commits that took their time come behind others and have less left.
                let fits = |waiting: &Waiting| first(waiting) && fresh(waiting);
                let Some(at) = lane.waiting.iter().position(fits) else { continue };
                let waiting = lane.waiting.remove(at)?;
                lane.flying.push(commit_of(&waiting.0.value));
                self.in_flight = self.in_flight.saturating_add(1);
                return Some(waiting);
            }
        }
        None
    }

    /// An attempt has ended. Was it received? `None` when it was not even made, which says nothing of
    /// the receiver.
    pub(super) fn landed(&mut self, endpoint: EndpointId, commit: u128, received: Option<bool>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(lane) = self.lanes.get_mut(&endpoint) {
            if let Some(at) = lane.flying.iter().position(|it| *it == commit) {
                lane.flying.swap_remove(at);
            }
            lane.failures = match received {
                Some(true) => 0,
                Some(false) => lane.failures.saturating_add(1),
                None => lane.failures,
            };
        }
        self.tidy(endpoint);
    }

    /// What may be claimed beside what is held already; `None` when there is no room at all.
    pub(super) fn room(&self) -> Option<(u16, Lanes)> {
        // Beyond its own share, what one endpoint keeps waiting takes no room of the others.
        let share = usize::from(self.per_endpoint_max);
        let waiting: usize = self.lanes.values().map(|lane| lane.waiting.len().min(share)).sum();
        let room = self.attempts_max.saturating_sub(self.in_flight.saturating_add(waiting));
        let limit = u16::try_from(room).unwrap_or(u16::MAX);
        let held = self
            .lanes
            .iter()
            .map(|(endpoint, lane)| {
                let taken = self.per_endpoint_max.saturating_sub(lane.cap(self.per_endpoint_max));
                let waiting = u16::try_from(lane.waiting.len()).unwrap_or(u16::MAX);
                let flying = u16::try_from(lane.flying.len()).unwrap_or(u16::MAX);
                (*endpoint, flying.saturating_add(waiting).saturating_add(taken))
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
        // How an endpoint fared is only remembered while there are not too many of them.
        let crowded = self.lanes.len() > REMEMBERED_MAX;
        let idle = |lane: &Lane| {
            lane.flying.is_empty()
                && lane.waiting.is_empty()
                && !lane.queued
                && (lane.failures == 0 || crowded)
        };
        if self.lanes.get(&endpoint).is_some_and(idle) {
            self.lanes.remove(&endpoint);
        }
    }
}

#[cfg(test)]
mod tests {
    use cauri_core::{DeliveryStatus, Env, Environment, EventKind, Scope, Tick};

    use super::*;

    struct Stage {
        tick: Tick,
        scope: Scope,
    }

    impl Stage {
        fn set() -> Self {
            let tick = Tick::first(Timestamp::EPOCH);
            let mut env = Env::new(Timestamp::EPOCH, tick, [1; 32]);
            let scope = Scope { account: env.id(), environment: Environment::Sandbox };
            Self { tick, scope }
        }

        /// So many deliveries of one commit to one endpoint.
        fn commit(&mut self, endpoint: EndpointId, count: usize) -> Vec<Waiting> {
            self.tick = self.tick.next();
            let mut env = Env::new(Timestamp::EPOCH, self.tick, [1; 32]);
            (0..count)
                .map(|_| {
                    let value = Delivery {
                        id: env.id(),
                        scope: self.scope,
                        endpoint,
                        event: env.id(),
                        event_kind: EventKind::PaymentCreated,
                        url: "https://shop.example.com/hooks".parse().unwrap(),
                        status: DeliveryStatus::Pending,
                        attempts: Vec::new(),
                        next_attempt_at: None,
                        ended_by: None,
                        test: false,
                        created_at: Timestamp::EPOCH,
                        completed_at: None,
                    };
                    let due_at = Some(Timestamp::EPOCH.plus_seconds(20));
                    (Versioned { value, version: 1, due_at }, None)
                })
                .collect()
        }

        fn endpoint(&mut self) -> EndpointId {
            self.tick = self.tick.next();
            Env::new(Timestamp::EPOCH, self.tick, [2; 32]).id()
        }
    }

    fn take(dispatcher: &mut Dispatcher, now: Timestamp) -> Vec<Delivery> {
        std::iter::from_fn(|| dispatcher.next(now)).map(|(held, _)| held.value).collect()
    }

    #[test]
    fn a_hanging_endpoint_leaves_the_others_their_room() {
        let mut stage = Stage::set();
        let (dead, healthy) = (stage.endpoint(), stage.endpoint());
        let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
        for _ in 0..500 {
            stage.commit(dead, 1).into_iter().for_each(|it| dispatcher.push(it));
        }
        stage.commit(healthy, 1).into_iter().for_each(|it| dispatcher.push(it));
        let begun = take(&mut dispatcher, Timestamp::EPOCH);
        assert_eq!(begun.iter().filter(|it| it.endpoint == dead).count(), 8);
        assert_eq!(begun.iter().filter(|it| it.endpoint == healthy).count(), 1);
        let (limit, lanes) =
            dispatcher.room().map_or((0, None), |(limit, lanes)| (limit, Some(lanes)));
        assert_eq!(limit, 256 - 9 - 8, "one endpoint takes its own share of the room, no more");
        let lanes = lanes.expect("there is room");
        assert_eq!((lanes.room(dead), lanes.room(healthy)), (0, 7));
    }

    #[test]
    fn events_of_one_commit_go_one_after_the_other() {
        let mut stage = Stage::set();
        let endpoint = stage.endpoint();
        let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
        let one = stage.commit(endpoint, 3);
        let order: Vec<_> = one.iter().map(|(held, _)| held.value.id).collect();
        one.into_iter().for_each(|it| dispatcher.push(it));
        stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
        let mut seen = Vec::new();
        let first = take(&mut dispatcher, Timestamp::EPOCH);
        assert_eq!(first.len(), 2, "another commit does not wait");
        seen.push(first[0].id);
        let mut last = first[0].clone();
        for _ in 0..2 {
            dispatcher.landed(endpoint, commit_of(&last), Some(true));
            let next = take(&mut dispatcher, Timestamp::EPOCH);
            assert_eq!(next.len(), 1);
            last = next[0].clone();
            seen.push(last.id);
        }
        assert_eq!(seen, order);
    }

    #[test]
    fn an_endpoint_that_keeps_failing_gets_one_attempt_at_a_time() {
        let mut stage = Stage::set();
        let endpoint = stage.endpoint();
        let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
        for _ in 0..100 {
            stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
        }
        for _ in 0..FAILURES_MAX {
            let begun = dispatcher.next(Timestamp::EPOCH).map(|(held, _)| commit_of(&held.value));
            dispatcher.landed(endpoint, begun.unwrap_or_default(), Some(false));
        }
        let begun = take(&mut dispatcher, Timestamp::EPOCH);
        assert_eq!(begun.len(), 1);
        dispatcher.landed(endpoint, commit_of(&begun[0]), Some(true));
        assert_eq!(take(&mut dispatcher, Timestamp::EPOCH).len(), 8);
    }

    #[test]
    fn what_is_nearly_anybodys_again_is_not_begun() {
        let mut stage = Stage::set();
        let endpoint = stage.endpoint();
        let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
        stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
        assert!(take(&mut dispatcher, Timestamp::EPOCH.plus_seconds(11)).is_empty());
        assert!(dispatcher.room().is_some_and(|(limit, _)| limit == 256), "nothing is held");
        // Nor from behind one that is ours for long enough, and has to wait for another.
        let long = Timestamp::EPOCH.plus_seconds(60);
        let first = stage.commit(endpoint, 2);
        let [mut one, mut other]: [Waiting; 2] = first.try_into().unwrap();
        (one.0.due_at, other.0.due_at) = (Some(long), Some(long));
        dispatcher.push(one);
        dispatcher.push(other);
        stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
        assert_eq!(take(&mut dispatcher, Timestamp::EPOCH.plus_seconds(11)).len(), 1);
    }
}
