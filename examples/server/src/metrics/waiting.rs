//! What is due and nobody has taken on: asked of the store when somebody wants to know.

use std::{sync::Arc, time::Duration};

use cauri::{Backlog, ClaimKind, Engine};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

use super::counts::work;
use crate::store::Opened;

/// Everything that can be due.
const KINDS: [ClaimKind; 5] = [
    ClaimKind::Payments,
    ClaimKind::Payouts,
    ClaimKind::Refunds,
    ClaimKind::Deliveries,
    ClaimKind::Idempotency,
];

/// For how long an answer is good enough: whoever asks more often asks nothing of the store.
const FRESH: Duration = Duration::from_secs(1);

/// How soon the store has to answer; numbers of the rest are told without it.
const PATIENCE: Duration = Duration::from_secs(1);

/// How much is due, and for how long the oldest.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    engine: Engine,
    store: Opened,
    asked: Arc<Mutex<Option<Instant>>>,
    count: Family<Due, Gauge>,
    age: Family<Due, Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Due {
    work: &'static str,
}

impl Waiting {
    pub(super) fn new(engine: Engine, store: Opened) -> Self {
        let (count, age) = (Family::default(), Family::default());
        Self { engine, store, asked: Arc::default(), count, age }
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Records that are due and not taken on, counted up to 1000";
        registry.register("due", help, self.count.clone());
        let help = "For how long the oldest of them has been due";
        registry.register_with_unit("due_oldest_age", help, Unit::Seconds, self.age.clone());
    }

    /// Asks the store. What it does not answer is not told.
    pub(super) async fn ask(&self) {
        // Whoever comes meanwhile is told what was true a moment ago.
        let Ok(mut asked) = self.asked.try_lock() else { return };
        if asked.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        let answered = timeout(PATIENCE, self.ask_all()).await.unwrap_or(false);
        if !answered {
            self.count.clear();
            self.age.clear();
        }
        *asked = Some(Instant::now());
    }

    async fn ask_all(&self) -> bool {
        let now = self.engine.now();
        for kind in KINDS {
            let Backlog { count, oldest } = match self.store.backlog(kind, now).await {
                Ok(backlog) => backlog,
                Err(error) => {
                    tracing::debug!(%error, "what is due could not be counted");
                    return false;
                }
            };
            let due = Due { work: work(kind) };
            self.count.get_or_create(&due).set(count.into());
            let age_ms = oldest.map_or(0, |oldest| now.since(oldest));
            self.age.get_or_create(&due).set(age_ms.max(0).div_euclid(1_000));
        }
        true
    }
}
