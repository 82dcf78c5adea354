//! The run loop against a store that answers as scripted.

use std::{
    io,
    sync::{Arc, Mutex},
};

use cauri_core::{
    Amount, Changeset, Environment, Key, Patch, Record, Refusal, Report, Scope, Versioned, Write,
    decide::idempotency::Idempotency,
    wire::{CreateCustomer, CreatePayment, CreatePayout, ModifyCustomer},
};
use mockall::Sequence;

use crate::{
    Call, Caller, Engine, Error, StoreError,
    port::store::{MockStore, Store},
};

fn scope(engine: &Engine) -> Scope {
    let mut env = engine.0.ambient.env();
    Scope { account: env.id(), environment: Environment::Sandbox }
}

fn engine(store: MockStore) -> (Engine, Call) {
    let store: Arc<dyn Store> = Arc::new(store);
    let engine = Engine::builder(store).build().unwrap();
    let call = Call::by(Caller::secret(scope(&engine)));
    (engine, call)
}

fn awa() -> CreateCustomer {
    CreateCustomer { name: Some("Awa".parse().unwrap()), ..CreateCustomer::default() }
}

fn payout(amount: i64) -> CreatePayout {
    CreatePayout {
        amount: Amount::new(amount),
        currency: "XOF".parse().unwrap(),
        method: cauri_core::PaymentMethod::MobileMoney,
        network: "orange".parse().unwrap(),
        phone: "+221770000002".parse().unwrap(),
        country: None,
        recipient_name: None,
        customer: None,
        reference: None,
        description: None,
        metadata: cauri_core::Metadata::default(),
    }
}

fn payment() -> CreatePayment {
    CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some("XOF".parse().unwrap()),
        method: cauri_core::PaymentMethod::MobileMoney,
        network: Some("mtn".parse().unwrap()),
        phone: Some("+2250500009999".parse().unwrap()),
        reference: None,
        country: None,
        otp: None,
        customer: None,
        payment_link: None,
        description: None,
        metadata: cauri_core::Metadata::default(),
        return_url: None,
        expires_in: None,
    }
}

fn under(key: &str, call: &Call) -> Call {
    let key = key.parse().unwrap();
    Call::by(call.caller).idempotent(Some(Idempotency { key, fingerprint: [1; 32] }))
}

fn lost() -> StoreError {
    StoreError::Unknown(Box::new(io::Error::from(io::ErrorKind::ConnectionReset)))
}

fn stale(batch: &[Changeset]) -> Refusal {
    Refusal::Stale(batch[0].keys().next().unwrap())
}

#[tokio::test]
async fn a_stale_command_is_decided_again_with_later_ids() {
    let mut store = MockStore::new();
    // Who listens, which is believed for a moment.
    store.expect_get().times(1).returning(|keys| Ok(vec![None; keys.len()]));
    let seen = Arc::new(Mutex::new(Vec::<Changeset>::new()));
    let mut order = Sequence::new();
    for answer in [false, false, true] {
        let seen = Arc::clone(&seen);
        store.expect_commit().times(1).in_sequence(&mut order).returning(move |batch| {
            let refusal = stale(&batch);
            seen.lock().unwrap().extend(batch);
            Ok(vec![if answer { Ok(()) } else { Err(refusal) }])
        });
    }
    let (engine, call) = engine(store);
    let reply = engine.create_customer(&call, awa()).await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 3);
    let id = |changes: &Changeset| match changes.keys().next() {
        Some(Key::Customer(_, id)) => id.to_string(),
        other => panic!("a customer comes first, not {other:?}"),
    };
    // Whoever made it stale has ids from before it was decided anew.
    assert!(id(&seen[0]) < id(&seen[1]) && id(&seen[1]) < id(&seen[2]));
    assert_eq!(id(&seen[2]), reply.object.id.to_string());
}

#[tokio::test]
async fn a_command_that_is_always_stale_gives_up() {
    let mut store = MockStore::new();
    store.expect_get().returning(|keys| Ok(vec![None; keys.len()]));
    store.expect_commit().returning(|batch| Ok(vec![Err(stale(&batch))]));
    let (engine, call) = engine(store);
    let error = engine.create_customer(&call, awa()).await.unwrap_err();
    assert!(matches!(error, Error::Contended) && error.is_transient());
}

#[tokio::test]
async fn a_store_that_is_away_is_not_asked_twice() {
    let mut store = MockStore::new();
    store.expect_get().times(1).returning(|keys| Ok(vec![None; keys.len()]));
    store.expect_commit().times(1).returning(|_| {
        let away = io::Error::from(io::ErrorKind::ConnectionRefused);
        Err(StoreError::Unavailable(Box::new(away)))
    });
    let (engine, call) = engine(store);
    let error = engine.create_customer(&call, awa()).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Unavailable(_))));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_sent_again_and_found_to_be_ours() {
    let mut store = MockStore::new();
    let kept = Arc::new(Mutex::new(Vec::<Changeset>::new()));
    let mut order = Sequence::new();
    store
        .expect_get()
        .times(1)
        .in_sequence(&mut order)
        .returning(|keys| Ok(vec![None; keys.len()]));
    let first = Arc::clone(&kept);
    store.expect_commit().times(1).in_sequence(&mut order).returning(move |batch| {
        first.lock().unwrap().extend(batch);
        Err(lost())
    });
    let again = Arc::clone(&kept);
    store.expect_commit().times(1).in_sequence(&mut order).returning(move |batch| {
        assert_eq!(*again.lock().unwrap(), batch, "the very same changeset");
        Ok(vec![Err(Refusal::Exists(batch[0].keys().next().unwrap()))])
    });
    let there = Arc::clone(&kept);
    store.expect_get().times(1).in_sequence(&mut order).returning(move |keys| {
        let kept = there.lock().unwrap();
        let Some(Write::Insert { record, .. }) = kept[0].writes().first() else {
            panic!("a customer is inserted")
        };
        let found = Versioned { value: record.clone(), version: 1, due_at: None };
        assert_eq!(keys, [record.key()]);
        Ok(vec![Some(found)])
    });
    let (engine, call) = engine(store);
    assert!(!engine.create_customer(&call, awa()).await.unwrap().replayed);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_that_was_not_applied_is_applied_by_the_second_sending() {
    let mut store = MockStore::new();
    store.expect_get().times(1).returning(|keys| Ok(vec![None; keys.len()]));
    let mut order = Sequence::new();
    store.expect_commit().times(1).in_sequence(&mut order).returning(|_| Err(lost()));
    store.expect_commit().times(1).in_sequence(&mut order).returning(|_| Ok(vec![Ok(())]));
    let (engine, call) = engine(store);
    engine.create_customer(&call, awa()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_says_is_an_error_and_not_a_success() {
    let mut store = MockStore::new();
    store.expect_get().times(1).returning(|keys| Ok(vec![None; keys.len()]));
    store.expect_commit().times(6).returning(|_| Err(lost()));
    let (engine, call) = engine(store);
    let error = engine.create_customer(&call, awa()).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Unknown(_))));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_goes_away_while_an_outcome_is_unknown_leaves_it_unknown() {
    let mut store = MockStore::new();
    store.expect_get().returning(|keys| Ok(vec![None; keys.len()]));
    let mut first = true;
    store.expect_commit().times(6).returning(move |_| {
        let away = StoreError::Unavailable(Box::new(io::Error::other("away")));
        Err(if std::mem::take(&mut first) { lost() } else { away })
    });
    let (engine, call) = engine(store);
    let error = engine.create_customer(&call, awa()).await.unwrap_err();
    // "Unavailable" would promise that nothing was applied.
    assert!(matches!(error, Error::Store(StoreError::Unknown(_))), "{error:?}");
}

/// A customer is renamed, nobody learns whether that was applied, and it is refused when sent again:
/// somebody else changed the customer, so many versions ago. That must not be taken for ours.
async fn renamed_while_others_wrote(versions: u64) {
    let there = Arc::new(Mutex::new(None::<Versioned<Record>>));
    let mut store = MockStore::new();
    let read = Arc::clone(&there);
    store.expect_get().returning(move |keys| {
        let found = read.lock().unwrap().clone();
        Ok(keys.iter().map(|key| found.clone().filter(|it| it.value.key() == *key)).collect())
    });
    let mut order = Sequence::new();
    let made = Arc::clone(&there);
    store.expect_commit().times(1).in_sequence(&mut order).returning(move |batch| {
        let Some(Write::Insert { record, .. }) = batch[0].writes().first() else {
            panic!("a customer is inserted")
        };
        let made_now = Versioned { value: record.clone(), version: 1, due_at: None };
        *made.lock().unwrap() = Some(made_now);
        Ok(vec![Ok(())])
    });
    let others = Arc::clone(&there);
    store.expect_commit().times(1).in_sequence(&mut order).returning(move |_| {
        let mut there = others.lock().unwrap();
        let Some(Record::Customer(customer)) = there.take().map(|it| it.value) else {
            panic!("a customer is there")
        };
        let mut customer = Arc::unwrap_or_clone(customer);
        customer.email = Some("awa@example.com".parse().unwrap());
        let value = Record::from(customer);
        *there = Some(Versioned { value, version: 1 + versions, due_at: None });
        Err(lost())
    });
    let refused = |batch: Vec<Changeset>| Ok(vec![Err(stale(&batch))]);
    store.expect_commit().times(1).in_sequence(&mut order).returning(refused);
    store.expect_commit().times(1).in_sequence(&mut order).returning(move |batch| {
        let [Write::Update { expected, .. }] = batch[0].writes() else {
            panic!("a customer alone is updated: {batch:?}")
        };
        assert_eq!(*expected, 1 + versions);
        Ok(vec![Ok(())])
    });
    let (engine, call) = engine(store);
    let id = engine.create_customer(&call, awa()).await.unwrap().object.id;
    let name = Patch::Set("Binta".parse().unwrap());
    let ask = ModifyCustomer { name, ..ModifyCustomer::default() };
    let changed = engine.modify_customer(&call, id, ask).await.unwrap().object;
    assert!(changed.email.is_some(), "what the other wrote is lost");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_update_is_not_ours_where_another_value_is_there() {
    renamed_while_others_wrote(1).await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_update_is_not_ours_where_others_wrote_after_whoever_was_first() {
    renamed_while_others_wrote(2).await;
}

#[tokio::test]
async fn money_that_is_not_there_is_the_commands_own_refusal() {
    let mut store = MockStore::new();
    store.expect_get().times(1).returning(|keys| Ok(vec![None; keys.len()]));
    store.expect_commit().times(1).returning(|batch| {
        let account = batch[0].ledger_accounts().next().unwrap();
        Ok(vec![Err(Refusal::Floor(account))])
    });
    let (engine, call) = engine(store);
    match engine.create_payout(&call, payout(10_000)).await {
        Err(Error::Refused(refused)) => assert_eq!(refused.code(), "balance_insufficient"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_names_no_record_is_committed_without_a_look_at_its_key() {
    let mut store = MockStore::new();
    // Who listens, once.
    store
        .expect_get()
        .times(1)
        .withf(|keys| matches!(keys, [Key::Subscriptions(_)]))
        .returning(|keys| Ok(vec![None; keys.len()]));
    store.expect_commit().times(2).returning(|_| Ok(vec![Ok(())]));
    let (engine, call) = engine(store);
    for key in ["first", "second"] {
        engine.create_customer(&under(key, &call), awa()).await.unwrap();
    }
}

#[tokio::test]
async fn a_refusal_and_a_key_that_is_there_are_answered_after_a_look_at_the_key() {
    let mut store = MockStore::new();
    let mut order = Sequence::new();
    let none = |keys: &[Key]| Ok(vec![None; keys.len()]);
    let looks_up = |keys: &[Key]| keys.iter().any(|key| matches!(key, Key::Idempotency(..)));
    store.expect_get().times(1).in_sequence(&mut order).returning(none);
    store.expect_get().times(1).in_sequence(&mut order).withf(looks_up).returning(none);
    store.expect_commit().times(1).in_sequence(&mut order).returning(|batch| {
        let key = batch[0].keys().find(|key| matches!(key, Key::Idempotency(..)));
        Ok(vec![Err(Refusal::Exists(key.unwrap()))])
    });
    store.expect_get().times(1).in_sequence(&mut order).withf(looks_up).returning(none);
    store.expect_commit().times(1).in_sequence(&mut order).returning(|_| Ok(vec![Ok(())]));
    let (engine, call) = engine(store);
    let refused = engine.create_payout(&under("refused", &call), payout(0)).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    engine.create_customer(&under("there", &call), awa()).await.unwrap();
}

#[tokio::test]
async fn what_was_written_here_is_reported_on_without_reading_it_until_others_wrote_it() {
    let mut store = MockStore::new();
    let mut order = Sequence::new();
    let listeners = |keys: &[Key]| matches!(keys, [Key::Subscriptions(_)]);
    let none = |keys: &[Key]| Ok(vec![None; keys.len()]);
    store.expect_get().times(1).in_sequence(&mut order).withf(listeners).returning(none);
    let written = Arc::new(Mutex::new(None));
    let writes = |written: &Arc<Mutex<Option<Record>>>, at: Option<u64>, answer: bool| {
        let written = Arc::clone(written);
        move |batch: Vec<Changeset>| {
            let payment = batch[0].writes().iter().find_map(|write| match write {
                Write::Insert { record: record @ Record::Payment(_), .. } => Some((record, None)),
                Write::Update { record: record @ Record::Payment(_), expected, .. } => {
                    Some((record, Some(*expected)))
                }
                _ => None,
            });
            let (payment, expected) = payment.unwrap();
            assert_eq!(expected, at);
            let refusal = Refusal::Stale(payment.key());
            *written.lock().unwrap() = Some(payment.clone());
            Ok(vec![if answer { Ok(()) } else { Err(refusal) }])
        }
    };
    for (at, answer) in [(None, true), (Some(1), true), (Some(2), false)] {
        let answers = writes(&written, at, answer);
        store.expect_commit().times(1).in_sequence(&mut order).returning(answers);
    }
    let there = Arc::clone(&written);
    store.expect_get().times(1).in_sequence(&mut order).returning(move |keys| {
        assert!(matches!(keys, [Key::Payment(..)]));
        let value = there.lock().unwrap().clone().unwrap();
        let Record::Payment(payment) = value else { panic!("a payment is written") };
        let mut payment = Arc::unwrap_or_clone(payment);
        payment.status = cauri_core::PaymentStatus::Processing;
        Ok(vec![Some(Versioned { value: Record::from(payment), version: 7, due_at: None })])
    });
    let answers = writes(&written, Some(7), true);
    store.expect_commit().times(1).in_sequence(&mut order).returning(answers);
    let (engine, call) = engine(store);
    let payment = engine.create_payment(&call, payment()).await.unwrap().object;
    let id = cauri_core::OrderId::Payment(payment.id);
    engine.report(call.caller.scope, id, Report::accepted()).await.unwrap();
    engine.report(call.caller.scope, id, Report::Paid).await.unwrap();
}
