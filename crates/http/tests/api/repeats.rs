//! Repeats of what another version answered (API §5).

use std::sync::Arc;

use cauri::{Changeset, Entity as _, IdempotencyRecord, Key, Store, StoredBody};
use cauri_memory::MemoryStore;
use http_body_util::BodyExt as _;
use serde_json::json;
use tower::ServiceExt as _;

use crate::support::{Ask, Plan, Stand, payment};

/// Keeps an answer as a version would that wrote another form of it.
async fn rewritten(store: &MemoryStore, stand: &Stand, key: &str) -> String {
    let key = Key::Idempotency(stand.scope, key.parse().unwrap());
    let held = store.get(&[key]).await.unwrap().remove(0).unwrap();
    let mut record = IdempotencyRecord::from_record(held.value).unwrap();
    let StoredBody::Plain(body) = &record.body else { panic!("no secret") };
    let other = body.replace(r#""status":"created""#, r#""status":"of_before", "more": {}"#);
    assert_ne!(*body, other);
    record.body = StoredBody::Plain(other.clone());
    let mut changes = Changeset::new();
    changes.update(record, held.version, held.due_at);
    store.commit(vec![changes]).await.unwrap().remove(0).unwrap();
    other
}

#[tokio::test]
async fn what_another_version_answered_is_answered_again_to_the_letter() {
    let store = Arc::new(MemoryStore::new());
    let stand = Stand::with(Plan { store: Some(store.clone()), ..Plan::default() }).await;
    let body = payment(json!({}));
    let ask = Ask::post("/v1/payments", &body).key(&stand.secret).once("k1");
    let first = stand.ask(ask.clone()).await;
    first.ok(201);
    let kept = rewritten(&store, &stand, "k1").await;
    // Not asked by the stage, which knows the form of this version alone.
    let again = stand.api.clone().oneshot(ask.request()).await.unwrap();
    assert_eq!(again.status(), 201);
    assert_eq!(again.headers().get("idempotent-replayed").unwrap(), "true");
    assert_eq!(again.headers().get("location").unwrap(), first.header("location").unwrap());
    assert_eq!(again.into_body().collect().await.unwrap().to_bytes(), kept);
    // Another request under the same key is refused as ever.
    let other = Ask::post("/v1/payments", &payment(json!({ "amount": 9_000 })));
    let other = stand.ask(other.key(&stand.secret).once("k1")).await;
    other.refused(422, "idempotency_key_reused", None);
    assert_eq!(stand.total("/v1/payments").await, 1);
}
