//! `cargo xtask test`: everything that can be tested, with nothing left out for want of a server.

use std::process::Command;

use crate::command::{cargo, probe, run as run_command};
use crate::error::Error;
use crate::postgres::{Cluster, Options, VARIABLE};

/// Tests never need to survive a power cut; the adapters' tests are four times faster without.
const HASTE: [(&str, &str); 3] =
    [("fsync", "off"), ("synchronous_commit", "off"), ("full_page_writes", "off")];

pub(crate) fn run(options: Options) -> Result<(), Error> {
    if let Some(url) = std::env::var_os(VARIABLE) {
        println!("Testing on the server that {VARIABLE} names; no cluster is started.");
        return tests(&options.rest, |command| command.env(VARIABLE, &url));
    }
    let haste = HASTE.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let cluster = Cluster::start(haste.into_iter().chain(options.settings))?;
    tests(&options.rest, |command| command.env(VARIABLE, cluster.url()))
}

fn tests(args: &[String], with_server: impl Fn(&mut Command) -> &mut Command) -> Result<(), Error> {
    let mut command = cargo();
    if probe(cargo().args(["nextest", "--version"])).is_some() {
        println!("Running the tests with cargo nextest.");
        command.args(["nextest", "run"]);
    } else {
        println!("cargo nextest is not installed; running the tests with cargo test.");
        // All targets, as nextest does; the doctests have a run of their own below.
        command.args(["test", "--lib", "--bins", "--tests", "--examples", "--no-fail-fast"]);
    }
    command.args(["--workspace", "--all-features"]).args(args);
    run_command(with_server(&mut command))?;

    println!("Running the doctests.");
    let mut doctests = cargo();
    doctests.args(["test", "--doc", "--workspace", "--all-features"]);
    run_command(with_server(&mut doctests))
}
