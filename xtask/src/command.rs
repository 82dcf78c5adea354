//! Starting other programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Cargo, in the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = outward(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// A program that sees what the caller of `cargo xtask` saw.
///
/// `cargo run` describes xtask's own package in the environment. Build scripts that watch these
/// variables (ring's does) would be run again by every change between `cargo` and `cargo xtask`.
pub(crate) fn outward(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs it to its end, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let program = name(command);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Failed { program, status }),
        Err(source) => Err(Error::Start { program, source }),
    }
}

/// Runs it to its end and returns what it printed; its errors go where ours go.
pub(crate) fn read(command: &mut Command) -> Result<String, Error> {
    let program = name(command);
    match command.stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(output) => Err(Error::Failed { program, status: output.status }),
        Err(source) => Err(Error::Start { program, source }),
    }
}

/// What it printed, or nothing where the program is missing or unwilling.
pub(crate) fn probe(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// The program and its first argument: enough to tell which one failed.
fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
    match command.get_args().next() {
        Some(first) => format!("{program} {}", first.to_string_lossy()),
        None => program.into_owned(),
    }
}
