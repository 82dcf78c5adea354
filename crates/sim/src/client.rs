//! Clients: they ask, give up, ask again under the same key, of another node too, and remember
//! every answer.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cauri::{Error, OrderId, Record, Refused, Scope, StoreError};
use futures_util::future::join;
use tokio::time::sleep;

use crate::{
    operation::{Kind, Known, Made, Operation, Request, Said, ask},
    world::World,
};

/// How one try ended, as the client sees it.
#[derive(Debug)]
enum Outcome {
    Said(Said),
    Refused(String),
    /// Nothing was done, and it is known.
    Nothing,
    /// Who knows.
    Doubt,
}

/// What a client remembers of one operation.
#[derive(Debug)]
struct Memory {
    operation: Operation,
    request: Request,
    answer: Option<Said>,
    tries: u64,
    doubt: bool,
}

#[derive(Debug, Default)]
struct Shelf {
    known: BTreeMap<usize, Known>,
    memories: BTreeMap<usize, Memory>,
}

#[derive(Debug)]
pub(crate) struct Clients {
    world: Arc<World>,
    scopes: [Scope; 2],
    shelf: Mutex<Shelf>,
}

impl Clients {
    pub(crate) fn new(world: Arc<World>, scopes: [Scope; 2]) -> Self {
        Self { world, scopes, shelf: Mutex::default() }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One operation, from its first try to an answer or to giving up.
    pub(crate) async fn perform(&self, operation: Operation) {
        sleep(Duration::from_millis(operation.at_ms)).await;
        let number = operation.number;
        let scope = self.scopes[operation.scope];
        let request = {
            let mut shelf = self.shelf();
            let known = shelf.known.entry(operation.scope).or_default();
            let Some(request) = operation.request(scope, known) else { return };
            let memory = Memory {
                operation: operation.clone(),
                request: request.clone(),
                answer: None,
                tries: 0,
                doubt: false,
            };
            shelf.memories.insert(number, memory);
            request
        };
        self.world.tell(&format!("{}: {}", operation.name(), short(&request)));
        let tries = if operation.keyed { 5 } else { 1 };
        for _ in 0..tries {
            let ended = if operation.twice {
                let (one, other) = join(self.attempt(number), self.attempt(number)).await;
                one || other
            } else {
                self.attempt(number).await
            };
            let mut dice = self.world.dice("client", u64::try_from(number).unwrap_or_default());
            let again = operation.keyed
                && self.world.fault(
                    &mut dice,
                    "client: asks again all the same",
                    self.world.profile.client_faults,
                );
            if ended && !again {
                return;
            }
            sleep(Duration::from_millis(dice.millis(1, 4_000))).await;
        }
    }

    /// One try; answers whether there is anything to try again for.
    async fn attempt(&self, number: usize) -> bool {
        let world = &self.world;
        let (operation, request, answered) = {
            let mut shelf = self.shelf();
            let Some(memory) = shelf.memories.get_mut(&number) else { return true };
            memory.tries += 1;
            (memory.operation.clone(), memory.request.clone(), memory.answer.is_some())
        };
        let mut dice = world.dice("ask", u64::try_from(number).unwrap_or_default());
        let patience = if world.fault(&mut dice, "client: impatient", world.profile.client_faults) {
            dice.millis(1, 1_500)
        } else {
            60_000
        };
        let outcome = match world.some_node(&mut dice) {
            None => Outcome::Nothing,
            Some(node) => {
                let call = operation.call(self.scopes[operation.scope]);
                let asked = ask(&node.engine, &call, request);
                match node.life.serve(Duration::from_millis(patience), asked).await {
                    None => Outcome::Doubt,
                    Some(Ok(said)) => Outcome::Said(said),
                    Some(Err(Error::Refused(refused))) => {
                        self.refused_for_a_reason(&operation, &refused);
                        Outcome::Refused(refused.to_string())
                    }
                    Some(Err(Error::Store(StoreError::Unknown(_)))) => Outcome::Doubt,
                    Some(Err(error)) if error.is_transient() => Outcome::Nothing,
                    Some(Err(error)) => {
                        let text = format!("{}: {error:?}", operation.name());
                        world.violate("a call fails only for what the contract names", text);
                        Outcome::Nothing
                    }
                }
            }
        };
        world.tell(&format!("{}: {}", operation.name(), shown(&outcome)));
        self.remember(number, outcome, answered)
    }

    fn refused_for_a_reason(&self, operation: &Operation, refused: &Refused) {
        if matches!(
            refused,
            Refused::Impossible | Refused::Overflow(_) | Refused::IdempotencyKeyReused
        ) {
            let text = format!("{}: {refused}", operation.name());
            self.world.violate("a call fails only for what the contract names", text);
        }
    }

    /// `answered` says whether there was an answer before this try began: one that was judged beside
    /// another may be refused for what was true before the other was done.
    fn remember(&self, number: usize, outcome: Outcome, answered: bool) -> bool {
        let mut shelf = self.shelf();
        let Some(memory) = shelf.memories.get_mut(&number) else { return true };
        let keyed = memory.operation.keyed
            && memory.operation.kind != Kind::DeleteEndpoint
            && memory.operation.kind != Kind::Read;
        let name = memory.operation.name();
        match outcome {
            Outcome::Said(said) => {
                let first = memory.answer.get_or_insert_with(|| said.clone());
                let same = first.body == said.body;
                let (scope, made) = (memory.operation.scope, said.made.clone());
                if keyed && !same {
                    let text = format!("{name}: {} and then {}", first.body, said.body);
                    self.world.violate("a retry gets the same answer", text);
                }
                learn(shelf.known.entry(scope).or_default(), &made);
                // Without a key there may be a second endpoint at this address.
                if keyed && matches!(made, Made::Endpoint(_)) {
                    self.learn_secret(&said.body);
                }
                true
            }
            Outcome::Refused(why) => {
                if keyed && answered {
                    let text = format!("{name} was answered, and is now refused: {why}");
                    self.world.violate("a retry gets the same answer", text);
                }
                true
            }
            Outcome::Nothing => false,
            Outcome::Doubt => {
                memory.doubt = true;
                false
            }
        }
    }

    fn learn_secret(&self, body: &str) {
        let said: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        if let (Some(url), Some(secret)) = (said["url"].as_str(), said["secret"].as_str()) {
            self.world.receivers().learn(url.to_owned(), secret.to_owned());
        }
    }

    /// Once all is calm, everybody asks again what they have no answer to, and then once more what
    /// they have one to.
    pub(crate) async fn resolve(&self) {
        let numbers: Vec<usize> = self.shelf().memories.keys().copied().collect();
        for number in numbers {
            let keyed = self.shelf().memories.get(&number).is_some_and(|it| it.operation.keyed);
            if !keyed {
                continue;
            }
            let mut answered = false;
            for _ in 0..20 {
                answered = self.attempt(number).await;
                if answered {
                    break;
                }
                sleep(Duration::from_secs(1)).await;
            }
            if !answered {
                let text = format!("op-{number}");
                self.world.violate("every call is answered once all is calm", text);
            }
        }
    }

    /// Everything that was answered is there, once, and nothing else is.
    pub(crate) fn check(&self) {
        let shelf = self.shelf();
        for memory in shelf.memories.values() {
            let operation = &memory.operation;
            let Some(count) = self.made_by(operation) else { continue };
            let name = operation.name();
            let most = if operation.keyed { 1 } else { memory.tries };
            if count > most {
                let text = format!("{name} was done {count} times");
                self.world.violate("an idempotent retry never acts twice", text);
            }
            if memory.answer.is_some() && count == 0 {
                let text = format!("{name} was answered, and is not there");
                self.world.violate("what was answered is there", text);
            }
            // A store that acts after it was thought dead may act on what was given up.
            let sure = !memory.doubt && self.world.profile.store_late == 0;
            if memory.answer.is_none() && count > 0 && sure {
                let text = format!("{name} was refused each time, and is there");
                self.world.violate("a refused call leaves no trace", text);
            }
        }
    }

    /// How often what an operation makes is there; `None` when it makes nothing of its own.
    fn made_by(&self, operation: &Operation) -> Option<u64> {
        let scope = self.scopes[operation.scope];
        if operation.kind == Kind::Fund {
            return Some(self.world.oracle(|oracle| oracle.funded(scope, operation.funds())));
        }
        if !matches!(
            operation.kind,
            Kind::Pay
                | Kind::PayLink
                | Kind::Payout
                | Kind::Refund
                | Kind::Link
                | Kind::Customer
                | Kind::Endpoint
        ) {
            return None;
        }
        let name = operation.name();
        let of = |record: &Record| {
            let reference = match record {
                Record::Payment(it) => it.reference.as_ref().map(|it| it.as_str()),
                Record::Payout(it) => it.reference.as_ref().map(|it| it.as_str()),
                Record::Refund(it) => it.reference.as_ref().map(|it| it.as_str()),
                Record::PaymentLink(it) => it.reference.as_ref().map(|it| it.as_str()),
                Record::Customer(it) => it.reference.as_ref().map(|it| it.as_str()),
                Record::WebhookEndpoint(it) => it.description.as_ref().map(|it| it.as_str()),
                _ => None,
            };
            reference == Some(name.as_str())
        };
        let count = self.world.oracle(|oracle| oracle.records().filter(|it| of(&it.value)).count());
        u64::try_from(count).ok()
    }
}

fn learn(known: &mut Known, made: &Made) {
    fn add<T: PartialEq + Copy>(all: &mut Vec<T>, one: T) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    match made {
        Made::Payment(id) => {
            add(&mut known.payments, *id);
            add(&mut known.orders, OrderId::Payment(*id));
        }
        Made::Payout(id) => add(&mut known.orders, OrderId::Payout(*id)),
        Made::Refund(id) => add(&mut known.orders, OrderId::Refund(*id)),
        Made::Link(id) => add(&mut known.links, *id),
        Made::Customer(id) => add(&mut known.customers, *id),
        Made::Endpoint(id) => add(&mut known.endpoints, *id),
        Made::Other => {}
    }
}

fn short(request: &Request) -> String {
    match request {
        Request::Pay(it) => format!(
            "pays {} by {}{}",
            it.amount.unwrap_or_default(),
            it.network.as_ref().map_or("card", |it| it.as_str()),
            it.payment_link.map_or_else(String::new, |it| format!(" through {it}"))
        ),
        Request::Cancel(id) => format!("cancels {id}"),
        Request::Refund(it) => format!(
            "refunds {} of {}",
            it.amount.map_or_else(|| "all".to_owned(), |it| it.to_string()),
            it.payment
        ),
        Request::Payout(it) => format!("pays out {}", it.amount),
        Request::Link(it) => format!("makes a link, reusable: {}", it.reusable),
        Request::CloseLink(id) => format!("closes {id}"),
        Request::Endpoint(it) => format!("listens at {}", it.url.as_str()),
        Request::SwitchEndpoint(id, active) => format!("sets {id} active: {active}"),
        Request::DeleteEndpoint(id) => format!("deletes {id}"),
        Request::TestEndpoint(id) => format!("tests {id}"),
        Request::Customer(_) => "makes a customer".to_owned(),
        Request::Fund(it) => format!("funds {}", it.amount),
        Request::Simulate(it) => format!("simulates {} on {:?}", it.scenario, it.id),
        Request::Read(_) => "reads".to_owned(),
    }
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Said(it) => format!("answered {:?}, replayed: {}", it.made, it.replayed),
        Outcome::Refused(why) => format!("refused: {why}"),
        Outcome::Nothing => "not done".to_owned(),
        Outcome::Doubt => "no answer".to_owned(),
    }
}
