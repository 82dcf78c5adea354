//! The reference server of cauri: what a new user runs, and nothing that an embedder could not
//! write.

mod commands;
mod error;
mod interrupt;
mod keyring;
mod listener;
mod log;
mod metrics;
mod options;
mod output;
mod patience;
mod reference;
mod remote;
mod serve;
mod store;
#[cfg(feature = "otlp")]
mod telemetry;
mod usage;
mod words;

use std::{env, process::ExitCode};

use crate::{
    commands::{
        accounts, audit, completions, doctor, events, keys, listen, migrate, payments, payouts,
        refunds, secrets, trigger,
    },
    log::Telling,
    options::{Command, Options},
    output::Output,
};

#[tokio::main]
async fn main() -> ExitCode {
    let (options, matches) = match Options::read(env::args_os()) {
        Ok(read) => read,
        Err(error) => return usage::tell(&error),
    };
    let output = Output { json: options.json };
    let telling = match Telling::start(&options.log) {
        Ok(telling) => telling,
        Err(error) => return error::tell(&*error, output, None),
    };
    let command = match options.command() {
        Ok(command) => command,
        Err(error) => return usage::tell(&error),
    };
    let done = match command {
        Command::Serve(options) => serve::run(*options, output).await,
        Command::Accounts(command) => accounts::run(command, output).await,
        Command::Keys(command) => keys::run(command, output).await,
        Command::Secrets(command) => secrets::run(command, output).await,
        Command::Migrate(at) => migrate::run(&at, output).await,
        Command::Audit(at) => audit::run(&at, output).await,
        Command::Doctor(options) => doctor::run(*options, output).await,
        Command::Payments(command) => payments::run(command, output).await,
        Command::Payouts(command) => payouts::run(command, output).await,
        Command::Refunds(command) => refunds::run(command, output).await,
        Command::Events(command) => events::run(command, output).await,
        Command::Listen(options) => listen::run(*options, output).await,
        Command::Trigger(options) => trigger::run(options, output).await,
        Command::Completions { shell } => completions::run(shell),
    };
    telling.end().await;
    done.unwrap_or_else(|error| error::tell(&*error, output, options::url(&matches)))
}
