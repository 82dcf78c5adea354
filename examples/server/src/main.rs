//! The reference server of cauri: what a new user runs, and nothing that an embedder could not
//! write.

mod accounts;
mod audit;
mod error;
mod keyring;
mod keys;
mod listener;
mod log;
mod metrics;
mod options;
mod patience;
mod reference;
mod secrets;
mod serve;
mod store;

use std::process::ExitCode;

use clap::Parser;

use crate::options::{Command, Options};

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    log::start(&options.log);
    let done = match options.command() {
        Command::Serve(options) => serve::run(*options).await,
        Command::Accounts(command) => accounts::run(command).await,
        Command::Keys(command) => keys::run(command).await,
        Command::Secrets(command) => secrets::run(command).await,
        Command::Migrate(at) => store::migrate(&at).await,
        Command::Audit(at) => audit::run(&at).await,
    };
    done.unwrap_or_else(|error| {
        error::tell(&*error);
        ExitCode::from(2)
    })
}
