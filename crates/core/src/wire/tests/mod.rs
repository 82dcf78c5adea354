//! What the wire types promise, by noun of promise: shapes, requests, queries.

mod golden;
mod masks;
mod payments;
mod queries;
mod records;
mod requests;
mod robust;
mod rules;
mod written;

use std::fmt::Debug;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Form, parse_object};
use crate::{
    error::Faults,
    model::catalogue::Catalogue,
    value::{
        env::{Env, Tick},
        scope::{Environment, Scope},
        time::Timestamp,
    },
};

fn at(text: &str) -> Timestamp {
    text.parse().expect(text)
}

fn scope() -> Scope {
    let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse().expect("an id");
    Scope { account, environment: Environment::Sandbox }
}

fn env() -> Env {
    let now = at("2024-11-19T00:00:00.000Z");
    Env::new(now, Tick::first(now), [7; 32])
}

fn form(environment: Environment, catalogue: &Catalogue) -> Form<'_> {
    Form { environment, catalogue, now: env().now() }
}

/// The faults as `code at param`, one a line.
fn lines(faults: &[crate::Fault]) -> String {
    let line = |fault: &crate::Fault| {
        let param = fault.param.as_deref().unwrap_or("-");
        format!("{} {param}", fault.problem.code())
    };
    faults.iter().map(line).collect::<Vec<_>>().join(", ")
}

/// The faults of something read, or `ok`.
fn verdict<T>(read: &Result<T, Faults>) -> String {
    read.as_ref().map_or_else(|faults| lines(faults.all()), |_| "ok".to_owned())
}

const SANDBOX: Environment = Environment::Sandbox;
const LIVE: Environment = Environment::Live;

/// A body and its faults; `ok` when there are none.
type Case<'a> = (&'a str, &'a str);

/// Reads a body made of a base and changes to it, case by case. What is read is written as it can
/// be read again: the same types serve whoever asks.
#[track_caller]
fn reads<T: Debug + PartialEq + Serialize>(
    read: impl Fn(&Map<String, Value>, &Form<'_>) -> Result<T, Faults>,
    environment: Environment,
    base: &str,
    cases: &[Case<'_>],
) {
    let catalogue = Catalogue::sandbox();
    let form = form(environment, &catalogue);
    for (changes, expected) in cases {
        let mut body = parse_object(base.as_bytes()).expect(base);
        let changes = parse_object(changes.as_bytes()).expect(changes);
        for (name, value) in changes {
            // A field set to "-" is taken away.
            if value == "-" {
                body.remove(&name)
            } else {
                body.insert(name, value)
            };
        }
        let text = serde_json::to_string(&body).expect("JSON");
        let request = read(&body, &form);
        assert_eq!(verdict(&request), *expected, "{text}");
        if let Ok(request) = request {
            let written = serde_json::to_string(&request).expect("JSON");
            let again = parse_object(written.as_bytes()).expect("an object");
            assert_eq!(read(&again, &form).as_ref(), Ok(&request), "{text} is written {written}");
        }
    }
}
