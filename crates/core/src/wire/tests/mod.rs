//! What the wire types promise, by noun of promise: shapes, requests, queries.

mod golden;
mod masks;
mod queries;
mod records;
mod requests;
mod robust;
mod rules;

use super::Form;
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
