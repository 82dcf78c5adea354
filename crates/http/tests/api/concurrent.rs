//! The same request, many times at once.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::json;

use crate::support::{Ask, Stand, Told, payout};

async fn at_once(stand: &Arc<Stand>, count: usize, ask: &Ask) -> Vec<Told> {
    let asking = (0..count).map(|_| {
        let (stand, ask) = (stand.clone(), ask.clone());
        tokio::spawn(async move { stand.ask(ask).await })
    });
    join_all(asking).await.into_iter().map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_at_once_get_the_one_answer() {
    let stand = Arc::new(Stand::new().await);
    stand.fund(10_100).await;
    let ask = Ask::post("/v1/payouts", &payout(json!({}))).key(&stand.secret).once("same");
    let told = at_once(&stand, 50, &ask).await;
    for one in &told {
        assert_eq!((one.status, &one.body), (201, &told[0].body));
        assert_eq!(one.header("Location"), told[0].header("Location"));
    }
    let fresh = told.iter().filter(|one| one.header("Idempotent-Replayed").is_none());
    assert_eq!(fresh.count(), 1);
    assert_eq!(stand.total("/v1/payouts").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_at_once_without_a_key_are_fifty() {
    let stand = Arc::new(Stand::new().await);
    let ask = Ask::post("/v1/customers", &json!({ "name": "A" })).key(&stand.secret);
    let told = at_once(&stand, 50, &ask).await;
    assert!(told.iter().all(|one| one.status == 201));
    assert_eq!(stand.total("/v1/customers").await, 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_fifty_simulations_is_played() {
    let stand = Arc::new(Stand::new().await);
    let payment = stand.payment(json!({})).await;
    let body = json!({ "id": payment["id"], "scenario": "success" });
    let ask = Ask::post("/v1/sandbox/simulate", &body).key(&stand.secret);
    let told = at_once(&stand, 50, &ask).await;
    assert_eq!(told.iter().filter(|one| one.status == 200).count(), 1);
    let refused = told.iter().filter(|one| one.code().as_deref() == Some("simulation_not_allowed"));
    assert_eq!(refused.count(), 49);
    assert_eq!(stand.total("/v1/ledger").await, 6);
}
