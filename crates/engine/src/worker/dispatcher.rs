//! Who may be attempted now: room per endpoint, per account and in all.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use cauri_core::{
    AccountId, Delivery, EndpointId, Event, Id, Lanes, Timestamp, TraceContext, Versioned,
};

use super::WorkerOptions;
use crate::mailbox::Place;

/// After so many failures in a row an endpoint gets one attempt at a time, until one succeeds.
const FAILURES_MAX: u32 = 32;

/// Of so many equal parts of the places, one is an account's share, and another is kept for those
/// accounts that hold less than theirs: receivers that take their time, of an account or two, must
/// not be all there is, and an attempt cannot be called off for whoever comes next.
const SHARES: usize = 4;

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
///
/// An account that holds its share of the places gets more of them only while nobody who holds less
/// has something to begin, and none of the last ones.
#[derive(Debug)]
pub(super) struct Dispatcher {
    lanes: HashMap<EndpointId, Lane>,
    /// Endpoints with something waiting, in the order in which they get their turn.
    turns: VecDeque<EndpointId>,
    /// The accounts that have something to do.
    accounts: HashMap<AccountId, Account>,
    in_flight: usize,
    attempts_max: usize,
    per_endpoint_max: u16,
    /// What an account may hold while others wait.
    share: usize,
    /// How many places there are for accounts that hold their share.
    common: usize,
}

#[derive(Debug, Default)]
struct Account {
    flying: usize,
    /// How many of its lanes have something waiting.
    queued: usize,
}

#[derive(Debug)]
struct Lane {
    account: AccountId,
    waiting: VecDeque<Waiting>,
    /// The commits whose events are under way: those of one commit go one after the other, so that
    /// a receiver that answers sees them in the order in which they were told.
    flying: Vec<u128>,
    failures: u32,
    queued: bool,
}

impl Lane {
    const fn of(account: AccountId) -> Self {
        Self { account, waiting: VecDeque::new(), flying: Vec::new(), failures: 0, queued: false }
    }

    /// Forgets what is nearly anybody's again, as far as it is in front.
    fn refresh(&mut self, now: Timestamp) {
        while self.waiting.front().is_some_and(|waiting| !is_fresh(waiting, now)) {
            self.waiting.pop_front();
        }
    }

    /// Which of what waits may be begun.
    fn ready(&self, per_endpoint_max: u16, now: Timestamp) -> Option<usize> {
        if self.flying.len() >= usize::from(self.cap(per_endpoint_max)) {
            return None;
        }
        let first = |(held, _): &Waiting| !self.flying.contains(&commit_of(&held.value));
        // Commits that took their time come behind others and have less left.
        self.waiting.iter().position(|waiting| first(waiting) && is_fresh(waiting, now))
    }

    const fn cap(&self, per_endpoint_max: u16) -> u16 {
        if self.failures >= FAILURES_MAX { 1 } else { per_endpoint_max }
    }
}

impl Dispatcher {
    pub(super) fn new(options: &WorkerOptions) -> Self {
        let attempts_max = options.attempts_max.max(1);
        let share = attempts_max / SHARES;
        Self {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            accounts: HashMap::new(),
            in_flight: 0,
            attempts_max,
            per_endpoint_max: options.attempts_per_endpoint_max.max(1),
            share: share.max(1),
            common: attempts_max.saturating_sub(share),
        }
    }

    /// Puts a delivery that is held into its lane.
    pub(super) fn push(&mut self, waiting: Waiting) {
        let (endpoint, account) = (waiting.0.value.endpoint, waiting.0.value.scope.account);
        let lane = self.lanes.entry(endpoint).or_insert_with(|| Lane::of(account));
        lane.waiting.push_back(waiting);
        if !lane.queued {
            lane.queued = true;
            self.turns.push_back(endpoint);
            let account = self.accounts.entry(account).or_default();
            account.queued = account.queued.saturating_add(1);
        }
    }

    /// The next delivery that there is room for; endpoints take turns, those of accounts that hold
    /// their share behind all others. One whose lease is nearly over is left to whoever claims it
    /// next.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<Waiting> {
        if self.in_flight >= self.attempts_max {
            return None;
        }
        let mut behind = None;
        let mut passed = 0_usize;
        for _ in 0..self.turns.len() {
            let endpoint = self.turns.pop_front()?;
            let Some(lane) = self.lanes.get_mut(&endpoint) else { continue };
            lane.refresh(now);
            if lane.waiting.is_empty() {
                lane.queued = false;
                let account = self.accounts.entry(lane.account).or_default();
                account.queued = account.queued.saturating_sub(1);
                self.tidy(endpoint);
                continue;
            }
            self.turns.push_back(endpoint);
            passed = passed.saturating_add(1);
            let Some(at) = lane.ready(self.per_endpoint_max, now) else { continue };
            let is_behind =
                self.accounts.get(&lane.account).is_some_and(|it| it.flying >= self.share);
            if is_behind && (behind.is_some() || self.in_flight >= self.common) {
                continue;
            }
            // Alone, it is behind nobody.
            if !is_behind || self.accounts.len() == 1 {
                return self.begin(endpoint, at);
            }
            behind = Some((endpoint, at, passed));
        }
        let (endpoint, at, passed) = behind?;
        // All have been passed, so that they stand as they did: it was this one's turn.
        self.turns.rotate_left(passed);
        self.begin(endpoint, at)
    }

    fn begin(&mut self, endpoint: EndpointId, at: usize) -> Option<Waiting> {
        let lane = self.lanes.get_mut(&endpoint)?;
        let waiting = lane.waiting.remove(at)?;
        lane.flying.push(commit_of(&waiting.0.value));
        let account = self.accounts.entry(lane.account).or_default();
        account.flying = account.flying.saturating_add(1);
        self.in_flight = self.in_flight.saturating_add(1);
        Some(waiting)
    }

    fn flying(&self, account: AccountId) -> usize {
        self.accounts.get(&account).map_or(0, |it| it.flying)
    }

    /// An attempt has ended. Was it received? `None` when it was not even made, which says nothing of
    /// the receiver.
    pub(super) fn landed(&mut self, endpoint: EndpointId, commit: u128, received: Option<bool>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(lane) = self.lanes.get_mut(&endpoint) {
            let account = self.accounts.entry(lane.account).or_default();
            account.flying = account.flying.saturating_sub(1);
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
        // Beyond their own shares, what an endpoint or an account keeps waiting takes no room of the
        // others.
        let mut waiting = HashMap::<AccountId, usize>::new();
        for lane in self.lanes.values() {
            let of_account = waiting.entry(lane.account).or_default();
            let of_lane = lane.waiting.len().min(usize::from(self.per_endpoint_max));
            *of_account = of_account.saturating_add(of_lane);
        }
        let waiting: usize = waiting
            .into_iter()
            .map(|(account, count)| count.min(self.share.saturating_sub(self.flying(account))))
            .sum();
        let room = self.attempts_max.saturating_sub(self.in_flight.saturating_add(waiting));
        let limit = u16::try_from(room).unwrap_or(u16::MAX);
        let held = self
            .lanes
            .iter()
            .map(|(endpoint, lane)| {
                let taken = self.per_endpoint_max.saturating_sub(lane.cap(self.per_endpoint_max));
                let waiting = u16::try_from(lane.waiting.len()).unwrap_or(u16::MAX);
                let flying = u16::try_from(lane.flying.len()).unwrap_or(u16::MAX);
                (
                    cauri_core::Lane::Endpoint(*endpoint),
                    flying.saturating_add(waiting).saturating_add(taken),
                )
            })
            .collect();
        (limit > 0).then_some((limit, Lanes { cap: self.per_endpoint_max, held }))
    }

    /// Everything that still waits, to be given back.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Versioned<Delivery>> {
        self.turns.clear();
        self.accounts.clear();
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
        let Some(lane) = self.lanes.get(&endpoint) else { return };
        let account = lane.account;
        if idle(lane) {
            self.lanes.remove(&endpoint);
        }
        if self.accounts.get(&account).is_some_and(|it| it.flying == 0 && it.queued == 0) {
            self.accounts.remove(&account);
        }
    }
}

/// Is it ours for long enough to begin?
fn is_fresh((held, _): &Waiting, now: Timestamp) -> bool {
    held.due_at.is_some_and(|until| until >= now.plus_millis(ATTEMPT_MS))
}

#[cfg(test)]
mod tests;
