//! The store as one node sees it: one memory store for all, behind a connection that fails.

use std::{fmt, future::pending, io, sync::Arc, time::Duration};

use async_trait::async_trait;
use cauri::{
    Balance, Changeset, Claim, ClaimKind, CustomerId, CustomerStatistics, Entry, Key, Listed,
    Query, Record, Scope, Store, StoreError, Verdict, Versioned,
};
use tokio::time::sleep;

use crate::{node::Life, world::World};

#[derive(Clone)]
pub(crate) struct SimStore {
    world: Arc<World>,
    life: Arc<Life>,
}

impl fmt::Debug for SimStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimStore").field("node", &self.life.node).finish_non_exhaustive()
    }
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Before,
    After,
    Silent,
    Late,
}

impl SimStore {
    pub(crate) const fn new(world: Arc<World>, life: Arc<Life>) -> Self {
        Self { world, life }
    }

    /// One call over the connection: it may be slow, fail at either end, and the node may die
    /// before it, in it and after it.
    async fn call<T: Send + 'static>(
        &self,
        place: &'static str,
        writes: bool,
        done: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let world = &self.world;
        self.life.go_on().await;
        world.step();
        let mut dice = world.dice(place, self.life.node);
        let fault = self.fault(&mut dice, writes);
        let rate = world.profile.deaths_at_calls;
        if world.fault(&mut dice, "node: dies before a call to the store", rate) {
            self.life.die(world, "dies before a call");
        }
        let dies_after = world.fault(&mut dice, "node: dies after a call to the store", rate);
        self.life.go_on().await;
        world.pause(&mut dice, "store: slow to begin", world.profile.store_slow).await;
        if self.life.is_dead() && dice.random.flag() {
            // It never left.
            pending::<()>().await;
        }
        let unknown = || StoreError::Unknown(Box::new(io::Error::other("the connection broke")));
        let answer = match fault {
            Fault::None => done.await,
            Fault::Before => {
                let away = io::Error::other("the store is away");
                Err(StoreError::Unavailable(Box::new(away)))
            }
            Fault::After => done.await.and_then(|_| Err(unknown())),
            Fault::Silent => Err(unknown()),
            Fault::Late => {
                let late = Duration::from_millis(dice.millis(1, 3_000));
                tokio::spawn(async move {
                    sleep(late).await;
                    // Nobody waits for the answer any more.
                    let _ = done.await;
                });
                Err(unknown())
            }
        };
        if dies_after {
            self.life.die(world, "dies after a call");
        }
        self.life.go_on().await;
        world.pause(&mut dice, "store: slow to answer", world.profile.store_slow).await;
        self.life.go_on().await;
        answer
    }

    fn fault(&self, dice: &mut crate::dice::Dice, writes: bool) -> Fault {
        let world = &self.world;
        let rate = world.profile.store_faults;
        if world.fault(dice, "store: fails before", rate) {
            return Fault::Before;
        }
        if !writes {
            return Fault::None;
        }
        if world.fault(dice, "store: fails after", rate) {
            return Fault::After;
        }
        if world.fault(dice, "store: does not say, and did nothing", rate) {
            return Fault::Silent;
        }
        if world.fault(dice, "store: does not say, and does it later", world.profile.store_late) {
            return Fault::Late;
        }
        Fault::None
    }
}

/// What a commit really does, wherever its answer goes.
pub(crate) async fn commit(
    world: Arc<World>,
    node: u64,
    batch: Vec<Changeset>,
) -> Result<Vec<Verdict>, StoreError> {
    let verdicts = world.memory.commit(batch.clone()).await?;
    world.oracle(|oracle| oracle.committed(world.millis(), node, &batch, &verdicts));
    let keys: Vec<Key> = batch.iter().flat_map(Changeset::keys).collect();
    let stored = world.memory.get(&keys).await?;
    world.oracle(|oracle| oracle.compare(&keys, &stored));
    Ok(verdicts)
}

#[async_trait]
impl Store for SimStore {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        let done = commit(Arc::clone(&self.world), self.life.node, batch);
        self.call("commit", true, done).await
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        let (world, keys) = (Arc::clone(&self.world), keys.to_vec());
        self.call("get", false, async move { world.memory.get(&keys).await }).await
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        let (world, query) = (Arc::clone(&self.world), query.clone());
        self.call("list", false, async move { world.memory.list(&query).await }).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        let (world, node, claim) = (Arc::clone(&self.world), self.life.node, claim.clone());
        let place = match claim.kind {
            ClaimKind::Payments => "claim payments",
            ClaimKind::Payouts => "claim payouts",
            ClaimKind::Refunds => "claim refunds",
            ClaimKind::Deliveries => "claim deliveries",
            ClaimKind::Idempotency => "claim keys",
        };
        let done = async move {
            let claimed = world.memory.claim(&claim).await?;
            if !claimed.is_empty() {
                world.oracle(|oracle| oracle.claimed(node, &claim, &claimed));
            }
            Ok(claimed)
        };
        self.call(place, true, done).await
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        let (world, query) = (Arc::clone(&self.world), query.clone());
        self.call("entries", false, async move { world.memory.entries(&query).await }).await
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        let world = Arc::clone(&self.world);
        self.call("balances", false, async move { world.memory.balances(scope).await }).await
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        let world = Arc::clone(&self.world);
        let done = async move { world.memory.statistics(scope, customer).await };
        self.call("statistics", false, done).await
    }
}
