//! Bodies of every endpoint, through the whole HTTP crate: whatever is sent, the answer is one of
//! the contract's, a refused call leaves no trace, and a repeated one is answered alike.
//!
//! Input: which operation, which id, how; then a body as it is, or what bends a good one.

#![no_main]

use cauri_fuzz::{Choices, Stage};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

thread_local! {
    static STAGE: (Stage, Vec<(String, String, Vec<u16>)>, Vec<String>) = {
        let stage = Stage::furnished();
        let operations = stage.operations().into_iter().filter(|it| it.0 != "GET").collect();
        let fields = stage.fields();
        (stage, operations, fields)
    };
}

fuzz_target!(|input: &[u8]| {
    STAGE.with(|(stage, operations, fields)| {
        stage.again();
        let mut choices = Choices::new(input);
        let (method, path, statuses) = choices.pick(operations);
        let path = path.replace("{id}", *choices.pick(&stage.ids()));
        let how = choices.byte();
        let body = match how & 1 {
            0 => choices.rest().to_vec(),
            _ => bent(&path, fields, &stage.ids(), &mut choices).to_string().into_bytes(),
        };
        let key = (how & 2 != 0).then_some("a-key");
        let said = stage.ask(method, &path, key, &body);
        assert!(statuses.contains(&said.status), "{method} {path}: {} is not told", said.status);
        stage.audit();
        if key.is_some() && method == "POST" {
            let again = stage.ask(method, &path, key, &body);
            assert_eq!(again.status, said.status, "{}", again.json());
            if said.status < 300 {
                assert_eq!((again.body, again.replayed), (said.body, true));
            }
        }
    });
});

/// A body that is right but for some of its fields.
fn bent(path: &str, fields: &[String], ids: &[&str], choices: &mut Choices<'_>) -> Value {
    let id = |prefix: &str| ids.iter().find(|id| id.starts_with(prefix)).copied().unwrap_or("");
    let mut body = match path {
        "/v1/payments" => json!({
            "amount": 5000, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
            "phone": "+2250500009999",
        }),
        "/v1/payouts" => json!({
            "amount": 10_000, "currency": "XOF", "network": "orange", "phone": "+221770000002",
        }),
        "/v1/payment-links" => {
            json!({ "title": "A", "amount": 500, "currency": "XOF", "country": "CI" })
        }
        "/v1/refunds" => json!({ "payment": id("pay_") }),
        "/v1/customers" => json!({ "name": "A" }),
        "/v1/webhooks" => json!({ "url": "https://a.example.com/" }),
        "/v1/webhooks/test" => json!({ "webhook_endpoint": id("whe_") }),
        "/v1/sandbox/simulate" => json!({ "id": id("pay_"), "scenario": "success" }),
        "/v1/sandbox/fund" => json!({ "amount": 5, "currency": "XOF" }),
        _ => json!({}),
    };
    for _ in 0..choices.byte() % 4 {
        let field = choices.pick(fields);
        match value(ids, choices, 0) {
            Value::Null if choices.byte() % 2 == 0 => {
                body.as_object_mut().map(|body| body.remove(field));
            }
            value => body[field] = value,
        }
    }
    body
}

/// A value that is hard on readers, or just right somewhere.
fn value(ids: &[&str], choices: &mut Choices<'_>, depth: u8) -> Value {
    const WORDS: [&str; 24] = [
        "XOF",
        "KWD",
        "CI",
        "SN",
        "mtn",
        "wave",
        "orange",
        "visa",
        "card",
        "mobile_money",
        "+2250500000401",
        "+221770000201",
        "*",
        "payment.succeeded",
        "success",
        "pending",
        "2024-11-19T00:00:00.000Z",
        "2025-01-01T00:00:00Z",
        "https://a.example.com/",
        "http://forbidden.example.com/#a",
        "a@example.com",
        "requested_by_customer",
        "",
        "é\u{202e}",
    ];
    match choices.byte() % 12 {
        0 => Value::Null,
        1 => (choices.byte() % 2 == 0).into(),
        2 => choices.word().into(),
        3 => choices.pair().into(),
        4 => i64::from(choices.byte()).into(),
        5 => f64::from_bits(choices.word().cast_unsigned()).into(),
        6 => (*choices.pick(ids)).into(),
        7 | 8 => (*choices.pick(&WORDS)).into(),
        9 => {
            let length = usize::from(choices.byte());
            String::from_utf8_lossy(choices.take(length)).into_owned().into()
        }
        10 if depth < 3 => {
            let count = choices.byte() % 4;
            (0..count).map(|_| value(ids, choices, depth + 1)).collect()
        }
        11 if depth < 3 => {
            let count = choices.byte() % 4;
            let name = |choices: &mut Choices<'_>| (*choices.pick(&WORDS)).to_owned();
            let pairs = (0..count).map(|_| (name(choices), value(ids, choices, depth + 1)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        _ => "x".repeat(usize::from(choices.pair() % 2_100)).into(),
    }
}
