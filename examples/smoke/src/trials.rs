//! What every example is tried with.

use std::{
    future::Future,
    pin::Pin,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use cauri_client::{
    Amount, Code, Metadata, Page, PaymentId, PaymentMethod, PaymentStatus, RefundStatus, filter,
    signature,
    wire::{CreatePayment, CreatePayout, CreateRefund},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{
    example::{Example, payment, written},
    raw,
    receiver::Receiver,
};

pub(crate) type Story = fn(Example) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! trials {
    ($($name:ident)+) => {
        pub(crate) const TRIALS: &[(&str, Story)] =
            &[$((stringify!($name), |example| Box::pin($name(example)))),+];
    };
}

trials! {
    a_payment
    a_refund
    a_signed_delivery
    errors_of_the_catalogue
    errors_that_no_client_meets
    the_hosts_own_routes
    the_hosts_own_users
    what_is_in_flight_is_finished
    whoever_never_finishes_is_cut_off
}

async fn a_payment(example: Example) {
    let mut receiver = Receiver::open().await;
    example.subscribe(&receiver).await;
    let client = &example.client;
    let made = example.call(client.payments().create(&payment())).await;
    let id = made.value.id;
    // Where the client finds it: behind the host's prefix.
    let location = format!("/pay/v1/payments/{id}");
    assert_eq!(made.header("location"), Some(&*location));
    assert!(made.request_id().is_some_and(|id| id.starts_with("req_")), "{made:?}");
    assert_eq!(made.header("content-type"), Some("application/json"));
    receiver.awaits("payment.succeeded", id).await;
    let paid = example.send("GET", &location, &[("X-API-Key", example.key())], None).await;
    assert_eq!((paid.status, &paid.json()["status"]), (200, &json!("succeeded")));
    let succeeded =
        filter::Payments { status: Some(PaymentStatus::Succeeded), ..filter::Payments::default() };
    let page = Page::new(1, 0).expect("a page");
    let listed = example.call(client.payments().list(&succeeded).page(page)).await.value;
    assert_eq!(listed.data.iter().map(|it| it.id).collect::<Vec<_>>(), [id]);
    let balance = example.call(client.balance(None)).await.value;
    let available: Vec<_> =
        balance.available.iter().map(|sum| (sum.amount, sum.currency.code())).collect();
    assert_eq!(available, [(Amount::new(4_900), "XOF")]);
}

async fn a_refund(example: Example) {
    let mut receiver = Receiver::open().await;
    example.subscribe(&receiver).await;
    let client = &example.client;
    let ask = CreateRefund {
        payment: example.paid(&mut receiver).await.id,
        amount: Some(Amount::new(2_000)),
        reason: None,
        description: None,
        reference: None,
        metadata: Metadata::default(),
    };
    let key = || "refund-1".parse().expect("a key");
    let made = example.call(client.refunds().create(&ask).idempotency_key(key()).raw()).await;
    let again = example.call(client.refunds().create(&ask).idempotency_key(key()).raw()).await;
    assert_eq!(again.value.get(), made.value.get(), "a repeat is a replay");
    assert!(again.is_replayed() && !made.is_replayed());
    let id = example.call(client.refunds().create(&ask).idempotency_key(key())).await.value.id;
    receiver.awaits("refund.succeeded", id).await;
    let refund = example.call(client.refunds().retrieve(id)).await.value;
    assert_eq!((refund.status, refund.amount), (RefundStatus::Succeeded, Amount::new(2_000)));
}

async fn a_signed_delivery(example: Example) {
    let mut receiver = Receiver::open().await;
    let secret = example.subscribe(&receiver).await;
    let made = example.call(example.client.payments().create(&payment())).await.value;
    let delivery = receiver.awaits("payment.created", made.id).await;
    let header = delivery.headers["x-webhook-signature"].as_bytes();
    let now = unix_seconds();
    let verify = |body: &[u8], secret: &str| signature::verify(body, header, &[secret], now);
    assert_eq!(verify(&delivery.body, &secret), Ok(()));
    let mut forged = delivery.body.to_vec();
    forged.push(b' ');
    assert!(verify(&forged, &secret).is_err(), "another body");
    assert!(verify(&delivery.body, "whsec_other").is_err(), "another secret");
}

async fn errors_of_the_catalogue(example: Example) {
    let client = &example.client;
    let incomplete = CreatePayment { amount: None, ..payment() };
    let refused = example.refused(client.payments().create(&incomplete)).await;
    assert_eq!((refused.status, refused.code), (400, Code::ParameterMissing));
    assert_eq!(refused.param.as_deref(), Some("amount"));
    let payout = CreatePayout {
        amount: Amount::new(5_000),
        currency: "XOF".parse().expect("a currency"),
        method: PaymentMethod::MobileMoney,
        network: "mtn".parse().expect("a network"),
        phone: "+2250500000000".parse().expect("a phone"),
        country: None,
        recipient_name: "Awa".parse().ok(),
        customer: None,
        reference: None,
        description: None,
        metadata: Metadata::default(),
    };
    let refused = example.refused(client.payouts().create(&payout)).await;
    assert_eq!((refused.status, refused.code), (402, Code::BalanceInsufficient));
    assert!(refused.request_id.is_some_and(|id| id.starts_with("req_")));
}

async fn errors_that_no_client_meets(example: Example) {
    let code = |answer: &raw::Answer| {
        let error = answer.json()["error"].clone();
        assert_eq!(error["request_id"], answer.header("request-id"), "{}", answer.body);
        (answer.status, error["code"].as_str().expect("a code").to_owned())
    };
    let mut ask = written(&payment());
    ask["amount"] = json!("5000");
    let answer = example.ask("POST", "/payments", Some(ask)).await;
    assert_eq!(code(&answer), (400, "parameter_invalid".to_owned()));
    let answer = example.send("GET", "/pay/v1/payments", &[], None).await;
    assert_eq!(code(&answer), (401, "api_key_missing".to_owned()));
    assert_eq!(answer.header("www-authenticate"), "Bearer");
    let answer = example.ask("GET", "/nothing", None).await;
    assert_eq!(code(&answer), (404, "route_not_found".to_owned()));
    let answer = example.ask("DELETE", "/payments", None).await;
    assert_eq!(code(&answer).0, 405);
    assert_eq!(answer.header("allow"), "POST, GET");
    let large = json!({"description": "x".repeat(70_000)});
    let answer = example.ask("POST", "/payments", Some(large)).await;
    assert_eq!(code(&answer).0, 413);
}

async fn the_hosts_own_routes(example: Example) {
    let hello = example.send("GET", "/hello", &[], None).await;
    assert_eq!((hello.status, hello.body.as_str()), (200, "hello"));
    for path in ["/nothing", "/v1/payments", "/payments"] {
        let answer = example.send("GET", path, &[], None).await;
        assert_eq!((answer.status, answer.body.as_str()), (404, "no such page"), "{path}");
    }
}

async fn the_hosts_own_users(example: Example) {
    let session = |session: &'static str| [("X-Session", session)];
    let ask = written(&payment());
    let made = example.send("POST", "/pay/v1/payments", &session("demo"), Some(ask)).await;
    assert_eq!(made.status, 201, "{}", made.body);
    // The same account as the key's.
    let id: PaymentId = serde_json::from_value(made.json()["id"].clone()).expect("an id");
    example.call(example.client.payments().retrieve(id)).await;
    let stranger = example.send("GET", "/pay/v1/payments", &session("stranger"), None).await;
    assert_eq!(stranger.status, 401);
}

async fn what_is_in_flight_is_finished(example: Example) {
    let body = written(&payment()).to_string();
    let mut stream = half_asked(&example, &body).await;
    example.terminate();
    stream.write_all(body.as_bytes()).await.expect("the body is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("a whole answer");
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    drop(stream);
    let address = example.address.clone();
    let status = example.ended().await;
    assert_eq!(status.code(), Some(0), "{status}");
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens");
}

/// With half a head, and with half a request.
async fn whoever_never_finishes_is_cut_off(example: Example) {
    let mut head = TcpStream::connect(&example.address).await.expect("a connection");
    head.write_all(b"POST /pay/v1/payments HTTP/1.1\r\nHost: ").await.expect("it is sent");
    let body = half_asked(&example, &written(&payment()).to_string()).await;
    example.terminate();
    // Whoever sent the signal waits for ten seconds, and this machine may be busy.
    let status =
        timeout(Duration::from_secs(20), example.ended()).await.expect("it ends by itself");
    assert_eq!(status.code(), Some(0), "{status}");
    drop((head, body));
}

/// A payment is asked for: the server has read the head, and waits for the body.
async fn half_asked(example: &Example, body: &str) -> TcpStream {
    let head = format!(
        "POST /pay/v1/payments HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nExpect: 100-continue\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        example.address,
        example.bearer(),
        body.len(),
    );
    let mut stream = TcpStream::connect(&example.address).await.expect("a connection");
    stream.write_all(head.as_bytes()).await.expect("the head is sent");
    let mut line = [0; 25];
    stream.read_exact(&mut line).await.expect("an answer to the head");
    assert_eq!(&line, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[expect(clippy::disallowed_methods, reason = "a receiver's clock is its own")]
fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    i64::try_from(since.as_secs()).expect("a clock")
}
