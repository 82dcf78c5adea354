//! Several nodes on one schema, and nodes whose connections are cut.

#![expect(clippy::unwrap_used, reason = "what goes wrong fails the test")]

#[expect(dead_code, unreachable_pub, reason = "shared with the other tests")]
mod scratch;

use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use cauri::{
    Amount, Changeset, Currency, Customer, Field, FieldValue, Grouped, Key, LedgerAccountKind,
    List, Page, PaymentLink, Query, Record, RecordKind, Refusal, Scope, ScopesHeld, Store,
    StoreError, Timestamp, Verdict,
};
use cauri_conformance::{
    differential,
    fixtures::{self, Random},
};
use cauri_memory::MemoryStore;
use cauri_postgres::PostgresStore;
use futures_util::future::join_all;
use scratch::{Home, Scratch, url};
use sqlx::PgPool;
use tokio::time::{Instant, sleep, timeout};

/// Whatever a store is asked, it answers within this.
const PATIENCE: Duration = Duration::from_secs(60);

async fn one(store: &dyn Store, changes: Changeset) -> Verdict {
    let verdicts = timeout(PATIENCE, store.commit(vec![changes])).await.expect("an answer");
    verdicts.expect("a verdict").remove(0)
}

async fn whole(store: &dyn Store, list: List) -> Vec<Key> {
    let mut keys = Vec::new();
    for page in 0.. {
        let query = Query::all(list).page(Page::new(100, page * 100).unwrap_or_default());
        let listed = store.list(&query).await.unwrap();
        if listed.items.is_empty() {
            assert_eq!(listed.total, i64::try_from(keys.len()).unwrap());
            break;
        }
        keys.extend(listed.items.into_iter().map(|item| item.value.key()));
    }
    keys
}

/// A customer of each scope, in one batch.
fn customers(random: &mut Random, scopes: &[Scope]) -> Vec<Changeset> {
    let customer = |scope: &Scope| {
        let mut changes = Changeset::new();
        changes.insert(fixtures::customer(random, *scope), None);
        changes
    };
    scopes.iter().map(customer).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_a_hosts_transaction_holds_up_waits_alone() {
    let home = Home::new();
    let patience = Duration::from_secs(6);
    let options = home.options().patience(patience);
    let store = PostgresStore::connect_with(&url(), options).await.unwrap();
    let pool = PgPool::connect(&url()).await.unwrap();
    let mut random = Random::new(31);
    let scopes: Vec<Scope> = (0..20).map(|_| random.scope()).collect();
    let mut accepted = store.commit(customers(&mut random, &scopes)).await.unwrap();

    let within = store.within(pool.begin().await.unwrap());
    assert_eq!(within.commit(customers(&mut random, &scopes[7..8])).await.unwrap(), [Ok(())]);
    let error = store.commit(customers(&mut random, &scopes)).await.unwrap_err();
    let StoreError::Unavailable(source) = error else { panic!("{error:?}") };
    let held = source.downcast_ref::<ScopesHeld>();
    assert_eq!(held, Some(&ScopesHeld { scopes: vec![scopes[7]] }));
    let since = Instant::now();
    let error = store.commit(customers(&mut random, &[scopes[7]; 2])).await.unwrap_err();
    let StoreError::Unavailable(source) = error else { panic!("{error:?}") };
    assert!(!source.is::<ScopesHeld>(), "there is nobody to be spared");
    assert!(since.elapsed() >= patience, "then the store is as patient as it was told");

    // Behind group commit, whoever shared a batch with it is answered while the host goes on.
    let store = Arc::new(Grouped::new(store));
    let call = |scope: usize| {
        let (store, batch) = (store.clone(), customers(&mut random, &scopes[scope..=scope]));
        tokio::spawn(async move { store.commit(batch).await })
    };
    let mut calls: Vec<_> = (0..scopes.len()).map(call).collect();
    let waits = calls.remove(7);
    for call in join_all(calls).await {
        accepted.extend(call.unwrap().unwrap());
    }
    within.into_inner().unwrap().commit().await.unwrap();
    accepted.extend(waits.await.unwrap().unwrap());
    assert_eq!(accepted, vec![Ok(()); 40]);
    for (at, scope) in scopes.iter().enumerate() {
        let there = whole(&*store, List::Customers(*scope)).await.len();
        assert_eq!(there, if at == 7 { 3 } else { 2 });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_locked_for_a_moment_is_waited_for() {
    let home = Home::new();
    let options = home.options().patience(Duration::from_secs(20));
    let store = PostgresStore::connect_with(&url(), options).await.unwrap();
    let mut random = Random::new(32);
    let scopes: Vec<Scope> = (0..3).map(|_| random.scope()).collect();
    let mut own = home.connection().await;
    sqlx::raw_sql("begin; lock table list_counters").execute(&mut own).await.unwrap();
    let batch = customers(&mut random, &scopes);
    let waits = tokio::spawn(async move { store.commit(batch).await });
    // Until it waits in a transaction that it has begun for that, which is the patient way.
    let patiently = "select exists (select from pg_stat_activity where wait_event_type = 'Lock' \
                     and xact_start < query_start and position($1 in query) > 0)";
    let mut other = home.connection().await;
    let begun = async {
        loop {
            assert!(!waits.is_finished(), "it gave up");
            let asked = sqlx::query_scalar(patiently).bind(&home.schema);
            if asked.fetch_one(&mut other).await.unwrap() {
                break;
            }
        }
    };
    timeout(PATIENCE, begun).await.expect("it waits");
    sqlx::raw_sql("rollback").execute(&mut own).await.unwrap();
    assert_eq!(waits.await.unwrap().unwrap(), vec![Ok(()); 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_cannot_be_told_from_the_store_in_memory() {
    for seed in 100..104 {
        let store = Scratch::new(Grouped::new).await;
        differential(&MemoryStore::new(), &store, seed, 200).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_on_one_schema_agree() {
    const TASKS: usize = 24;
    const ROUNDS: usize = 25;
    let home = Home::new();
    let nodes: Vec<Arc<dyn Store>> = vec![
        Arc::new(Grouped::new(home.open().await)),
        Arc::new(Grouped::new(home.open().await)),
        Arc::new(home.open().await),
    ];
    let mut random = Random::new(11);
    let scope = random.scope();
    let currency: Currency = "XOF".parse().unwrap();
    let link: PaymentLink =
        PaymentLink { payments_count: 0, ..fixtures::payment_link(&mut random, scope) };
    let mut changes = Changeset::new();
    changes.insert(link.clone(), None);
    let into = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantAvailable);
    changes.post(Some(fixtures::move_money(&mut random, (scope, currency), into, 100)));
    one(&*nodes[0], changes).await.unwrap();

    let paid_out = Arc::new(AtomicUsize::new(0));
    let tasks = (0..TASKS).map(|task| {
        let node = Arc::clone(&nodes[task % nodes.len()]);
        let (link, paid_out) = (link.clone(), Arc::clone(&paid_out));
        tokio::spawn(async move {
            let mut random = Random::new(1_000 + u64::try_from(task).unwrap());
            for round in 0..ROUNDS {
                // Everybody wants the same row, and everybody gets it in the end.
                loop {
                    let key = Key::PaymentLink(link.scope, link.id);
                    let found = node.get(&[key]).await.unwrap().remove(0).unwrap();
                    let mut now = found.of::<PaymentLink>().expect("a link");
                    now.value.payments_count += 1;
                    let mut changes = Changeset::new();
                    changes.insert(fixtures::customer(&mut random, scope), None);
                    changes.update(now.value, now.version, None);
                    changes.insert(fixtures::event(&mut random, scope), None);
                    match one(&*node, changes).await {
                        Ok(()) => break,
                        Err(refusal) => assert!(matches!(refusal, Refusal::Stale(_)), "{refusal}"),
                    }
                }
                // More is taken out than there is.
                if round % 2 == 0 {
                    let mut changes = Changeset::new();
                    let out =
                        (LedgerAccountKind::MerchantAvailable, LedgerAccountKind::MerchantReserved);
                    let money = fixtures::move_money(&mut random, (scope, currency), out, 1);
                    changes.post(Some(money));
                    match one(&*node, changes).await {
                        Ok(()) => {
                            paid_out.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(refusal) => assert!(matches!(refusal, Refusal::Floor(_)), "{refusal}"),
                    }
                }
                // The same key on several nodes: one of them is first.
                let mut changes = Changeset::new();
                let mut record = fixtures::idempotency(&mut random, scope);
                record.key = format!("round-{round}").parse().unwrap();
                changes.insert(record, None);
                changes.insert(fixtures::event(&mut random, scope), None);
                match one(&*node, changes).await {
                    Ok(()) => {}
                    Err(refusal) => assert!(matches!(refusal, Refusal::Exists(_)), "{refusal}"),
                }
            }
        })
    });
    for task in join_all(tasks.collect::<Vec<_>>()).await {
        task.unwrap();
    }

    for node in &nodes {
        let key = Key::PaymentLink(scope, link.id);
        let found = node.get(&[key]).await.unwrap().remove(0).unwrap();
        let Record::PaymentLink(found) = found.value else { panic!("a link") };
        assert_eq!(found.payments_count, i64::try_from(TASKS * ROUNDS).unwrap());
        let customers = whole(&**node, List::Customers(scope)).await;
        assert_eq!(customers.len(), TASKS * ROUNDS);
        assert_eq!(customers.iter().collect::<BTreeSet<_>>().len(), customers.len());
        // One event for each update of the link, and for each key that was new.
        assert_eq!(whole(&**node, List::Events(scope)).await.len(), TASKS * ROUNDS + ROUNDS);
        assert_eq!(paid_out.load(Ordering::Relaxed), 100);
        let balances = node.balances(scope).await.unwrap();
        let balance = |kind| {
            balances.iter().find(|it| it.account.kind == kind).map_or(Amount::ZERO, |it| it.amount)
        };
        assert_eq!(balance(LedgerAccountKind::MerchantAvailable), Amount::ZERO);
        assert_eq!(balance(LedgerAccountKind::MerchantReserved), Amount::new(100));
        let available = FieldValue::Text(LedgerAccountKind::MerchantAvailable.as_str().to_owned());
        let query = Query::all(List::Entries(scope)).with(Field::LedgerAccount, available);
        let query = query.page(Page::new(100, 0).unwrap_or_default());
        let entries = node.entries(&query).await.unwrap();
        assert_eq!(entries.total, 101);
        let after: Vec<i64> = entries.items.iter().map(|it| it.balance_after.units()).collect();
        assert_eq!(after, (0..100).collect::<Vec<_>>());
    }
}

/// Cuts the store's connections at any moment; whoever does not know sends again.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_cut_off_is_neither_lost_nor_doubled() {
    const TASKS: usize = 16;
    let home = Home::new();
    let store: Arc<dyn Store> = Arc::new(Grouped::new(home.open().await));
    let scope = Random::new(5).scope();
    let stop = Arc::new(AtomicBool::new(false));
    let cut = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (store, stop, cut) = (Arc::clone(&store), Arc::clone(&stop), Arc::clone(&cut));
            tokio::spawn(async move {
                let mut random = Random::new(500 + u64::try_from(task).unwrap());
                let mut accepted = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let customer: Customer = fixtures::customer(&mut random, scope);
                    let key = Key::Customer(scope, customer.id);
                    let mut changes = Changeset::new();
                    changes.insert(customer, None);
                    let mut unsure = false;
                    loop {
                        match store.commit(vec![changes.clone()]).await {
                            Ok(verdicts) => match &verdicts[0] {
                                Ok(()) => break,
                                // It had arrived before.
                                Err(Refusal::Exists(_)) if unsure => break,
                                Err(refusal) => panic!("{refusal}"),
                            },
                            Err(StoreError::Unknown(_)) => unsure = true,
                            // Nothing was applied, so this says nothing about earlier attempts.
                            Err(StoreError::Unavailable(_)) => {}
                            Err(error) => panic!("{error:?}"),
                        }
                        cut.fetch_add(1, Ordering::Relaxed);
                    }
                    accepted.push(key);
                }
                accepted
            })
        })
        .collect();
    let mut connection = home.connection().await;
    let killer = async {
        for round in 0..60 {
            sleep(Duration::from_millis(17 + round % 7)).await;
            sqlx::query(
                "select pg_terminate_backend(pid) from pg_stat_activity \
                 where query like '%' || $1 || '%' and pid <> pg_backend_pid()",
            )
            .bind(&home.schema)
            .execute(&mut connection)
            .await
            .unwrap();
        }
    };
    killer.await;
    stop.store(true, Ordering::Relaxed);
    let mut accepted = BTreeSet::new();
    for task in tasks {
        accepted.extend(timeout(PATIENCE, task).await.expect("an end").unwrap());
    }
    assert!(cut.load(Ordering::Relaxed) > 0, "nobody was cut off");
    let listed = whole(&*store, List::Customers(scope)).await;
    assert_eq!(listed.len(), accepted.len());
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), accepted);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_database_cannot_hold_fails_alone() {
    let store = Arc::new(Scratch::new(Grouped::new).await);
    let mut random = Random::new(3);
    let scope = random.scope();
    let calls = (0..40).map(|at| {
        let mut changes = Changeset::new();
        let mut event = fixtures::event(&mut random, scope);
        if at % 13 == 5 {
            event.payload = "a zero: \0".to_owned();
        }
        changes.insert(event, None);
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.commit(vec![changes]).await })
    });
    for (at, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        match call.await.unwrap() {
            Ok(verdicts) => assert_eq!(verdicts, [Ok(())], "{at}"),
            Err(error) => assert!(at % 13 == 5 && matches!(error, StoreError::Broken(_)), "{at}"),
        }
    }
    assert_eq!(whole(&*store, List::Events(scope)).await.len(), 37);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_mixture_of_kinds_is_written() {
    let store = Scratch::new(|store| store).await;
    let mut random = Random::new(9);
    let scope = random.scope();
    let mut inserted = HashMap::new();
    // More mixtures than there are statements kept for.
    for mixture in 1_usize..400 {
        let mut changes = Changeset::new();
        for (bit, kind) in RecordKind::ALL.iter().enumerate() {
            if ((mixture * 37) >> bit) & 1 == 1 {
                let record = fixtures::record(&mut random, *kind, scope);
                // Of the kinds with one record a scope there is one.
                if let Entry::Vacant(new) = inserted.entry(record.key()) {
                    changes.insert(new.insert(record).clone(), Some(Timestamp::EPOCH));
                }
            }
        }
        one(&store, changes).await.unwrap();
    }
    let keys: Vec<Key> = inserted.keys().cloned().collect();
    for (key, found) in keys.iter().zip(store.get(&keys).await.unwrap()) {
        assert_eq!(found.map(|found| found.value).as_ref(), inserted.get(key));
    }
}

/// A caller who goes away leaves a connection in the middle of something.
#[tokio::test(flavor = "multi_thread")]
async fn callers_who_go_away_leave_the_store_as_it_should_be() {
    let home = Home::new();
    let store = home.open().await;
    let mut random = Random::new(21);
    let scope: Scope = random.scope();
    for patience in 0..200_u64 {
        let mut changes = Changeset::new();
        changes.insert(fixtures::customer(&mut random, scope), None);
        let commit = store.commit(vec![changes]);
        let _ = timeout(Duration::from_micros(patience * 20), commit).await;
        let query = Query::all(List::Customers(scope));
        let _ = timeout(Duration::from_micros(patience * 10), store.list(&query)).await;
    }
    let mut changes = Changeset::new();
    changes.insert(fixtures::customer(&mut random, scope), None);
    one(&store, changes).await.unwrap();
    let customers = whole(&store, List::Customers(scope)).await;
    assert_eq!(customers.iter().collect::<BTreeSet<_>>().len(), customers.len());
}
