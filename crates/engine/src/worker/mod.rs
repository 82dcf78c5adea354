//! The worker: everything that is due gets done.

mod attempt;
mod desk;
mod dispatcher;
pub(crate) mod order;
pub(crate) mod receiver;
mod run_loop;
mod unrecorded;

use cauri_core::{
    Claim, ClaimKind, Delivery, IdempotencyRecord, Lanes, Record, Timestamp, Versioned,
};
use futures_util::{StreamExt, stream};

use self::order::Whose;
use crate::{engine::Engine, error::Error, port::meter::Measured};

/// The shortest lease, in milliseconds: long enough to begin with what was claimed (which wants more
/// than all talk with a network may take), with some to spare for the claim itself.
const LEASE_MIN_MS: i64 = 15_000;

/// How many orders a tick claims of a kind, and how many of them of one lane.
const TICK_ORDERS: (u16, u16) = (100, 50);

/// How many idempotency records are purged in one batch.
const PURGED_AT_ONCE: usize = 500;

/// How the worker works.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkerOptions {
    /// How often the store is asked for what is due, in milliseconds; default 250. What this
    /// process commits itself is begun at once.
    pub period_ms: u64,
    /// For how long what is due is taken on, in milliseconds; default 20,000. Less than 15,000 counts
    /// as 15,000: a lease must outlast any attempt, or it is made twice.
    pub lease_ms: i64,
    /// How many orders are with their networks at once; default 512. A connection gets no more of
    /// these places than it leaves, so that others find some however many networks hang. What no
    /// network is asked about, such as what is settled, has as many places of its own.
    pub orders_max: usize,
    /// How many of them over one live connection; default 128. A network that hangs keeps so many
    /// and no more.
    pub orders_per_connection_max: usize,
    /// How many attempts are under way at once; default 256. An account that holds a quarter of them
    /// comes behind those that hold less, and the last quarter is for these alone.
    pub attempts_max: usize,
    /// How many of them to one endpoint; default 8.
    pub attempts_per_endpoint_max: u16,
    /// How long stopping may take, in milliseconds; default 9,000.
    pub stop_ms: u64,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            period_ms: 250,
            lease_ms: 20_000,
            orders_max: 512,
            orders_per_connection_max: 128,
            attempts_max: 256,
            attempts_per_endpoint_max: 8,
            stop_ms: 9_000,
        }
    }
}

/// What a tick did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Ticked {
    /// Orders that were submitted, asked about, expired or settled.
    pub orders: usize,
    /// Deliveries that were attempted or given up.
    pub deliveries: usize,
    /// Idempotency records that were purged.
    pub purged: usize,
}

impl Ticked {
    /// Was nothing due?
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.orders == 0 && self.deliveries == 0 && self.purged == 0
    }
}

/// Does what is due: submits orders to networks, asks about them, lets payments expire and settle,
/// delivers and retries webhooks, purges old idempotency records.
///
/// Any number of workers, in any number of processes, may run over one store: work is divided by
/// claims with leases. Each needs the gateway of every connection that live orders go over, for it
/// claims orders of all of them: what it cannot carry itself it puts off, and others wait so long.
#[derive(Debug, Clone)]
pub struct Worker {
    engine: Engine,
    options: WorkerOptions,
}

impl Worker {
    /// A worker of an engine.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self::with(engine, WorkerOptions::default())
    }

    /// A worker that works otherwise.
    #[must_use]
    pub const fn with(engine: Engine, options: WorkerOptions) -> Self {
        Self { engine, options }
    }

    /// Claims what is due now, does it, and answers when it is done. For tests, which bring their
    /// own clock, and for hosts with a schedule of their own.
    ///
    /// # Errors
    /// [`Error::Store`], the first of them, when what is due of some kind could not be claimed; what
    /// is due of the others is done all the same. What fails after that is logged and due again when
    /// its lease ends.
    pub async fn tick(&self) -> Result<Ticked, Error> {
        let mut ticked = Ticked::default();
        let mut failed = None;
        let mut count = |done: Result<usize, Error>| {
            done.unwrap_or_else(|error| {
                failed.get_or_insert(error);
                0
            })
        };
        for kind in [ClaimKind::Payments, ClaimKind::Payouts, ClaimKind::Refunds] {
            ticked.orders = ticked.orders.saturating_add(count(self.orders_due(kind).await));
        }
        ticked.deliveries = count(self.deliveries_due().await);
        // Last, because nobody waits for it.
        ticked.purged = count(self.purge().await);
        failed.map_or(Ok(ticked), Err)
    }

    async fn orders_due(&self, kind: ClaimKind) -> Result<usize, Error> {
        let (limit, cap) = TICK_ORDERS;
        let due = self.claim(kind, limit, Some(Lanes { cap, held: Vec::new() })).await?;
        let count = due.len();
        stream::iter(due)
            .for_each_concurrent(self.options.orders_max, |held| self.order(held, Whose::Claimed))
            .await;
        Ok(count)
    }

    async fn deliveries_due(&self) -> Result<usize, Error> {
        let lanes = Lanes { cap: 100, held: Vec::new() };
        let due = self.claim(ClaimKind::Deliveries, 100, Some(lanes)).await?;
        let count = due.len();
        stream::iter(due.into_iter().filter_map(Versioned::of::<Delivery>))
            .for_each_concurrent(self.options.attempts_max, async |held| {
                if let Some(attempted) = self.attempt(held, None, None).await {
                    self.record_alone(attempted).await;
                }
            })
            .await;
        Ok(count)
    }

    async fn claim(
        &self,
        kind: ClaimKind,
        limit: u16,
        lanes: Option<Lanes>,
    ) -> Result<Vec<Versioned<Record>>, Error> {
        let now = self.engine.now();
        let until = now.plus_millis(self.options.lease_ms.max(LEASE_MIN_MS));
        let claimed = self.engine.0.store.claim(&Claim { kind, now, until, limit, lanes }).await?;
        if let Some(meter) = self.engine.0.meter.as_ref().filter(|_| !claimed.is_empty()) {
            meter.measured(&Measured::Claimed { kind, count: claimed.len() });
        }
        Ok(claimed)
    }

    /// Forgets idempotency records whose time is over.
    async fn purge(&self) -> Result<usize, Error> {
        let mut changesets = Vec::new();
        let limit = u16::try_from(PURGED_AT_ONCE).unwrap_or(u16::MAX);
        for held in self.claim(ClaimKind::Idempotency, limit, None).await? {
            let Some(record) = held.of::<IdempotencyRecord>() else { continue };
            let mut changes = cauri_core::Changeset::new();
            changes.forget(&record);
            changesets.push(changes);
        }
        if changesets.is_empty() {
            return Ok(0);
        }
        // A key that was used anew in the meantime refuses to be forgotten, and rightly so.
        let verdicts = self.engine.0.store.commit(changesets).await?;
        Ok(verdicts.iter().filter(|verdict| verdict.is_ok()).count())
    }

    fn now(&self) -> Timestamp {
        self.engine.now()
    }
}
