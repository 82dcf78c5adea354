//! What is tried again, and that it is done once.

use std::{collections::HashSet, time::Duration};

use cauri_client::{
    Client, Code, Error, Page, Retry, filter,
    wire::{CancelPayment, CreatePayout, Fund},
};

use crate::stage::{Mishap, Seen, Stage, nowhere, payment};

async fn payments(stage: &Stage) -> i64 {
    stage.client().payments().list(&filter::Payments::default()).await.unwrap().total
}

fn keys(seen: &[Seen]) -> HashSet<&str> {
    seen.iter().map(|seen| seen.key.as_deref().expect("a key")).collect()
}

#[tokio::test]
async fn a_creation_whose_answer_is_lost_makes_one_payment() {
    for mishap in [Mishap::Before, Mishap::After, Mishap::Within] {
        let stage = Stage::new().await;
        stage.mishaps(&[mishap.clone(), mishap.clone(), mishap.clone()]);
        let answer = stage.client().payments().create(&payment()).send().await.unwrap();
        let seen = stage.seen();
        assert_eq!((answer.attempts, seen.len()), (4, 4), "{mishap:?}");
        assert_eq!(keys(&seen).len(), 1, "one key for all attempts: {seen:?}");
        assert_eq!(payments(&stage).await, 1, "{mishap:?}");
        let was_done_before = !matches!(mishap, Mishap::Before);
        assert_eq!(answer.is_replayed(), was_done_before, "{mishap:?}");
        let kept = stage.client().payments().retrieve(answer.value.id).await.unwrap();
        assert_eq!(kept, answer.value);
    }
}

#[tokio::test]
async fn every_call_has_a_key_of_its_own() {
    let stage = Stage::new().await;
    let client = stage.client();
    for _ in 0..3 {
        client.payments().create(&payment()).await.unwrap();
    }
    let seen = stage.seen();
    assert_eq!(keys(&seen).len(), 3);
    assert_eq!(payments(&stage).await, 3);
}

#[tokio::test]
async fn a_key_that_is_named_is_kept_over_calls() {
    let stage = Stage::new().await;
    let call = || stage.client().payments().create(&payment()).idempotency_key(key("order-1"));
    let (one, other) = (call().await.unwrap(), call().await.unwrap());
    assert_eq!(one, other);
    let seen = stage.seen();
    assert_eq!(keys(&seen), HashSet::from(["order-1"]));
    assert_eq!(payments(&stage).await, 1);
    let mut another = payment();
    another.amount = Some(cauri_client::Amount::new(5_001));
    let reused = stage.client().payments().create(&another).idempotency_key(key("order-1")).await;
    assert_eq!(reused.unwrap_err().code(), Some(&Code::IdempotencyKeyReused));
}

fn key(text: &str) -> cauri_client::IdempotencyKey {
    text.parse().unwrap()
}

#[tokio::test]
async fn a_payout_whose_answer_is_lost_takes_the_money_once() {
    let stage = Stage::new().await;
    let client = stage.client();
    let currency = "XOF".parse().unwrap();
    let amount = cauri_client::Amount::new(10_100);
    stage.mishaps(&[Mishap::After]);
    let funding = client.sandbox().fund(&Fund { amount, currency }).await.unwrap();
    assert_eq!(funding.available_amount, amount, "once");
    stage.mishaps(&[Mishap::After, Mishap::Within]);
    let ask = CreatePayout {
        amount: cauri_client::Amount::new(10_000),
        currency,
        method: cauri_client::PaymentMethod::MobileMoney,
        network: "mtn".parse().unwrap(),
        phone: "+2250500000002".parse().unwrap(),
        country: None,
        recipient_name: None,
        customer: None,
        reference: None,
        description: None,
        metadata: cauri_client::Metadata::default(),
    };
    // It costs all there is: a second one would be refused for lack of funds.
    let payout = client.payouts().create(&ask).await.unwrap();
    assert_eq!(payout.total_amount, amount);
    let again = client.payouts().create(&ask).await.unwrap_err();
    let refused = again.refused().expect("a refusal");
    assert_eq!((refused.status, &refused.code), (402, &Code::BalanceInsufficient));
    assert_eq!((refused.attempts, refused.kind.as_str()), (1, "balance_error"));
}

#[tokio::test]
async fn a_cancellation_whose_answer_is_lost_is_no_conflict() {
    let stage = Stage::new().await;
    let client = stage.client();
    let made = client.payments().create(&payment()).await.unwrap();
    stage.mishaps(&[Mishap::After]);
    let cancelled = client.payments().cancel(made.id, &CancelPayment::default()).await.unwrap();
    assert_eq!(cancelled.status, cauri_client::PaymentStatus::Cancelled);
}

const DATE: &str = "Tue, 19 Nov 2024 00:00:00 GMT";

const BUSY: &str = r#"{"error":{"type":"api_error","code":"service_unavailable","message":"Busy.",
    "param":null,"request_id":"req_01jd3w8k4f7q2m9x5r6t0v1b3c"}}"#;

#[tokio::test]
async fn the_server_says_when_it_may_be_asked_again() {
    let stage = Stage::new().await;
    // Of itself it would wait for an hour.
    let hour = Duration::from_secs(3_600);
    let retry = Retry::default().pauses(hour, hour).total(hour * 9);
    let client = stage.builder().retry(retry).build().unwrap();
    let when = &[("Retry-After", "0")];
    stage.mishaps(&[
        Mishap::Answer(503, when, BUSY),
        Mishap::Answer(429, when, BUSY),
        Mishap::Answer(502, when, "<h1>Bad Gateway</h1>"),
        Mishap::Answer(503, &[("Retry-After", DATE), ("Date", DATE)], ""),
    ]);
    let answer = client.payments().create(&payment()).send().await.unwrap();
    assert_eq!(answer.attempts, 5);
    assert_eq!(keys(&stage.seen()).len(), 1);
    assert_eq!(payments(&stage).await, 1);
}

#[tokio::test]
async fn a_server_that_wants_to_be_left_alone_for_longer_than_there_is_time_is() {
    let stage = Stage::new().await;
    stage.mishaps(&[Mishap::Answer(429, &[("Retry-After", "61")], BUSY)]);
    let error = stage.client().payments().create(&payment()).await.unwrap_err();
    let refused = error.refused().expect("a refusal");
    assert_eq!((refused.status, &refused.code), (429, &Code::ServiceUnavailable));
    assert_eq!(refused.request_id.as_deref(), Some("req_01jd3w8k4f7q2m9x5r6t0v1b3c"));
    assert_eq!(stage.seen().len(), 1, "it was not asked again");
    assert!(error.is_transient());
}

/// With no time for the answer, chance would make "nobody knows" of "nothing was done".
#[tokio::test]
async fn a_refusal_that_is_known_is_not_risked_for_an_attempt_without_time() {
    let stage = Stage::new().await;
    let retry = Retry::default().total(Duration::from_millis(61_500));
    let client = stage.builder().retry(retry).build().unwrap();
    stage.mishaps(&[Mishap::Answer(429, &[("Retry-After", "61")], BUSY)]);
    let error = client.payments().create(&payment()).await.unwrap_err();
    assert_eq!(error.refused().map(|refused| refused.status), Some(429));
    assert_eq!((stage.seen().len(), error.idempotency_key()), (1, None));
}

#[tokio::test]
async fn what_is_refused_for_good_is_asked_once() {
    let stage = Stage::new().await;
    for status in [301, 400, 401, 403, 404, 409, 422] {
        stage.mishaps(&[Mishap::Answer(status, &[("Location", "http://127.0.0.1:1/")], BUSY)]);
        let error = stage.client().payments().create(&payment()).await.unwrap_err();
        assert_eq!(error.refused().map(|refused| refused.status), Some(status));
        assert_eq!(stage.seen().len(), 1, "{status}");
        assert!(!error.is_transient());
    }
    assert_eq!(payments(&stage).await, 0);
}

#[tokio::test]
async fn attempts_have_an_end() {
    let stage = Stage::new().await;
    let endless = vec![Mishap::After; 20];
    stage.mishaps(&endless);
    let named = stage.client().payments().create(&payment()).idempotency_key(key("order-1"));
    let error = named.await.unwrap_err();
    let Error::NoAnswer { attempts: 5, key: Some(named), .. } = &error else { panic!("{error:?}") };
    assert_eq!((named.as_str(), stage.seen().len()), ("order-1", 5));
    assert_eq!(error.to_string(), "no answer after 5 attempts");
    let once = stage.builder().retry(Retry::never()).build().unwrap();
    assert!(once.payments().create(&payment()).await.is_err());
    assert_eq!(stage.seen().len(), 1);
}

/// The worst that can happen: it was done, nobody heard so, and then a proxy stands in the way.
#[tokio::test]
async fn what_may_have_been_done_is_told_with_its_key() {
    let endings = [
        Mishap::Answer(502, &[], "<h1>Bad Gateway</h1>"),
        Mishap::Answer(429, &[("Retry-After", "3600")], BUSY),
        Mishap::Answer(503, &[("Retry-After", "99999999999999999999")], BUSY),
        Mishap::Answer(401, &[], BUSY),
        Mishap::Answer(404, &[], "no such page"),
    ];
    for ending in endings {
        let stage = Stage::new().await;
        let client = stage.client();
        stage.mishaps(&[Mishap::After]);
        stage.mishaps(&vec![ending.clone(); 4]);
        let error = client.payments().create(&payment()).await.unwrap_err();
        let seen = stage.seen();
        let key = error.idempotency_key().unwrap_or_else(|| panic!("{ending:?}: {error:?}"));
        assert_eq!(keys(&seen), HashSet::from([key.as_str()]), "{ending:?}");
        stage.door().forget();
        let again = client.payments().create(&payment()).idempotency_key(key.clone());
        assert!(again.send().await.unwrap().is_replayed(), "{ending:?}");
        assert_eq!(payments(&stage).await, 1, "{ending:?}");
    }
}

#[tokio::test]
async fn what_was_done_and_cannot_be_read_is_told_with_its_key() {
    let stage = Stage::new().await;
    stage.mishaps(&[Mishap::Answer(201, &[], r#"{"a":1}"#)]);
    let error = stage.client().payments().create(&payment()).await.unwrap_err();
    let key = error.idempotency_key().expect("a key");
    assert_eq!(keys(&stage.seen()), HashSet::from([key.as_str()]));
}

#[tokio::test]
async fn what_was_never_done_has_no_key_to_repeat_it_with() {
    let stage = Stage::new().await;
    let busy = Mishap::Answer(429, &[("Retry-After", "3600")], BUSY);
    let no = Mishap::Answer(400, &[], BUSY);
    for mishap in [busy, no] {
        stage.mishaps(std::slice::from_ref(&mishap));
        let error = stage.client().payments().create(&payment()).await.unwrap_err();
        assert_eq!(error.idempotency_key(), None, "{mishap:?}");
    }
    let pause = Duration::from_millis(1);
    let retry = Retry::default().attempts_max(2).pauses(pause, pause);
    let client = Client::builder(&nowhere().await, "sk_test_x").retry(retry).build().unwrap();
    let error = client.payments().create(&payment()).await.unwrap_err();
    assert_eq!(error.idempotency_key(), None, "nobody was reached: {error:?}");
}

#[tokio::test]
async fn an_answer_that_never_comes_is_given_up() {
    let stage = Stage::new().await;
    stage.mishaps(&[Mishap::Silence]);
    let client = stage.builder().timeout(Duration::from_millis(200)).build().unwrap();
    let answer = client.payments().create(&payment()).send().await.unwrap();
    assert!(answer.attempts >= 2 && answer.is_replayed(), "{answer:?}");
    assert_eq!(payments(&stage).await, 1);
}

#[tokio::test]
async fn a_call_that_is_dropped_can_be_asked_again_under_its_key() {
    let stage = Stage::new().await;
    stage.mishaps(&[Mishap::Silence]);
    let call = stage.client().payments().create(&payment());
    let kept = call.key().cloned().expect("a key before anything is sent");
    tokio::select! {
        answer = call => panic!("{answer:?}"),
        () = stage.silence() => {}
    }
    let again = stage.client().payments().create(&payment()).idempotency_key(kept.clone());
    assert!(again.send().await.unwrap().is_replayed());
    assert_eq!(keys(&stage.seen()), HashSet::from([kept.as_str()]));
    assert_eq!(payments(&stage).await, 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_no_answer() {
    let url = nowhere().await;
    let pause = Duration::from_millis(1);
    let retry = Retry::default().attempts_max(2).pauses(pause, pause);
    let client = Client::builder(&url, "sk_test_x").retry(retry).build().unwrap();
    let error = client.balance(None).await.unwrap_err();
    assert!(matches!(error, Error::NoAnswer { attempts: 2, key: None, .. }), "{error:?}");
}

#[tokio::test]
async fn what_only_reads_is_tried_again_too_and_needs_no_key() {
    let stage = Stage::new().await;
    stage.mishaps(&[Mishap::Before, Mishap::Within, Mishap::Answer(500, &[], "")]);
    let listing = stage.client().payments().list(&filter::Payments::default());
    let list = listing.page(Page::new(1, 0).unwrap()).send().await.unwrap();
    assert_eq!((list.value.total, list.attempts), (0, 4));
    assert!(stage.seen().iter().all(|seen| seen.key.is_none()));
}
