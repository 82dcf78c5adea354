use std::collections::HashMap;

use cauri_conformance::fixtures::{self, Random};
use cauri_core::{Connection, Environment, Payment, Scope};

use super::*;

fn now() -> Timestamp {
    Timestamp::from_millis(1_731_974_400_000)
}

fn desk(orders_max: usize, orders_per_connection_max: usize) -> Desk {
    Desk::new(&WorkerOptions { orders_max, orders_per_connection_max, ..WorkerOptions::default() })
}

/// A payment that waits over a connection, or of the sandbox.
fn order(random: &mut Random, over: Option<&str>) -> Waiting {
    let environment = if over.is_some() { Environment::Live } else { Environment::Sandbox };
    let scope = Scope { environment, ..random.scope() };
    let connection = Connection::new(over.unwrap_or("sim"));
    let payment = fixtures::payment(random, scope);
    let payment = Payment { connection, succeeded_at: None, settled_at: None, ..payment };
    let due_at = Some(now().plus_seconds(20));
    (Versioned { value: payment.into(), version: 2, due_at }, Whose::Claimed)
}

/// Begins all that there is room for; says how many of each lane.
fn begin(desk: &mut Desk) -> HashMap<Lane, usize> {
    let mut begun = HashMap::new();
    while let Some((_, lane)) = desk.next(now()) {
        *begun.entry(lane).or_default() += 1;
    }
    begun
}

fn lane(name: &str) -> Lane {
    Lane::Connection(Connection::new(name))
}

#[test]
fn whatever_hangs_leaves_room_for_the_others() {
    let mut random = Random::new(1);
    for hanging in 1..=12_usize {
        let mut desk = desk(512, 128);
        let names: Vec<_> = (0..hanging).map(|nth| format!("hangs_{nth}")).collect();
        for name in &names {
            (0..200).for_each(|_| desk.push(order(&mut random, Some(name))));
        }
        let begun = begin(&mut desk);
        let part = 512 / (hanging + 1);
        for name in &names {
            let count = begun[&lane(name)];
            assert!(count.abs_diff(part.min(128)) <= 1, "{count} of {hanging}");
        }
        for _ in 0..200 {
            desk.push(order(&mut random, Some("well")));
            desk.push(order(&mut random, None));
        }
        let begun = begin(&mut desk);
        assert!(begun[&lane("well")] >= (part / 2).min(128), "{begun:?} beside {hanging}");
        assert_eq!(begun[&Lane::Inside], 200, "waits for nobody");
        assert_eq!(begun.len(), 2, "{begun:?}");
    }
}

#[test]
fn what_ends_makes_room_in_its_lane() {
    let mut random = Random::new(2);
    let mut desk = desk(512, 2);
    (0..5).for_each(|_| desk.push(order(&mut random, Some("a"))));
    assert_eq!(begin(&mut desk)[&lane("a")], 2);
    desk.landed(&lane("a"));
    assert_eq!(begin(&mut desk)[&lane("a")], 1);
    desk.landed(&lane("b"));
    assert_eq!(begin(&mut desk).len(), 0);
    assert_eq!(desk.drain().count(), 2);
}

#[test]
fn what_is_held_takes_room_in_a_claim() {
    let mut random = Random::new(3);
    let mut desk = desk(8, 4);
    assert_eq!(desk.room(), Lanes { cap: 4, held: vec![] });
    (0..9).for_each(|_| desk.push(order(&mut random, Some("a"))));
    begin(&mut desk);
    assert_eq!(desk.room(), Lanes { cap: 4, held: vec![(lane("a"), 9)] });
    assert!(desk.has_room_for(4) && desk.has_room_for(64), "half of all places is enough");
    (0..9).for_each(|_| desk.push(order(&mut random, Some("b"))));
    begin(&mut desk);
    assert_eq!(desk.room().cap, 2, "as much as is left");
    assert!(!desk.has_room_for(64));
}

#[test]
fn what_is_not_ours_for_long_enough_is_left_to_others() {
    let mut random = Random::new(4);
    let mut desk = desk(8, 4);
    desk.push(order(&mut random, Some("a")));
    assert!(desk.next(now().plus_seconds(9)).is_none());
    assert_eq!(desk.room().held, []);
}
