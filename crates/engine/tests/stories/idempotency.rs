//! Keys that make repeats safe (API §5).

use std::{sync::Arc, time::Duration};

use cauri::{
    Changeset, Entity as _, Error, IdempotencyRecord, Key, Store as _, StoreError, StoredBody,
    decide::Terms, wire,
};
use cauri_conformance::{Call, Fault, FaultyStore};
use cauri_memory::MemoryStore;
use serde_json::json;
use tokio::time::Instant;

use crate::support::{Story, code};

async fn pay(
    story: &Story,
    key: &str,
    fingerprint: u8,
) -> Result<cauri::Reply<wire::Payment>, Error> {
    let body = json!({
        "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
        "phone": "+2250500009999",
    });
    let ask = story.read(body, wire::CreatePayment::read)?;
    story.engine.create_payment(&story.keyed(key, fingerprint), ask).await
}

#[tokio::test]
async fn a_repeat_gets_the_first_answer_for_a_day() {
    let story = Story::begin().await;
    let first = pay(&story, "k1", 1).await.unwrap();
    story.wait(1_000).await;
    let again = pay(&story, "k1", 1).await.unwrap();
    assert!(!first.replayed && again.replayed);
    assert_eq!(first.body, again.body);
    assert_eq!(first.location, again.location);
    assert_eq!(first.object, again.object);
    assert_eq!(code(pay(&story, "k1", 2).await), "idempotency_key_reused");
    story.clock.advance_millis(86_400_000 - 1_001);
    assert!(pay(&story, "k1", 1).await.unwrap().replayed);
    story.clock.advance_millis(2);
    let fresh = pay(&story, "k1", 2).await.unwrap();
    assert!(!fresh.replayed);
    assert_ne!(fresh.object.id, first.object.id);
    story.sound().await;
}

#[tokio::test]
async fn an_answer_of_another_form_is_an_error_without_what_it_holds() {
    let store = Arc::new(MemoryStore::new());
    let story = Story::over(store.clone(), Terms::default()).await;
    let first = pay(&story, "k1", 1).await.unwrap();
    let key = Key::Idempotency(story.me.scope, "k1".parse().unwrap());
    let held = store.get(&[key]).await.unwrap().remove(0).unwrap();
    let mut record = IdempotencyRecord::from_record(held.value).unwrap();
    let body = first.body.unwrap().replace(r#""amount":5000"#, r#""amount":"of_before""#);
    record.body = StoredBody::Plain(body.clone());
    let mut changes = Changeset::new();
    changes.update(record, held.version, held.due_at);
    store.commit(vec![changes]).await.unwrap().remove(0).unwrap();
    let error = pay(&story, "k1", 1).await.unwrap_err();
    assert!(matches!(error, Error::Replay(_)), "{error:?}");
    assert!(!format!("{error:?}").contains("of_before"), "{error:?}");
    // Whoever needs no more than what was answered gets it.
    let kept = story.engine.replayed(&story.keyed("k1", 1)).await.unwrap().unwrap();
    assert_eq!(kept.body, body);
}

#[tokio::test]
async fn purged_keys_are_free() {
    let story = Story::begin().await;
    let first = pay(&story, "k1", 1).await.unwrap();
    story.clock.advance_millis(86_400_001);
    story.settle().await;
    assert_ne!(pay(&story, "k1", 1).await.unwrap().object.id, first.object.id);
}

#[tokio::test]
async fn duplicates_at_the_same_moment_all_get_the_one_answer() {
    let story = Story::begin().await;
    let replies = futures_util::future::join_all((0..50).map(|_| pay(&story, "k1", 1))).await;
    let replies: Vec<_> = replies.into_iter().map(Result::unwrap).collect();
    assert_eq!(replies.iter().filter(|it| !it.replayed).count(), 1);
    assert!(replies.iter().all(|it| it.body == replies[0].body));
}

#[tokio::test]
async fn a_loser_whose_money_is_spent_finds_the_winners_answer() {
    let story = Story::begin().await;
    story.fund(10_100, "XOF").await;
    let body =
        json!({"amount": 10_000, "currency": "XOF", "network": "orange", "phone": "+221770000002"});
    let ask = story.read(body, wire::CreatePayout::read).unwrap();
    let call = story.keyed("k1", 1);
    let tries = (0..20).map(|_| story.engine.create_payout(&call, ask.clone()));
    let replies = futures_util::future::join_all(tries).await;
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!(story.balance("XOF").await, (0, 0, 10_100));
}

#[tokio::test]
async fn a_refusal_frees_the_key() {
    let story = Story::begin().await;
    let body =
        json!({"amount": 10_000, "currency": "XOF", "network": "orange", "phone": "+221770000002"});
    let ask = story.read(body, wire::CreatePayout::read).unwrap();
    let call = story.keyed("k1", 1);
    assert_eq!(code(story.engine.create_payout(&call, ask.clone()).await), "balance_insufficient");
    story.fund(20_000, "XOF").await;
    assert!(!story.engine.create_payout(&call, ask).await.unwrap().replayed);
}

#[tokio::test]
async fn a_secret_is_replayed_but_not_kept_in_clear() {
    let story = Story::begin().await;
    let body = json!({"url": "http://127.0.0.1:9/hooks"});
    let ask = story.read(body, wire::CreateWebhookEndpoint::read).unwrap();
    let call = story.keyed("k1", 1);
    let first = story.engine.create_webhook_endpoint(&call, ask.clone()).await.unwrap();
    let again = story.engine.create_webhook_endpoint(&call, ask).await.unwrap();
    assert!(again.replayed && first.body == again.body);
    let key = Key::Idempotency(story.me.scope, "k1".parse().unwrap());
    let stored = story.engine.store().get(&[key]).await.unwrap();
    assert!(!format!("{stored:?}").contains("whsec_"));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_says_nothing_is_told_of_in_time_and_the_key_finds_what_was_done() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let story = Story::over(store.clone(), Terms::default()).await;
    let before = store.calls(Call::Commit);
    for nth in 1..=6 {
        store.fail(Call::Commit, before + nth, Fault::Silent);
    }
    let began = Instant::now();
    let outcome = pay(&story, "k1", 1).await;
    assert!(matches!(outcome, Err(Error::Store(StoreError::Unknown(_)))), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    for nth in store.calls(Call::Commit)..=before + 6 {
        store.fail(Call::Commit, nth, Fault::Late);
    }
    assert!(!pay(&story, "k1", 1).await.unwrap().replayed);
    story.sound().await;
}
