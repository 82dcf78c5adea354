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
    let canonical = serde_json_canonicalizer::to_vec(body).unwrap_or_default();
    Sha256::new()
        .chain_update(method)
        .chain_update("\n")
        .chain_update(path)
        .chain_update("\n")
        .chain_update(canonical)
        .finalize()
        .into()
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
