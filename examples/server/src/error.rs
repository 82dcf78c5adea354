//! What ends a command, and how (docs/cli.md).

use std::{
    error::Error as StdError,
    io::{self, Write},
    process::ExitCode,
};

use cauri_client::IdempotencyKey;
use serde_json::{Value, json};
use url::Url;

use crate::output::Output;

/// How a command ends.
pub(crate) type Done = Result<ExitCode, Failure>;

/// Whatever stopped it: only ever told to a person.
pub(crate) type Failure = Box<dyn StdError + Send + Sync>;

/// What was asked was answered, with no.
pub(crate) const REFUSED: u8 = 1;

/// It could not be asked or answered, or nobody knows whether it was done. Wrong command lines end
/// so too.
pub(crate) const NOT_DONE: u8 = 2;

/// What was asked for under a key may have been done, or was, and whoever asked was not told.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Untold {
    what: &'static str,
    key: IdempotencyKey,
    /// What was made, where that is known.
    id: Option<String>,
    source: Option<io::Error>,
}

impl Untold {
    /// Nobody waited for the answer.
    pub(crate) const fn interrupted(key: IdempotencyKey) -> Self {
        Self { what: "interrupted before there was an answer", key, id: None, source: None }
    }

    /// It was done, and what there is to say of it could not be said.
    pub(crate) const fn unsaid(key: IdempotencyKey, id: Option<String>, source: io::Error) -> Self {
        let what = "it was done, but what came of it could not be written";
        Self { what, key, id, source: Some(source) }
    }
}

/// What came of a command was lost with whoever was to read it.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Unsaid {
    /// What was not said, and what to do about it.
    pub(crate) what: String,
    pub(crate) source: io::Error,
}

/// Tells an error, and everything that caused it; how the command ends for it. `url` is the server
/// that it asked.
pub(crate) fn tell(
    error: &(dyn StdError + 'static),
    output: Output,
    url: Option<&str>,
) -> ExitCode {
    if error.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe) {
        // Whoever reads, such as `head`, has had enough. What is written for its verdict does not
        // come here (`Output::conclude`).
        return ExitCode::SUCCESS;
    }
    say_of(error, output, url);
    let is_no = error.downcast_ref::<cauri_client::Error>().is_some_and(|error| {
        error.refused().is_some() && !error.is_transient() && error.idempotency_key().is_none()
    });
    ExitCode::from(if is_no { REFUSED } else { NOT_DONE })
}

/// Says an error on stderr. Where nobody reads that any more, there is nobody to be told.
pub(crate) fn say(error: &(dyn StdError + 'static), output: Output) {
    say_of(error, output, None);
}

fn say_of(error: &(dyn StdError + 'static), output: Output, url: Option<&str>) {
    let line = if output.json { in_json(&json(error, url)) } else { text(error, url) };
    let _ = writeln!(io::stderr(), "{line}");
}

/// An error for programs.
pub(crate) fn in_json(error: &Value) -> String {
    json!({ "error": error }).to_string()
}

/// The key under which it may have been done.
fn key<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a IdempotencyKey> {
    let asked = error.downcast_ref().and_then(cauri_client::Error::idempotency_key);
    asked.or_else(|| error.downcast_ref::<Untold>().map(|untold| &untold.key))
}

/// What is known to have been made.
fn made<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a str> {
    error.downcast_ref::<Untold>()?.id.as_deref()
}

/// What is wrong, and where nobody answered.
fn message(error: &(dyn StdError + 'static), url: Option<&str>) -> String {
    let text = chain(error);
    let asked = error.downcast_ref::<cauri_client::Error>().filter(|it| it.refused().is_none());
    match (asked, url.and_then(shown)) {
        (Some(_), Some(url)) => format!("{text} (asked {url}; --url or CAURI_URL names another)"),
        _ => text,
    }
}

/// A URL without what in it is nobody's to read.
fn shown(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!(
        "{}://{}{port}{}",
        url.scheme(),
        url.host_str()?,
        url.path().trim_end_matches('/')
    ))
}

fn json(error: &(dyn StdError + 'static), url: Option<&str>) -> Value {
    let asked = error.downcast_ref::<cauri_client::Error>();
    let mut json = match asked.and_then(cauri_client::Error::refused) {
        Some(it) => json!({
            "type": it.kind, "code": it.code.as_str(), "message": it.message,
            "param": it.param, "request_id": it.request_id,
        }),
        None => json!({ "message": message(error, url) }),
    };
    if let Some(key) = key(error) {
        json["idempotency_key"] = key.as_str().into();
    }
    if let Some(id) = made(error) {
        json["id"] = id.into();
    }
    json
}

fn text(error: &(dyn StdError + 'static), url: Option<&str>) -> String {
    let text = format!("cauri-server: {}", message(error, url));
    let Some(key) = key(error) else { return text };
    let done = match made(error) {
        Some(id) => format!("It was done: {id}."),
        None => "It may have been done.".to_owned(),
    };
    format!(
        "{text}\n{done} To ask again without doing it twice: --idempotency-key {}",
        key.as_str()
    )
}

/// An error and what caused it, in one line. Some say what caused them themselves; it is said once.
pub(crate) fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{says}")]
    struct Layer {
        says: &'static str,
        source: io::Error,
    }

    #[test]
    fn a_cause_is_said_once() {
        let layer = |says| Layer { says, source: io::Error::other("no room") };
        assert_eq!(chain(&layer("not written")), "not written: no room");
        assert_eq!(chain(&layer("the disk says: no room")), "the disk says: no room");
    }
}
