//! `cargo xtask test`: everything that can be tested, with nothing left out for want of a server
//! or a language.

use std::process::Command;

use crate::command::{cargo, probe, run as run_command};
use crate::debian::need;
use crate::error::Error;
use crate::postgres::{Cluster, Options, VARIABLE};

/// A test's database need not survive a power cut, and is faster for it.
const HASTE: [(&str, &str); 3] =
    [("fsync", "off"), ("synchronous_commit", "off"), ("full_page_writes", "off")];

/// What the receivers of `docs/receivers.md` run in, and the Debian packages that have it.
const LANGUAGES: [(&str, &str); 2] = [("node", "nodejs"), ("python3", "python3")];

pub(crate) fn run(options: Options) -> Result<(), Error> {
    for (program, package) in LANGUAGES {
        need(program, package)?;
    }
    if let Some(url) = std::env::var_os(VARIABLE) {
        println!("Testing on the server that {VARIABLE} names; no cluster is started.");
        return tests(&options.rest, |command| command.env(VARIABLE, &url));
    }
    let haste = HASTE.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let cluster = Cluster::start(haste.into_iter().chain(options.settings))?;
    tests(&options.rest, |command| command.env(VARIABLE, cluster.url()))
}

fn tests(args: &[String], with_server: impl Fn(&mut Command) -> &mut Command) -> Result<(), Error> {
    let nextest = probe(cargo().args(["nextest", "--version"])).is_some();
    let chosen = names_packages(args);
    let mut command = cargo();
    if nextest {
        println!("Running the tests with cargo nextest.");
        command.args(["nextest", "run"]);
    } else {
        println!("cargo nextest is not installed; running tests and doctests with cargo test.");
        command.args(["test", "--no-fail-fast"]);
    }
    if !chosen {
        command.arg("--workspace");
    }
    run_command(with_server(command.arg("--all-features").args(args)))?;

    if chosen && nextest {
        println!("Packages were chosen, so their doctests are left out.");
    } else if nextest {
        println!("Running the doctests, which nextest does not.");
        let mut doctests = cargo();
        doctests.args(["test", "--doc", "--workspace", "--all-features"]);
        run_command(with_server(&mut doctests))?;
    }
    Ok(())
}

/// Cargo would let `--workspace` win over packages that the caller named.
fn names_packages(args: &[String]) -> bool {
    let ours = args.iter().take_while(|arg| *arg != "--");
    ours.into_iter().any(|arg| {
        arg.starts_with("--package") || (arg.starts_with("-p") && !arg.starts_with("--"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_named_for_cargo_are_told_from_words_for_the_tests() {
        let named = |line: &str| {
            names_packages(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        };
        assert!(named("-p cauri-postgres"));
        assert!(named("--no-fail-fast -pcauri"));
        assert!(named("--package=cauri"));
        assert!(!named("--profile ci conforms"));
        assert!(!named("-- -p"));
    }
}
