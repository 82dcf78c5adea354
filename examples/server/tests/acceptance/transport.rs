//! HTTP itself (API §2): methods, media, sizes, JSON, headers, and the order of the checks.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::check::is_id;
use crate::support::http::Response;
use crate::support::server::Store;
use crate::support::shop::path_of;
use crate::support::{sample, stories};

stories![
    an_unknown_path_is_not_found,
    another_method_is_told_which_are_allowed,
    an_endpoint_is_not_read_alone,
    only_json_is_accepted,
    an_empty_body_is_an_empty_object,
    a_body_is_one_json_object,
    a_key_given_twice_is_not_json,
    a_body_ends_at_64_kibibytes,
    a_body_of_unknown_length_is_measured_too,
    an_unknown_field_is_named,
    an_unknown_query_parameter_is_named,
    every_answer_carries_the_common_headers,
    a_request_id_of_the_caller_is_ignored,
    the_media_are_checked_before_the_json,
    the_json_is_read_before_the_object_is_sought,
    the_object_of_the_path_is_sought_before_the_parameters,
    the_parameters_are_checked_before_the_objects_they_name,
    the_objects_are_sought_before_the_catalogue_is_asked,
    the_catalogue_is_asked_before_the_funds,
    garbage_does_not_stop_the_server,
    an_object_nested_without_end_is_refused,
];

fn an_unknown_path_is_not_found(store: &Store) {
    let shop = store.shop();
    for path in [
        "/v1/nothing",
        "/v1/v1/payments",
        "/v2/payments",
        "/v1/payments/a/b",
        "/v1/Payments",
        "/v1/sandbox",
        "/v1/payment_links",
        "/v1/payments/pay_1/refund",
        "/v1/event",
        "/v1/webhooks/deliveries/whd_1",
    ] {
        shop.get(path).refused(404, "route_not_found", None);
        shop.post_text(path, "{").refused(404, "route_not_found", None);
    }
}

#[track_caller]
fn not_allowed(response: &Response, allowed: &[&str]) {
    response.refused(405, "method_not_allowed", None);
    let allow = response.header("Allow").expect("an Allow header");
    let methods: HashSet<&str> = allow.split(',').map(str::trim).collect();
    for method in allowed {
        assert!(methods.contains(method), "{method} is missing in Allow: {allow}");
    }
    for method in ["GET", "POST", "DELETE"] {
        assert!(allowed.contains(&method) || !methods.contains(method), "Allow: {allow}");
    }
}

fn another_method_is_told_which_are_allowed(store: &Store) {
    let shop = store.shop();
    let payment = sample::unknown("pay");
    for (method, path, allowed) in [
        ("PUT", "/v1/payments".to_owned(), &["GET", "POST"][..]),
        ("DELETE", "/v1/payments".to_owned(), &["GET", "POST"]),
        ("PATCH", "/v1/customers".to_owned(), &["GET", "POST"]),
        ("POST", format!("/v1/payments/{payment}"), &["GET"]),
        ("DELETE", format!("/v1/payments/{payment}"), &["GET"]),
        ("GET", format!("/v1/payments/{payment}/cancel"), &["POST"]),
        ("POST", format!("/v1/payments/{payment}/timeline"), &["GET"]),
        ("POST", "/v1/balance".to_owned(), &["GET"]),
        ("POST", "/v1/ledger".to_owned(), &["GET"]),
        ("POST", "/v1/payment-methods".to_owned(), &["GET"]),
        ("PUT", format!("/v1/customers/{}", sample::unknown("cus")), &["GET", "POST"]),
        ("GET", "/v1/sandbox/fund".to_owned(), &["POST"]),
        ("GET", "/v1/sandbox/simulate".to_owned(), &["POST"]),
        ("POST", "/v1/sandbox/scenarios".to_owned(), &["GET"]),
        ("PUT", "/v1/webhooks".to_owned(), &["GET", "POST"]),
    ] {
        not_allowed(&shop.send(method, &path, None, ""), allowed);
    }
}

/// The words `test` and `deliveries` win over an id.
fn an_endpoint_is_not_read_alone(store: &Store) {
    let shop = store.shop();
    let endpoint = shop.hook("http://127.0.0.1:9/x", &["payout.failed"]);
    not_allowed(&shop.get(&path_of(&endpoint["id"])), &["POST", "DELETE"]);
    not_allowed(&shop.get("/v1/webhooks/whe_x"), &["POST", "DELETE"]);
    not_allowed(&shop.get("/v1/webhooks/test"), &["POST"]);
    not_allowed(&shop.delete("/v1/webhooks/test"), &["POST"]);
    not_allowed(&shop.post("/v1/webhooks/deliveries", &json!({})), &["GET"]);
    not_allowed(&shop.delete("/v1/webhooks/deliveries"), &["GET"]);
}

fn only_json_is_accepted(store: &Store) {
    let shop = store.shop();
    let body = sample::payment(json!({})).to_string();
    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "text/json",
        "application/xml",
        "application/octet-stream",
    ] {
        let response = shop.send("POST", "/v1/payments", Some(media), &body);
        response.refused(415, "content_type_not_supported", None);
    }
    assert_eq!(shop.total("/v1/payments"), 0);
    for media in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
        shop.send("POST", "/v1/payments", Some(media), &body).ok(201);
    }
}

fn an_empty_body_is_an_empty_object(store: &Store) {
    let shop = store.shop();
    shop.post_text("/v1/customers", "").missing("name");
    shop.send("POST", "/v1/customers", None, "").missing("name");
    shop.send("POST", "/v1/customers", Some("text/plain"), "").missing("name");
    let payment = shop.pay(json!({"network": "wave", "phone": "+2250700009999"}));
    let path = format!("{}/cancel", path_of(&payment["id"]));
    let cancelled = shop.send("POST", &path, None, "").ok(200);
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled["cancellation_reason"], Value::Null);
}

fn a_body_is_one_json_object(store: &Store) {
    let shop = store.shop();
    for body in [
        "{",
        "}",
        "[]",
        "[{\"name\":\"A\"}]",
        "\"name\"",
        "null",
        "true",
        "5",
        "nonsense",
        "{\"name\":\"A\"} {}",
        "{\"name\":\"A\"},",
        "{name:\"A\"}",
        "{'name':'A'}",
        "{\"name\":\"A\",}",
        "{\"name\":NaN}",
        "{\"name\":\"A\" // no\n}",
        "{\"name\":\"\u{1}\"}",
        "{\"name\":\"\\ud800\"}",
        "name=A",
    ] {
        shop.post_text("/v1/customers", body).refused(400, "json_invalid", None);
    }
    shop.post_text("/v1/customers", b"{\"name\":\"\xff\xfe\"}").refused(400, "json_invalid", None);
    assert_eq!(shop.total("/v1/customers"), 0);
    shop.post_text("/v1/customers", " \r\n\t{\"name\" : \"\\u0041\"}\n ").ok(201);
}

fn a_key_given_twice_is_not_json(store: &Store) {
    let shop = store.shop();
    for body in [
        r#"{"name":"A","name":"B"}"#,
        r#"{"name":"A","name":"A"}"#,
        r#"{"name":"A","n\u0061me":"B"}"#,
        r#"{"name":"A","metadata":{"k":"1","k":"2"}}"#,
    ] {
        shop.post_text("/v1/customers", body).refused(400, "json_invalid", None);
    }
    assert_eq!(shop.total("/v1/customers"), 0);
}

fn padded(length: usize) -> String {
    let body = json!({"name": "A"}).to_string();
    format!("{body}{}", " ".repeat(length - body.len()))
}

fn a_body_ends_at_64_kibibytes(store: &Store) {
    let shop = store.shop();
    shop.post_text("/v1/customers", padded(65_536)).ok(201);
    shop.post_text("/v1/customers", padded(65_537)).refused(413, "body_too_large", None);
    let long = sample::payment(json!({"description": "x".repeat(70_000)})).to_string();
    shop.post_text("/v1/payments", long).refused(413, "body_too_large", None);
    assert_eq!(shop.total("/v1/customers"), 1);
    assert_eq!(shop.total("/v1/payments"), 0);
}

fn a_body_of_unknown_length_is_measured_too(store: &Store) {
    let shop = store.shop();
    let ask = |body: &str| {
        let request = format!(
            "POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
             {:x}\r\n{body}\r\n0\r\n\r\n",
            shop.account.secret_sandbox,
            body.len()
        );
        shop.server.http.raw(request.as_bytes()).unwrap().expect("an answer")
    };
    ask(&padded(70_000)).refused(413, "body_too_large", None);
    ask(&padded(60_000)).ok(201);
    assert_eq!(shop.total("/v1/customers"), 1);
}

fn an_unknown_field_is_named(store: &Store) {
    let shop = store.shop();
    let unknown = |path: &str, body: Value, param: &str| {
        shop.post(path, &body).refused(400, "parameter_unknown", Some(param));
    };
    unknown("/v1/payments", sample::payment(json!({"colour": "red"})), "colour");
    unknown(
        "/v1/payments",
        sample::payment(json!({"connection_key": "sim_mtn_ci"})),
        "connection_key",
    );
    unknown("/v1/payments", sample::payment(json!({"Amount": 5000})), "Amount");
    unknown("/v1/payments", sample::payment(json!({"fee_amount": 0})), "fee_amount");
    unknown("/v1/payouts", sample::payout(json!({"otp": "1234"})), "otp");
    unknown("/v1/payment-links", sample::link(json!({"status": "paid"})), "status");
    unknown("/v1/customers", json!({"name": "A", "statistics": {}}), "statistics");
    unknown("/v1/webhooks", json!({"url": "http://127.0.0.1:9/", "secret": "whsec_x"}), "secret");
    unknown("/v1/sandbox/fund", json!({"amount": 1, "currency": "XOF", "note": "x"}), "note");
    let payment = shop.paid(json!({}));
    unknown("/v1/refunds", json!({"payment": payment["id"], "phone": "+2250500000000"}), "phone");
    let simulate = json!({"id": payment["id"], "scenario": "success", "delay": 3});
    unknown("/v1/sandbox/simulate", simulate, "delay");
    unknown(&format!("{}/cancel", path_of(&payment["id"])), json!({"force": true}), "force");
}

fn an_unknown_query_parameter_is_named(store: &Store) {
    let shop = store.shop();
    let payment = shop.pay(json!({}));
    let one = path_of(&payment["id"]);
    for path in [
        "/v1/payments",
        "/v1/payouts",
        "/v1/refunds",
        "/v1/payment-links",
        "/v1/customers",
        "/v1/balance",
        "/v1/ledger",
        "/v1/webhooks",
        "/v1/webhooks/deliveries",
        "/v1/sandbox/scenarios",
        &one,
        &format!("{one}/timeline"),
    ] {
        shop.get(&format!("{path}?colour=red")).refused(400, "parameter_unknown", Some("colour"));
    }
    let created = shop.post("/v1/payments?colour=red", &sample::payment(json!({})));
    created.refused(400, "parameter_unknown", Some("colour"));
}

fn every_answer_carries_the_common_headers(store: &Store) {
    let shop = store.shop();
    let answers = [
        shop.get("/v1/balance"),
        shop.get("/v1/payments"),
        shop.post("/v1/payments", &sample::payment(json!({}))),
        shop.post("/v1/payments", &json!({})),
        shop.post_text("/v1/payments", "{"),
        shop.post_text("/v1/payments", padded(70_000)),
        shop.send("POST", "/v1/payments", Some("text/plain"), "x"),
        shop.send("PUT", "/v1/payments", None, ""),
        shop.get("/v1/nothing"),
        shop.get("/v1/payments/pay_nothing"),
        shop.anyone.get("/v1/balance"),
        shop.public.post("/v1/payments", &json!({})),
        shop.pay_out(json!({})),
        shop.post("/v1/webhooks", &json!({"url": "http://127.0.0.1:9/"})),
    ];
    let mut ids = HashSet::new();
    for answer in &answers {
        answer.carries_the_common_headers();
        assert!(ids.insert(answer.header("Request-Id").unwrap().to_owned()), "an id used twice");
    }
    assert_eq!(
        answers.map(|answer| answer.status),
        [200, 200, 201, 400, 400, 413, 415, 405, 404, 404, 401, 403, 402, 201]
    );
}

fn a_request_id_of_the_caller_is_ignored(store: &Store) {
    let shop = store.shop();
    let mine = sample::unknown("req");
    let response = shop.with("Request-Id", &mine).get("/v1/balance");
    let id = response.header("Request-Id").unwrap();
    assert!(is_id("req", id) && id != mine, "{id}");
}

fn the_media_are_checked_before_the_json(store: &Store) {
    let shop = store.shop();
    let response = shop.send("POST", "/v1/payments", Some("text/plain"), "{");
    response.refused(415, "content_type_not_supported", None);
    let broken = format!("{{{}", " ".repeat(70_000));
    shop.post_text("/v1/payments", broken).refused(413, "body_too_large", None);
}

fn the_json_is_read_before_the_object_is_sought(store: &Store) {
    let shop = store.shop();
    let path = format!("/v1/customers/{}", sample::unknown("cus"));
    shop.post_text(&path, "{").refused(400, "json_invalid", None);
}

fn the_object_of_the_path_is_sought_before_the_parameters(store: &Store) {
    let shop = store.shop();
    for path in [
        format!("/v1/customers/{}", sample::unknown("cus")),
        format!("/v1/payment-links/{}", sample::unknown("plink")),
        format!("/v1/webhooks/{}", sample::unknown("whe")),
        format!("/v1/payments/{}/cancel", sample::unknown("pay")),
    ] {
        shop.post(&path, &json!({"colour": 1})).refused(404, "resource_not_found", None);
    }
}

fn the_parameters_are_checked_before_the_objects_they_name(store: &Store) {
    let shop = store.shop();
    let customer = sample::unknown("cus");
    let body = sample::payment(json!({"customer": customer, "amount": -1}));
    assert_eq!(shop.post("/v1/payments", &body).faults(), [fault("parameter_invalid", "amount")]);
    let body = json!({"payment": sample::unknown("pay"), "reason": "boredom"});
    assert_eq!(shop.post("/v1/refunds", &body).faults(), [fault("parameter_invalid", "reason")]);
}

fn fault(code: &str, param: &str) -> (String, String) {
    (code.to_owned(), param.to_owned())
}

fn the_objects_are_sought_before_the_catalogue_is_asked(store: &Store) {
    let shop = store.shop();
    let body = sample::payment(json!({"customer": sample::unknown("cus"), "network": "airtel"}));
    let expected = [fault("related_resource_not_found", "customer")];
    assert_eq!(shop.post("/v1/payments", &body).faults(), expected);
}

fn the_catalogue_is_asked_before_the_funds(store: &Store) {
    let shop = store.shop();
    let low = shop.pay_out(json!({"amount": 99}));
    low.refused(400, "amount_below_minimum", Some("amount"));
    let elsewhere = shop.pay_out(json!({"network": "mtn"}));
    elsewhere.refused(400, "network_not_supported", Some("network"));
    shop.pay_out(json!({})).refused(402, "balance_insufficient", None);
}

fn garbage_does_not_stop_the_server(store: &Store) {
    let shop = store.shop();
    for bytes in [
        &b"GARBAGE\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /v1/balance HTTP/9.9\r\n\r\n",
        b"GET /v1/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: nope\r\n\r\n",
        b"GET /v1/payments?reference=%zz%00%ff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\r\n\r\n\r\n",
    ] {
        // Whether such a caller is answered or hung up on is its own affair.
        let mut bytes = bytes.to_vec();
        bytes.extend_from_slice(b"Connection: close\r\n\r\n");
        if let Ok(Some(answer)) = shop.server.http.raw(&bytes) {
            assert!((400..500).contains(&answer.status), "{}", answer.status);
        }
    }
    assert_eq!(shop.anyone.get("/healthz").status, 200);
    for query in ["reference=%ff", "status=%00", "limit=%F0%9F%92%B8"] {
        shop.get(&format!("/v1/payments?{query}")).refusal(400);
    }
}

fn an_object_nested_without_end_is_refused(store: &Store) {
    let shop = store.shop();
    let deep = format!("{{\"name\":\"A\",\"metadata\":{}", "{\"a\":".repeat(10_000));
    shop.post_text("/v1/customers", &deep).refusal(400);
    let closed = format!("{deep}1{}}}", "}".repeat(10_000));
    shop.post_text("/v1/customers", closed).refusal(400);
    let brackets = format!("{{\"name\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
    shop.post_text("/v1/customers", brackets).refusal(400);
    assert_eq!(shop.anyone.get("/healthz").status, 200);
}
