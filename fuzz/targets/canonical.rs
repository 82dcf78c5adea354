//! Bodies as JSON, and what tells one request from another: the same fingerprint exactly when the
//! same is said.
//!
//! Input: two bodies, the first up to a zero byte.

#![no_main]

use cauri_core::wire::{JsonError, fingerprint, parse_object};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fuzz_target!(|input: &[u8]| {
    let cut = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (one, other) = (&input[..cut], input.get(cut + 1..).unwrap_or_default());
    let (Some(one), Some(other)) = (read(one), read(other)) else { return };
    let print = |body: &Map<String, Value>| fingerprint("POST", "/v1/payments", body);
    let said = |body: &Map<String, Value>| plain(&Value::Object(body.clone()));
    assert_eq!(print(&one) == print(&other), said(&one) == said(&other), "{one:?} {other:?}");
    assert_ne!(print(&one), fingerprint("POST", "/v1/payouts", &one));

    // However it is written.
    for text in [
        serde_json::to_string(&one).expect("JSON"),
        serde_json::to_string_pretty(&one).expect("JSON"),
        backwards(&Value::Object(one.clone())),
    ] {
        let again = parse_object(text.as_bytes()).expect("what was written can be read");
        assert_eq!(print(&again), print(&one), "{text}");
    }
});

/// A body, read as a plainer reader would read it.
fn read(body: &[u8]) -> Option<Map<String, Value>> {
    let ours = parse_object(body);
    let theirs = serde_json::from_slice::<Value>(body);
    match &ours {
        Ok(ours) if body.is_empty() => assert!(ours.is_empty()),
        Ok(ours) => assert_eq!(Some(ours), theirs.expect("JSON").as_object()),
        Err(JsonError::NotUtf8) => assert!(str::from_utf8(body).is_err()),
        Err(JsonError::Syntax { .. }) => assert!(theirs.is_err(), "{theirs:?}"),
        Err(JsonError::NotAnObject) => assert!(!theirs.expect("JSON").is_object()),
        Err(JsonError::DuplicateKey(key)) => {
            // Whatever comes behind it may be no JSON at all.
            assert!(key.is_empty() || !body.is_empty());
        }
        Err(other) => panic!("{other}"),
    }
    ours.ok()
}

/// A value as the canonical form sees it: numbers as 64-bit floats, keys in an order.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(zero) if zero == 0.0 => "0".to_owned(),
            Some(number) => format!("{:x}", number.to_bits()),
            None => number.to_string(),
        },
        Value::Array(items) => {
            format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(","))
        }
        Value::Object(object) => {
            let mut pairs: Vec<_> =
                object.iter().map(|(key, value)| format!("{key:?}:{}", plain(value))).collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(","))
        }
        other => other.to_string(),
    }
}

/// The same, with every object's keys the other way round.
fn backwards(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[ {} ]", items.iter().map(backwards).collect::<Vec<_>>().join(" , "))
        }
        Value::Object(object) => {
            let key = |key: &String| Value::from(key.as_str()).to_string();
            let pairs: Vec<_> = object
                .iter()
                .rev()
                .map(|(name, value)| format!("{}:{}", key(name), backwards(value)))
                .collect();
            format!("{{{}}}", pairs.join("\n,"))
        }
        other => other.to_string(),
    }
}
