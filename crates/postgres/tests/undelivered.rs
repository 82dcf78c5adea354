//! The table that finds what was not received says of each delivery what the delivery says, whoever
//! writes beside whom.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use std::sync::Arc;

use cauri::{
    Changeset, Claim, ClaimKind, Delivery, DeliveryStatus, Grouped, Lanes, Store, Timestamp,
    Versioned,
};
use cauri_conformance::fixtures::{self, Random};
use futures_util::future::join_all;
use scratch::Home;
use sqlx::Row as _;

/// Workers, of two nodes in turn.
const WORKERS: u64 = 6;

/// How often each of them claims.
const CLAIMS: i64 = 25;

/// Inserts a few deliveries, of which some are due.
async fn insert(store: &dyn Store, random: &mut Random, endpoints: &[Delivery], now: Timestamp) {
    let new = (0..6).map(|_| {
        let to = random.pick(endpoints).clone();
        let mut delivery = fixtures::delivery(random, to.scope);
        delivery.endpoint = to.endpoint;
        let mut changes = Changeset::new();
        changes.insert(delivery, random.flag().then_some(now));
        changes
    });
    let verdicts = store.commit(new.collect()).await.unwrap();
    assert!(verdicts.iter().all(Result::is_ok));
}

/// Received, given up, to be tried again, or given back.
fn outcome(random: &mut Random, held: Versioned<Delivery>, now: Timestamp) -> Changeset {
    let Versioned { value: mut delivery, version, .. } = held;
    let (status, due_at) = *random.pick(&[
        (DeliveryStatus::Succeeded, None),
        (DeliveryStatus::Failed, None),
        (DeliveryStatus::Pending, Some(now.plus_millis(3))),
        (delivery.status, Some(now)),
    ]);
    delivery.status = status;
    let mut changes = Changeset::new();
    changes.update(delivery, version, due_at);
    changes
}

/// Claims and writes down what came of it; now and then with a version that is no more. Answers how
/// many outcomes were accepted.
async fn work(store: Arc<dyn Store>, seed: u64, endpoints: Vec<Delivery>) -> usize {
    let mut random = Random::new(seed);
    let mut accepted = 0;
    for turn in 1..=CLAIMS {
        let now = Timestamp::from_millis(turn * 10);
        insert(&*store, &mut random, &endpoints, now).await;
        let lanes = Some(Lanes { cap: 4, held: Vec::new() });
        // Some leases end before the holder writes.
        let until = now.plus_millis(if random.flag() { 1 } else { 1_000_000 });
        let kind = ClaimKind::Deliveries;
        let claimed = store.claim(&Claim { kind, now, until, limit: 8, lanes }).await.unwrap();
        let held: Vec<_> = claimed.into_iter().filter_map(Versioned::of::<Delivery>).collect();
        let mut batch = Vec::new();
        for held in held {
            // Some holders are never heard of again.
            if random.flag() && random.flag() {
                continue;
            }
            batch.push(outcome(&mut random, held.clone(), now));
            if random.flag() {
                batch.push(outcome(&mut random, held, now));
            }
        }
        if !batch.is_empty() {
            let verdicts = store.commit(batch).await.unwrap();
            accepted += verdicts.iter().filter(|verdict| verdict.is_ok()).count();
        }
    }
    accepted
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_the_deliveries_say() {
    let home = Home::new();
    let nodes: [Arc<dyn Store>; 2] =
        [Arc::new(Grouped::new(home.open().await)), Arc::new(home.open().await)];
    let mut random = Random::new(77);
    let scopes = [random.scope(), random.scope()];
    let endpoints: Vec<Delivery> =
        (0..5).map(|at| fixtures::delivery(&mut random, scopes[at % 2])).collect();
    let workers = (0..WORKERS)
        .zip(nodes.iter().cycle())
        .map(|(seed, node)| tokio::spawn(work(Arc::clone(node), 1_000 + seed, endpoints.clone())));
    let accepted = join_all(workers).await.into_iter().map(Result::unwrap).sum::<usize>();
    assert!(accepted > 100, "{accepted} outcomes");

    let mut connection = home.connection().await;
    let columns = "account, live, id, endpoint, event_kind, status, created_at, due_at, number";
    let said = format!("select {columns} from undelivered");
    let meant = format!(
        "select {columns} from deliveries where status <> 'succeeded' or due_at is not null"
    );
    let text = format!(
        "select (select count(*) from ({meant}) as m), \
         (select count(*) from ({said} except {meant}) as d), \
         (select count(*) from ({meant} except {said}) as d)"
    );
    let row = sqlx::query(sqlx::AssertSqlSafe(text)).fetch_one(&mut connection).await.unwrap();
    let [meant, too_much, missing]: [i64; 3] = [row.get(0), row.get(1), row.get(2)];
    assert_eq!((too_much, missing), (0, 0), "of {meant}");
    assert!(meant > 100, "{meant} are not received");
}
