//! 10. Claims by lanes: the backlog of one endpoint or connection costs the others nothing.

use std::collections::BTreeMap;

use cauri::{
    ClaimKind, Connection, Delivery, EndpointId, Environment, Lane, Lanes, Payment, Record,
    RecordKind, Versioned,
};

use crate::{
    fixtures::{self, Random},
    subject::{Subject, at, by_lanes, claim, insert, update_due},
};

/// Inserts deliveries, each to an endpoint and due at a moment.
async fn waiting(subject: &Subject, random: &mut Random, deliveries: &[(EndpointId, i64)]) {
    let scope = random.scope();
    let delivery = |(endpoint, millis): &(EndpointId, i64)| {
        let delivery = Delivery { endpoint: *endpoint, ..fixtures::delivery(random, scope) };
        insert(delivery, Some(at(*millis)))
    };
    subject.accept_all(deliveries.iter().map(delivery).collect()).await;
}

fn endpoints<const N: usize>(random: &mut Random) -> [EndpointId; N] {
    [(); N].map(|()| random.id())
}

fn delivery(held: &Versioned<Record>) -> &Delivery {
    match &held.value {
        Record::Delivery(delivery) => delivery,
        other => panic!("{other:?} is no delivery"),
    }
}

fn to(handed: &[Versioned<Record>]) -> Vec<EndpointId> {
    handed.iter().map(|held| delivery(held).endpoint).collect()
}

const fn free(cap: u16) -> Lanes {
    Lanes { cap, held: Vec::new() }
}

fn of(held: &[(EndpointId, u16)]) -> Vec<(Lane, u16)> {
    held.iter().map(|(endpoint, count)| (Lane::Endpoint(*endpoint), *count)).collect()
}

pub(super) async fn law_10_an_endpoint_has_no_more_than_its_room(subject: Subject) {
    let mut random = Random::new(1021);
    let [a, b, c] = endpoints(&mut random);
    waiting(&subject, &mut random, &[(a, 1), (a, 2), (a, 3), (b, 4), (c, 5), (b, 6), (b, 7)]).await;
    assert_eq!(subject.claim(&by_lanes(ClaimKind::Deliveries, at(9), 9, free(0))).await, []);
    // Oldest first over all endpoints, passing over those that are full.
    let handed = subject.claim(&by_lanes(ClaimKind::Deliveries, at(9), 3, free(2))).await;
    assert_eq!(to(&handed), [a, a, b]);
    let handed = subject.claim(&by_lanes(ClaimKind::Deliveries, at(9), 9, free(1))).await;
    assert_eq!(to(&handed), [a, c, b]);
    assert_eq!(to(&subject.claim(&by_lanes(ClaimKind::Deliveries, at(9), 9, free(9))).await), [b]);
}

pub(super) async fn law_10_what_is_held_already_takes_room(subject: Subject) {
    let mut random = Random::new(1022);
    let [a, b, c] = endpoints(&mut random);
    let all = [(a, 1), (a, 2), (a, 3), (b, 4), (b, 5), (b, 6), (c, 7), (c, 8), (c, 9)];
    waiting(&subject, &mut random, &all).await;
    let lanes = Lanes { cap: 2, held: of(&[(a, 2), (b, 1), (random.id(), 2)]) };
    assert_eq!(
        to(&subject.claim(&by_lanes(ClaimKind::Deliveries, at(9), 99, lanes)).await),
        [b, c, c]
    );
    let lanes = Lanes { cap: 2, held: of(&[(a, 9), (b, 0)]) };
    assert_eq!(
        to(&subject.claim(&by_lanes(ClaimKind::Deliveries, at(9), 99, lanes)).await),
        [b, b, c]
    );
}

pub(super) async fn law_10_a_backlog_costs_the_others_nothing(subject: Subject) {
    let mut random = Random::new(1023);
    let [dead, a, b] = endpoints(&mut random);
    let mut all: Vec<_> = (0..600).map(|millis| (dead, millis)).collect();
    all.extend([(a, 700), (b, 701), (a, 702), (b, 703)]);
    waiting(&subject, &mut random, &all).await;
    let handed = subject.claim(&by_lanes(ClaimKind::Deliveries, at(999), 10, free(3))).await;
    assert_eq!(to(&handed), [dead, dead, dead, a, b, a, b]);
    let lanes = Lanes { cap: 3, held: of(&[(dead, 3)]) };
    assert_eq!(subject.claim(&by_lanes(ClaimKind::Deliveries, at(999), 10, lanes)).await, []);
}

pub(super) async fn law_10_without_lanes_there_is_no_cap(subject: Subject) {
    let mut random = Random::new(1024);
    let [a, b] = endpoints(&mut random);
    let all: Vec<_> = (0..20).map(|millis| (if millis < 15 { a } else { b }, millis)).collect();
    waiting(&subject, &mut random, &all).await;
    let handed = subject.claim(&claim(ClaimKind::Deliveries, at(99), 18)).await;
    assert!(to(&handed).iter().eq(all.iter().take(18).map(|(endpoint, _)| endpoint)));
}

pub(super) async fn law_10_no_endpoint_is_passed_over_for_ever(subject: Subject) {
    let mut random = Random::new(1025);
    let all = endpoints::<20>(&mut random);
    let each = (0..10).flat_map(|round| all.iter().enumerate().map(move |it| (round, it)));
    let each = each.map(|(round, (place, endpoint))| {
        // The first ones have the older backlog, all of it older than anything of the last.
        (*endpoint, i64::try_from(place).unwrap_or(0) * 100 + round)
    });
    waiting(&subject, &mut random, &each.collect::<Vec<_>>()).await;
    let mut held = BTreeMap::<EndpointId, u16>::new();
    for _ in 0..5 {
        let taken = Vec::from_iter(held.clone());
        let lanes = Lanes { cap: 1, held: of(&taken) };
        for endpoint in
            to(&subject.claim(&by_lanes(ClaimKind::Deliveries, at(99_999), 4, lanes)).await)
        {
            *held.entry(endpoint).or_default() += 1;
        }
    }
    assert!(all.iter().all(|endpoint| held.get(endpoint) == Some(&1)), "{held:?}");
}

pub(super) async fn law_10_a_delivery_waits_at_its_present_endpoint(subject: Subject) {
    let mut random = Random::new(1026);
    let [a, b] = endpoints(&mut random);
    waiting(&subject, &mut random, &[(a, 1), (a, 2)]).await;
    let held = subject.claim(&by_lanes(ClaimKind::Deliveries, at(9), 1, free(1))).await.remove(0);
    let moved = Delivery { endpoint: b, ..delivery(&held).clone() };
    subject.accept(update_due(moved, held.version, Some(at(3)))).await;
    assert_eq!(
        to(&subject.claim(&by_lanes(ClaimKind::Deliveries, at(9), 9, free(1))).await),
        [a, b]
    );
}

/// The kinds of orders, and where each waits.
const ORDERS: [(ClaimKind, RecordKind); 3] = [
    (ClaimKind::Payments, RecordKind::Payment),
    (ClaimKind::Payouts, RecordKind::Payout),
    (ClaimKind::Refunds, RecordKind::Refund),
];

/// An order that waits over a connection, or inside.
fn order(random: &mut Random, kind: RecordKind, over: Option<&str>) -> Record {
    let environment = if over.is_some() { Environment::Live } else { Environment::Sandbox };
    let scope = cauri::Scope { environment, ..random.scope() };
    let connection = Connection::new(over.unwrap_or("hangs"));
    match fixtures::record(random, kind, scope) {
        Record::Payment(it) => {
            let (succeeded_at, settled_at) = (None, None);
            Payment { connection, succeeded_at, settled_at, ..Payment::clone(&it) }.into()
        }
        Record::Payout(it) => cauri::Payout { connection, ..cauri::Payout::clone(&it) }.into(),
        Record::Refund(it) => cauri::Refund { connection, ..cauri::Refund::clone(&it) }.into(),
        other => other,
    }
}

/// Claims orders, and says where each was waiting.
async fn over(subject: &Subject, kind: ClaimKind, limit: u16, lanes: Lanes) -> Vec<Lane> {
    let handed = subject.claim(&by_lanes(kind, at(999), limit, lanes)).await;
    handed.iter().filter_map(|held| held.value.lane()).collect()
}

fn connection(name: &str) -> Lane {
    Lane::Connection(Connection::new(name))
}

pub(super) async fn law_10_a_connection_has_no_more_than_its_room(subject: Subject) {
    let mut random = Random::new(1027);
    for (kind, record) in ORDERS {
        let waiting = [Some("hangs"); 40].into_iter().chain([None, Some(""), None, Some("ok")]);
        let insert =
            |(millis, over): (i64, _)| insert(order(&mut random, record, over), Some(at(millis)));
        subject.accept_all((0..).zip(waiting).map(insert).collect()).await;
        // What is of the sandbox names a connection too, and waits for nobody; and a connection may
        // have any name.
        let held = vec![(connection("hangs"), 3)];
        let handed = over(&subject, kind, 9, Lanes { cap: 3, held }).await;
        let rest = [Lane::Inside, connection(""), Lane::Inside, connection("ok")];
        assert_eq!(handed, rest, "{kind:?}");
        let held = vec![(connection("hangs"), 1), (Lane::Inside, 9)];
        let handed = over(&subject, kind, 9, Lanes { cap: 3, held }).await;
        assert_eq!(handed, [connection("hangs"), connection("hangs")], "{kind:?}");
        assert_eq!(over(&subject, kind, 99, free(99)).await.len(), 38, "{kind:?}");
    }
}

pub(super) async fn law_10_an_order_waits_where_it_now_belongs(subject: Subject) {
    let mut random = Random::new(1028);
    for (kind, record) in ORDERS {
        let asked = order(&mut random, record, Some("a"));
        subject.insert(asked.clone(), Some(at(1))).await;
        let key = asked.key();
        let moved = match asked {
            Record::Payment(it) => {
                // Paid: it only waits for its settlement.
                let (succeeded_at, settled_at) = (Some(at(0)), None);
                Payment { succeeded_at, settled_at, ..Payment::clone(&it) }.into()
            }
            Record::Payout(it) => {
                cauri::Payout { connection: Connection::new("b"), ..cauri::Payout::clone(&it) }
                    .into()
            }
            Record::Refund(it) => {
                cauri::Refund { connection: Connection::new("b"), ..cauri::Refund::clone(&it) }
                    .into()
            }
            other => other,
        };
        let version = subject.read(&key).await.version;
        subject.accept(update_due(moved, version, Some(at(2)))).await;
        let there = if kind == ClaimKind::Payments { Lane::Inside } else { connection("b") };
        let full = vec![(there.clone(), 1)];
        assert_eq!(over(&subject, kind, 9, Lanes { cap: 1, held: full }).await, [], "{kind:?}");
        let full = vec![(connection("a"), 1)];
        assert_eq!(
            over(&subject, kind, 9, Lanes { cap: 1, held: full }).await,
            [there],
            "{kind:?}"
        );
    }
}

pub(super) async fn law_10_lanes_mean_nothing_where_there_are_none(subject: Subject) {
    let mut random = Random::new(1029);
    let scope = random.scope();
    for millis in 0..5 {
        let record = fixtures::record(&mut random, RecordKind::Idempotency, scope);
        subject.insert(record, Some(at(millis))).await;
    }
    let lanes = Lanes { cap: 1, held: vec![(Lane::Inside, 9)] };
    let handed = subject.claim(&by_lanes(ClaimKind::Idempotency, at(9), 4, lanes)).await;
    assert_eq!(handed.len(), 4);
}
