//! The command line, and the environment that mirrors it.

use std::{
    env,
    ffi::{OsStr, OsString},
    net::SocketAddr,
    num::NonZeroU32,
    path::PathBuf,
    str::FromStr,
};

use cauri::{AccountId, decide::RefundFeePolicy};
use cauri_http::RateLimit;
use cauri_webhook::Policy;
use clap::{
    Arg, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::{FalseyValueParser, Resettable::Reset},
};
use clap_complete::Shell;

use crate::commands::{
    doctor::DoctorOptions, events::EventsCommand, listen::ListenOptions, payments::PaymentsCommand,
    payouts::PayoutsCommand, refunds::RefundsCommand, trigger::TriggerOptions,
};
use crate::{log::Directives, words::words};

/// A payment core behind an HTTP API.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    /// Says everything in JSON, an object a line, for programs
    #[arg(long, env = "CAURI_JSON", value_parser = FalseyValueParser::new(), global = true)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogOptions,
}

impl Options {
    /// What to do: to serve, unless told otherwise.
    ///
    /// # Errors
    /// What the environment says of serving is wrong.
    pub(crate) fn command(self) -> Result<Command, clap::Error> {
        match self.command {
            Some(command) => Ok(command),
            None => Self::read(["cauri-server", "serve"])
                .map(|(plain, _)| plain.command.expect("a command was given")),
        }
    }

    /// Reads a command line, and the environment where that says something.
    ///
    /// # Errors
    /// It is none, or asks for help.
    pub(crate) fn read(
        line: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<(Self, ArgMatches), clap::Error> {
        let mut command = without_empty(<Self as CommandFactory>::command());
        let matches = command.try_get_matches_from_mut(line)?;
        let options = Self::from_arg_matches(&matches).map_err(|it| it.format(&mut command))?;
        Ok((options, matches))
    }
}

/// A variable that is empty says nothing, as in most programs.
fn without_empty(command: clap::Command) -> clap::Command {
    let is_empty = |name: &OsStr| env::var_os(name).is_some_and(|value| value.is_empty());
    let heard = |it: Arg| if it.get_env().is_some_and(is_empty) { it.env(Reset) } else { it };
    command.mut_args(heard).mut_subcommands(without_empty)
}

/// The server that a command asks, if it asks one.
pub(crate) fn url(mut matches: &ArgMatches) -> Option<&str> {
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    matches.try_get_one::<String>("url").ok().flatten().map(String::as_str)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves the API under /v1 and does what is due
    Serve(Box<ServeOptions>),
    /// Makes and lists accounts
    #[command(subcommand)]
    Accounts(AccountsCommand),
    /// Lists, replaces and revokes API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Changes the keys that seal webhook secrets
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Brings the schema of the store up to date
    Migrate(StoreOptions),
    /// Recomputes every balance from its entries and checks every invariant of the ledger
    Audit(StoreOptions),
    /// Checks what a server would need, and says what to do about what is missing
    Doctor(Box<DoctorOptions>),
    /// Creates, shows, lists and cancels payments
    #[command(subcommand)]
    Payments(PaymentsCommand),
    /// Creates, shows and lists payouts
    #[command(subcommand)]
    Payouts(PayoutsCommand),
    /// Creates, shows and lists refunds
    #[command(subcommand)]
    Refunds(RefundsCommand),
    /// Shows what happened
    #[command(subcommand)]
    Events(EventsCommand),
    /// Shows events as they happen, and forwards them to where you develop
    Listen(Box<ListenOptions>),
    /// Makes an event happen in the sandbox
    Trigger(TriggerOptions),
    /// Writes what a shell needs to complete command lines
    Completions {
        /// Which shell
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// What is logged to stderr, as directives such as `info,cauri=debug`
    #[arg(long = "log", env = "CAURI_LOG", default_value = "info", global = true)]
    pub(crate) directives: Directives,
    /// How it is written
    #[arg(long = "log-format", env = "CAURI_LOG_FORMAT", default_value = "text", global = true)]
    pub(crate) format: LogFormat,
    /// Tells of every span too, when it ends, and how long it took
    #[arg(
        long = "log-spans",
        env = "CAURI_LOG_SPANS",
        value_parser = FalseyValueParser::new(),
        global = true
    )]
    pub(crate) spans: bool,
    /// Where a collector takes spans over OTLP, such as `http://localhost:4318`
    #[cfg(feature = "otlp")]
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", global = true, value_name = "URL")]
    pub(crate) otlp: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct StoreOptions {
    /// Where everything is kept: `memory:`, `sqlite:PATH` or `postgres://…`
    #[arg(long, env = "CAURI_STORE", default_value = "sqlite:cauri.db", hide_env_values = true)]
    pub(crate) store: String,
}

#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    pub(crate) at: StoreOptions,
    /// Where to listen; port 0 takes a free one
    #[arg(long, env = "CAURI_LISTEN", default_value = "127.0.0.1:8080", value_parser = address)]
    pub(crate) listen: SocketAddr,
    /// Makes this many accounts first; one if there is none yet
    // No variable: what is set for every start would make accounts at every start.
    #[arg(long)]
    pub(crate) accounts: Option<usize>,
    /// How often each API key may call: `N/SECONDS`, or `off`
    #[arg(long, env = "CAURI_RATE_LIMIT", default_value = "6000/60", value_name = "N/SECONDS|off")]
    pub(crate) rate_limit: Rate,
    /// Every creation must name an Idempotency-Key
    #[arg(long, env = "CAURI_IDEMPOTENCY_REQUIRED", value_parser = FalseyValueParser::new())]
    pub(crate) idempotency_required: bool,
    /// What of a payment's fee a refund gives back
    #[arg(
        long,
        env = "CAURI_REFUND_FEE_POLICY",
        default_value_t = RefundFeePolicy::Proportional,
        value_parser = words(RefundFeePolicy::ALL, RefundFeePolicy::as_str)
    )]
    pub(crate) refund_fee_policy: RefundFeePolicy,
    /// A file with the keys that seal webhook secrets: 64 hexadecimal digits a line, the newest
    /// first, each behind its number and a colon if there are several
    #[arg(long, env = "CAURI_SECRET_KEY", value_name = "FILE")]
    pub(crate) secret_key: Option<PathBuf>,
    /// Webhooks may go to private addresses in live as well
    #[arg(long, env = "CAURI_ALLOW_PRIVATE_WEBHOOKS", value_parser = FalseyValueParser::new())]
    pub(crate) allow_private_webhooks: bool,
    /// Webhooks may go to private addresses and over plain http in neither environment
    #[arg(long, env = "CAURI_REFUSE_PRIVATE_WEBHOOKS", value_parser = FalseyValueParser::new())]
    pub(crate) refuse_private_webhooks: bool,
    /// Only answers; what is due is left to other servers on the same store
    #[arg(long, env = "CAURI_NO_WORKER", value_parser = FalseyValueParser::new())]
    pub(crate) no_worker: bool,
    /// How many requests are worked on at once; every other is answered 503 at once
    #[arg(long, env = "CAURI_MAX_REQUESTS", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests: u32,
    /// How many connections may be open at once; every other is answered 503 and closed
    #[arg(long, env = "CAURI_MAX_CONNECTIONS", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: u32,
}

impl ServeOptions {
    /// Where webhooks may go.
    ///
    /// # Errors
    /// Both are wanted. Clap would see a contradiction in a variable that says no.
    pub(crate) fn webhooks(&self) -> Result<Policy, Contradiction> {
        if self.allow_private_webhooks && self.refuse_private_webhooks {
            return Err(Contradiction);
        }
        Ok(Policy::default()
            .private_in_live(self.allow_private_webhooks)
            .private_in_sandbox(!self.refuse_private_webhooks))
    }
}

/// Private addresses cannot be both.
#[derive(Debug, thiserror::Error)]
#[error("--allow-private-webhooks and --refuse-private-webhooks contradict each other")]
pub(crate) struct Contradiction;

#[derive(Debug, Subcommand)]
pub(crate) enum AccountsCommand {
    /// Makes one account and shows its four keys for the only time
    Create {
        #[command(flatten)]
        at: StoreOptions,
    },
    /// Lists the accounts of the store
    List {
        #[command(flatten)]
        at: StoreOptions,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Shows what of the keys may be shown
    List {
        #[command(flatten)]
        at: StoreOptions,
        /// Of this account only
        #[arg(long)]
        account: Option<AccountId>,
    },
    /// Replaces a key by a new one, and shows that for the only time
    Roll {
        #[command(flatten)]
        at: StoreOptions,
        /// The key itself or its id
        #[arg(long)]
        key: String,
        /// For how long the old one is still good
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=604_800))]
        grace_seconds: u32,
    },
    /// Revokes a key: every server refuses it within a second
    Revoke {
        #[command(flatten)]
        at: StoreOptions,
        /// The key itself or its id
        #[arg(long)]
        key: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Seals every webhook secret with the first key of a file, so that the keys behind it may go
    /// a day later
    Reseal {
        #[command(flatten)]
        at: StoreOptions,
        /// The file that servers on this store are given by now
        #[arg(long, env = "CAURI_SECRET_KEY", value_name = "FILE")]
        secret_key: PathBuf,
    },
}

/// It is no address to listen at.
#[derive(Debug, thiserror::Error)]
#[error(
    "an IP address of this machine and a port are wanted, such as 127.0.0.1:8080 or [::1]:8080"
)]
struct NoAddress;

/// Names are looked up by whoever calls; who listens says which of its addresses it means.
fn address(text: &str) -> Result<SocketAddr, NoAddress> {
    text.parse().map_err(|_| NoAddress)
}

/// A rate limit, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate(pub(crate) Option<RateLimit>);

/// It is no rate limit.
#[derive(Debug, thiserror::Error)]
#[error("neither N/SECONDS, both at least 1, nor off")]
pub(crate) struct NoRate;

impl FromStr for Rate {
    type Err = NoRate;

    fn from_str(text: &str) -> Result<Self, NoRate> {
        if text == "off" {
            return Ok(Self(None));
        }
        let (requests, seconds) = text.split_once('/').ok_or(NoRate)?;
        let number = |text: &str| text.parse::<NonZeroU32>().map_err(|_| NoRate);
        Ok(Self(Some(RateLimit::new(number(requests)?, number(seconds)?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Options as CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_rate_limit_is_two_numbers_or_off() {
        assert!(matches!("off".parse(), Ok(Rate(None))));
        let five = RateLimit::new(5.try_into().unwrap(), 60.try_into().unwrap());
        assert!(matches!("5/60".parse(), Ok(Rate(Some(limit))) if limit == five));
        for text in ["", "5", "5/", "/60", "0/60", "5/0", "-5/60", "5/60/1", "Off", "4294967296/1"]
        {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
