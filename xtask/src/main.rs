//! The project's own chores, run as `cargo xtask …`.

mod command;
mod debian;
mod error;
mod fuzz;
mod mutants;
mod openapi;
mod postgres;
mod public_api;
mod pure;
mod terminal;
mod test;
mod torture;

use std::process::ExitCode;

use crate::error::Error;

const USAGE: &str = "\
cargo xtask test [--set NAME=VALUE]… [-- ARGS…]
    Every test of the workspace, on a Postgres cluster that exists only meanwhile.
    Brings PostgreSQL, Node and Python as Debian packages, as root, where they are missing.
    ARGS go to cargo nextest run, or to cargo test where nextest is missing.
    With CAURI_TEST_POSTGRES set, that server is used and no cluster is started.
cargo xtask postgres [--set NAME=VALUE]… [-- COMMAND…]
    Runs COMMAND with such a cluster in CAURI_TEST_POSTGRES, or waits for Enter without one.
    fsync is on here and off in tests; --set changes that and every other server setting.
    The cluster lies in TMPDIR: point it at a real disk before measuring.
cargo xtask pure [--without-wasm]
    Proves what each crate does without, by its dependency tree, and builds cauri-core for
    wasm32-unknown-unknown, where nothing can be asked for the time or for chance.
cargo xtask fuzz [TARGET] [--seconds N] [--seed N]
    Runs one fuzz target, or each, from its committed seeds for N seconds (30); from
    an empty fuzz/corpus and with the same libFuzzer seed the same way again.
cargo xtask mutants [NAME] [--seeds N]
    Plants each bug of crates/sim/mutations in a copy of the tree, or the one of this name, and
    demands that the simulation finds it within N seeds (500).
cargo xtask torture [--minutes N] [--store sqlite|postgres|both] [--seed N]
    Kills, holds and cuts off real servers on real stores, and demands that nothing is lost.
cargo xtask public-api [--update]
    Holds what each published crate lets others use against public-api/, or writes that anew.
    Wants cargo-public-api.
cargo xtask terminal
    Plays the session of docs/terminal.sh and draws docs/terminal.svg. Wants cauri-server on PATH.
cargo xtask openapi-lint
    Holds the description of the API against a linter. Needs npx, and the npm registry once.";

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(args: Vec<String>) -> Result<(), Error> {
    let mut args = args.into_iter();
    match args.next().as_deref() {
        Some("test") => test::run(postgres::Options::parse(args)?),
        Some("postgres") => postgres::run(postgres::Options::parse(args)?),
        Some("pure") => pure::run(&pure::Options::parse(args)?),
        Some("openapi-lint") => openapi::run(),
        Some("public-api") => public_api::run(args.next().as_deref() == Some("--update")),
        Some("terminal") => terminal::run(),
        Some("mutants") => mutants::run(&mutants::Options::parse(args)?),
        Some("fuzz") => fuzz::run(&fuzz::Options::parse(args)?),
        Some("torture") => torture::run(&args.collect::<Vec<_>>()),
        Some(postgres::REAP) => postgres::reap(args),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => Err(Error::Usage(format!("there is no chore {other:?}\n{USAGE}"))),
        None => Err(Error::Usage(format!("which chore?\n{USAGE}"))),
    }
}
