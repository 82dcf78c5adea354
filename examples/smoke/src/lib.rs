//! The black-box test that every framework's example passes: over real HTTP, against the binary
//! that `cargo run` runs.
//!
//! An example prints two lines when it is ready: the URL of the API and a secret sandbox key. It
//! serves the API under `/pay`, answers `/hello` itself and 404 to everything else, puts `X-Host`
//! on whatever it answers, takes `X-Session: demo` for one of its own users, and ends with SIGTERM.
//!
//! Each trial starts an example of its own, so that they run side by side.

mod example;
mod raw;
mod receiver;
mod trials;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::{runtime, time::timeout};

use crate::{example::Example, trials::TRIALS};

/// Runs the trials against an example, with the arguments of the command line, as `cargo test` and
/// `cargo nextest` give them.
pub fn main(host: &'static str, binary: &'static str) -> ExitCode {
    let trial = |(name, story): &'static (&str, trials::Story)| {
        let run = move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
            let told = async { story(Example::start(host, binary).await).await };
            let told = runtime.block_on(async { timeout(example::LIMIT, told).await });
            told.map_err(|_| Failed::from("it takes too long"))
        };
        Trial::test(*name, run)
    };
    let trials = TRIALS.iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
