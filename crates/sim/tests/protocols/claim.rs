//! A delivery that two workers claim, either of which may die at any point, while time passes and
//! leases end. The version is the token of a lease.

use cauri::{Delivery, DeliveryStatus, Env, EventKind, Key, Record, Timestamp, Versioned, decide};

use crate::{
    explore::{Protocol, holds, is_found},
    stage::{LeftOut, Stored, env, now, scope},
};

const LEASE_S: i64 = 20;

struct Claims {
    left_out: LeftOut,
    deaths: u8,
}

#[derive(Debug, Clone)]
enum Worker {
    Idle,
    Holds(Versioned<Delivery>),
    /// It has sent, and knows what the receiver said.
    Sent(Versioned<Delivery>, u16),
    Dead,
}

#[derive(Debug, Clone)]
struct Scene {
    stored: Stored,
    clock: Timestamp,
    workers: [Worker; 2],
    deaths: u8,
    /// What the receiver answered, in order: first it fails, from then on it takes what comes.
    answered: Vec<u16>,
    /// How often time was moved.
    moved: u8,
    /// Was it recorded as received?
    received: bool,
}

impl Scene {
    fn delivery(&self) -> Versioned<Delivery> {
        let held = self.stored.records.values().next().unwrap().clone();
        held.of().expect("a delivery")
    }
}

fn delivery(env: &mut Env) -> Delivery {
    Delivery {
        id: env.id(),
        scope: scope(),
        endpoint: env.id(),
        event: env.id(),
        event_kind: EventKind::PaymentCreated,
        url: "https://shop.example.com/hooks".parse().unwrap(),
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(now()),
        ended_by: None,
        test: false,
        created_at: now(),
        completed_at: None,
    }
}

impl Protocol for Claims {
    type State = Scene;

    fn start(&self) -> Scene {
        let mut stored = Stored::default();
        let mut changes = cauri::Changeset::new();
        changes.insert(delivery(&mut env(1, now())), Some(now()));
        stored.commit(changes, LeftOut::Nothing).unwrap();
        let workers = [Worker::Idle, Worker::Idle];
        Scene {
            stored,
            clock: now(),
            workers,
            deaths: self.deaths,
            answered: Vec::new(),
            moved: 0,
            received: false,
        }
    }

    fn steps(&self, state: &Scene) -> Vec<(String, Scene)> {
        let mut steps = Vec::new();
        let there = state.delivery();
        for at in 0..2 {
            let mut step = |name: &str, change: &dyn Fn(&mut Scene)| {
                let mut next = state.clone();
                change(&mut next);
                steps.push((format!("{at} {name}"), next));
            };
            let free = there.due_at.is_some_and(|due| due <= state.clock);
            match &state.workers[at] {
                // A claim, as the store is asked to do it.
                Worker::Idle
                    if free || (self.left_out == LeftOut::Own && there.due_at.is_some()) =>
                {
                    step("claims", &|next| {
                        let mut held = next.delivery();
                        held.version += 1;
                        held.due_at = Some(next.clock.plus_seconds(LEASE_S));
                        let key = Key::Delivery(scope(), held.value.id);
                        next.stored.records.insert(key, held.clone().map(Record::from));
                        next.workers[at] = Worker::Holds(held);
                    });
                }
                Worker::Holds(held) => step("sends", &|next| {
                    let status = if next.answered.is_empty() { 500 } else { 200 };
                    next.answered.push(status);
                    next.workers[at] = Worker::Sent(held.clone(), status);
                }),
                Worker::Sent(held, status) => step("records", &|next| {
                    let url = held.value.url.clone();
                    let (_, changes) =
                        decide::delivery::attempted(held.clone(), url, next.clock, Ok(*status), 0);
                    // Refused when the lease was lost; then there is nothing left to do about it.
                    let _ = next.stored.commit(changes, self.left_out);
                    next.received |= next.delivery().value.status == DeliveryStatus::Succeeded;
                    next.workers[at] = Worker::Idle;
                }),
                Worker::Idle | Worker::Dead => {}
            }
            let dead = matches!(state.workers[at], Worker::Dead);
            if state.deaths > 0 && !dead {
                step("dies", &|next| {
                    next.deaths -= 1;
                    next.workers[at] = Worker::Dead;
                });
            }
        }
        if state.moved < 5 && there.due_at.is_some() {
            let mut next = state.clone();
            next.moved += 1;
            next.clock = next.clock.plus_seconds(LEASE_S);
            steps.push(("time passes".to_owned(), next));
        }
        steps
    }

    fn always(&self, state: &Scene) -> Result<(), String> {
        let it = state.delivery().value;
        let recorded: Vec<u16> = it.attempts.iter().filter_map(|it| it.http_status).collect();
        let mut sent = state.answered.iter();
        if !recorded.iter().all(|status| sent.any(|it| it == status)) {
            return Err(format!("recorded {recorded:?}, sent {:?}", state.answered));
        }
        let received = recorded.last() == Some(&200);
        if received != (it.status == DeliveryStatus::Succeeded) {
            return Err(format!("{} after {recorded:?}", it.status));
        }
        let holders = state.workers.iter().filter(|worker| match worker {
            Worker::Holds(held) => held.due_at.is_some_and(|until| until > state.clock),
            Worker::Idle | Worker::Sent(..) | Worker::Dead => false,
        });
        if holders.count() > 1 {
            return Err("two hold it at once".to_owned());
        }
        if state.received && it.status != DeliveryStatus::Succeeded {
            return Err(format!("it was received, and is {}", it.status));
        }
        Ok(())
    }

    fn finally(&self, state: &Scene) -> Result<(), String> {
        let it = state.delivery();
        let alive = state.workers.iter().any(|it| !matches!(it, Worker::Dead));
        if alive && it.value.status == DeliveryStatus::Pending && it.due_at.is_none() {
            return Err("nobody will ever attempt it again".to_owned());
        }
        Ok(())
    }
}

#[test]
fn a_claim_is_one_workers_and_a_dead_one_does_not_keep_it() {
    holds(&Claims { left_out: LeftOut::Nothing, deaths: 1 }, 5_000);
    holds(&Claims { left_out: LeftOut::Nothing, deaths: 2 }, 5_000);
}

#[test]
fn without_the_token_one_who_was_late_overwrites_what_was_recorded() {
    is_found(&Claims { left_out: LeftOut::Versions, deaths: 0 });
}

#[test]
fn a_claim_that_asks_for_no_lease_is_found() {
    is_found(&Claims { left_out: LeftOut::Own, deaths: 0 });
}
