//! The networks: they keep books of their own of what money they really moved, and answer late,
//! twice, contradictorily or never.
//!
//! They keep the laws of the gateway port: an order is known by our id, so that it moves money once
//! however often it is submitted; "unreachable" and "refused" are only said when it was not taken
//! on; what moved is told in the end, by a callback that is repeated until it is heard or to
//! whoever asks. A network lies only after its true word was heard.

use std::{collections::BTreeMap, fmt, future::pending, sync::Arc, time::Duration};

use async_trait::async_trait;
use cauri::{
    Answer, Capabilities, Connection, FailureCode, Gateway, Id, Order, OrderId, Report, Timestamp,
};
use tokio::time::sleep;

use crate::{
    dice::{Dice, hash},
    node::Life,
    world::{Phase, World},
};

/// Where an order stands at its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Refused,
    Working,
    Paid,
    Failed,
    Expired,
    CalledOff,
}

/// An order as its network knows it.
#[derive(Debug, Clone)]
pub(crate) struct Rail {
    pub(crate) order: Order,
    /// `None` while nothing has arrived.
    pub(crate) standing: Option<Standing>,
    pub(crate) submits: u64,
    /// May it arrive, or has it?
    pub(crate) sent: bool,
    /// How often the network said that it has no such order.
    pub(crate) not_found: u64,
    /// What it really moved, in the smallest unit.
    pub(crate) moved: i64,
    /// Has the true end been heard, so that lies may follow?
    pub(crate) heard: bool,
}

/// Every order, at each connection that has heard of it.
#[derive(Debug, Default)]
pub(crate) struct Rails {
    orders: BTreeMap<(OrderId, Connection), Rail>,
}

impl Rails {
    /// An order, at each connection that has heard of it.
    pub(crate) fn of_order(&self, id: OrderId) -> impl Iterator<Item = &Rail> {
        self.all().filter(move |rail| rail.order.id == id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Rail> {
        self.orders.values()
    }

    /// Another connection that may have the order.
    fn carrier_beside(&self, order: &Order) -> Option<&Connection> {
        let may_have = |rail: &&Rail| {
            rail.order.connection != order.connection
                && rail.sent
                && rail.standing != Some(Standing::Refused)
        };
        self.of_order(order.id).find(may_have).map(|rail| &rail.order.connection)
    }

    fn of(&mut self, order: &Order) -> &mut Rail {
        self.orders.entry((order.id, order.connection.clone())).or_insert_with(|| Rail {
            order: order.clone(),
            standing: None,
            submits: 0,
            sent: false,
            not_found: 0,
            moved: 0,
            heard: false,
        })
    }
}

/// A network's gateway, on one node.
pub(crate) struct SimGateway {
    world: Arc<World>,
    life: Arc<Life>,
}

impl fmt::Debug for SimGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimGateway").field("node", &self.life.node).finish_non_exhaustive()
    }
}

/// Does the network of this order call back? Otherwise it only answers who asks.
fn calls_back(world: &World, order: &Order) -> bool {
    crate::dice::mix(world.plan.seed, &[hash(order.connection.as_str().as_bytes())])
        .is_multiple_of(2)
}

fn number(id: OrderId) -> u64 {
    let bits = match id {
        OrderId::Payment(id) => id.uuid(),
        OrderId::Payout(id) => id.uuid(),
        OrderId::Refund(id) => id.uuid(),
    };
    hash(bits.as_bytes())
}

/// Why an order is refused: half of the time because the network cannot carry it now.
fn refusal(id: OrderId) -> FailureCode {
    if number(id).is_multiple_of(2) { FailureCode::NetworkUnavailable } else { reason(id) }
}

fn reason(id: OrderId) -> FailureCode {
    match id {
        OrderId::Payment(_) => FailureCode::UserRejected,
        OrderId::Payout(_) => FailureCode::RecipientNotFound,
        OrderId::Refund(_) => FailureCode::RefundRejected,
    }
}

impl SimGateway {
    pub(crate) const fn new(world: Arc<World>, life: Arc<Life>) -> Self {
        Self { world, life }
    }

    fn dice(&self, place: &'static str) -> Dice {
        self.world.dice(place, self.life.node)
    }

    /// A question may go unanswered: then whoever asks waits until they give up.
    async fn travel(&self, dice: &mut Dice) {
        let slow = self.world.profile.network_slow;
        self.world.pause(dice, "network: slow", slow).await;
        self.life.go_on().await;
    }

    async fn maybe_never(&self, dice: &mut Dice) {
        if self.world.fault(dice, "network: never answers", self.world.profile.network_faults / 3) {
            pending::<()>().await;
        }
    }

    fn may_die(&self, dice: &mut Dice) {
        let rate = self.world.profile.deaths_at_calls * 3;
        if self.world.fault(dice, "node: dies at a call to a network", rate) {
            self.life.die(&self.world, "dies at a call to a network");
        }
    }

    /// When to ask again, from a network that does not call.
    fn later(&self, order: &Order, now: Timestamp, dice: &mut Dice) -> Option<Timestamp> {
        (!calls_back(&self.world, order)).then(|| now.plus_millis(dice.random.within(500..=12_000)))
    }
}

/// An order arrives. One that is known already changes nothing.
fn arrive(world: &Arc<World>, order: &Order) {
    let mut dice = world.dice("outcome", number(order.id));
    let mut rails = world.rails();
    let rail = rails.of(order);
    if rail.standing.is_some() {
        return;
    }
    let refused = dice.random.below(20) == 0;
    rail.standing = Some(if refused { Standing::Refused } else { Standing::Working });
    drop(rails);
    world.tell(&format!("network: {:?} arrives, refused: {refused}", order.id));
    if !refused {
        tokio::spawn(run(Arc::clone(world), order.clone(), dice));
    }
}

/// What becomes of an order that was taken on.
async fn run(world: Arc<World>, order: Order, mut dice: Dice) {
    let payment = matches!(order.id, OrderId::Payment(_));
    let within = match dice.random.below(10) {
        0..=5 => Some(dice.millis(0, 5_000)),
        6 | 7 => Some(dice.millis(5_000, 70_000)),
        8 => Some(dice.millis(60_000, 900_000)),
        _ => None,
    };
    match within {
        Some(within) => sleep(Duration::from_millis(within)).await,
        // It sits there until the trouble is over.
        None => {
            world.until(Phase::Calm).await;
            sleep(Duration::from_millis(dice.millis(1_000, 1_200_000))).await;
        }
    }
    let end = match dice.random.below(20) {
        0..=13 => Standing::Paid,
        14 | 15 if payment => Standing::Expired,
        _ => Standing::Failed,
    };
    {
        let mut rails = world.rails();
        let rail = rails.of(&order);
        if rail.standing != Some(Standing::Working) {
            return;
        }
        rail.standing = Some(end);
        if end == Standing::Paid {
            rail.moved += rail.order.amount.units();
        }
    }
    world.tell(&format!("network: {:?} ends {end:?}", order.id));
    if calls_back(&world, &order) {
        call_back(&world, &order, &mut dice).await;
    }
}

fn word(standing: Standing, id: OrderId) -> Report {
    match standing {
        Standing::Refused => Report::Refused(refusal(id)),
        Standing::Working => Report::accepted(),
        Standing::Paid => Report::Paid,
        Standing::Failed => Report::Failed(reason(id)),
        Standing::Expired => Report::Expired,
        Standing::CalledOff => Report::Failed(FailureCode::NetworkError),
    }
}

/// What a network may say falsely once its true word was heard. Never "paid" of a payment: that is
/// the one word that is believed after an expiry.
fn lie(truth: Standing, id: OrderId, dice: &mut Dice) -> Report {
    let payment = matches!(id, OrderId::Payment(_));
    match dice.random.below(4) {
        0 => word(truth, id),
        1 => Report::accepted(),
        2 if truth != Standing::Paid && !payment => Report::Paid,
        3 if payment => Report::Expired,
        _ => Report::Failed(FailureCode::NetworkError),
    }
}

/// Tells some node, again and again until one has written it down; then perhaps once more.
async fn call_back(world: &Arc<World>, order: &Order, dice: &mut Dice) {
    loop {
        let standing = world.rails().of(order).standing.unwrap_or(Standing::Working);
        let report = word(standing, order.id);
        if let Some(node) = world.some_node(dice) {
            let told = node.engine.report_from(&order.connection, order.scope, order.id, report);
            let told = node.life.serve(Duration::from_secs(8), told).await;
            if matches!(told, Some(Ok(()))) {
                break;
            }
        }
        sleep(Duration::from_millis(dice.millis(200, 10_000))).await;
    }
    let standing = {
        let mut rails = world.rails();
        let rail = rails.of(order);
        rail.heard = true;
        rail.standing.unwrap_or(Standing::Working)
    };
    while world.fault(
        dice,
        "network: reports again or contradicts itself",
        world.profile.network_lies,
    ) {
        sleep(Duration::from_millis(dice.millis(0, 30_000))).await;
        let report = lie(standing, order.id, dice);
        world.tell(&format!("network: of {:?} also says {report:?}", order.id));
        if let Some(node) = world.some_node(dice) {
            let told = node.engine.report_from(&order.connection, order.scope, order.id, report);
            let _ = node.life.serve(Duration::from_secs(8), told).await;
        }
    }
}

#[async_trait]
impl Gateway for SimGateway {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn submit(&self, order: &Order, now: Timestamp) -> Answer {
        self.life.go_on().await;
        let world = &self.world;
        world.step();
        let mut dice = self.dice("submit");
        {
            let mut rails = world.rails();
            let rail = rails.of(order);
            rail.submits += 1;
            let (submits, not_found) = (rail.submits, rail.not_found);
            let same = (rail.order.amount, rail.order.currency, rail.order.scope)
                == (order.amount, order.currency, order.scope);
            let beside = rails.carrier_beside(order).cloned();
            drop(rails);
            let at = &order.connection;
            world.tell(&format!("node {} submits {:?} to {at}", self.life.node, order.id));
            if let Some(other) = beside {
                let text = format!("{:?} is sent to {at}, and {other} may have it", order.id);
                world.violate("an order is sent to one connection only", text);
            }
            if submits > 1 + not_found {
                let text = format!(
                    "{:?} is submitted {submits} times, and was unknown {not_found} times",
                    order.id
                );
                world
                    .violate("an order is sent again only when its network does not know it", text);
            }
            if !same {
                let text = format!("{:?} is another order when it is submitted again", order.id);
                world.violate("an order stays what it is", text);
            }
        }
        self.may_die(&mut dice);
        let rate = world.profile.network_faults;
        if world.fault(&mut dice, "network: unreachable", rate / 3) {
            self.travel(&mut dice).await;
            return Answer::final_report(Report::Unreachable);
        }
        if world.fault(&mut dice, "network: closed", rate / 3) {
            self.travel(&mut dice).await;
            return Answer::final_report(Report::Refused(FailureCode::NetworkUnavailable));
        }
        if self.life.is_dead() && dice.random.flag() {
            pending::<()>().await;
        }
        world.rails().of(order).sent = true;
        // On the wire: it arrives whatever becomes of whoever sent it.
        let wire =
            if world.fault(&mut dice, "network: long on the wire", world.profile.network_slow) {
                dice.millis(1_000, 40_000)
            } else {
                dice.millis(0, 200)
            };
        let (sent, what) = (Arc::clone(world), order.clone());
        let arrived = tokio::spawn(async move {
            sleep(Duration::from_millis(wire)).await;
            arrive(&sent, &what);
        });
        self.maybe_never(&mut dice).await;
        if arrived.await.is_err() {
            pending::<()>().await;
        }
        self.travel(&mut dice).await;
        let later = self.later(order, now, &mut dice);
        if world.fault(&mut dice, "network: does not say", rate / 3) {
            return Answer { reports: vec![Report::Unknown], ask_again_at: later };
        }
        let standing = world.rails().of(order).standing.unwrap_or(Standing::Working);
        match standing {
            Standing::Refused => Answer::final_report(word(standing, order.id)),
            _ => Answer { reports: vec![Report::accepted()], ask_again_at: later },
        }
    }

    async fn query(&self, order: &Order, now: Timestamp) -> Answer {
        self.life.go_on().await;
        let world = &self.world;
        world.step();
        let mut dice = self.dice("query");
        self.may_die(&mut dice);
        self.travel(&mut dice).await;
        let rate = world.profile.network_faults;
        if world.fault(&mut dice, "network: unreachable", rate / 3) {
            return Answer::final_report(Report::Unreachable);
        }
        let later = self.later(order, now, &mut dice);
        if world.fault(&mut dice, "network: does not say", rate / 3) {
            return Answer { reports: vec![Report::Unknown], ask_again_at: later };
        }
        let (standing, heard) = {
            let mut rails = world.rails();
            let rail = rails.of(order);
            if rail.standing.is_none() {
                rail.not_found += 1;
            }
            (rail.standing, rail.heard)
        };
        world.tell(&format!("node {} asks of {:?}: {standing:?}", self.life.node, order.id));
        self.maybe_never(&mut dice).await;
        self.travel(&mut dice).await;
        match standing {
            None => Answer::final_report(Report::NotFound),
            Some(Standing::Working) => {
                Answer { reports: vec![Report::accepted()], ask_again_at: later }
            }
            Some(end) => {
                let truth = word(end, order.id);
                let mut reports = vec![truth.clone()];
                let lies = world.profile.network_lies;
                if world.fault(&mut dice, "network: answers twice or contradictorily", lies) {
                    // First the truth, or what is no news; then anything.
                    if dice.random.flag() && end != Standing::Refused {
                        reports.insert(0, Report::accepted());
                    }
                    reports.push(lie(end, order.id, &mut dice));
                    if heard && dice.random.flag() {
                        reports = vec![lie(end, order.id, &mut dice)];
                    }
                }
                Answer { reports, ask_again_at: None }
            }
        }
    }

    async fn cancel(&self, order: &Order, _now: Timestamp) -> bool {
        self.life.go_on().await;
        let world = &self.world;
        world.step();
        let mut dice = self.dice("cancel");
        self.may_die(&mut dice);
        self.travel(&mut dice).await;
        if world.fault(&mut dice, "network: unreachable", world.profile.network_faults / 3) {
            return false;
        }
        let done = {
            let mut rails = world.rails();
            let rail = rails.of(order);
            let working = rail.standing == Some(Standing::Working);
            if working {
                rail.standing = Some(Standing::CalledOff);
            }
            working || rail.standing == Some(Standing::CalledOff)
        };
        world.tell(&format!("network: {:?} called off: {done}", order.id));
        if done && calls_back(world, order) {
            let (world, order) = (Arc::clone(world), order.clone());
            tokio::spawn(async move {
                let mut dice = world.dice("called off", number(order.id));
                sleep(Duration::from_millis(dice.millis(0, 30_000))).await;
                call_back(&world, &order, &mut dice).await;
            });
        }
        self.maybe_never(&mut dice).await;
        self.travel(&mut dice).await;
        done
    }
}

/// Is any order still on its way, or any end still to be told by a callback?
pub(crate) fn is_busy(world: &World) -> bool {
    world.rails().all().any(|rail| match rail.standing {
        Some(Standing::Working) => true,
        Some(Standing::Paid | Standing::Failed | Standing::Expired | Standing::CalledOff) => {
            calls_back(world, &rail.order) && !rail.heard
        }
        Some(Standing::Refused) | None => false,
    })
}
