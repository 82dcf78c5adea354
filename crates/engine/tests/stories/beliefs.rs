//! What an engine believes for half a second, and how it is read anew (API §3).

use std::{sync::Arc, time::Duration};

use cauri::{
    ApiKeyKind, AuthError, Call, Caller, Engine, Environment, Error, Scope,
    decide::Terms,
    wire::{CreateCustomer, CreatePayment, CreateWebhookEndpoint, ModifyWebhookEndpoint},
};
use cauri_conformance::{Call as StoreCall, Fault, FaultyStore, ManualClock, SeededEntropy};
use cauri_memory::MemoryStore;
use serde_json::json;
use tokio::time::Instant;

use crate::support::Story;

/// One node of several over a store, with the clock of all.
fn node(store: &Arc<FaultyStore<MemoryStore>>, clock: &Arc<ManualClock>, seed: u64) -> Engine {
    Engine::builder(store.clone())
        .clock(clock.clone())
        .entropy(Arc::new(SeededEntropy::new(seed)))
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_key_that_was_read_along_with_another_is_refused_once_it_is_revoked() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let scope = story.me.scope;
    let here = &story.engine;
    let there = node(&store, &story.clock, 8);
    let first = here.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap();
    let second = here.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap();
    there.authenticate(second.clear.reveal()).await.unwrap();
    story.clock.advance_millis(300);
    here.revoke_key(scope, second.key.id).await.unwrap();
    let asked = store.calls(StoreCall::Get);
    // Believed still; but the first one was never read, and whoever reads it reads both.
    there.authenticate(second.clear.reveal()).await.unwrap();
    assert_eq!(store.calls(StoreCall::Get), asked);
    there.authenticate(first.clear.reveal()).await.unwrap();
    let refused = there.authenticate(second.clear.reveal()).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(AuthError::Revoked))), "{refused:?}");
    assert_eq!(store.calls(StoreCall::Get), asked + 1);
}

/// A store that takes a second to answer keeps nobody waiting who found what they need.
async fn nobody_waits_for<T>(
    store: &FaultyStore<MemoryStore>,
    readings: u64,
    act: impl Future<Output = T>,
) -> T {
    let (asked, began) = (store.calls(StoreCall::Get), Instant::now());
    store.fail_next(StoreCall::Get, Fault::Late);
    let done = act.await;
    assert_eq!(began.elapsed(), Duration::ZERO, "somebody waited");
    match readings {
        0 => tokio::task::yield_now().await,
        _ => tokio::time::sleep(Duration::from_millis(1_001)).await,
    }
    assert_eq!(store.calls(StoreCall::Get), asked + readings);
    done
}

#[tokio::test(start_paused = true)]
async fn keys_are_read_anew_in_time_together_and_nobody_waits() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let (scope, engine) = (story.me.scope, &story.engine);
    let mut keys = Vec::new();
    for _ in 0..100 {
        keys.push(engine.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap());
    }
    let everybody = async || {
        for key in &keys {
            engine.authenticate(key.clear.reveal()).await.unwrap();
        }
    };
    everybody().await;
    for (wait, readings) in [(349, 0), (1, 1), (349, 0), (1, 1)] {
        story.clock.advance_millis(wait);
        nobody_waits_for(&store, readings, everybody()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_revoked_key_that_was_read_anew_in_time_is_believed_no_longer_than_others() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let scope = story.me.scope;
    let here = &story.engine;
    let there = node(&store, &story.clock, 8);
    let key = here.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap();
    let enter = || there.authenticate(key.clear.reveal());
    enter().await.unwrap();
    story.clock.advance_millis(400);
    nobody_waits_for(&store, 1, enter()).await.unwrap();
    here.revoke_key(scope, key.key.id).await.unwrap();
    for (wait, is_believed) in [(349, true), (1, true), (0, false)] {
        story.clock.advance_millis(wait);
        let entered = enter().await;
        assert_eq!(entered.is_ok(), is_believed, "{entered:?}");
        // What was to be read beside is read.
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reading_beside_that_fails_is_made_up_for_by_whoever_needs_it() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let key = story.engine.create_key(story.me.scope, ApiKeyKind::Secret, None, None);
    let key = key.await.unwrap();
    let enter = || story.engine.authenticate(key.clear.reveal());
    enter().await.unwrap();
    let asked = store.calls(StoreCall::Get);
    story.clock.advance_millis(400);
    store.fail_next(StoreCall::Get, Fault::Before);
    for (wait, readings) in [(0, 1), (99, 1), (1, 2)] {
        story.clock.advance_millis(wait);
        enter().await.unwrap();
        tokio::task::yield_now().await;
        assert_eq!(store.calls(StoreCall::Get), asked + readings);
    }
}

#[tokio::test(start_paused = true)]
async fn who_listens_is_read_anew_in_time_and_nobody_waits() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let create = async || {
        let ask = story.read(json!({"name": "Awa"}), CreateCustomer::read).unwrap();
        story.engine.create_customer(&story.call(), ask).await.unwrap();
    };
    create().await;
    for (wait, readings) in [(349, 0), (1, 1), (349, 0), (1, 1)] {
        story.clock.advance_millis(wait);
        nobody_waits_for(&store, readings, create()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_is_read_anew_in_time_and_no_attempt_waits() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    story.listen(json!(["payment.created"])).await;
    assert_eq!(story.told_of_a_payment(story.me).await, 1);
    let mut readings = Vec::new();
    for wait in [0, 349, 1, 349, 1] {
        story.clock.advance_millis(wait);
        let asked = store.calls(StoreCall::Get);
        assert_eq!(story.told_of_a_payment(story.me).await, 1);
        tokio::task::yield_now().await;
        readings.push(store.calls(StoreCall::Get) - asked);
    }
    let [usual, ..] = readings[..] else { panic!("{readings:?}") };
    // Who listens, and where.
    assert_eq!(readings, [usual, usual, usual + 2, usual, usual + 2]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_beside_in_the_transaction_of_a_host() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let key = story.engine.create_key(story.me.scope, ApiKeyKind::Secret, None, None);
    let key = key.await.unwrap();
    let within = story.engine.within(store.clone());
    within.authenticate(key.clear.reveal()).await.unwrap();
    story.clock.advance_millis(400);
    nobody_waits_for(&store, 0, within.authenticate(key.clear.reveal())).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_revoked_between_its_reading_and_the_note_of_its_use_is_refused() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let scope = story.me.scope;
    let here = &story.engine;
    let there = node(&store, &story.clock, 8);
    let key = here.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap();
    store.fail_next(StoreCall::Get, Fault::Late);
    let (refused, revoked) =
        tokio::join!(there.authenticate(key.clear.reveal()), here.revoke_key(scope, key.key.id),);
    assert!(revoked.is_ok(), "{revoked:?}");
    assert!(matches!(refused, Err(Error::Unauthenticated(AuthError::Revoked))), "{refused:?}");
}

#[tokio::test]
async fn a_key_whose_use_cannot_be_noted_opens_all_the_same() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let key = story.engine.create_key(story.me.scope, ApiKeyKind::Secret, None, None);
    let key = key.await.unwrap();
    store.stick(cauri::Key::ApiKey(story.me.scope, key.key.id), Fault::Before);
    let caller = story.engine.authenticate(key.clear.reveal()).await.unwrap();
    assert_eq!(caller.scope, story.me.scope);
}

impl Story {
    async fn told_of_a_payment(&self, caller: Caller) -> usize {
        let before = self.receiver.sent.lock().unwrap().len();
        let ask = a_payment(self);
        self.engine.create_payment(&Call::by(caller), ask).await.unwrap();
        self.settle().await;
        self.receiver.sent.lock().unwrap().len() - before
    }
}

fn a_payment(story: &Story) -> CreatePayment {
    let body = json!({
        "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
        "phone": "+2250500009999",
    });
    story.read(body, CreatePayment::read).unwrap()
}

#[tokio::test]
async fn who_listens_is_not_confused_with_who_listens_elsewhere() {
    let story = Story::begin().await;
    let mut callers = Vec::new();
    for listeners in [0, 1, 0, 2] {
        let account = story.engine.create_account().await.unwrap().id;
        let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
        for _ in 0..listeners {
            let body = json!({"url": "http://127.0.0.1:9/hooks", "events": ["payment.created"]});
            let ask = story.read(body, CreateWebhookEndpoint::read).unwrap();
            story.engine.create_webhook_endpoint(&Call::by(me), ask).await.unwrap();
        }
        callers.push(me);
    }
    for wait in [0, 300, 250, 250, 250, 250] {
        story.clock.advance_millis(wait);
        let mut told = Vec::new();
        for me in &callers {
            told.push(story.told_of_a_payment(*me).await);
        }
        assert_eq!(told, [0, 1, 0, 2]);
    }
}

#[tokio::test]
async fn a_hundred_busy_accounts_are_not_a_hundred_readings() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let mut callers = Vec::new();
    for _ in 0..100 {
        let account = story.engine.create_account().await.unwrap().id;
        callers.push(Caller::secret(Scope { account, environment: Environment::Sandbox }));
    }
    let mut readings = Vec::new();
    for wait in [0, 300, 250, 250, 250] {
        story.clock.advance_millis(wait);
        let before = store.calls(StoreCall::Get);
        for caller in &callers {
            let ask = story.read(json!({"name": "Awa"}), CreateCustomer::read).unwrap();
            story.engine.create_customer(&Call::by(*caller), ask).await.unwrap();
        }
        readings.push(store.calls(StoreCall::Get) - before);
    }
    assert_eq!(readings, [100, 0, 1, 0, 1]);
}

#[tokio::test]
async fn accounts_that_pause_for_longer_than_a_belief_lasts_are_not_read_one_by_one() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let mut keys = Vec::new();
    for _ in 0..99 {
        let new = story.engine.create_key(story.me.scope, ApiKeyKind::Secret, None, None);
        keys.push(new.await.unwrap());
    }
    let mut readings = Vec::new();
    for round in 0..12 {
        let before = store.calls(StoreCall::Get);
        // Each of them every 600 milliseconds.
        for key in keys.iter().skip(round % 3).step_by(3) {
            story.engine.authenticate(key.clear.reveal()).await.unwrap();
            tokio::task::yield_now().await;
        }
        readings.push(store.calls(StoreCall::Get) - before);
        story.clock.advance_millis(200);
    }
    assert_eq!(readings[..3], [33; 3], "each once");
    assert!(readings[3..].iter().all(|it| *it <= 1), "{readings:?}");
}

#[tokio::test]
async fn who_listens_is_known_at_once_where_it_was_changed() {
    let story = Story::begin().await;
    let (engine, me) = (&story.engine, story.me);
    let first = story.listen(json!(["payment.created"])).await;
    assert_eq!(story.told_of_a_payment(me).await, 1);
    let second = story.listen(json!(["payment.created"])).await;
    assert_eq!(story.told_of_a_payment(me).await, 2);
    let ask = ModifyWebhookEndpoint { active: Some(false), ..ModifyWebhookEndpoint::default() };
    engine.modify_webhook_endpoint(&story.call(), second.id, ask).await.unwrap();
    assert_eq!(story.told_of_a_payment(me).await, 1);
    engine.delete_webhook_endpoint(&me, first.id).await.unwrap();
    assert_eq!(story.told_of_a_payment(me).await, 0);
}

#[tokio::test]
async fn nothing_is_sent_any_more_to_an_endpoint_that_was_switched_off_or_deleted_here() {
    let story = Story::begin().await;
    let sent = || story.receiver.sent.lock().unwrap().len();
    let off = ModifyWebhookEndpoint { active: Some(false), ..ModifyWebhookEndpoint::default() };
    for switched in [Some(off), None] {
        let endpoint = story.listen(json!(["payment.created"])).await;
        assert_eq!(story.told_of_a_payment(story.me).await, 1);
        let before = sent();
        // Its delivery is there, and not yet sent, when the endpoint goes.
        let ask = a_payment(&story);
        story.engine.create_payment(&story.call(), ask).await.unwrap();
        match switched {
            Some(off) => {
                let call = story.call();
                story.engine.modify_webhook_endpoint(&call, endpoint.id, off).await.unwrap();
            }
            None => {
                story.engine.delete_webhook_endpoint(&story.me, endpoint.id).await.unwrap();
            }
        }
        story.settle().await;
        assert_eq!(sent(), before);
    }
}
