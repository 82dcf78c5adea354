//! What ends a command.

use std::{error::Error as StdError, process::ExitCode};

/// How a command ends.
pub(crate) type Done = Result<ExitCode, Failure>;

/// Whatever stopped it: only ever told to a person.
pub(crate) type Failure = Box<dyn StdError + Send + Sync>;

/// Tells an error, and everything that caused it.
pub(crate) fn tell(error: &(dyn StdError + 'static)) {
    let mut text = format!("cauri-server: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    eprintln!("{text}");
}
