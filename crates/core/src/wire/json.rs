//! Bodies of requests: one JSON object, strictly (API §2), and what identifies it (API §5).

use std::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

/// Why a body is not acceptable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// It is not UTF-8.
    #[error("The body is not UTF-8.")]
    NotUtf8,
    /// It is not JSON, holds more than one value or is nested more than 127 deep.
    #[error("The body is not valid JSON: see line {line}, column {column}.")]
    Syntax {
        /// In which line, from 1.
        line: usize,
        /// In which column, from 1.
        column: usize,
    },
    /// An object, at any depth, has a key twice.
    #[error("The body has a key twice in one object: {0:?}.")]
    DuplicateKey(String),
    /// It is JSON, but no object.
    #[error("The body must be a JSON object.")]
    NotAnObject,
}

/// The object in a body. An empty body counts as `{}`.
///
/// # Errors
/// [`JsonError`] when it is not exactly one JSON object in UTF-8 without repeated keys.
///
/// ```
/// use cauri_core::wire::{JsonError, parse_object};
/// assert_eq!(parse_object(br#"{"amount": 5000}"#).map(|body| body["amount"].as_i64()), Ok(Some(5000)));
/// assert!(parse_object(b"").is_ok_and(|body| body.is_empty()));
/// assert_eq!(parse_object(b"[]"), Err(JsonError::NotAnObject));
/// assert_eq!(parse_object(br#"{"a":1,"a":1}"#), Err(JsonError::DuplicateKey("a".into())));
/// ```
pub fn parse_object(body: &[u8]) -> Result<Map<String, Value>, JsonError> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    let text = std::str::from_utf8(body).map_err(|_| JsonError::NotUtf8)?;
    let mut repeated = None;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict(&mut repeated)
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value));
    match (value, repeated) {
        (_, Some(key)) => Err(JsonError::DuplicateKey(key)),
        (Ok(Value::Object(object)), None) => Ok(object),
        (Ok(_), None) => Err(JsonError::NotAnObject),
        (Err(error), None) => Err(JsonError::Syntax { line: error.line(), column: error.column() }),
    }
}

/// What tells one request from another under the same `Idempotency-Key` (API §5): SHA-256 of
/// the method, the path and the body in the canonical form of RFC 8785.
///
/// ```
/// use cauri_core::wire::{fingerprint, parse_object};
/// let of = |body: &[u8]| parse_object(body).map(|body| fingerprint("POST", "/v1/refunds", &body));
/// assert_eq!(of(br#"{"a":1,"b":[2]}"#), of(br#"{ "b": [ 2 ], "a": 1 }"#));
/// assert_ne!(of(br#"{"a":1}"#), of(br#"{"a":2}"#));
/// ```
#[must_use]
pub fn fingerprint(method: &str, path: &str, body: &Map<String, Value>) -> [u8; 32] {
    // A parsed body has text keys, no repeats and finite numbers: it cannot fail to be written.
    let canonical = match is_canonical(body) {
        true => serde_json::to_vec(body).unwrap_or_default(),
        false => serde_json_canonicalizer::to_vec(body).unwrap_or_default(),
    };
    Sha256::new()
        .chain_update(method)
        .chain_update("\n")
        .chain_update(path)
        .chain_update("\n")
        .chain_update(canonical)
        .finalize()
        .into()
}

/// Is this written in canonical form as it is? So is nearly every body, and that takes a fraction of
/// what sorting it again and writing its numbers as JavaScript would takes.
fn is_canonical(object: &Map<String, Value>) -> bool {
    // Names outside of ASCII are sorted by their UTF-16.
    object.keys().is_sorted() && object.iter().all(|(name, it)| name.is_ascii() && is_plain(it))
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        // What a double holds exactly, and shows as it is.
        Value::Number(it) => it.as_i64().is_some_and(|it| it.unsigned_abs() < 1 << 53),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(object) => is_canonical(object),
    }
}

/// Reads any JSON value; stops at a key that an object has twice, and keeps it.
struct Strict<'k>(&'k mut Option<String>);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        // The parser gives finite numbers only.
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Strict(&mut *self.0))? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                *self.0 = Some(key);
                return Err(A::Error::custom("a key twice in one object"));
            }
            let value = entries.next_value_seed(Strict(&mut *self.0))?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_one_object_without_repeats_is_accepted() {
        let nested =
            |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
        let (deep, too_deep) = (nested(120), nested(130));
        for (body, expected) in [
            ("", "ok"),
            ("{}", "ok"),
            (" \n{\t}\r\n", "ok"),
            (r#"{"a":{"b":1},"b":{"b":2}}"#, "ok"),
            (&deep, "ok"),
            (&too_deep, "syntax"),
            (" ", "syntax"),
            ("{", "syntax"),
            ("{}}", "syntax"),
            ("{}{}", "syntax"),
            ("{} x", "syntax"),
            ("{'a':1}", "syntax"),
            ("{a:1}", "syntax"),
            (r#"{"a":1,}"#, "syntax"),
            (r#"{"a":01}"#, "syntax"),
            (r#"{"a":+1}"#, "syntax"),
            (r#"{"a":NaN}"#, "syntax"),
            (r#"{"a":1e999}"#, "syntax"),
            (r#"{"a":"\ud800"}"#, "syntax"),
            ("{\"a\":\"\u{1}\"}", "syntax"),
            ("\u{feff}{}", "syntax"),
            ("// no\n{}", "syntax"),
            ("[]", "object"),
            ("[{}]", "object"),
            ("null", "object"),
            ("5", "object"),
            ("\"{}\"", "object"),
            ("true", "object"),
            (r#"{"a":1,"a":1}"#, "twice"),
            (r#"{"a":1,"b":2,"\u0061":3}"#, "twice"),
            (r#"{"a":{"b":[{"c":1,"c":2}]}}"#, "twice"),
            (r#"[{"a":1,"a":1}]"#, "twice"),
        ] {
            let said = match parse_object(body.as_bytes()) {
                Ok(_) => "ok",
                Err(JsonError::NotUtf8) => "utf8",
                Err(JsonError::Syntax { .. }) => "syntax",
                Err(JsonError::DuplicateKey(_)) => "twice",
                Err(JsonError::NotAnObject) => "object",
            };
            assert_eq!(said, expected, "{body}");
        }
        assert_eq!(parse_object(b"{\"a\":\"\xff\"}"), Err(JsonError::NotUtf8));
        assert_eq!(parse_object(b"{\"a\":\n1 x}"), Err(JsonError::Syntax { line: 2, column: 3 }));
    }

    fn print(body: &str) -> [u8; 32] {
        fingerprint("POST", "/v1/refunds", &parse_object(body.as_bytes()).expect(body))
    }

    #[test]
    fn a_fingerprint_is_of_what_is_said_not_how() {
        let body = r#"{"amount":5000,"metadata":{"b":"é","a":"1"},"list":[1,2]}"#;
        for same in [
            r#"{"metadata":{"a":"1","b":"é"},"list":[1,2],"amount":5000}"#,
            " { \"amount\" : 5000 , \"list\":[ 1,\n2 ], \"metadata\":{\"b\":\"\\u00e9\",\"a\":\"1\"} } ",
        ] {
            assert_eq!(print(body), print(same), "{same}");
        }
        for other in [
            r#"{"amount":5001,"metadata":{"b":"é","a":"1"},"list":[1,2]}"#,
            r#"{"amount":"5000","metadata":{"b":"é","a":"1"},"list":[1,2]}"#,
            r#"{"amount":5000,"metadata":{"b":"é","a":"1"},"list":[2,1]}"#,
            r#"{"amount":5000,"metadata":{"b":"e","a":"1"},"list":[1,2]}"#,
            r#"{"amount":5000,"metadata":{"b":"é","a":"1"},"list":[1,2],"x":null}"#,
            "{}",
        ] {
            assert_ne!(print(body), print(other), "{other}");
        }
        let nothing = Map::new();
        let of = |method, path| fingerprint(method, path, &nothing);
        assert_ne!(of("POST", "/v1/refunds"), of("POST", "/v1/payouts"));
        assert_ne!(of("POST", "/v1/refunds"), of("PUT", "/v1/refunds"));
        let expected = Sha256::digest(b"POST\n/v1/refunds\n{\"a\":[1,\"\xc3\xa9\"],\"b\":null}");
        assert_eq!(print(r#"{"b":null,"a":[1,"é"]}"#), <[u8; 32]>::from(expected));
    }

    #[test]
    fn what_callers_send_is_canonical_as_it_is() {
        let body = r#"{"reference":"ORDER-1","amount":5000,"metadata":{"b":"é","a":"1"}}"#;
        assert!(is_canonical(&parse_object(body.as_bytes()).expect(body)));
        for other in [r#"{"é":1}"#, r#"{"a":1.0}"#, r#"{"a":[{"b":9007199254740992}]}"#] {
            assert!(!is_canonical(&parse_object(other.as_bytes()).expect(other)), "{other}");
        }
    }

    #[test]
    fn numbers_too_large_for_a_word_do_no_harm() {
        for number in
            ["9223372036854775808", "18446744073709551616", "-9223372036854775809", "1e300", "-0"]
        {
            let body = parse_object(format!("{{\"a\":{number}}}").as_bytes()).expect(number);
            assert_eq!(body["a"].as_i64(), None, "{number}");
            let _ = fingerprint("POST", "/", &body);
        }
    }

    /// Any JSON value, of names and numbers that are more trouble than most.
    fn values() -> impl Strategy<Value = Value> {
        let names = prop_oneof!["[a-cA-C]{0,3}", "[\\x00-\\x7f]{0,3}", any::<String>()];
        let numbers = prop_oneof![
            any::<i64>().prop_map(Value::from),
            (-1_i64..=1, 0_u32..=62).prop_map(|(off, bits)| Value::from(
                1_i64.checked_shl(bits).unwrap_or_default().saturating_add(off)
            )),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
        ];
        let leaves = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            numbers,
            any::<String>().prop_map(Value::from),
            "[\\x00-\\x7f]{0,8}".prop_map(Value::from),
        ];
        leaves.prop_recursive(3, 24, 4, move |inner| {
            let members = proptest::collection::btree_map(names.clone(), inner.clone(), 0..4);
            prop_oneof![
                proptest::collection::vec(inner, 0..4).prop_map(Value::from),
                members.prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_counts_as_canonical_is(value in values()) {
            if is_plain(&value) {
                let canonical = serde_json_canonicalizer::to_string(&value);
                prop_assert_eq!(value.to_string(), canonical.expect("JSON"));
            }
        }

        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = parse_object(&bytes);
        }

        #[test]
        fn no_text_panics(text in "[\\[\\]{}\":,0-9a-z\\\\ .eE+-]{0,40}") {
            let ours = parse_object(text.as_bytes());
            let theirs = serde_json::from_str::<Map<String, Value>>(&text);
            // Stricter than the library about repeats and nothing else.
            match ours {
                Ok(object) if !text.is_empty() => prop_assert_eq!(object, theirs?),
                Err(JsonError::Syntax { .. }) => prop_assert!(theirs.is_err()),
                _ => {}
            }
        }
    }
}
