//! The `Idempotency-Key` of a request (API §5).

use cauri::{
    Fault, IdempotencyKey, Problem, Refused, Success, decide::idempotency::Idempotency,
    wire::fingerprint,
};
use http::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

use crate::{
    problem::Failure,
    route::{Route, Verb},
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// How a repeat of this request is known, where it names a key and the key means something.
pub(crate) fn read(
    route: &Route,
    path: &str,
    headers: &HeaderMap,
    body: &Map<String, Value>,
    required: bool,
) -> Result<Option<Idempotency>, Failure> {
    if route.verb != Verb::Post {
        return Ok(None);
    }
    let Some(key) = key(headers)? else {
        return if required && route.success == Success::Created {
            Err(refused(Problem::IdempotencyKeyRequired))
        } else {
            Ok(None)
        };
    };
    Ok(Some(Idempotency { key, fingerprint: fingerprint(route.verb.as_str(), path, body) }))
}

fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Failure> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = value.to_str().ok().and_then(|text| text.parse().ok());
    match (key, values.next()) {
        (Some(key), None) => Ok(Some(key)),
        // Of two keys, which one?
        _ => Err(refused(Problem::IdempotencyKeyInvalid)),
    }
}

fn refused(problem: Problem) -> Failure {
    Refused::from(cauri::Faults::from(Fault::overall(problem))).into()
}
