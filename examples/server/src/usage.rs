//! Command lines that are none, and those that ask for help.

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use serde_json::json;

use crate::error::{NOT_DONE, in_json};

/// Tells what is wrong with the command line, or what it asks for; how the command ends for it.
pub(crate) fn tell(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Help, or the version: for people, who may have had enough of it.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if is_for_a_program() {
        let text = error.render().to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        let _ = writeln!(io::stderr(), "{}", in_json(&json!({ "message": message })));
    } else {
        let _ = error.print();
    }
    ExitCode::from(NOT_DONE)
}

/// Was JSON asked for? It has to be found out by hand: what was read of the command line is lost
/// with it.
fn is_for_a_program() -> bool {
    let mut arguments = env::args_os().skip(1).take_while(|it| it != "--");
    arguments.any(|it| it == "--json") || env::var("CAURI_JSON").is_ok_and(|value| is_yes(&value))
}

/// As clap reads the variables of flags.
fn is_yes(value: &str) -> bool {
    !["", "n", "no", "f", "false", "off", "0"].contains(&value.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use clap::builder::{FalseyValueParser, TypedValueParser as _};

    use super::*;

    #[test]
    fn a_variable_is_read_as_clap_reads_it() {
        let command = clap::Command::new("x");
        for value in ["", "0", "1", "no", "No", "n", "yes", "false", "FALSE", "off", "f", "x", " "]
        {
            let read = FalseyValueParser::new().parse_ref(&command, None, OsStr::new(value));
            assert_eq!(is_yes(value), read.unwrap(), "{value}");
        }
    }
}
