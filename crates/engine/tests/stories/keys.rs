//! API keys that have come to their end, and the keys that seal.

use std::sync::Arc;

use cauri::{
    ApiKeyKind, AuthError, Call, Caller, DeliveryStatus, Engine, Environment, Error, Keyring, List,
    Query, Refused, Scope, Store, Worker,
    decide::Terms,
    wire::{CreateWebhookEndpoint, Form},
};
use cauri_conformance::SeededEntropy;
use cauri_memory::MemoryStore;
use serde_json::json;

use crate::support::{Story, refused};

#[tokio::test]
async fn a_key_that_has_ended_is_not_rolled_into_one_that_lives() {
    let story = Story::begin().await;
    let scope = story.me.scope;
    let key = story.engine.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap().key;
    story.engine.revoke_key(scope, key.id).await.unwrap();
    let error = story.engine.roll_key(scope, key.id, 0).await.unwrap_err();
    assert_eq!(refused(&error), &Refused::NotFound("API key"));

    let end = Some(story.engine.now().plus_seconds(60));
    let key = story.engine.create_key(scope, ApiKeyKind::Secret, None, end).await.unwrap().key;
    story.wait(60_000).await;
    let error = story.engine.roll_key(scope, key.id, 0).await.unwrap_err();
    assert_eq!(refused(&error), &Refused::NotFound("API key"));
}

#[tokio::test]
async fn a_key_that_has_expired_is_not_noted_as_used() {
    let story = Story::begin().await;
    let scope = story.me.scope;
    let end = Some(story.engine.now().plus_seconds(60));
    let new = story.engine.create_key(scope, ApiKeyKind::Secret, None, end).await.unwrap();
    story.wait(60_000).await;
    let answer = story.engine.authenticate(new.clear.reveal()).await;
    assert!(matches!(answer, Err(Error::Unauthenticated(AuthError::Expired))), "{answer:?}");
    let keys = story.engine.list_keys(scope.account).await.unwrap();
    let found = keys.into_iter().find(|key| key.id == new.key.id).unwrap();
    assert_eq!(found.last_used_at, None);
}

#[tokio::test]
async fn a_key_of_todays_id_that_opens_nothing_is_not_taken_for_todays_key() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let over = |keys: &[(u8, [u8; 32])]| {
        let keys = Keyring::new(keys.iter().copied()).unwrap();
        Engine::builder(Arc::clone(&store)).keys(keys).build().unwrap()
    };
    let engine = over(&[(1, [1; 32])]);
    let account = engine.create_account().await.unwrap().id;
    let me = Caller::secret(Scope { account, environment: Environment::Sandbox });
    let catalogue = &engine.terms().sandbox.catalogue;
    let form = Form { environment: Environment::Sandbox, catalogue, now: engine.now() };
    let body = json!({"url": "https://shop.example.com/hooks", "events": ["*"]});
    let ask = CreateWebhookEndpoint::read(body.as_object().unwrap(), &form).unwrap();
    engine.create_webhook_endpoint(&Call::by(me), ask).await.unwrap();

    let wrong = over(&[(1, [2; 32])]).reseal_secrets().await;
    assert!(matches!(wrong, Err(Error::Seal(_))), "{wrong:?}");
    let resealed = over(&[(2, [2; 32]), (1, [1; 32])]).reseal_secrets().await.unwrap();
    assert_eq!((resealed.endpoints, resealed.renewed), (1, 1));
    let resealed = over(&[(2, [2; 32])]).reseal_secrets().await.unwrap();
    assert_eq!((resealed.endpoints, resealed.renewed), (1, 0));
}

#[tokio::test]
async fn what_cannot_be_signed_for_is_put_off_and_keeps_its_attempts() {
    let store = Arc::new(MemoryStore::new());
    let story = Story::over(store.clone(), Terms::default()).await;
    story.listen(json!(["payment.created"])).await;
    // A server that was started with another file of keys.
    let stranger = Engine::builder(store)
        .clock(story.clock.clone())
        .entropy(Arc::new(SeededEntropy::new(8)))
        .notifier(story.receiver.clone())
        .build()
        .unwrap();
    let stranger = Worker::new(stranger);
    let began = story.engine.now();
    story.pay(json!({})).await.unwrap();
    let deliveries = Query::all(List::Deliveries(story.me.scope));
    for tried_again_after_s in [60, 120, 240, 480, 960, 1_860, 2_760] {
        while !stranger.tick().await.unwrap().is_idle() {}
        let delivery =
            &story.engine.webhook_deliveries(&story.me, &deliveries).await.unwrap().data[0];
        assert_eq!((delivery.status, delivery.attempts_count), (DeliveryStatus::Pending, 0));
        assert_eq!(delivery.next_attempt_at, Some(began.plus_seconds(tried_again_after_s)));
        story.clock.advance_millis(delivery.next_attempt_at.unwrap().since(story.engine.now()));
    }
    assert_eq!(story.kinds(), [""; 0]);
    story.settle().await;
    assert_eq!(story.kinds(), ["payment.created"]);
    let delivery = &story.engine.webhook_deliveries(&story.me, &deliveries).await.unwrap().data[0];
    assert_eq!((delivery.status, delivery.attempts_count), (DeliveryStatus::Succeeded, 1));
}
