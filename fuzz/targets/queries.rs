//! Query strings of everything that is read: an answer of the contract, and one that agrees with
//! itself and with what was asked.
//!
//! Input: which operation, which id, then the query as it is.

#![no_main]

use cauri_fuzz::{Choices, Stage};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

thread_local! {
    static STAGE: (Stage, Vec<(String, String, Vec<u16>)>) = {
        let stage = Stage::furnished();
        let operations = stage.operations().into_iter().filter(|it| it.0 == "GET").collect();
        (stage, operations)
    };
}

fuzz_target!(|input: &[u8]| {
    STAGE.with(|(stage, operations)| {
        let mut choices = Choices::new(input);
        let (_, path, statuses) = choices.pick(operations);
        let path = path.replace("{id}", *choices.pick(&stage.ids()));
        let Ok(query) = str::from_utf8(choices.rest()) else { return };
        let asked = format!("{path}?{query}");
        if query.contains('#') || http::Uri::try_from(&*asked).is_err() {
            return;
        }
        let said = stage.get(&asked);
        assert!(statuses.contains(&said.status), "{asked}: {} is not told", said.status);
        if said.status == 200 {
            agrees(&said.json(), query);
        }
        // A query says the same however it is written.
        let spelt: String = query
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' => format!("%{byte:02x}"),
                other => char::from(other).to_string(),
            })
            .collect();
        if !query.contains('%') && query.is_ascii() {
            assert_eq!(stage.get(&format!("{path}?{spelt}")).status, said.status, "{asked}");
        }
    });
});

fn agrees(answer: &Value, query: &str) {
    let Some(total) = answer["total"].as_i64() else { return };
    let data = answer["data"].as_array().expect("a list has data");
    let count = i64::try_from(data.len()).expect("a short list");
    let (limit, offset) = (answer["limit"].as_i64(), answer["offset"].as_i64());
    let (limit, offset) = (limit.expect("a limit"), offset.expect("an offset"));
    assert!((1..=100).contains(&limit) && offset >= 0);
    assert_eq!(count, (total.saturating_sub(offset)).clamp(0, limit), "{answer}");
    assert_eq!(answer["has_more"], offset.saturating_add(count) < total, "{answer}");
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let plain = !value.contains(['%', '+']) && !name.contains(['%', '+']);
        let field = match name {
            "status" | "currency" | "country" | "payment_method" | "network" | "customer"
            | "payment_link" | "reference" | "payment" | "account" | "direction" | "type"
            | "source" | "transaction" | "webhook_endpoint" | "event" | "event_type" => name,
            _ => continue,
        };
        for item in data.iter().filter(|_| plain) {
            assert_eq!(item[field], value, "{query}: {item}");
        }
    }
}
