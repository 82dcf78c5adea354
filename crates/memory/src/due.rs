//! What waits for its moment.

use std::collections::{BTreeMap, BTreeSet, HashMap, btree_set};

use cauri::{Backlog, Claim, ClaimKind, Key, Lane, Record, Timestamp};

/// Everything that is due at some moment, a queue for each kind.
#[derive(Default)]
pub(crate) struct Dues {
    queues: BTreeMap<ClaimKind, Queue>,
}

/// A record and its moment; those of one moment go by their keys.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Timestamp,
    key: Key,
}

/// One kind, apart by lane, so that a lane that is full is passed over in one step however long it
/// is. `fronts` holds the first of every lane that has any.
#[derive(Default)]
struct Queue {
    lanes: HashMap<Option<Lane>, BTreeSet<Due>>,
    fronts: BTreeSet<(Due, Option<Lane>)>,
}

impl Dues {
    pub(crate) fn add(&mut self, record: &Record, due_at: Option<Timestamp>) {
        if let (Some((kind, lane)), Some(at)) = (place(record), due_at) {
            let due = Due { at, key: record.key() };
            self.queues.entry(kind).or_default().change(lane, |dues| dues.insert(due));
        }
    }

    pub(crate) fn remove(&mut self, record: &Record, due_at: Option<Timestamp>) {
        if let (Some((kind, lane)), Some(at)) = (place(record), due_at) {
            let due = Due { at, key: record.key() };
            self.queues.entry(kind).or_default().change(lane, |dues| dues.remove(&due));
        }
    }

    /// The oldest that are due, as many as are asked for and have room in their lane.
    pub(crate) fn oldest(&self, claim: &Claim) -> Vec<Key> {
        self.queues.get(&claim.kind).map(|queue| queue.oldest(claim)).unwrap_or_default()
    }

    /// How much is due by now.
    pub(crate) fn backlog(&self, kind: ClaimKind, now: Timestamp) -> Backlog {
        self.queues.get(&kind).map(|queue| queue.backlog(now)).unwrap_or_default()
    }
}

impl Queue {
    fn change(&mut self, lane: Option<Lane>, change: impl FnOnce(&mut BTreeSet<Due>) -> bool) {
        let dues = self.lanes.entry(lane.clone()).or_default();
        let before = dues.first().cloned();
        change(dues);
        let after = dues.first().cloned();
        if dues.is_empty() {
            self.lanes.remove(&lane);
        }
        if before != after {
            before.map(|due| self.fronts.remove(&(due, lane.clone())));
            after.map(|due| self.fronts.insert((due, lane)));
        }
    }

    fn backlog(&self, now: Timestamp) -> Backlog {
        let due = |due: &&Due| due.at <= now;
        let waiting = self.lanes.values().flat_map(|dues| dues.iter().take_while(due));
        let count = waiting.take(Backlog::MAX.into()).count();
        let oldest = self.fronts.first().map(|(due, _)| due.at).filter(|at| *at <= now);
        Backlog { count: u16::try_from(count).unwrap_or(Backlog::MAX), oldest }
    }

    /// Merges the lanes. One is only opened when its front is the oldest there is left.
    fn oldest(&self, claim: &Claim) -> Vec<Key> {
        let mut taken = Vec::new();
        let mut fronts = self.fronts.iter().peekable();
        let mut open = BTreeMap::<&Due, (btree_set::Iter<'_, Due>, u16)>::new();
        while taken.len() < usize::from(claim.limit) {
            while let Some((due, lane)) = fronts.next_if(|(due, _)| {
                due.at <= claim.now && open.first_key_value().is_none_or(|(first, _)| due < *first)
            }) {
                if let (Some(dues), room @ 1..) = (self.lanes.get(lane), room(claim, lane.as_ref()))
                {
                    let mut rest = dues.iter();
                    rest.next();
                    open.insert(due, (rest, room));
                }
            }
            let Some((due, (mut rest, room))) = open.pop_first() else { break };
            taken.push(due.key.clone());
            if let (Some(next), true) = (rest.next(), room > 1)
                && next.at <= claim.now
            {
                open.insert(next, (rest, room.saturating_sub(1)));
            }
        }
        taken
    }
}

fn room(claim: &Claim, lane: Option<&Lane>) -> u16 {
    match (&claim.lanes, lane) {
        (Some(lanes), Some(lane)) => lanes.room(lane),
        (None, _) | (_, None) => claim.limit,
    }
}

/// Where a record waits; `None` for kinds that nobody claims.
fn place(record: &Record) -> Option<(ClaimKind, Option<Lane>)> {
    let kind = match record {
        Record::Payment(_) => ClaimKind::Payments,
        Record::Payout(_) => ClaimKind::Payouts,
        Record::Refund(_) => ClaimKind::Refunds,
        Record::Delivery(_) => ClaimKind::Deliveries,
        Record::Idempotency(_) => ClaimKind::Idempotency,
        Record::Account(_)
        | Record::Setting(_)
        | Record::ApiKey(_)
        | Record::Customer(_)
        | Record::PaymentLink(_)
        | Record::TimelineEntry(_)
        | Record::WebhookEndpoint(_)
        | Record::Subscriptions(_)
        | Record::Event(_) => return None,
    };
    Some((kind, record.lane()))
}
