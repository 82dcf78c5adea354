//! Requests that want to be read in two ways, or never to end.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::support::http::Response;
use crate::support::server::{Server, Store};
use crate::support::shop::Shop;
use crate::support::time;
use crate::support::{sample, stories};

stories![
    a_body_has_one_length,
    a_head_can_be_read_in_one_way,
    a_chunk_can_be_read_in_one_way,
    a_head_has_an_end,
    whoever_is_one_too_many_is_told_so,
    a_server_without_room_answers_at_once,
];

/// A request to create a customer, with these lines in its head, and what follows the head.
fn post(shop: &Shop, lines: &str, rest: &str) -> Vec<Response> {
    let key = &shop.account.secret_sandbox;
    let head = format!(
        "POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\n{lines}\r\n"
    );
    shop.server.http.answers(format!("{head}{rest}").as_bytes())
}

/// What an attacker would have the next one say, if it could.
const SMUGGLED: &str = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

/// There is one answer, and then the connection ends: what came behind is nobody's request.
#[track_caller]
fn one(answers: &[Response], status: u16, about: &str) {
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [status], "{about:?}");
}

fn a_body_has_one_length(store: &Store) {
    let shop = store.shop();
    let body = r#"{"name":"A"}"#;
    let length = body.len();
    let chunked = format!("{length:x}\r\n{body}\r\n0\r\n\r\n{SMUGGLED}");
    let plain = format!("{body}{SMUGGLED}");
    // Both lengths: the chunks count, and nothing behind them is read any more (RFC 9112, 6.1).
    for lines in [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n".to_owned(),
        format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", chunked.len()),
    ] {
        one(&post(&shop, &lines, &chunked), 201, &lines);
    }
    for lines in [
        format!("Content-Length: {length}\r\nContent-Length: {}\r\n", plain.len()),
        format!("Content-Length: {length}\r\nContent-Length: 0\r\n"),
        format!("Content-Length: {length}, {length}\r\n"),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: -{length}\r\n"),
        format!("Content-Length: {length:#x}\r\n"),
        format!("Content-Length: {length}.0\r\n"),
        format!("Content-Length: {length} 1\r\n"),
        "Content-Length: 18446744073709551616\r\n".to_owned(),
        "Content-Length: \r\n".to_owned(),
        format!("Content-Length : {length}\r\n"),
        "Transfer-Encoding: identity\r\n".to_owned(),
        "Transfer-Encoding: xchunked\r\n".to_owned(),
        "Transfer-Encoding: chunked, identity\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
        "Transfer-Encoding : chunked\r\n".to_owned(),
        "Transfer-Encoding\t: chunked\r\n".to_owned(),
        "Transfer-Encoding: \u{b}chunked\r\n".to_owned(),
        format!("Content-Length: {length}\r\nTransfer-Encoding: identity\r\n"),
    ] {
        one(&post(&shop, &lines, &plain), 400, &lines);
    }
    // The same length twice is one length.
    let twice = format!("Content-Length: {length}\r\n").repeat(2);
    one(&post(&shop, &format!("{twice}Connection: close\r\n"), body), 201, &twice);
    assert_eq!(shop.total("/v1/customers"), 5);
    let old = format!("POST /v1/customers HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}");
    one(&shop.server.http.answers(old.as_bytes()), 400, &old);
}

fn a_head_can_be_read_in_one_way(store: &Store) {
    let shop = store.shop();
    let body = r#"{"name":"A"}"#;
    for lines in [
        "X-Folded: a\r\n Content-Length: 5\r\n",
        "X-Folded: a\r\n\tb\r\n",
        " X-First: folded into nothing\r\n",
        "X-Return: a\rContent-Length: 5\r\n",
        "X-Null: a\0b\r\n",
        ": no name\r\n",
        "no colon\r\n",
        "X Y: a space in a name\r\n",
        "X\u{7f}: a\r\n",
    ] {
        let lines = format!("Content-Length: {}\r\n{lines}", body.len());
        one(&post(&shop, &lines, &format!("{body}{SMUGGLED}")), 400, &lines);
    }
    for first in [
        "GET /healthz",
        "GET /healthz HTTP/1.1 x",
        "GET  /healthz HTTP/1.1",
        "GET /health z HTTP/1.1",
        "GET\t/healthz\tHTTP/1.1",
        "G@T /healthz HTTP/1.1",
        "GET /healthz HTTP/2.0",
        "GET /healthz http/1.1",
        "GET /healthz HTTP/1.1\r",
    ] {
        let text = format!("{first}\r\nHost: x\r\n\r\n{SMUGGLED}");
        one(&shop.server.http.answers(text.as_bytes()), 400, first);
    }
    assert_eq!(shop.total("/v1/customers"), 0);
    // A line may end without its carriage return (RFC 9112, 2.2): it is the same line.
    let bare = "GET /healthz HTTP/1.1\nHost: x\nConnection: close\n\n";
    one(&shop.server.http.answers(bare.as_bytes()), 200, bare);
}

fn a_chunk_can_be_read_in_one_way(store: &Store) {
    let shop = store.shop();
    for chunks in [
        "c\n{\"name\":\"A\"}\r\n0\r\n\r\n",
        "c\r\n{\"name\":\"A\"}\n0\r\n\r\n",
        "c\r\n{\"name\":\"A\"}0\r\n\r\n",
        "c;a\nb\r\n{\"name\":\"A\"}\r\n0\r\n\r\n",
        "0xc\r\n{\"name\":\"A\"}\r\n0\r\n\r\n",
        "+c\r\n{\"name\":\"A\"}\r\n0\r\n\r\n",
        "-1\r\n{\"name\":\"A\"}\r\n0\r\n\r\n",
        "ffffffffffffffffc\r\n{\"name\":\"A\"}\r\n0\r\n\r\n",
        "\r\n{\"name\":\"A\"}\r\n0\r\n\r\n",
        "zz\r\n{\"name\":\"A\"}\r\n0\r\n\r\n",
    ] {
        let answers = post(&shop, "Transfer-Encoding: chunked\r\n", &format!("{chunks}{SMUGGLED}"));
        one(&answers, 400, chunks);
        answers[0].refused(400, "json_invalid", None);
    }
    assert_eq!(shop.total("/v1/customers"), 0);
    // Extensions are allowed, but not without end.
    let endless = format!("c;{}\r\n", "a".repeat(1 << 20));
    let answers = post(&shop, "Transfer-Encoding: chunked\r\n", &endless);
    assert!(answers.iter().all(|answer| answer.status == 400), "{answers:?}");
    assert_eq!(shop.total("/v1/customers"), 0);
}

fn a_head_has_an_end(store: &Store) {
    let shop = store.shop();
    let ask = |lines: &str| {
        let text = format!("GET /healthz HTTP/1.1\r\nConnection: close\r\n{lines}\r\n");
        shop.server.http.answers(text.as_bytes())
    };
    let long = |length: usize| format!("X: {}\r\n", "x".repeat(length));
    one(&ask(&long(15_000)), 200, "15,000 bytes");
    one(&ask(&long(17_000)), 431, "17,000 bytes");
    one(&ask(&"X: x\r\n".repeat(99)), 200, "100 headers");
    one(&ask(&"X: x\r\n".repeat(100)), 431, "101 headers");
    let path = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(17_000));
    one(&shop.server.http.answers(path.as_bytes()), 431, "a long path");

    // Nobody listens to a head without end for long.
    let mut stream = shop.server.http.connect().unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    let mut sent = 0;
    while sent < 64 << 20 && stream.write_all(long(1_000).as_bytes()).is_ok() {
        sent += 1_000;
    }
    assert!(sent < 16 << 20, "{sent} bytes were taken, by us or by the system's buffers");
}

#[track_caller]
fn turned_away(answer: &Response) {
    answer.refused(503, "service_unavailable", None);
    assert_eq!(answer.header("Retry-After"), Some("1"));
}

fn whoever_is_one_too_many_is_told_so(store: &Store) {
    let server = store.serve(&["--max-connections", "2"]);
    let ask = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    let held: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = server.http.connect().unwrap();
            stream.write_all(ask).unwrap();
            let mut reader = std::io::BufReader::new(stream.try_clone().unwrap());
            assert_eq!(Response::read(&mut reader).unwrap().unwrap().status, 200);
            stream
        })
        .collect();
    for _ in 0..500 {
        let answers = server.http.answers(ask);
        one(&answers, 503, "one too many");
        turned_away(&answers[0]);
        assert_eq!(answers[0].header("Connection"), Some("close"));
    }
    drop(held);
    // It may take a moment until a place is seen to be free.
    let mut refused = 500;
    let served = time::soon(|| {
        match &*server
            .http
            .answers(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        {
            [answer] if answer.status == 200 => Ok(answer.clone()),
            answers => {
                refused += 1;
                Err(format!("{answers:?}"))
            }
        }
    });
    assert_eq!(served.text(), "ok\n");
    // So may the other one, and that of the answer.
    let shop = Server::next_shop(&server).unwrap();
    let metrics = time::soon(|| {
        let told = shop.anyone.get("/metrics");
        refused += i32::from(told.status == 503);
        if told.status == 200 { Ok(told.text()) } else { Err(told.text()) }
    });
    let counted = format!("cauri_connections_refused_total {refused}");
    assert!(metrics.lines().any(|line| line == counted), "{counted}: {metrics}");
}

fn a_server_without_room_answers_at_once(store: &Store) {
    let server = store.serve(&["--max-requests", "1"]);
    let shop = Server::next_shop(&server).unwrap();
    // Sixteen at a time, until two have met.
    let found = AtomicBool::new(false);
    let refused: Vec<Response> = thread::scope(|scope| {
        let ask = || {
            let mut asked =
                (0..500).map(|_| shop.post("/v1/payments", &sample::payment(json!({}))));
            let refused = asked.find(|it| it.status != 201 || found.load(Ordering::Relaxed));
            found.store(true, Ordering::Relaxed);
            refused.filter(|it| it.status != 201)
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(!refused.is_empty(), "every one had room");
    refused.iter().for_each(turned_away);
    shop.anyone.get("/v1/nothing").refused(404, "route_not_found", None);
    for path in ["/healthz", "/readyz", "/metrics", "/v1/openapi.json"] {
        assert_eq!(shop.anyone.get(path).status, 200, "{path}");
    }
}
