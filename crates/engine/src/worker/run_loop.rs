//! The worker at work: one loop that hears of everything and waits for nothing.

use std::{
    collections::{HashMap, VecDeque},
    future::{Future, pending},
    time::Duration,
};

use cauri_core::{Changeset, ClaimKind, Delivery, EndpointId, Lane, Lanes, Record, Versioned};
use tokio::{
    task::{Id, JoinError, JoinSet},
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    PURGED_AT_ONCE, Worker,
    attempt::Attempted,
    desk::Desk,
    dispatcher::{Dispatcher, Known, Waiting, commit_of},
    order::Whose,
    unrecorded::Unrecorded,
};
use crate::{
    engine::Engine,
    error::Error,
    mailbox::{Held, Inbox, Made},
};

/// How often idempotency records are purged.
const PURGE_PERIOD: Duration = Duration::from_secs(60);

/// For how many attempts to look for more at once after a claim that has filled a lane.
const EAGER: u8 = 32;

/// How many changesets are given back at once: a full queue has no room for thousands.
const GIVEN_BACK_AT_ONCE: usize = 100;

/// How many orders are claimed at once.
const ORDERS_CLAIMED: u16 = 64;

/// How many claimed orders end before the store is asked for more of a backlog, where that fills its
/// lane: each claim is a question to it.
const ORDERS_ENDED: u16 = 32;

/// What a task of the loop came back with.
enum Done {
    Order,
    Attempt(Option<Attempted>),
    /// What could not be recorded together.
    Recorded(Vec<Attempted>),
    Orders {
        kind: ClaimKind,
        /// What there was room for.
        lanes: Lanes,
        claimed: Vec<Versioned<Record>>,
    },
    Deliveries {
        asked: u16,
        claimed: Vec<Versioned<Record>>,
    },
    Purged,
    GivenBack,
}

/// What a task is for, so that its slot is given back even when it panics.
enum Slot {
    /// One of a lane; was it claimed?
    Order(Lane, bool),
    Attempt(EndpointId, u128),
    /// Outcomes written down together, so many.
    Record(usize),
    /// One outcome, by itself.
    RecordAlone,
    ClaimOrders(ClaimKind),
    ClaimDeliveries,
    Purge,
    GiveBack,
}

struct Loop {
    worker: Worker,
    tasks: JoinSet<Done>,
    slots: HashMap<Id, Slot>,
    desk: Desk,
    dispatcher: Dispatcher,
    outcomes: Unrecorded<Attempted>,
    claiming_deliveries: bool,
    claiming_orders: Vec<ClaimKind>,
    /// Of which kinds there may be more due than the last claim had room for, the one that has
    /// waited longest first.
    more_orders: VecDeque<ClaimKind>,
    /// How many claimed orders have ended since the store was last asked for more of them.
    orders_ended: u16,
    /// Was the last claim of deliveries so full that there may be more?
    more_deliveries: bool,
    /// After how many more attempts to look at once for more of a backlog.
    eager: u8,
    /// Did the bell ring while claims were under way, which may have looked before?
    rung_meanwhile: bool,
}

impl Worker {
    /// Works until `shutdown` ends; then finishes what is under way, gives back what only waits, and
    /// returns.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let mut inbox = self.engine.0.mailbox.open();
        let stop = Duration::from_millis(self.options.stop_ms);
        let mut period = interval(Duration::from_millis(self.options.period_ms.max(1)));
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut purge = interval(PURGE_PERIOD);
        let engine = self.engine.clone();
        let mut this = Loop::new(self);
        tokio::pin!(shutdown);
        loop {
            // In this order, so that chance has no part in it. Nobody starves: a tick is rarer
            // than a turn, and the inbox is emptied after every one.
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                _ = period.tick() => this.claim_all(),
                _ = purge.tick() => this.purge(),
                () = rung(&engine) => this.heed(),
                Some(done) = this.tasks.join_next_with_id() => this.land(done),
                Some(held) = inbox.next() => this.hear(held),
            }
            // What came meanwhile goes along.
            while let Some(held) = inbox.try_next() {
                this.hear(held);
            }
            while let Some(done) = this.tasks.try_join_next_with_id() {
                this.land(done);
            }
            this.start();
        }
        this.stop(inbox, stop).await;
    }
}

impl Loop {
    fn new(worker: Worker) -> Self {
        Self {
            desk: Desk::new(&worker.options),
            dispatcher: Dispatcher::new(&worker.options),
            worker,
            tasks: JoinSet::new(),
            slots: HashMap::new(),
            outcomes: Unrecorded::new(),
            claiming_deliveries: false,
            claiming_orders: Vec::new(),
            more_orders: VecDeque::new(),
            orders_ended: 0,
            more_deliveries: false,
            eager: 0,
            rung_meanwhile: false,
        }
    }

    /// Takes on what this process just committed.
    fn hear(&mut self, held: Held) {
        let Held { what, trace, place } = held;
        match what {
            Made::Delivery(held, event) => {
                self.dispatcher.push((held, Some(Known { event, trace, place })));
            }
            order => {
                let mine = Whose::Mine(trace, place);
                self.desk.push((order.into_record(), mine));
            }
        }
    }

    /// Begins as many orders and attempts as there is room for.
    fn start(&mut self) {
        let now = self.worker.now();
        while let Some(((held, whose), lane)) = self.desk.next(now) {
            let worker = self.worker.clone();
            let claimed = matches!(whose, Whose::Claimed);
            self.spawn(Slot::Order(lane, claimed), async move {
                worker.order(held, whose).await;
                Done::Order
            });
        }
        while let Some(batch) = self.outcomes.next() {
            self.record(batch);
        }
        while self.outcomes.has_room()
            && let Some((held, known)) = self.dispatcher.next(now)
        {
            let worker = self.worker.clone();
            let (event, trace) = match known {
                Some(Known { event, trace, place: _begun }) => (Some(event), trace),
                None => (None, None),
            };
            let slot = Slot::Attempt(held.value.endpoint, commit_of(&held.value));
            self.spawn(
                slot,
                async move { Done::Attempt(worker.attempt(held, event, trace).await) },
            );
        }
        if self.more_deliveries {
            self.claim_deliveries();
        }
        // A backlog is worked off as fast as orders end, not as often as the period comes round.
        if self.orders_ended >= ORDERS_ENDED
            && self.desk.has_room_for(ORDERS_CLAIMED.into())
            && let Some(kind) = self.more_orders.pop_front()
        {
            self.more_orders.push_back(kind);
            self.orders_ended = 0;
            self.claim_orders(kind);
        }
    }

    /// Looks for what others have left, and once more when claims are under way that may have looked
    /// just before it was there.
    fn heed(&mut self) {
        self.rung_meanwhile = self.is_claiming();
        self.claim_all();
    }

    const fn is_claiming(&self) -> bool {
        self.claiming_deliveries || !self.claiming_orders.is_empty()
    }

    fn claim_all(&mut self) {
        for kind in [ClaimKind::Payments, ClaimKind::Payouts, ClaimKind::Refunds] {
            self.claim_orders(kind);
        }
        self.claim_deliveries();
    }

    fn claim_orders(&mut self, kind: ClaimKind) {
        if self.claiming_orders.contains(&kind) {
            return;
        }
        self.claiming_orders.push(kind);
        let lanes = self.desk.room();
        let worker = self.worker.clone();
        self.spawn(Slot::ClaimOrders(kind), async move {
            let claimed = told(worker.claim(kind, ORDERS_CLAIMED, Some(lanes.clone())).await);
            Done::Orders { kind, lanes, claimed }
        });
    }

    fn claim_deliveries(&mut self) {
        if self.claiming_deliveries {
            return;
        }
        let Some((limit, lanes)) = self.dispatcher.room() else { return };
        self.claiming_deliveries = true;
        self.more_deliveries = false;
        let worker = self.worker.clone();
        self.spawn(Slot::ClaimDeliveries, async move {
            let claimed = told(worker.claim(ClaimKind::Deliveries, limit, Some(lanes)).await);
            Done::Deliveries { asked: limit, claimed }
        });
    }

    fn purge(&mut self) {
        if self.slots.values().any(|slot| matches!(slot, Slot::Purge)) {
            return;
        }
        let worker = self.worker.clone();
        self.spawn(Slot::Purge, async move {
            loop {
                match worker.purge().await {
                    Ok(purged) if purged >= PURGED_AT_ONCE / 2 => {}
                    Ok(_) => break,
                    Err(error) => {
                        tracing::warn!(%error, "old idempotency records could not be purged");
                        break;
                    }
                }
            }
            Done::Purged
        });
    }

    /// Writes outcomes down, beside the attempts: the next one to the same receiver does not wait
    /// for it.
    fn record(&mut self, batch: Vec<Attempted>) {
        let worker = self.worker.clone();
        self.spawn(Slot::Record(batch.len()), async move {
            Done::Recorded(worker.record_together(batch).await)
        });
    }

    /// Writes an outcome down that could not be so with others. It may take as long as its lease, and
    /// keeps nobody waiting.
    fn record_alone(&mut self, attempted: Attempted) {
        self.outcomes.alone();
        let worker = self.worker.clone();
        self.spawn(Slot::RecordAlone, async move {
            worker.record_alone(attempted).await;
            Done::Recorded(Vec::new())
        });
    }

    fn spawn(&mut self, slot: Slot, task: impl Future<Output = Done> + Send + 'static) {
        // In a box, or the runtime would move all of it from one state of the task to the next.
        let handle = self.tasks.spawn(Box::pin(task));
        self.slots.insert(handle.id(), slot);
    }

    /// Takes back the slot of a task that ended, and goes on with what it brought.
    fn land(&mut self, ended: Result<(Id, Done), JoinError>) {
        let (id, done) = match ended {
            Ok((id, done)) => (id, Some(done)),
            Err(error) => {
                tracing::error!(%error, "a task of the worker panicked");
                (error.id(), None)
            }
        };
        match self.slots.remove(&id) {
            Some(Slot::Order(lane, claimed)) => {
                self.desk.landed(&lane);
                self.orders_ended = self.orders_ended.saturating_add(claimed.into());
            }
            Some(Slot::Attempt(endpoint, commit)) => {
                let received = match &done {
                    Some(Done::Attempt(Some(attempted))) => Some(attempted.received),
                    _ => None,
                };
                self.dispatcher.landed(endpoint, commit, received);
                if self.eager > 0 {
                    self.eager = self.eager.saturating_sub(1);
                    self.more_deliveries = true;
                }
            }
            Some(Slot::Record(count)) => self.outcomes.batch_ended(count),
            Some(Slot::RecordAlone) => self.outcomes.alone_ended(),
            Some(Slot::ClaimOrders(kind)) => self.claiming_orders.retain(|it| *it != kind),
            Some(Slot::ClaimDeliveries) => self.claiming_deliveries = false,
            Some(Slot::Purge | Slot::GiveBack) | None => {}
        }
        match done {
            Some(Done::Orders { kind, lanes, claimed }) => self.orders(kind, &lanes, claimed),
            Some(Done::Deliveries { asked, claimed }) => self.deliveries(asked, claimed),
            Some(Done::Attempt(Some(attempted))) => self.outcomes.push(attempted),
            Some(Done::Recorded(failed)) => {
                failed.into_iter().for_each(|it| self.record_alone(it));
            }
            Some(Done::Order | Done::Attempt(None) | Done::Purged | Done::GivenBack) | None => {}
        }
        if self.rung_meanwhile && !self.is_claiming() {
            self.rung_meanwhile = false;
            self.claim_all();
        }
    }

    fn orders(&mut self, kind: ClaimKind, lanes: &Lanes, claimed: Vec<Versioned<Record>>) {
        // There may be more behind what filled the claim, and behind what filled its lane; of that it
        // can only be had when orders have ended. A lane that had no room says nothing new.
        let is_full = claimed.len() >= usize::from(ORDERS_CLAIMED);
        let mut of_lane = HashMap::<Lane, u16>::new();
        for held in claimed {
            if let Some(lane) = held.value.lane() {
                let count = of_lane.entry(lane).or_default();
                *count = count.saturating_add(1);
            }
            self.desk.push((held, Whose::Claimed));
        }
        let has_filled = |(lane, count): (&Lane, &u16)| *count >= lanes.room(lane);
        let may_be_more = is_full || of_lane.iter().any(has_filled);
        if may_be_more && !self.more_orders.contains(&kind) {
            self.more_orders.push_back(kind);
        } else if !may_be_more && lanes.held.iter().all(|(_, held)| *held < lanes.cap) {
            self.more_orders.retain(|it| *it != kind);
        }
        if is_full {
            self.orders_ended = ORDERS_ENDED;
        }
    }

    fn deliveries(&mut self, asked: u16, claimed: Vec<Versioned<Record>>) {
        // A lane that was filled may have more behind it, for which there is room when attempts land.
        let mut of_endpoint = HashMap::<EndpointId, u16>::new();
        let cap = self.worker.options.attempts_per_endpoint_max;
        self.more_deliveries = claimed.len() >= usize::from(asked);
        for held in claimed.into_iter().filter_map(Versioned::of::<Delivery>) {
            let count = of_endpoint.entry(held.value.endpoint).or_default();
            *count = count.saturating_add(1);
            if *count >= cap {
                self.eager = EAGER;
            }
            self.dispatcher.push(Waiting::from((held, None)));
        }
    }

    /// Finishes what is under way and gives back what only waits, one beside the other: who waits is
    /// not kept waiting by the slowest attempt. What takes longer than it may is left to its leases.
    async fn stop(mut self, mut inbox: Inbox, within: Duration) {
        self.worker.engine.0.mailbox.close(&mut inbox);
        let mut waiting = Vec::new();
        while let Some(held) = inbox.try_next() {
            waiting.push(held.what.into_record());
        }
        waiting.extend(self.dispatcher.drain().map(|held| held.map(Record::from)));
        waiting.extend(self.desk.drain());
        self.give_back(waiting);
        // Nothing that was sent waits for what may hang.
        while let Some(batch) = self.outcomes.take() {
            self.record(batch);
        }
        let finish = async {
            while let Some(ended) = self.tasks.join_next().await {
                match ended {
                    Ok(Done::Orders { claimed, .. } | Done::Deliveries { claimed, .. }) => {
                        self.give_back(claimed);
                    }
                    Ok(Done::Attempt(Some(attempted))) => self.record_alone(attempted),
                    Ok(Done::Recorded(failed)) => {
                        failed.into_iter().for_each(|it| self.record_alone(it));
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        };
        if timeout(within, finish).await.is_err() {
            tracing::warn!("what was under way did not end in time; its leases will");
        }
    }

    /// Leaves what is held to whoever claims it next.
    fn give_back(&mut self, held: Vec<Versioned<Record>>) {
        if held.is_empty() {
            return;
        }
        let worker = self.worker.clone();
        self.spawn(Slot::GiveBack, async move {
            worker.give_back(held).await;
            Done::GivenBack
        });
    }
}

impl Worker {
    async fn give_back(&self, held: Vec<Versioned<Record>>) {
        let now = self.now();
        let mut back = held.into_iter().map(|held| {
            let mut changes = Changeset::new();
            changes.release(held, now);
            changes
        });
        loop {
            let batch: Vec<_> = back.by_ref().take(GIVEN_BACK_AT_ONCE).collect();
            let count = batch.len();
            if count == 0 {
                return;
            }
            if let Err(error) = self.engine.0.store.commit(batch).await {
                tracing::warn!(%error, count, "what was held could not be given back; its leases end");
            }
        }
    }
}

/// Waits until another process has left work to this one.
async fn rung(engine: &Engine) {
    match &engine.0.bell {
        Some(bell) => bell.rung().await,
        None => pending().await,
    }
}

fn told(claimed: Result<Vec<Versioned<Record>>, Error>) -> Vec<Versioned<Record>> {
    claimed.unwrap_or_else(|error| {
        tracing::warn!(%error, "what is due could not be claimed");
        Vec::new()
    })
}
