//! How many commits a second the store takes from callers that wait for each:
//! `commits OPERATION CALLERS ACCOUNTS SECONDS [IN_FLIGHT] [BATCH]`, on the server that
//! `CAURI_TEST_POSTGRES` names, in the schema `load`.
//!
//! * `create`: a payment with its first line, event, delivery and idempotency record.
//! * `replay`: the same, and every fifth is sent again, which is refused.
//! * `succeed`: the update of a payment with a line, an event, a delivery and four ledger entries.
//! * `get`: no commit; the three records that most commands read first.

#![expect(clippy::unwrap_used, reason = "whatever goes wrong ends the measurement")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cauri::{
    Account, Amount, Changeset, EntryKind, Env, EventId, Grouped, GroupedOptions, Key,
    LedgerAccountKind::{Clearing, Fees, MerchantPending},
    Payment, Posting, PostingHead, Scope, Store, StoredBody, Tick, Timestamp,
};
use cauri_conformance::fixtures::{self, Fill, Random};
use cauri_postgres::{PostgresOptions, PostgresStore};
use tokio::time::{Instant, sleep};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, other: u64| args.get(at).map_or(other, |it| it.parse().unwrap());
    let operation = args.first().map_or("create", String::as_str);
    let (callers, accounts, seconds) = (number(1, 64), number(2, 1_000), number(3, 10));
    let grouping = GroupedOptions::default()
        .in_flight_max(usize::try_from(number(4, 2)).unwrap())
        .batch_max(usize::try_from(number(5, 128)).unwrap());
    let url = std::env::var("CAURI_TEST_POSTGRES").expect("CAURI_TEST_POSTGRES names no server");
    let options = PostgresOptions::default().schema("load");
    let store = PostgresStore::connect_with(&url, options).await.unwrap();
    let store = Arc::new(Grouped::with(store, grouping));

    let seed = u64::from(std::process::id()) * 100_000;
    let mut random = Random::new(seed).filling(Fill::Nothing);
    let scopes: Vec<Scope> = (0..accounts).map(|_| random.scope()).collect();
    for scope in &scopes {
        let mut changes = Changeset::new();
        changes.insert(Account { id: scope.account, created_at: Timestamp::EPOCH }, None);
        store.commit(vec![changes]).await.unwrap()[0].clone().unwrap();
    }

    let before = store.stats();
    let stop = Arc::new(AtomicBool::new(false));
    let started = Instant::now();
    let tasks: Vec<_> = (1..=callers)
        .map(|caller| {
            let random = Random::new(seed + caller).filling(Fill::Nothing);
            let caller = Caller { random, scopes: scopes.clone(), held: None, millis: 0, sent: 0 };
            let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
            tokio::spawn(caller.run(store, operation.to_owned(), stop))
        })
        .collect();
    sleep(Duration::from_secs(seconds)).await;
    stop.store(true, Ordering::Relaxed);
    let mut micros = Vec::new();
    for task in tasks {
        micros.extend(task.await.unwrap());
    }
    let rate = u128::try_from(micros.len()).unwrap() * 1_000 / started.elapsed().as_millis();
    micros.sort_unstable();
    let at = |thousandth: usize| micros[(micros.len() - 1) * thousandth / 1_000];
    let batches = store.stats().batches - before.batches;
    println!(
        "{operation}, {callers} callers, {accounts} accounts: {} in {seconds} s, {rate}/s; \
         p50 {} p99 {} p99.9 {} max {} us; {batches} batches",
        micros.len(),
        at(500),
        at(990),
        at(999),
        at(1_000),
    );
}

struct Caller {
    random: Random,
    scopes: Vec<Scope>,
    /// A payment that was made, and its version.
    held: Option<(Payment, u64)>,
    millis: i64,
    sent: u64,
}

impl Caller {
    async fn run(
        mut self,
        store: Arc<Grouped<PostgresStore>>,
        operation: String,
        stop: Arc<AtomicBool>,
    ) -> Vec<u128> {
        let mut micros = Vec::new();
        let mut last = Changeset::new();
        while !stop.load(Ordering::Relaxed) {
            self.sent += 1;
            let is_again = operation == "replay" && self.sent.is_multiple_of(5);
            if !is_again {
                last = self.changes(operation == "succeed");
            }
            let changes = last.clone();
            let keys: Vec<Key> = changes.keys().take(2).collect();
            let before = Instant::now();
            if operation == "get" {
                let scope = changes.scope().unwrap();
                let keys = [&[Key::Subscriptions(scope)], keys.as_slice()].concat();
                store.get(&keys).await.unwrap();
            } else {
                let verdict = store.commit(vec![changes]).await.unwrap().remove(0);
                assert_eq!(verdict.is_err(), is_again, "{verdict:?}");
            }
            micros.push(before.elapsed().as_micros());
        }
        micros
    }

    fn changes(&mut self, succeeds: bool) -> Changeset {
        self.millis += 1;
        let now = Timestamp::from_millis(1_700_000_000_000).plus_millis(self.millis);
        let mut env = Env::new(now, Tick::first(now), self.random.bytes());
        let mut changes = Changeset::new();
        let number = match self.held.take().filter(|_| succeeds) {
            Some((payment, version)) => {
                let (scope, currency) = (payment.scope, payment.currency);
                let head = PostingHead {
                    scope,
                    currency,
                    transaction: env.id(),
                    kind: EntryKind::Payment,
                    source: None,
                };
                let (amount, fee) = (payment.amount, Amount::new(7));
                changes.update(payment.clone(), version, None);
                changes.post(Posting::moving(head, Clearing, MerchantPending, amount, &mut env));
                changes.post(Posting::moving(head, MerchantPending, Fees, fee, &mut env));
                self.held = Some((payment, version + 1));
                i64::try_from(version).unwrap() + 1
            }
            None => {
                let scope = *self.random.pick(&self.scopes);
                let payment = self.payment(&mut env, scope);
                let mut answer = fixtures::idempotency(&mut self.random, scope);
                answer.key = format!("key-{}", env.id::<EventId>()).parse().unwrap();
                answer.body = StoredBody::Plain(format!("{{\"data\":\"{}\"}}", "y".repeat(600)));
                changes.insert(payment.clone(), Some(now.plus_seconds(10)));
                changes.insert(answer, Some(now.plus_seconds(86_400)));
                self.held = Some((payment, 1));
                1
            }
        };
        let Some((payment, _)) = &self.held else { return changes };
        let (scope, id) = (payment.scope, payment.id);
        let mut line = fixtures::timeline_entry(&mut self.random, scope);
        (line.payment, line.number) = (id, number);
        line.message = "The payer was asked to approve.".to_owned();
        let mut event = fixtures::event(&mut self.random, scope);
        event.id = env.id();
        event.payload = format!("{{\"data\":\"{}\"}}", "x".repeat(290));
        let mut delivery = fixtures::delivery(&mut self.random, scope);
        (delivery.id, delivery.event) = (env.id(), event.id);
        delivery.attempts.clear();
        changes.insert(line, None);
        changes.insert(event, None);
        changes.insert(delivery, Some(now));
        changes
    }

    fn payment(&mut self, env: &mut Env, scope: Scope) -> Payment {
        let reference = format!("order-{}", self.random.bits());
        Payment {
            id: env.id(),
            currency: "XOF".parse().unwrap(),
            amount: Amount::new(5_000),
            network: Some("mtn".parse().unwrap()),
            phone: Some("+2250500009999".parse().unwrap()),
            reference: Some(reference.parse().unwrap()),
            ..fixtures::payment(&mut self.random, scope)
        }
    }
}
