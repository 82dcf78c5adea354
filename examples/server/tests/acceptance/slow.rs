//! Stories about real time, told beside all others.

use std::io::{Read, Write};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::server::Store;
use crate::support::shop::path_of;
use crate::support::sink::{Answer, Sink};
use crate::support::time::{SLACK, millis, now, soon, stays, took, within};
use crate::support::{sample, stories};

stories![
    a_payment_waits_for_its_payer,
    a_payment_expires_at_its_time,
    a_slow_success_takes_half_a_minute,
    a_failing_receiver_is_tried_after_five_and_thirty_seconds,
    an_overlap_of_secrets_ends,
    a_head_that_drips_is_cut_off,
    an_answer_that_nobody_reads_is_given_up,
];

fn a_payment_waits_for_its_payer(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    let processing = soon(|| {
        let seen = shop.see(&payment["id"]);
        if seen["status"] == "processing" { Ok(seen) } else { Err(seen.to_string()) }
    });
    assert_eq!(processing["next_action"], json!({"type": "approve_on_phone"}));
    stays(Duration::from_secs(10), || assert_eq!(shop.see(&payment["id"]), processing));
    assert_eq!(shop.total("/v1/ledger"), 0);
    assert_eq!(shop.get("/v1/balance").ok(200)["available"], json!([]));
}

fn a_payment_expires_at_its_time(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({"expires_in": 60}));
    let expired = within(Duration::from_secs(60) + SLACK, || {
        let seen = shop.see(&payment["id"]);
        if seen["status"] == "expired" { Ok(seen) } else { Err(seen.to_string()) }
    });
    let late = millis(&expired["expired_at"]) - millis(&payment["expires_at"]);
    took(late, 0);
    assert!(late >= 0, "{} ms before its time", -late);
    assert_eq!((&expired["failure_code"], &expired["next_action"]), (&Value::Null, &Value::Null));
    let cancel = format!("{}/cancel", path_of(&payment["id"]));
    shop.post(&cancel, &json!({})).refused(409, "payment_not_cancellable", None);
    assert_eq!(shop.chronology(&payment), ["created", "processing", "expired"]);
}

fn a_slow_success_takes_half_a_minute(store: &Store) {
    let shop = store.shop();
    shop.fund(100_000, "XOF");
    let payment = shop.post("/v1/payments", &sample::payment_of("0001")).ok(201);
    let payout = shop.pay_out(json!({"phone": "+221770000001"})).ok(201);
    for object in [&payment, &payout] {
        let paid = within(Duration::from_secs(33) + SLACK, || {
            let seen = shop.see(&object["id"]);
            if seen["status"] == "succeeded" { Ok(seen) } else { Err(seen.to_string()) }
        });
        took(millis(&paid["succeeded_at"]) - millis(&paid["processing_at"]), 30_000);
    }
}

fn a_failing_receiver_is_tried_after_five_and_thirty_seconds(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::scripted(vec![Answer::Status(500)]));
    shop.hook(&sink.url(), &["payment.created"]);
    shop.pay(json!({}));
    let hits = sink.awaits_within(Duration::from_secs(40) + SLACK, 3);
    for (pair, expected) in hits.windows(2).zip([5000, 30_000]) {
        // From the answer on; the first request may have been noticed late.
        let waited = pair[1].at - pair[0].at + Duration::from_secs(1);
        took(i64::try_from(waited.as_millis()).unwrap(), expected);
    }
    let path = "/v1/webhooks/deliveries?event_type=payment.created";
    let seen = soon(|| {
        let seen = shop.list(path).remove(0);
        if seen["attempts_count"] == 3 { Ok(seen) } else { Err(seen.to_string()) }
    });
    assert_eq!((&seen["status"], &seen["http_status"]), (&json!("pending"), &json!(500)));
    assert_eq!(seen["error"], "non_2xx");
    let attempts = seen["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 3);
    for (number, attempt) in attempts.iter().enumerate() {
        assert_eq!(attempt["number"], number + 1);
        assert!(attempt["duration_ms"].as_u64().is_some(), "{attempt}");
    }
    let ended = millis(&attempts[2]["started_at"]) + attempts[2]["duration_ms"].as_i64().unwrap();
    let wait = millis(&seen["next_attempt_at"]) - ended;
    assert!((299_000..302_000).contains(&wait), "five minutes, not {wait} ms");
}

fn an_overlap_of_secrets_ends(store: &Store) {
    let (shop, sink) = (store.shop(), Sink::open());
    let endpoint = shop.hook(&sink.url(), &["payment_link.created"]);
    let body = json!({"rotate_secret": true, "previous_secret_expires_in": 3});
    let rotated = shop.post(&path_of(&endpoint["id"]), &body).ok(200);
    let mut count = 0;
    within(Duration::from_secs(5) + SLACK, || {
        shop.link(json!({}));
        count += 1;
        let hit = sink.awaits(count).remove(count - 1);
        match hit.signatures() {
            1 => {
                assert!(hit.is_signed_by(&rotated["secret"]));
                Ok(())
            }
            more => Err(format!("{more} signatures")),
        }
    });
}

/// A slow loris: a header now and then, so that something always comes.
fn a_head_that_drips_is_cut_off(store: &Store) {
    let shop = store.shop();
    let mut stream = shop.server.http.connect().unwrap();
    let since = now();
    stream.write_all(b"GET /v1/balance HTTP/1.1\r\nHost: x\r\n").unwrap();
    let mut number = 0;
    while stream.write_all(format!("X-{number}: x\r\n").as_bytes()).is_ok() {
        number += 1;
        sleep(Duration::from_millis(500));
        assert!(since.elapsed() < Duration::from_secs(40), "after {number} headers");
    }
    assert!(since.elapsed() > Duration::from_secs(25), "{:?}", since.elapsed());
    shop.get("/v1/balance").ok(200);
}

fn an_answer_that_nobody_reads_is_given_up(store: &Store) {
    let shop = store.shop();
    let mut stream = shop.server.http.connect().unwrap();
    let ask = b"GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
    let length = shop.anyone.get("/v1/openapi.json").body.len();
    // Far more than lies between two ends of a connection.
    let many = 64_000_000 / length;
    stream.write_all(&ask.repeat(many)).unwrap();
    sleep(Duration::from_secs(34));
    let mut read = 0;
    let mut piece = vec![0; 1 << 20];
    // It ends, in either way, and long before all of it.
    while let Ok(more @ 1..) = stream.read(&mut piece) {
        read += more;
    }
    assert!(read < many * length / 2, "{read} bytes of {}", many * length);
}
