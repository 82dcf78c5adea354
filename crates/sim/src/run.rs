//! One seed, from the beginning of its world to the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use cauri::{
    Account, Catalogue, Changeset, Environment, FeeSchedule, Keyring, List, Query, Scope, Store,
    decide::{Offers, Terms},
};
use cauri_conformance::fixtures::Random;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    client::Clients,
    dice::mix,
    node,
    operation::{self, Operation},
    oracle::tables::Coverage,
    profile::Profile,
    rails, store,
    world::{Phase, Plan, Remains, Violation, World},
};

/// What became of one seed.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Which seed.
    pub seed: u64,
    /// Every promise that was broken; none when all is well.
    pub violations: Vec<Violation>,
    /// How many calls went through a port of a node.
    pub steps: u64,
    /// How often each fault was injected.
    pub faults: BTreeMap<&'static str, u64>,
    /// How often each row of the transition tables was taken: machine, from, to.
    pub coverage: BTreeMap<(&'static str, &'static str, &'static str), u64>,
    /// How many payments were paid at their network although the merchant had called them off
    /// while they were on their way.
    pub stray: u64,
    /// A sum of all that happened, in order: the same for the same seed.
    pub hash: u64,
    /// Virtual time, in milliseconds.
    pub lasted_ms: u64,
    /// What happened, where it was asked for.
    pub trace: Vec<String>,
    pub(crate) happened: Vec<u64>,
    pub(crate) operations: usize,
}

/// How long it may take until nothing waits any more, once all is calm: longer than six attempts.
const REST_MS: u64 = 8 * 3_600_000;

/// Runs a seed.
pub(crate) fn run(plan: Plan) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without threads or sockets can always be made");
    let outcome = runtime.block_on(story(plan));
    runtime.shutdown_background();
    outcome
}

fn terms(profile: &Profile) -> Terms {
    let mut terms = Terms::default();
    terms.live = Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() };
    terms.routes = node::routes();
    terms.card_settlement_ms = profile.card_settlement_ms;
    terms
}

async fn story(plan: Plan) -> Outcome {
    let seed = plan.seed;
    let profile = Profile::of(seed);
    let operations = operation::plan(seed, &profile);
    let count = operations.len();
    let keys = Keyring::new([(0, [7; 32])]).expect("one key is enough");
    let chosen = plan.operations.clone();
    let world = Arc::new(World::new(plan, profile.clone(), terms(&profile), keys));
    world.tell(&format!("{profile:?}"));

    let mut random = Random::new(mix(seed, &[3]));
    let account = Account { id: random.id(), created_at: world.now() };
    let scopes = [Environment::Live, Environment::Sandbox]
        .map(|environment| Scope { account: account.id, environment });
    let mut changes = Changeset::new();
    changes.insert(account, None);
    // Memory never fails.
    let _ = store::commit(Arc::clone(&world), 0, vec![changes]).await;

    let told = tell(&world, scopes, operations, chosen, &mut random);
    let stray = tokio::select! {
        biased;
        () = world.until(Phase::Exhausted) => 0,
        stray = told => stray,
    };
    let coverage: Coverage = world.oracle(|oracle| oracle.coverage().clone());
    let lasted_ms = world.millis();
    let Remains { violations, faults, happened, steps, hash, trace } = world.end();
    Outcome {
        seed,
        violations,
        steps,
        faults,
        coverage,
        stray,
        hash,
        lasted_ms,
        trace,
        happened,
        operations: count,
    }
}

/// What happens in a world; answers how much money strayed.
async fn tell(
    world: &Arc<World>,
    scopes: [Scope; 2],
    operations: Vec<Operation>,
    chosen: Option<BTreeSet<usize>>,
    random: &mut Random,
) -> u64 {
    let mut nodes = JoinSet::new();
    for (seat, node) in (0..world.profile.nodes).zip(1..) {
        nodes.spawn(node::keep(Arc::clone(world), node, seat));
    }
    let clients = Arc::new(Clients::new(Arc::clone(world), scopes));
    let mut asking = JoinSet::new();
    for operation in operations {
        if chosen.as_ref().is_none_or(|chosen| chosen.contains(&operation.number)) {
            let clients = Arc::clone(&clients);
            asking.spawn(async move { clients.perform(operation).await });
        }
    }
    while let Some(ended) = asking.join_next().await {
        if let Err(error) = ended {
            world.violate("nothing panics", error.to_string());
        }
    }
    sleep(Duration::from_millis(random.bits() % 20_000)).await;
    world.turn(Phase::Calm);
    clients.resolve().await;
    come_to_rest(world).await;
    // A key is remembered for a day: asked once more, it gives the same answer still.
    clients.resolve().await;
    come_to_rest(world).await;
    clients.check();
    let stray = at_rest(world, scopes).await;
    if random.below(16) == 0 {
        sleep(Duration::from_secs(25 * 3_600)).await;
        let kept = world.oracle(|oracle| oracle.kept());
        if kept > 0 {
            world.violate("answers are forgotten after a day", format!("{kept} are still there"));
        }
    }
    world.turn(Phase::Over);
    while let Some(ended) = nodes.join_next().await {
        if let Err(error) = ended {
            world.violate("nothing panics", error.to_string());
        }
    }
    stray
}

/// Waits until nobody has anything left to do.
async fn come_to_rest(world: &World) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(REST_MS) && !world.is_broken() {
        let waiting = world.oracle(|oracle| oracle.waiting());
        if waiting == 0 && !rails::is_busy(world) {
            return;
        }
        sleep(Duration::from_secs(30)).await;
    }
}

/// Everything that must be true at rest.
async fn at_rest(world: &Arc<World>, scopes: [Scope; 2]) -> u64 {
    let books = {
        let (rails, receivers) = (world.rails(), world.receivers());
        let (rails, receivers) = (&*rails, &*receivers);
        world.oracle(|oracle| oracle.at_rest(rails, receivers))
    };
    let keys: Vec<_> = world.oracle(|oracle| oracle.records().map(|it| it.value.key()).collect());
    if let Ok(stored) = world.memory.get(&keys).await {
        world.oracle(|oracle| oracle.compare(&keys, &stored));
    }
    for scope in scopes {
        for list in [
            List::Payments(scope),
            List::Payouts(scope),
            List::Refunds(scope),
            List::PaymentLinks(scope),
            List::Customers(scope),
            List::WebhookEndpoints(scope),
            List::Events(scope),
            List::Deliveries(scope),
        ] {
            let of = |record: &cauri::Record| record.list() == Some(list);
            let count = world.oracle(|oracle| oracle.records().filter(|it| of(&it.value)).count());
            let listed = world.memory.list(&Query::all(list)).await;
            let total = listed.map_or(-1, |it| it.total);
            if i64::try_from(count) != Ok(total) {
                let text = format!("{list:?} counts {total}, and there are {count}");
                world.violate("a list counts what is there", text);
            }
        }
    }
    audit(world).await;
    books.stray
}

/// The engine's own audit must agree with ours.
async fn audit(world: &Arc<World>) {
    let mut dice = world.dice("audit", 0);
    for _ in 0..20 {
        if let Some(node) = world.some_node(&mut dice) {
            let audit = node.engine.audit();
            if let Some(Ok(audit)) = node.life.serve(Duration::from_secs(60), audit).await {
                for violation in audit.violations {
                    world.violate("the audit finds nothing", violation.to_string());
                }
                return;
            }
        }
        sleep(Duration::from_secs(1)).await;
    }
    world.violate("the audit finds nothing", "it could not be made".to_owned());
}
