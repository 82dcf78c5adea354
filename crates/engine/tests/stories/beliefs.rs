//! What an engine believes for half a second, and how it is read anew (API §3).

use std::sync::Arc;

use cauri::{
    ApiKeyKind, AuthError, Call, Caller, Engine, Environment, Error, Scope,
    decide::Terms,
    wire::{CreateCustomer, CreatePayment, CreateWebhookEndpoint, ModifyWebhookEndpoint},
};
use cauri_conformance::{Call as StoreCall, Fault, FaultyStore, ManualClock, SeededEntropy};
use cauri_memory::MemoryStore;
use serde_json::json;

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
    there.authenticate(first.clear.reveal()).await.unwrap();
    story.clock.advance_millis(200);
    there.authenticate(second.clear.reveal()).await.unwrap();
    story.clock.advance_millis(299);
    there.authenticate(second.clear.reveal()).await.unwrap();
    here.revoke_key(scope, second.key.id).await.unwrap();
    let asked = store.calls(StoreCall::Get);
    // Believed still; but the first one is not, and whoever reads it reads both.
    there.authenticate(second.clear.reveal()).await.unwrap();
    assert_eq!(store.calls(StoreCall::Get), asked);
    story.clock.advance_millis(1);
    there.authenticate(first.clear.reveal()).await.unwrap();
    let refused = there.authenticate(second.clear.reveal()).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(AuthError::Revoked))), "{refused:?}");
    assert_eq!(store.calls(StoreCall::Get), asked + 1);
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
