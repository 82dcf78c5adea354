//! What all parts of a simulated world share: time, chance, faults, the true store, and whoever
//! looks on.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cauri::{Engine, Keyring, Timestamp, decide::Terms};
use cauri_memory::MemoryStore;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use crate::{
    dice::{Dice, hash, mix},
    node::Life,
    oracle::Oracle,
    profile::Profile,
    rails::Rails,
    receiver::Receivers,
    trace::Trace,
};

/// 2024-11-19T00:00:00.000Z: the true time when a world begins.
pub(crate) const START_MS: i64 = 1_731_974_400_000;

/// So many steps are far more than any world takes that comes to an end.
const STEPS_MAX: u64 = 1_000_000;

/// Everything that a run is made of: with the same plan, the same things happen.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Which operations are carried out; all of them for `None`.
    pub(crate) operations: Option<BTreeSet<usize>>,
    /// Which faults may happen; all of them for `None`.
    pub(crate) faults: Option<BTreeSet<u64>>,
    /// Is the trace kept as text?
    pub(crate) keep_trace: bool,
}

impl Plan {
    pub(crate) const fn of(seed: u64) -> Self {
        Self { seed, operations: None, faults: None, keep_trace: false }
    }
}

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "which promise, and how")]
pub struct Violation {
    /// Which promise.
    pub law: &'static str,
    /// How it was broken.
    pub text: String,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Everything may fail.
    Trouble,
    /// Nothing fails any more; what is under way comes to its end.
    Calm,
    /// It is over.
    Over,
    /// It would not end.
    Exhausted,
}

#[derive(Debug, Default)]
struct Faults {
    counts: BTreeMap<&'static str, u64>,
    happened: Vec<u64>,
}

/// A process that runs.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) engine: Engine,
    pub(crate) life: Arc<Life>,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) profile: Profile,
    pub(crate) terms: Terms,
    pub(crate) keys: Keyring,
    pub(crate) memory: MemoryStore,
    start: Instant,
    phase: Mutex<Phase>,
    /// Not a watch channel: that one wakes those who wait in an order of chance.
    turned: Notify,
    counters: Mutex<BTreeMap<(u64, u64), u64>>,
    faults: Mutex<Faults>,
    trace: Mutex<Trace>,
    violations: Mutex<Vec<Violation>>,
    steps: Mutex<u64>,
    oracle: Mutex<Oracle>,
    rails: Mutex<Rails>,
    receivers: Mutex<Receivers>,
    nodes: Mutex<Vec<Option<Running>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a run leaves.
pub(crate) struct Remains {
    pub(crate) violations: Vec<Violation>,
    pub(crate) faults: BTreeMap<&'static str, u64>,
    pub(crate) happened: Vec<u64>,
    pub(crate) steps: u64,
    pub(crate) hash: u64,
    pub(crate) trace: Vec<String>,
}

impl World {
    pub(crate) fn new(plan: Plan, profile: Profile, terms: Terms, keys: Keyring) -> Self {
        let nodes = vec![None; profile.nodes];
        Self {
            trace: Mutex::new(Trace::new(plan.keep_trace)),
            oracle: Mutex::new(Oracle::new(profile.calm, profile.card_settlement_ms)),
            rails: Mutex::default(),
            receivers: Mutex::default(),
            nodes: Mutex::new(nodes),
            plan,
            profile,
            terms,
            keys,
            memory: MemoryStore::new(),
            start: Instant::now(),
            phase: Mutex::new(Phase::Trouble),
            turned: Notify::new(),
            counters: Mutex::default(),
            faults: Mutex::default(),
            violations: Mutex::default(),
            steps: Mutex::default(),
        }
    }

    /// Milliseconds since the world began.
    pub(crate) fn millis(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The true time.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(START_MS + i64::try_from(self.millis()).unwrap_or(i64::MAX / 2))
    }

    /// The next throw at a place.
    pub(crate) fn dice(&self, place: &'static str, who: u64) -> Dice {
        let place = hash(place.as_bytes());
        let mut counters = lock(&self.counters);
        let count = counters.entry((place, who)).or_default();
        *count += 1;
        Dice::new(mix(self.plan.seed, &[place, who, *count]))
    }

    /// Does a fault happen here and now? Counted when it does; never once all is calm.
    pub(crate) fn fault(&self, dice: &mut Dice, kind: &'static str, rate: usize) -> bool {
        let hit = dice.hit(rate);
        if !hit || self.phase() != Phase::Trouble {
            return false;
        }
        let name = mix(dice.name, &[hash(kind.as_bytes())]);
        if self.plan.faults.as_ref().is_some_and(|allowed| !allowed.contains(&name)) {
            return false;
        }
        let mut faults = lock(&self.faults);
        *faults.counts.entry(kind).or_default() += 1;
        faults.happened.push(name);
        drop(faults);
        self.tell(&format!("fault: {kind}"));
        true
    }

    /// A call takes its time: often none at all but for others having their turn, sometimes some
    /// milliseconds, and once in a while more than a lease.
    pub(crate) async fn pause(&self, dice: &mut Dice, kind: &'static str, slow: usize) {
        if self.fault(dice, kind, slow) {
            sleep(Duration::from_millis(dice.millis(2_000, 26_000))).await;
            return;
        }
        match dice.random.below(10) {
            0..=3 => {}
            4..=6 => {
                for _ in 0..dice.random.below(4) {
                    tokio::task::yield_now().await;
                }
            }
            7 | 8 => sleep(Duration::from_millis(dice.millis(1, 12))).await,
            _ => sleep(Duration::from_millis(dice.millis(1, 400))).await,
        }
    }

    pub(crate) fn tell(&self, text: &str) {
        lock(&self.trace).line(self.millis(), text);
    }

    pub(crate) fn step(&self) {
        let mut steps = lock(&self.steps);
        *steps += 1;
        if *steps == STEPS_MAX {
            drop(steps);
            self.violate("nothing goes round for ever", format!("{STEPS_MAX} steps"));
            self.turn(Phase::Exhausted);
        }
    }

    pub(crate) fn violate(&self, law: &'static str, text: String) {
        self.tell(&format!("VIOLATION of «{law}»: {text}"));
        lock(&self.violations).push(Violation { law, text });
    }

    pub(crate) fn is_broken(&self) -> bool {
        !lock(&self.violations).is_empty()
    }

    /// Lets the oracle look, and keeps what it says.
    pub(crate) fn oracle<T>(&self, look: impl FnOnce(&mut Oracle) -> T) -> T {
        let mut oracle = lock(&self.oracle);
        let answer = look(&mut oracle);
        let (told, found) = oracle.said();
        drop(oracle);
        for line in told {
            self.tell(&line);
        }
        for (law, text) in found {
            self.violate(law, text);
        }
        answer
    }

    pub(crate) fn rails(&self) -> MutexGuard<'_, Rails> {
        lock(&self.rails)
    }

    pub(crate) fn receivers(&self) -> MutexGuard<'_, Receivers> {
        lock(&self.receivers)
    }

    pub(crate) fn phase(&self) -> Phase {
        *lock(&self.phase)
    }

    pub(crate) fn turn(&self, phase: Phase) {
        *lock(&self.phase) = phase;
        self.turned.notify_waiters();
        self.tell(&format!("phase: {phase:?}"));
    }

    /// Until the world is at least in this phase.
    pub(crate) async fn until(&self, phase: Phase) {
        loop {
            let turned = self.turned.notified();
            if self.phase() >= phase {
                return;
            }
            turned.await;
        }
    }

    pub(crate) fn run_node(&self, node: usize, running: Option<Running>) {
        if let Some(slot) = lock(&self.nodes).get_mut(node) {
            *slot = running;
        }
    }

    /// Some node that runs; `None` when none does, or when the caller has an old address.
    pub(crate) fn some_node(&self, dice: &mut Dice) -> Option<Running> {
        let nodes = lock(&self.nodes);
        let at = dice.random.below(nodes.len());
        if self.phase() == Phase::Trouble {
            return nodes.get(at).cloned().flatten();
        }
        nodes.iter().cycle().skip(at).take(nodes.len()).flatten().next().cloned()
    }

    pub(crate) fn end(&self) -> Remains {
        let faults = std::mem::take(&mut *lock(&self.faults));
        let trace = std::mem::replace(&mut *lock(&self.trace), Trace::new(false));
        let (hash, _, trace) = trace.end();
        Remains {
            violations: std::mem::take(&mut *lock(&self.violations)),
            faults: faults.counts,
            happened: faults.happened,
            steps: *lock(&self.steps),
            hash,
            trace,
        }
    }
}
