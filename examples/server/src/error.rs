//! What ends a command, and how (docs/cli.md).

use std::{error::Error as StdError, io, process::ExitCode};

use serde_json::json;

use crate::output::Output;

/// How a command ends.
pub(crate) type Done = Result<ExitCode, Failure>;

/// Whatever stopped it: only ever told to a person.
pub(crate) type Failure = Box<dyn StdError + Send + Sync>;

/// What was asked was answered, with no.
pub(crate) const REFUSED: u8 = 1;

/// It could not be asked or answered. Wrong command lines end so too.
const NOT_DONE: u8 = 2;

/// Tells an error, and everything that caused it; how the command ends for it.
pub(crate) fn tell(error: &(dyn StdError + 'static), output: Output) -> ExitCode {
    if error.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe) {
        // Whoever reads, such as `head`, has had enough.
        return ExitCode::SUCCESS;
    }
    let refused = error
        .downcast_ref::<cauri_client::Error>()
        .filter(|error| !error.is_transient())
        .and_then(cauri_client::Error::refused);
    let text = chain(error);
    if output.json {
        let error = match refused {
            Some(it) => json!({
                "type": it.kind, "code": it.code.as_str(), "message": it.message,
                "param": it.param, "request_id": it.request_id,
            }),
            None => json!({ "message": text }),
        };
        eprintln!("{}", json!({ "error": error }));
    } else {
        eprintln!("cauri-server: {text}");
    }
    ExitCode::from(if refused.is_some() { REFUSED } else { NOT_DONE })
}

/// An error and what caused it, in one line.
pub(crate) fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
