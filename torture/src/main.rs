//! Real `cauri-server` processes on real stores, under load from a client that remembers every
//! answer, while servers are killed and held, Postgres crashes, connections are cut and the disk
//! is full. After each round everything that can be seen from outside must agree: the client's
//! memory, the API, the audit of the ledger and what the receiver of webhooks was told.
//!
//! `cargo xtask torture` builds it, and makes the Postgres cluster that it may hurt.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a person at a desk")]

mod check;
mod deed;
mod dice;
mod disk;
mod fault;
mod http;
mod load;
mod options;
mod postgres;
mod receiver;
mod server;
mod site;
mod time;
mod watchdog;

use std::path::Path;
use std::process::ExitCode;

use tempfile::TempDir;

use crate::dice::Dice;
use crate::fault::Fault;
use crate::options::{Options, USAGE};
use crate::postgres::Postgres;
use crate::receiver::Receiver;
use crate::server::{Program, end_of};
use crate::site::{Site, Totals};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    println!("Seed {}.", options.seed);
    let mut totals = Totals::default();
    let ended = run(&options, &mut totals);
    println!(
        "In all {} rounds, {} operations, {} unknown answers, answers {:?}, {} deliveries, {} \
         checks held, {} did not; the longest recovery took {} ms.",
        totals.rounds,
        totals.deeds,
        totals.unknown,
        totals.answers,
        totals.deliveries,
        totals.held,
        totals.violations,
        totals.recovery_max.as_millis(),
    );
    match ended {
        Ok(()) if totals.violations == 0 => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("torture: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options, totals: &mut Totals) -> Result<(), String> {
    let binary = Program::beside_us()?;
    let receiver = Receiver::open().map_err(|error| error.to_string())?;
    let stage = Stage { binary: &binary, receiver: &receiver, options };
    if options.sqlite {
        stage.sqlite(totals)?;
    }
    if options.postgres {
        stage.postgres(totals)?;
    }
    Ok(())
}

/// Where it all happens.
struct Stage<'a> {
    binary: &'a Path,
    receiver: &'a Receiver,
    options: &'a Options,
}

impl Stage<'_> {
    fn sqlite(&self, totals: &mut Totals) -> Result<(), String> {
        let mut faults = Fault::SQLITE.to_vec();
        if let Err(why) = disk::SmallDisk::mount() {
            println!("LEFT OUT: the full disk, for {why}.");
            faults.retain(|fault| *fault != Fault::FullDisk);
        }
        let place = directory()?;
        let mut site = Site::sqlite(self.binary, place.path())?;
        let fought = self.rounds(&faults, "sqlite", |fault, number| {
            if fault != Fault::FullDisk {
                return site.round(fault, number, self.options.seed, self.receiver, totals);
            }
            let place = directory()?;
            let mut small = Site::small(self.binary, place.path())?;
            small
                .round(fault, number, self.options.seed, self.receiver, totals)
                .and_then(|()| small.end(self.receiver, totals))
                .map_err(|why| with_log(&why, place.path()))
        });
        fought
            .and_then(|()| site.end(self.receiver, totals))
            .map_err(|why| with_log(&why, place.path()))
    }

    fn postgres(&self, totals: &mut Totals) -> Result<(), String> {
        let postgres = Postgres::from_environment()
            .ok_or("without a cluster of its own it hurts no Postgres: cargo xtask torture")?;
        let place = directory()?;
        let mut site = Site::postgres(self.binary, place.path(), postgres)?;
        self.rounds(&Fault::POSTGRES, "postgres", |fault, number| {
            site.round(fault, number, self.options.seed, self.receiver, totals)
        })
        .and_then(|()| site.end(self.receiver, totals))
        .map_err(|why| with_log(&why, place.path()))
    }

    /// One round after another until the time is up, each fault once before any comes again.
    fn rounds(
        &self,
        faults: &[Fault],
        store: &str,
        mut round: impl FnMut(Fault, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut dice = Dice::of(self.options.seed, store);
        let since = time::now();
        let mut bag: Vec<Fault> = Vec::new();
        for number in 1.. {
            if bag.is_empty() {
                bag = faults.to_vec();
                dice.shuffle(&mut bag);
            }
            let Some(fault) = bag.pop() else { break };
            round(fault, number)
                .map_err(|why| format!("{store} round {number}, {fault:?}: {why}"))?;
            if since.elapsed() >= self.options.time {
                break;
            }
        }
        Ok(())
    }
}

fn directory() -> Result<TempDir, String> {
    TempDir::with_prefix("cauri-torture-").map_err(|error| error.to_string())
}

fn with_log(why: &str, place: &Path) -> String {
    format!("{why}\nThe log of the servers ends with\n{}", end_of(&place.join("log")))
}
