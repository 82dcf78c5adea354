//! A live shop and its aggregator, over real HTTP.

#![allow(clippy::unwrap_used, reason = "a story that goes wrong should stop")]

use std::sync::Arc;

use axum::body::Bytes;
use cauri::{
    FailureCode, Gateway as _, List, OrderId, Page, Payment, PaymentId, PaymentStatus, Query,
    Report, Secret, StoreExt as _, SystemClock,
};
use cauri_example_gateway::{
    Aggregator, AggregatorOptions,
    demo::Shop,
    fake::{Fake, FakeOptions, Mood},
    signature::{Message, Signer},
};
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::Full;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};

const PHONE: &str = "+2250500009999";

/// Statuses that say something of the request, and nothing of the order.
const TOO_BUSY: [u16; 7] = [408, 425, 429, 500, 502, 503, 504];

/// A callback, as somebody sends it who may not be the aggregator.
struct Callback<'a> {
    signer: Option<&'a Signer>,
    /// For whom it is signed.
    authority: String,
    body: Value,
    /// What is sent instead of what was signed.
    sent: Option<Value>,
    seconds_ago: i64,
}

impl Callback<'_> {
    async fn send(self, shop: &Shop, host: Option<&str>) -> u16 {
        let path = "/callbacks/main";
        let body = self.body.to_string();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if let Some(signer) = self.signer {
            let authority = &self.authority;
            let body = body.as_bytes();
            let message = Message { method: "POST", authority, path, headers: &headers, body };
            let at = shop.engine.now().plus_seconds(-self.seconds_ago);
            headers = signer.sign(&message, at).unwrap();
        }
        if let Some(host) = host {
            headers.insert("host", host.parse().unwrap());
        }
        let body = self.sent.map_or(body, |sent| sent.to_string());
        let mut request = Request::post(format!("{}{path}", shop.url))
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        *request.headers_mut() = headers;
        let client = Client::builder(TokioExecutor::new());
        let client = client.build::<_, Full<Bytes>>(HttpConnector::new());
        client.request(request).await.unwrap().status().as_u16()
    }
}

fn authority(shop: &Shop) -> String {
    shop.url.strip_prefix("http://").unwrap().to_owned()
}

/// What the aggregator knows of an order.
async fn known(shop: &Shop, id: PaymentId) -> Value {
    let name = cauri_example_gateway::name(OrderId::Payment(id));
    json!({
        "depositId": name.to_string(), "status": "COMPLETED", "amount": "5000", "currency": "XOF",
        "clientReferenceId": id.to_string(),
        "metadata": {"account": shop.me.scope.account.to_string()},
    })
}

async fn payment(shop: &Shop, id: PaymentId) -> Payment {
    let key = cauri::Key::Payment(shop.me.scope, id);
    shop.engine.store().find::<Payment>(key).await.unwrap().unwrap().value
}

/// A payment that the aggregator has, and that waits for its payer.
async fn waiting(shop: &Shop) -> PaymentId {
    let id = shop.collect(PHONE).await.unwrap().id;
    let is_open = |it: &Payment| it.status == PaymentStatus::Processing;
    shop.until(id, is_open).await.unwrap();
    id
}

#[tokio::test]
async fn a_payment_is_made_and_its_callbacks_repeat_and_contradict() {
    let shop = Shop::open(None).await.unwrap();
    let id = waiting(&shop).await;
    // Told three times: paid, paid, failed.
    shop.fakes[0].end(true).await;
    assert_eq!(payment(&shop, id).await.status, PaymentStatus::Succeeded);
    assert_eq!(shop.fakes[0].collected(), 5_000);
    let lines = Query::all(List::Timeline(shop.me.scope, id)).page(Page::new(100, 0).unwrap());
    let lines = shop.engine.payment_timeline(&shop.me, id, &lines).await.unwrap().data;
    let ignored = lines.iter().filter(|line| line.kind.as_str() == "network_report_ignored");
    assert_eq!(ignored.count(), 2);
    assert_eq!(shop.engine.audit().await.unwrap().violations, []);
    shop.close().await.unwrap();
}

#[tokio::test]
async fn a_payment_that_is_not_made_says_why() {
    let shop = Shop::open(None).await.unwrap();
    let id = waiting(&shop).await;
    shop.fakes[0].end(false).await;
    let found = payment(&shop, id).await;
    assert_eq!(found.status, PaymentStatus::Failed);
    assert_eq!(found.failure, Some(FailureCode::NetworkError));
    shop.close().await.unwrap();
}

#[tokio::test]
async fn an_order_goes_over_the_spare_when_the_first_does_not_carry_it() {
    let shop = Shop::open(None).await.unwrap();
    for mood in [Mood::Down, Mood::Closed] {
        shop.fakes[0].behave(mood).await.unwrap();
        let id = waiting(&shop).await;
        assert_eq!(payment(&shop, id).await.connection.as_str(), "spare", "{mood:?}");
    }
    assert_eq!((shop.fakes[0].taken_on(), shop.fakes[1].taken_on()), (0, 2));

    // The payer's number is wrong, whoever is asked.
    shop.fakes[0].behave(Mood::Rejects).await.unwrap();
    let id = shop.collect(PHONE).await.unwrap().id;
    let failed = shop.until(id, |it| it.status == PaymentStatus::Failed).await.unwrap();
    assert_eq!(failed.failure, Some(FailureCode::PayerNotFound));
    assert_eq!(shop.fakes[1].taken_on(), 2);
    shop.close().await.unwrap();
}

#[tokio::test]
async fn an_order_whose_answer_is_lost_is_at_one_connection_and_taken_on_once() {
    let shop = Shop::open(None).await.unwrap();
    for mood in [Mood::HangsUpAfterwards, Mood::Garbles] {
        shop.fakes[0].behave(mood).await.unwrap();
        let id = shop.collect(PHONE).await.unwrap().id;
        shop.until(id, |it| it.poll_at.is_some()).await.unwrap();
        shop.fakes[0].behave(Mood::Works).await.unwrap();
        let found = shop.until(id, |it| it.status == PaymentStatus::Processing).await.unwrap();
        assert_eq!(found.connection.as_str(), "main", "{mood:?}");
    }
    assert_eq!((shop.fakes[0].taken_on(), shop.fakes[1].taken_on()), (2, 0));
    shop.close().await.unwrap();
}

#[tokio::test]
async fn an_aggregator_that_is_too_busy_has_refused_nothing() {
    let shop = Shop::open(None).await.unwrap();
    let mut made = Vec::new();
    // Fewer than open the breaker, after which orders are sent elsewhere from the beginning.
    let statuses = [408, 429, 503];
    for status in statuses {
        shop.fakes[0].behave(Mood::Busy(status.try_into().unwrap())).await.unwrap();
        let id = shop.collect(PHONE).await.unwrap().id;
        let found = shop.until(id, |it| it.poll_at.is_some()).await.unwrap();
        assert_eq!((found.status, found.failure), (PaymentStatus::Created, None), "{status}");
        made.push(id);
    }
    assert_eq!(shop.fakes[0].taken_on(), 0);

    // Asked about it, the aggregator has no such order; so that it is sent again, and over the same
    // connection.
    shop.fakes[0].behave(Mood::Works).await.unwrap();
    for id in made {
        let found = shop.until(id, |it| it.status == PaymentStatus::Processing).await.unwrap();
        assert_eq!(found.connection.as_str(), "main");
    }
    assert_eq!((shop.fakes[0].taken_on(), shop.fakes[1].taken_on()), (statuses.len(), 0));
    shop.close().await.unwrap();
}

#[tokio::test]
async fn nobody_learns_of_an_order_from_an_aggregator_that_is_too_busy() {
    let shop = Shop::open(None).await.unwrap();
    let id = waiting(&shop).await;
    let order = cauri::Order::payment(&payment(&shop, id).await);
    let clock = Arc::new(SystemClock::default());
    let fake = Fake::begin(FakeOptions::new(Secret::new("token"), clock)).await.unwrap();
    let options = AggregatorOptions::new(fake.url(), Secret::new("token"));
    let gateway = Aggregator::new(options).unwrap();
    assert_eq!(gateway.submit(&order, shop.engine.now()).await.reports, [Report::accepted()]);
    for status in TOO_BUSY {
        fake.behave(Mood::Busy(status.try_into().unwrap())).await.unwrap();
        let now = shop.engine.now();
        for answer in [gateway.submit(&order, now).await, gateway.query(&order, now).await] {
            assert_eq!(answer.reports, [Report::Unknown], "{status}");
            assert!(answer.ask_again_at.is_some_and(|at| at > now), "{status}");
        }
    }
    shop.close().await.unwrap();
}

#[tokio::test]
async fn only_what_the_aggregator_signed_for_us_is_believed() {
    let shop = Shop::open(None).await.unwrap();
    let id = waiting(&shop).await;
    let right = known(&shop, id).await;
    let theirs = shop.fakes[0].signer();
    let stranger = Signer::generate(theirs.id()).unwrap();
    let other_connection = shop.fakes[1].signer();
    let callback = |signer| Callback {
        signer,
        authority: authority(&shop),
        body: right.clone(),
        sent: None,
        seconds_ago: 0,
    };
    let with = |field: &str, value: Value| {
        let mut body = right.clone();
        body[field] = value;
        body
    };

    assert_eq!(callback(None).send(&shop, None).await, 401, "not signed");
    assert_eq!(callback(Some(&stranger)).send(&shop, None).await, 401, "by a stranger");
    assert_eq!(callback(Some(other_connection)).send(&shop, None).await, 401, "by another fake");
    let changed = with("amount", json!("50000"));
    let forged = Callback { sent: Some(changed.clone()), ..callback(Some(theirs)) };
    assert_eq!(forged.send(&shop, None).await, 401, "changed on the way");
    let old = Callback { seconds_ago: 600, ..callback(Some(theirs)) };
    assert_eq!(old.send(&shop, None).await, 401, "played again");
    // Signed for another customer of the aggregator, and sent to us as if we were that one.
    let stolen = Callback { authority: "other.example".to_owned(), ..callback(Some(theirs)) };
    assert_eq!(stolen.send(&shop, Some("other.example")).await, 401, "of another customer");

    for (body, status, why) in [
        (changed, 409, "another amount"),
        (with("currency", json!("XAF")), 409, "another currency"),
        (with("status", json!("SOMETHING_NEW")), 400, "words that nobody knows"),
        (with("depositId", json!("f4401bd2-1568-4140-bf2d-eb77d2b2b639")), 400, "another order"),
        (with("metadata", json!({})), 400, "nobody's"),
        (
            with("metadata", json!({"account": "acct_01jd3w8k4f7q2m9x5r6t0v1b3c"})),
            400,
            "a stranger's",
        ),
        (json!({}), 400, "nothing"),
        (json!([1, 2]), 400, "nonsense"),
    ] {
        let signed = Callback { body, ..callback(Some(theirs)) };
        assert_eq!(signed.send(&shop, None).await, status, "{why}");
    }
    assert_eq!(payment(&shop, id).await.status, PaymentStatus::Processing);

    assert_eq!(callback(Some(theirs)).send(&shop, None).await, 200);
    assert_eq!(payment(&shop, id).await.status, PaymentStatus::Succeeded);
    shop.close().await.unwrap();
}

#[tokio::test]
async fn an_aggregator_that_does_not_let_us_in_carries_nothing_and_says_so() {
    let shop = Shop::open(None).await.unwrap();
    let id = waiting(&shop).await;
    let order = cauri::Order::payment(&payment(&shop, id).await);
    let now = shop.engine.now();
    let fake = &shop.fakes[1];
    let unavailable = [Report::Refused(FailureCode::NetworkUnavailable)];
    // With another token, and without the signature that this aggregator wants.
    for token in ["another-token", "an-api-token"] {
        let options = AggregatorOptions::new(fake.url(), Secret::new(token));
        let gateway = Aggregator::new(options).unwrap();
        assert_eq!(gateway.submit(&order, now).await.reports, unavailable, "{token}");
    }
    let options = AggregatorOptions::new(fake.url(), Secret::new("another-token"));
    let asked = Aggregator::new(options).unwrap().query(&order, now).await;
    assert_eq!(asked.reports, [Report::Unknown]);
    assert_eq!(fake.taken_on(), 0);
    shop.close().await.unwrap();
}
