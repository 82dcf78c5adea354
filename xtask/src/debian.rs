//! Programs that Debian has, brought along where that can be done without asking.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::command::{probe, run};
use crate::error::Error;

/// As a shell would find it, with links followed to where the program is.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
        .and_then(|file| file.canonicalize().ok())
}

/// Makes sure that a program is there: that of its package, where it is missing.
pub(crate) fn need(program: &'static str, package: &'static str) -> Result<(), Error> {
    if on_path(program).is_some() {
        return Ok(());
    }
    eprintln!("{program} is not installed; installing it with apt-get.");
    let missing = |why| Error::NoProgram { program, package, why };
    may_install(package).and_then(|()| install(package)).map_err(missing)?;
    on_path(program).map(|_| ()).ok_or_else(|| missing("the package brings no such program".into()))
}

/// Can packages be installed here? If not, why.
pub(crate) fn may_install(package: &str) -> Result<(), String> {
    if on_path("apt-get").is_none() {
        return Err("there is no apt-get on this machine".to_owned());
    }
    if probe(Command::new("id").arg("-u")).as_deref() != Some("0") {
        return Err(format!("that takes root (apt-get install {package})"));
    }
    Ok(())
}

/// Installs a package, and nothing that it merely recommends.
pub(crate) fn install(package: &str) -> Result<(), String> {
    let apt = |args: &[&str]| {
        run(Command::new("apt-get")
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null()))
    };
    // A file of ours that the package has as well stays as it is.
    let keep = ["--option", "Dpkg::Options::=--force-confold"];
    let quiet = ["--quiet=2", "--option", "Dpkg::Use-Pty=0"];
    let package = ["install", "--yes", "--no-install-recommends", package];
    apt(&["update", "--quiet=2"])
        .and_then(|()| apt(&[&package[..], &keep, &quiet].concat()))
        .map_err(|error| error.to_string())
}
