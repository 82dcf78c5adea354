use cauri_core::{DeliveryStatus, Env, Environment, EventKind, Scope, Tick};
use proptest::{collection::vec, prelude::*};

use super::*;

struct Stage {
    tick: Tick,
    scope: Scope,
}

impl Stage {
    fn set() -> Self {
        let tick = Tick::first(Timestamp::EPOCH);
        let mut env = Env::new(Timestamp::EPOCH, tick, [1; 32]);
        let scope = Scope { account: env.id(), environment: Environment::Sandbox };
        Self { tick, scope }
    }

    /// So many deliveries of one commit to one endpoint.
    fn commit(&mut self, endpoint: EndpointId, count: usize) -> Vec<Waiting> {
        self.tick = self.tick.next();
        let mut env = Env::new(Timestamp::EPOCH, self.tick, [1; 32]);
        (0..count)
            .map(|_| {
                let value = Delivery {
                    id: env.id(),
                    scope: self.scope,
                    endpoint,
                    event: env.id(),
                    event_kind: EventKind::PaymentCreated,
                    url: "https://shop.example.com/hooks".parse().unwrap(),
                    status: DeliveryStatus::Pending,
                    attempts: Vec::new(),
                    next_attempt_at: None,
                    ended_by: None,
                    test: false,
                    created_at: Timestamp::EPOCH,
                    completed_at: None,
                };
                let due_at = Some(Timestamp::EPOCH.plus_seconds(20));
                (Versioned { value, version: 1, due_at }, None)
            })
            .collect()
    }

    /// From now on everything is of another account.
    fn another_account(&mut self) {
        self.tick = self.tick.next();
        self.scope.account = Env::new(Timestamp::EPOCH, self.tick, [3; 32]).id();
    }

    fn endpoint(&mut self) -> EndpointId {
        self.tick = self.tick.next();
        Env::new(Timestamp::EPOCH, self.tick, [2; 32]).id()
    }
}

fn take(dispatcher: &mut Dispatcher, now: Timestamp) -> Vec<Delivery> {
    std::iter::from_fn(|| dispatcher.next(now)).map(|(held, _)| held.value).collect()
}

#[test]
fn a_hanging_endpoint_leaves_the_others_their_room() {
    let mut stage = Stage::set();
    let (dead, healthy) = (stage.endpoint(), stage.endpoint());
    let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
    for _ in 0..500 {
        stage.commit(dead, 1).into_iter().for_each(|it| dispatcher.push(it));
    }
    stage.commit(healthy, 1).into_iter().for_each(|it| dispatcher.push(it));
    let begun = take(&mut dispatcher, Timestamp::EPOCH);
    assert_eq!(begun.iter().filter(|it| it.endpoint == dead).count(), 8);
    assert_eq!(begun.iter().filter(|it| it.endpoint == healthy).count(), 1);
    let (limit, lanes) = dispatcher.room().map_or((0, None), |(limit, lanes)| (limit, Some(lanes)));
    assert_eq!(limit, 256 - 9 - 8, "one endpoint takes its own share of the room, no more");
    let lanes = lanes.expect("there is room");
    let room = |endpoint| lanes.room(&cauri_core::Lane::Endpoint(endpoint));
    assert_eq!((room(dead), room(healthy)), (0, 7));
}

#[test]
fn events_of_one_commit_go_one_after_the_other() {
    let mut stage = Stage::set();
    let endpoint = stage.endpoint();
    let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
    let one = stage.commit(endpoint, 3);
    let order: Vec<_> = one.iter().map(|(held, _)| held.value.id).collect();
    one.into_iter().for_each(|it| dispatcher.push(it));
    stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
    let mut seen = Vec::new();
    let first = take(&mut dispatcher, Timestamp::EPOCH);
    assert_eq!(first.len(), 2, "another commit does not wait");
    seen.push(first[0].id);
    let mut last = first[0].clone();
    for _ in 0..2 {
        dispatcher.landed(endpoint, commit_of(&last), Some(true));
        let next = take(&mut dispatcher, Timestamp::EPOCH);
        assert_eq!(next.len(), 1);
        last = next[0].clone();
        seen.push(last.id);
    }
    assert_eq!(seen, order);
}

#[test]
fn an_endpoint_that_keeps_failing_gets_one_attempt_at_a_time() {
    let mut stage = Stage::set();
    let endpoint = stage.endpoint();
    let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
    for _ in 0..100 {
        stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
    }
    for _ in 0..FAILURES_MAX {
        let begun = dispatcher.next(Timestamp::EPOCH).map(|(held, _)| commit_of(&held.value));
        dispatcher.landed(endpoint, begun.unwrap_or_default(), Some(false));
    }
    let begun = take(&mut dispatcher, Timestamp::EPOCH);
    assert_eq!(begun.len(), 1);
    dispatcher.landed(endpoint, commit_of(&begun[0]), Some(true));
    assert_eq!(take(&mut dispatcher, Timestamp::EPOCH).len(), 8);
}

#[test]
fn what_is_nearly_anybodys_again_is_not_begun() {
    let mut stage = Stage::set();
    let endpoint = stage.endpoint();
    let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
    stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
    assert!(take(&mut dispatcher, Timestamp::EPOCH.plus_seconds(11)).is_empty());
    assert!(dispatcher.room().is_some_and(|(limit, _)| limit == 256), "nothing is held");
    // Nor from behind one that is ours for long enough, and has to wait for another.
    let long = Timestamp::EPOCH.plus_seconds(60);
    let first = stage.commit(endpoint, 2);
    let [mut one, mut other]: [Waiting; 2] = first.try_into().unwrap();
    (one.0.due_at, other.0.due_at) = (Some(long), Some(long));
    dispatcher.push(one);
    dispatcher.push(other);
    stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
    assert_eq!(take(&mut dispatcher, Timestamp::EPOCH.plus_seconds(11)).len(), 1);
}

#[test]
fn slow_receivers_of_two_accounts_leave_the_others_their_room() {
    let mut stage = Stage::set();
    let mut dispatcher = Dispatcher::new(&WorkerOptions::default());
    let first = stage.scope.account;
    for _ in 0..2 {
        for _ in 0..16 {
            let slow = stage.endpoint();
            for _ in 0..8 {
                stage.commit(slow, 1).into_iter().for_each(|it| dispatcher.push(it));
            }
        }
        stage.another_account();
    }
    let begun = take(&mut dispatcher, Timestamp::EPOCH);
    assert_eq!(begun.len(), 192, "a quarter is for whoever comes next");
    assert_eq!(begun.iter().filter(|it| it.scope.account == first).count(), 96);
    assert!(dispatcher.room().is_some_and(|(limit, _)| limit == 64), "and is claimed for");
    for _ in 0..8 {
        let endpoint = stage.endpoint();
        for _ in 0..8 {
            stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
        }
    }
    assert_eq!(take(&mut dispatcher, Timestamp::EPOCH).len(), 64);
    // What is free again goes to a fourth, which has come last, not to who has more already.
    stage.another_account();
    let endpoint = stage.endpoint();
    stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
    dispatcher.landed(begun[0].endpoint, commit_of(&begun[0]), Some(true));
    let [next] = take(&mut dispatcher, Timestamp::EPOCH).try_into().unwrap();
    assert_eq!(next.endpoint, endpoint);
}

#[test]
fn behind_their_share_endpoints_still_take_turns() {
    let mut stage = Stage::set();
    let options =
        WorkerOptions { attempts_max: 8, attempts_per_endpoint_max: 8, ..Default::default() };
    let mut dispatcher = Dispatcher::new(&options);
    let (one, other) = (stage.endpoint(), stage.endpoint());
    for endpoint in [one, other].repeat(4) {
        stage.commit(endpoint, 1).into_iter().for_each(|it| dispatcher.push(it));
    }
    // Not alone, and yet the other account has nothing to begin.
    stage.another_account();
    let busy = stage.endpoint();
    stage.commit(busy, 2).into_iter().for_each(|it| dispatcher.push(it));
    let begun = take(&mut dispatcher, Timestamp::EPOCH);
    let of = |endpoint| begun.iter().filter(|it| it.endpoint == endpoint).count();
    assert_eq!((of(busy), of(one).abs_diff(of(other)), begun.len()), (1, 1, 6));
}

proptest! {
    /// Whatever comes and ends in whichever order: a place goes to an account that holds its share
    /// only while nobody who holds less could take it, the last ones never do, and none stays
    /// free otherwise.
    #[test]
    fn nobody_waits_for_who_has_more_than_its_share(
        steps in vec((any::<bool>(), 0_usize..5, 0_usize..4), 1..200),
    ) {
        const ENDPOINT_MAX: usize = 4;
        let (all, share, common) = (16, 4, 12);
        let options = WorkerOptions {
            attempts_max: all,
            attempts_per_endpoint_max: 4,
            ..Default::default()
        };
        let mut stage = Stage::set();
        let mut dispatcher = Dispatcher::new(&options);
        let accounts: Vec<_> = (0..5)
            .map(|_| {
                stage.another_account();
                (stage.scope.account, (0..4).map(|_| stage.endpoint()).collect::<Vec<_>>())
            })
            .collect();
        let mut waiting = HashMap::<EndpointId, usize>::new();
        let mut flying = Vec::<Delivery>::new();
        for (comes, account, endpoint) in steps {
            if comes {
                let (account, endpoints) = &accounts[account];
                stage.scope.account = *account;
                *waiting.entry(endpoints[endpoint]).or_default() += 2;
                for _ in 0..2 {
                    let one = stage.commit(endpoints[endpoint], 1);
                    one.into_iter().for_each(|it| dispatcher.push(it));
                }
            } else if !flying.is_empty() {
                let ended = flying.swap_remove((account * 4 + endpoint) % flying.len());
                dispatcher.landed(ended.endpoint, commit_of(&ended), Some(true));
            }
            loop {
                let next = dispatcher.next(Timestamp::EPOCH).map(|(held, _)| held.value);
                let held = |account| {
                    flying.iter().filter(|it| it.scope.account == account).count()
                };
                let to = |endpoint| flying.iter().filter(|it| it.endpoint == endpoint).count();
                let ready = |it: &EndpointId| {
                    waiting.get(it).is_some_and(|count| *count > 0) && to(*it) < ENDPOINT_MAX
                };
                let mut ready = accounts.iter().filter(|(_, its)| its.iter().any(ready));
                let Some(begun) = next else {
                    let room = if ready.clone().any(|(it, _)| held(*it) < share) {
                        all
                    } else if ready.next().is_some() {
                        common
                    } else {
                        0
                    };
                    prop_assert!(flying.len() >= room);
                    break;
                };
                prop_assert!(flying.len() < all && to(begun.endpoint) < ENDPOINT_MAX);
                if held(begun.scope.account) >= share {
                    prop_assert!(flying.len() < common);
                    prop_assert!(ready.all(|(it, _)| held(*it) >= share));
                }
                *waiting.entry(begun.endpoint).or_default() -= 1;
                flying.push(begun);
            }
        }
    }
}
