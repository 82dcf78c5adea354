//! Nodes: processes that run, die at any point, and come back.

use std::{
    future::{Future, pending},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use cauri::{
    BreakerOptions, Clock, Connection, Engine, Grouped, GroupedOptions, Leg, Route, Routes, Store,
    Timestamp, Worker, WorkerOptions,
};
use cauri_conformance::SeededEntropy;
use tokio::{
    sync::{Notify, oneshot},
    time::sleep,
};

use crate::{
    dice::mix,
    rails::SimGateway,
    receiver::SimNotifier,
    store::SimStore,
    world::{Phase, Running, World},
};

/// The connections of the live catalogue that the simulation pays over.
pub(crate) const CONNECTIONS: &[&str] =
    &["sim_mtn_ci", "sim_orange_ci", "sim_moov_ci", "sim_wave_ci", "sim_visa_ci", "spare", "last"];

/// Some of them have other ways to go: by share, by priority, and by both.
pub(crate) fn routes() -> Routes {
    let leg = |connection, priority, share| Leg {
        connection: Connection::new(connection),
        priority,
        share,
    };
    let mtn = [leg("sim_mtn_ci", 1, 60), leg("spare", 1, 40), leg("last", 2, 1)];
    let orange = [leg("last", 1, 1), leg("sim_orange_ci", 2, 1)];
    let visa = [leg("sim_visa_ci", 1, 50), leg("spare", 1, 50)];
    [("sim_mtn_ci", &mtn[..]), ("sim_orange_ci", &orange), ("sim_visa_ci", &visa)].into_iter().fold(
        Routes::default(),
        |routes, (named, legs)| {
            let route = Route::new(legs.iter().cloned()).expect("legs of different names");
            routes.with(Connection::new(named), route)
        },
    )
}

/// One process, from its start to its death. All that a process does to the world it does through
/// its ports, and they let nothing through once it is dead: that is what dying means.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) node: u64,
    dead: AtomicBool,
    died: Notify,
}

impl Life {
    fn new(node: u64) -> Self {
        Self { node, dead: AtomicBool::new(false), died: Notify::new() }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    pub(crate) fn die(&self, world: &World, how: &str) {
        if !self.dead.swap(true, Ordering::SeqCst) {
            world.tell(&format!("node {} {how}", self.node));
            self.died.notify_waiters();
        }
    }

    pub(crate) async fn died(&self) {
        let died = self.died.notified();
        if !self.is_dead() {
            died.await;
        }
    }

    /// Goes on if alive; the dead never go on.
    pub(crate) async fn go_on(&self) {
        if self.is_dead() {
            pending::<()>().await;
        }
    }

    /// What somebody outside gets of this process before it dies or their patience ends.
    pub(crate) async fn serve<T>(
        &self,
        patience: Duration,
        call: impl Future<Output = T>,
    ) -> Option<T> {
        tokio::select! {
            biased;
            answer = call => Some(answer),
            () = self.died() => None,
            () = sleep(patience) => None,
        }
    }
}

/// A clock that is wrong by a bounded amount, and steps.
#[derive(Debug)]
struct DriftingClock {
    world: Arc<World>,
    off_by: AtomicI64,
}

impl Clock for DriftingClock {
    fn now(&self) -> Timestamp {
        self.world.now().plus_millis(self.off_by.load(Ordering::Relaxed))
    }
}

/// Keeps one node running until the world is over.
pub(crate) async fn keep(world: Arc<World>, node: u64, seat: usize) {
    let mut number = 0;
    // When all is calm, two are enough.
    while world.phase() == Phase::Trouble || (world.phase() == Phase::Calm && seat < 2) {
        number += 1;
        live(&world, node, seat, number).await;
        let mut dice = world.dice("rest", node);
        sleep(Duration::from_millis(dice.millis(1, 6_000))).await;
    }
}

async fn live(world: &Arc<World>, node: u64, seat: usize, number: u64) {
    let phase = world.phase();
    let mut dice = world.dice("life", node);
    let drift = world.profile.drift_ms;
    let clock = Arc::new(DriftingClock {
        world: Arc::clone(world),
        off_by: AtomicI64::new(dice.random.within(-drift..=drift)),
    });
    let life = Arc::new(Life::new(node));
    let engine = build(world, &life, Arc::clone(&clock), number, dice.random.flag());
    let mut options = WorkerOptions::default();
    options.period_ms = match phase {
        Phase::Trouble => world.profile.period_ms,
        Phase::Calm | Phase::Over | Phase::Exhausted => 60_000,
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = Worker::with(engine.clone(), options);
    let mut work = tokio::spawn(worker.run(async {
        // A stop that will never come is as good as none.
        let _ = stopped.await;
    }));
    world.tell(&format!(
        "node {node} starts, its clock {} ms off",
        clock.off_by.load(Ordering::Relaxed)
    ));
    world.run_node(seat, Some(Running { engine, life: Arc::clone(&life) }));

    let crashes = world.fault(&mut dice, "node: crashes", world.profile.crashes * 100);
    let steps = world.profile.clock_steps && phase == Phase::Trouble;
    let lasts = Duration::from_millis(dice.millis(1, world.profile.span_ms + 30_000));
    let ends = async {
        if crashes {
            sleep(lasts).await;
        } else {
            pending::<()>().await;
        }
    };
    let wanders = async {
        if !steps {
            return pending::<()>().await;
        }
        loop {
            let mut dice = world.dice("clock", node);
            sleep(Duration::from_millis(dice.millis(200, 20_000))).await;
            if world.fault(&mut dice, "clock: steps", 10_000) {
                clock.off_by.store(dice.random.within(-drift..=drift), Ordering::Relaxed);
            }
        }
    };
    let next = if phase == Phase::Trouble { Phase::Calm } else { Phase::Over };
    let gracefully = tokio::select! {
        biased;
        () = life.died() => false,
        () = ends => dice.random.below(3) == 0,
        () = wanders => false,
        () = world.until(next) => true,
    };
    if gracefully {
        world.tell(&format!("node {node} stops"));
        // It may have died at this very moment.
        let _ = stop.send(());
        tokio::select! {
            biased;
            () = life.died() => {}
            _ = &mut work => {}
        }
    }
    life.die(world, "is gone");
    world.run_node(seat, None);
    work.abort();
}

fn build(
    world: &Arc<World>,
    life: &Arc<Life>,
    clock: Arc<DriftingClock>,
    number: u64,
    grouped: bool,
) -> Engine {
    let store = SimStore::new(Arc::clone(world), Arc::clone(life));
    let store: Arc<dyn Store> = if grouped {
        Arc::new(Grouped::with(store, GroupedOptions::default().batch_max(8)))
    } else {
        Arc::new(store)
    };
    let seed = mix(world.plan.seed, &[life.node, number]);
    let gateway = Arc::new(SimGateway::new(Arc::clone(world), Arc::clone(life)));
    let mut builder = Engine::builder(store)
        .notifier(Arc::new(SimNotifier::new(Arc::clone(world), Arc::clone(life))))
        .clock(clock)
        .entropy(Arc::new(SeededEntropy::new(seed)))
        .terms(world.terms.clone())
        // So that it happens within one life.
        .breaker(BreakerOptions::default().failures_max(2).open_ms(3_000))
        .keys(world.keys.clone());
    for connection in CONNECTIONS {
        builder = builder.gateway(Connection::new(*connection), gateway.clone());
    }
    builder.build().expect("the keys are given")
}
