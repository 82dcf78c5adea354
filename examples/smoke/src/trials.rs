//! What every example is tried with.

use std::{
    future::Future,
    pin::Pin,
    time::{SystemTime, UNIX_EPOCH},
};

use cauri_core::signature;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    example::{Example, payment, text},
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
    the_hosts_own_routes
    the_hosts_own_users
    what_is_in_flight_is_finished
}

async fn a_payment(example: Example) {
    let mut receiver = Receiver::open().await;
    example.subscribe(&receiver).await;
    let made = example.ask("POST", "/payments", Some(payment())).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let id = made.json()["id"].clone();
    // Where the client finds it: behind the host's prefix.
    let location = format!("/pay/v1/payments/{}", text(&id));
    assert_eq!(made.header("location"), location);
    assert!(made.header("request-id").starts_with("req_"), "{:?}", made.headers);
    assert_eq!(made.header("content-type"), "application/json");
    receiver.awaits("payment.succeeded", &id).await;
    let paid = example.send("GET", &location, &[("X-API-Key", example.key())], None).await;
    assert_eq!((paid.status, &paid.json()["status"]), (200, &json!("succeeded")));
    let listed = example.ask("GET", "/payments?limit=1&status=succeeded", None).await;
    assert_eq!(listed.json()["data"][0]["id"], id, "{}", listed.body);
    let balance = example.ask("GET", "/balance", None).await.json();
    assert_eq!(balance["available"], json!([{"amount": 4900, "currency": "XOF"}]));
}

async fn a_refund(example: Example) {
    let mut receiver = Receiver::open().await;
    example.subscribe(&receiver).await;
    let payment = example.paid(&mut receiver).await;
    let ask = json!({"payment": payment["id"], "amount": 2000});
    let bearer = example.bearer();
    let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", "refund-1")];
    let made = example.send("POST", "/pay/v1/refunds", &headers, Some(ask.clone())).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let again = example.send("POST", "/pay/v1/refunds", &headers, Some(ask)).await;
    assert_eq!((again.status, again.body), (201, made.body.clone()), "a repeat is a replay");
    let id = made.json()["id"].clone();
    receiver.awaits("refund.succeeded", &id).await;
    let refund = example.ask("GET", &format!("/refunds/{}", text(&id)), None).await.json();
    assert_eq!((&refund["status"], &refund["amount"]), (&json!("succeeded"), &json!(2000)));
}

async fn a_signed_delivery(example: Example) {
    let mut receiver = Receiver::open().await;
    let secret = example.subscribe(&receiver).await;
    let made = example.ask("POST", "/payments", Some(payment())).await.json();
    let delivery = receiver.awaits("payment.created", &made["id"]).await;
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
    let code = |answer: &crate::client::Answer| {
        let error = answer.json()["error"].clone();
        assert_eq!(error["request_id"], answer.header("request-id"), "{}", answer.body);
        (answer.status, text(&error["code"]).to_owned())
    };
    let mut ask = payment();
    ask["amount"] = json!("5000");
    let answer = example.ask("POST", "/payments", Some(ask)).await;
    assert_eq!(code(&answer), (400, "parameter_invalid".to_owned()));
    let payout = json!({
        "amount": 5000, "currency": "XOF", "network": "mtn", "phone": "+2250500000000",
        "recipient_name": "Awa",
    });
    let answer = example.ask("POST", "/payouts", Some(payout)).await;
    assert_eq!(code(&answer), (402, "balance_insufficient".to_owned()));
    let answer = example.send("GET", "/pay/v1/payments", &[], None).await;
    assert_eq!(code(&answer), (401, "api_key_missing".to_owned()));
    assert_eq!(answer.header("www-authenticate"), "Bearer");
    let answer = example.ask("GET", "/nothing", None).await;
    assert_eq!(code(&answer), (404, "route_not_found".to_owned()));
    let answer = example.ask("DELETE", "/payments", None).await;
    assert_eq!(code(&answer).0, 405);
    assert_eq!(answer.header("allow"), "POST, GET");
    let bearer = example.bearer();
    let headers = [("Authorization", bearer.as_str())];
    let large = json!({"description": "x".repeat(70_000)});
    let answer = example.send("POST", "/pay/v1/payments", &headers, Some(large)).await;
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
    let made = example.send("POST", "/pay/v1/payments", &session("demo"), Some(payment())).await;
    assert_eq!(made.status, 201, "{}", made.body);
    // The same account as the key's.
    let path = format!("/payments/{}", text(&made.json()["id"]));
    assert_eq!(example.ask("GET", &path, None).await.status, 200);
    let stranger = example.send("GET", "/pay/v1/payments", &session("stranger"), None).await;
    assert_eq!(stranger.status, 401);
}

async fn what_is_in_flight_is_finished(example: Example) {
    let body = payment().to_string();
    let head = format!(
        "POST /pay/v1/payments HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nExpect: 100-continue\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        example.address,
        example.bearer(),
        body.len(),
    );
    let mut stream = TcpStream::connect(&example.address).await.expect("a connection");
    stream.write_all(head.as_bytes()).await.expect("the head is sent");
    // The server has read the head, and waits for the body.
    let mut line = [0; 25];
    stream.read_exact(&mut line).await.expect("an answer to the head");
    assert_eq!(&line, b"HTTP/1.1 100 Continue\r\n\r\n");
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

#[expect(clippy::disallowed_methods, reason = "a receiver's clock is its own")]
fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    i64::try_from(since.as_secs()).expect("a clock")
}
