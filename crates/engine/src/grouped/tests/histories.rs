//! Random histories, played on one thread: whatever callers and store do, every accepted changeset
//! is committed once, and whoever stays hears of its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_util::future::poll_immediate;
use proptest::{collection::vec, prelude::*};

use super::{Scripted, changeset, fault_of, own_verdicts, settle};
use crate::{Grouped, GroupedOptions, Store, StoreError};

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Somebody commits so many, and stays for the answer or goes away after this many polls.
    Call { scope: u8, size: u64, polls: Option<u8>, fault: Option<Fault> },
    /// The store answers so many batches.
    Answer(usize),
}

/// What the store does with a batch in which the first changeset of a call is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Broken,
    Unavailable,
    Panic,
}

/// Names of changesets: 100 for each call, the fault in the last digits but one.
fn name(call: usize, fault: Option<Fault>) -> u64 {
    let digit = match fault {
        None => 0,
        Some(Fault::Broken) => 1,
        Some(Fault::Unavailable) => 2,
        Some(Fault::Panic) => 3,
    };
    u64::try_from(call).unwrap() * 100 + digit * 10
}

fn faulty(name: u64) -> Option<Fault> {
    match (name / 10 % 10, name % 10) {
        (1, 0) => Some(Fault::Broken),
        (2, 0) => Some(Fault::Unavailable),
        (3, 0) => Some(Fault::Panic),
        _ => None,
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let fault = prop_oneof![
        20 => Just(None),
        1 => Just(Some(Fault::Broken)),
        1 => Just(Some(Fault::Unavailable)),
        1 => Just(Some(Fault::Panic)),
    ];
    let call = (0..3_u8, 1..4_u64, proptest::option::weighted(0.2, 0..3_u8), fault)
        .prop_map(|(scope, size, polls, fault)| Step::Call { scope, size, polls, fault });
    vec(prop_oneof![6 => call, 2 => (0..3_usize).prop_map(Step::Answer)], 0..80)
}

fn answer(names: &[u64]) -> Result<(), StoreError> {
    match names.iter().find_map(|&name| faulty(name)) {
        None => Ok(()),
        Some(Fault::Broken) => Err(StoreError::Broken("poison".into())),
        Some(Fault::Unavailable) => Err(StoreError::Unavailable("away".into())),
        Some(Fault::Panic) => panic!("a store that panics"),
    }
}

async fn play(options: GroupedOptions, steps: Vec<Step>) {
    let store = Arc::new(Grouped::with(Scripted::new(answer), options));
    let mut callers = Vec::new();
    let mut accepted = BTreeSet::new();
    let mut faults = BTreeMap::new();
    for (call, step) in steps.into_iter().enumerate() {
        match step {
            Step::Call { scope, size, polls, fault } => {
                let names: Vec<_> = (name(call, fault)..).take(size.try_into().unwrap()).collect();
                faults.insert(names[0], fault);
                let batch = names.iter().map(|&name| changeset(scope, name)).collect();
                let refused = store.stats().refused;
                let grouped = Arc::clone(&store);
                let mut commit = Box::pin(async move { grouped.commit(batch).await });
                if let Some(polls) = polls {
                    for _ in 0..polls {
                        if poll_immediate(&mut commit).await.is_some() {
                            break;
                        }
                        settle().await;
                    }
                } else {
                    let caller = tokio::spawn(commit);
                    settle().await;
                    if store.stats().refused > refused {
                        assert_eq!(fault_of(&caller.await.unwrap()), "unavailable");
                    } else {
                        callers.push((names.clone(), caller));
                    }
                }
                if polls != Some(0) && store.stats().refused == refused {
                    accepted.extend(names);
                }
            }
            Step::Answer(batches) => store.inner().gate.add_permits(batches),
        }
        settle().await;
        assert!(store.stats().in_flight <= options.in_flight_max);
        assert!(store.inner().peak() <= options.in_flight_max);
    }

    store.inner().gate.add_permits(10_000);
    for (names, caller) in callers {
        let answer = caller.await.unwrap();
        match fault_of(&answer) {
            "none" => assert_eq!(answer.unwrap(), own_verdicts(&names)),
            "broken" => assert_eq!(faults[&names[0]], Some(Fault::Broken)),
            _ => assert!(faults.values().any(|fault| fault.is_some())),
        }
    }
    settle().await;
    let stats = store.stats();
    assert_eq!((stats.waiting, stats.in_flight), (0, 0));

    let mut sent = BTreeMap::new();
    for batch in store.inner().seen() {
        let calls: BTreeSet<_> = batch.iter().map(|name| name / 100).collect();
        assert!(batch.len() <= options.batch_max || calls.len() == 1);
        let fault = batch.iter().find_map(|&name| faulty(name));
        let halved = fault == Some(Fault::Broken) && calls.len() > 1;
        for name in batch.iter().filter(|_| !halved) {
            *sent.entry(*name).or_insert(0) += 1;
        }
    }
    assert!(sent.values().all(|&times| times == 1), "{sent:?}");
    assert_eq!(sent.into_keys().collect::<BTreeSet<_>>(), accepted);
}

proptest! {
    #[test]
    fn every_history_ends_well(
        steps in steps(),
        batch in 1..6_usize,
        in_flight in 1..5_usize,
        waiting in 1..30_usize,
    ) {
        let options = GroupedOptions::default().batch_max(batch);
        let options = options.in_flight_max(in_flight).waiting_max(waiting).parallel_min(2);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(play(options, steps));
    }
}
