//! Whole lists.

use cauri_client::{Amount, Page, filter};
use futures_util::{StreamExt, TryStreamExt};

use crate::stage::{Mishap, Stage, payment};

async fn create(stage: &Stage, amounts: std::ops::Range<i64>) {
    for amount in amounts {
        let mut ask = payment();
        ask.amount = Some(Amount::new(amount));
        stage.client().payments().create(&ask).await.unwrap();
    }
}

#[tokio::test]
async fn a_stream_tells_everything_that_was_there_once_while_more_is_added() {
    let stage = Stage::new().await;
    create(&stage, 1_000..1_205).await;
    stage.seen();
    let mut items = stage.client().payments().list(&filter::Payments::default()).items();
    let mut told = Vec::new();
    let mut added = 5_000;
    while let Some(payment) = items.try_next().await.unwrap() {
        told.push(payment.amount);
        if told.len() % 50 == 1 {
            create(&stage, added..added + 7).await;
            added += 7;
        }
    }
    let expected: Vec<Amount> = (1_000..1_205).rev().map(Amount::new).collect();
    assert_eq!(told, expected);
    let reads = stage.seen().iter().filter(|seen| seen.method == "GET").count();
    assert_eq!(reads, 3, "pages of a hundred, each when it is wanted");
}

#[tokio::test]
async fn a_stream_goes_on_over_what_goes_wrong_and_ends_with_what_stays_wrong() {
    let stage = Stage::new().await;
    create(&stage, 1_000..1_101).await;
    let listing = || stage.client().payments().list(&filter::Payments::default());
    stage.mishaps(&[Mishap::Within, Mishap::Before]);
    assert_eq!(listing().items().count().await, 101);
    stage.mishaps(&[Mishap::Answer(404, &[], "no such page")]);
    let all: Vec<_> = listing().items().collect().await;
    assert!(matches!(all.as_slice(), [Err(_)]), "{} items", all.len());
}

#[tokio::test]
async fn filters_pages_and_raw_items_are_what_the_server_makes_of_them() {
    let stage = Stage::new().await;
    create(&stage, 1_000..1_003).await;
    let client = stage.client();
    let mut ask = payment();
    ask.reference = "A & B/ü".parse().ok();
    let named = client.payments().create(&ask).await.unwrap();
    let filter = filter::Payments {
        reference: ask.reference,
        currency: "XOF".parse().ok(),
        created_from: Some(named.created_at),
        ..filter::Payments::default()
    };
    let listing = client.payments().list(&filter);
    assert_eq!(listing.page(Page::default()).await.unwrap().data, std::slice::from_ref(&named));
    let raw: Vec<_> = listing.raw().items().try_collect().await.unwrap();
    let [raw] = raw.as_slice() else { panic!("{} items", raw.len()) };
    assert!(raw.get().starts_with(&format!(r#"{{"id":"{}""#, named.id)), "{raw}");
    let second = client.payments().list(&filter::Payments::default());
    let second = second.page(Page::new(2, 2).unwrap()).await.unwrap();
    assert_eq!((second.total, second.has_more, second.data.len()), (4, false, 2));
    let timeline = client.payments().timeline(named.id, &filter::Any::default());
    let types: Vec<_> =
        timeline.items().map_ok(|line| line.kind.to_string()).try_collect().await.unwrap();
    assert_eq!(types, ["created"]);
}
