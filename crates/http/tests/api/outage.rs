//! A store that cannot answer, that loses answers, and that changes under a command.

use std::{io, sync::Arc};

use cauri::{
    Caller, Changeset, Engine, Key, MockStore, Refusal, StoreError, Subscriptions, Versioned,
};
use cauri_conformance::{Call, Fault, FaultyStore};
use cauri_http::Api;
use cauri_memory::MemoryStore;
use serde_json::json;
use tower::ServiceExt as _;

use crate::support::{Ask, Plan, Stand, payment};

/// How many calls the store gets before the first request.
async fn calls(call: Call) -> u64 {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let stand = Stand::with(Plan { store: Some(store.clone()), ..Plan::default() }).await;
    stand.get("/v1/balance").await.ok(200);
    store.calls(call)
}

async fn stand(store: FaultyStore<MemoryStore>) -> Stand {
    let stand = Stand::with(Plan { store: Some(Arc::new(store)), ..Plan::default() }).await;
    stand.get("/v1/balance").await.ok(200);
    stand
}

#[tokio::test]
async fn an_absent_store_is_a_service_to_try_again() {
    let next = calls(Call::List).await + 1;
    for fault in [Fault::Before, Fault::Unknown] {
        let store = FaultyStore::new(MemoryStore::new()).failing(Call::List, next, fault);
        let stand = stand(store).await;
        let told = stand.get("/v1/payments").await;
        told.refused(503, "service_unavailable", None);
        assert_eq!(told.header("Retry-After"), Some("1"));
        assert!(!told.json().to_string().contains("store"), "{}", told.json());
        stand.get("/v1/payments").await.ok(200);
    }
}

#[tokio::test]
async fn a_broken_store_is_our_fault_and_nobodys_business() {
    let next = calls(Call::List).await + 1;
    let store = FaultyStore::new(MemoryStore::new()).failing(Call::List, next, Fault::Broken);
    let told = stand(store).await.get("/v1/payments").await;
    told.refused(500, "internal_error", None);
    assert_eq!(told.header("Retry-After"), None);
    assert!(!told.json().to_string().contains("store"), "{}", told.json());
}

#[tokio::test]
async fn a_commit_that_may_have_happened_happens_once() {
    let next = calls(Call::Commit).await + 1;
    for fault in [Fault::After, Fault::Unknown] {
        let store = FaultyStore::new(MemoryStore::new()).failing(Call::Commit, next, fault);
        let stand = stand(store).await;
        let made = stand.post("/v1/payments", &payment(json!({}))).await.ok(201);
        let listed = stand.get("/v1/payments").await.ok(200);
        assert_eq!((&listed["total"], &listed["data"][0]["id"]), (&json!(1), &made["id"]));
    }
}

#[tokio::test]
async fn a_commit_that_did_not_happen_frees_its_key() {
    let next = calls(Call::Commit).await + 1;
    let store = FaultyStore::new(MemoryStore::new()).failing(Call::Commit, next, Fault::Before);
    let stand = stand(store).await;
    let ask = Ask::post("/v1/payments", &payment(json!({}))).key(&stand.secret).once("k1");
    stand.ask(ask.clone()).await.refused(503, "service_unavailable", None);
    assert_eq!(stand.total("/v1/payments").await, 0);
    let told = stand.ask(ask).await;
    told.ok(201);
    assert_eq!(told.header("Idempotent-Replayed"), None);
}

/// An API over a scripted store, asked by a caller who needs no key.
async fn told(store: MockStore, path: &str) -> (u16, serde_json::Value) {
    let engine = Engine::builder(Arc::new(store)).build().unwrap();
    let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse().unwrap();
    let environment = cauri::Environment::Sandbox;
    let mut request = Ask::post(path, &json!({ "name": "Awa" })).request();
    request.extensions_mut().insert(Caller::secret(cauri::Scope { account, environment }));
    let response = Api::new(engine).oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

fn nobody_listens(keys: &[Key]) -> Vec<Option<Versioned<cauri::Record>>> {
    keys.iter()
        .map(|key| match key {
            Key::Subscriptions(scope) => {
                let value = cauri::Record::from(Subscriptions::none(*scope));
                Some(Versioned { value, version: 1, due_at: None })
            }
            _ => None,
        })
        .collect()
}

fn stale(batch: &[Changeset]) -> Refusal {
    Refusal::Stale(batch[0].keys().next().unwrap())
}

#[tokio::test]
async fn a_command_that_comes_too_late_is_decided_anew() {
    let mut store = MockStore::new();
    // Who listens is believed for a moment; a new customer names no other record.
    store.expect_get().times(1).returning(|keys| Ok(nobody_listens(keys)));
    let mut commits = 0;
    store.expect_commit().times(3).returning(move |batch| {
        commits += 1;
        Ok(vec![if commits < 3 { Err(stale(&batch)) } else { Ok(()) }])
    });
    let (status, body) = told(store, "/v1/customers").await;
    assert_eq!((status, &body["name"]), (201, &json!("Awa")));
}

#[tokio::test]
async fn a_command_that_always_comes_too_late_may_be_tried_again() {
    let mut store = MockStore::new();
    store.expect_get().returning(|keys| Ok(nobody_listens(keys)));
    store.expect_commit().returning(|batch| Ok(vec![Err(stale(&batch))]));
    let (status, body) = told(store, "/v1/customers").await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("service_unavailable")));
}

#[tokio::test]
async fn a_command_whose_outcome_is_never_known_may_be_tried_again() {
    tokio::time::pause();
    let mut store = MockStore::new();
    store.expect_get().returning(|keys| Ok(nobody_listens(keys)));
    let lost = || StoreError::Unknown(Box::new(io::Error::from(io::ErrorKind::TimedOut)));
    store.expect_commit().returning(move |_| Err(lost()));
    let (status, body) = told(store, "/v1/customers").await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("service_unavailable")));
}

#[tokio::test]
async fn a_panic_is_an_answer() {
    let mut store = MockStore::new();
    store.expect_get().returning(|_| panic!("what nobody should see"));
    let (status, body) = told(store, "/v1/customers").await;
    assert_eq!((status, &body["error"]["code"]), (500, &json!("internal_error")));
    assert!(!body.to_string().contains("nobody should see"));
}
