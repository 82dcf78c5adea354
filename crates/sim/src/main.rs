//! `sim`: runs seeds, and tells what was seen.

use std::{
    collections::BTreeMap,
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use cauri_sim::{Outcome, Violation};
use clap::Parser;

/// Deterministic simulation of cauri: every seed is a world of its own that fails in its own way.
#[derive(Debug, Parser)]
#[command(name = "sim")]
struct Options {
    /// How many seeds to run.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Runs this seed alone.
    #[arg(long)]
    seed: Option<u64>,
    /// How many threads; as many as there are cores unless said.
    #[arg(long)]
    threads: Option<usize>,
    /// Prints what happened in the one seed.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Leaves a failing seed as it is instead of looking for a shorter history.
    #[arg(long)]
    no_shrink: bool,
    /// Runs each seed a second time, and fails when it is another history.
    #[arg(long)]
    twice: bool,
    /// Goes on after the first failing seed.
    #[arg(long)]
    keep_going: bool,
}

/// What all seeds came to.
#[derive(Default)]
struct Sum {
    seeds: u64,
    steps: u64,
    stray: u64,
    lasted_ms: u64,
    faults: BTreeMap<&'static str, u64>,
    coverage: BTreeMap<(&'static str, &'static str, &'static str), u64>,
    failed: Vec<Outcome>,
}

impl Sum {
    fn add(&mut self, outcome: Outcome) {
        self.seeds += 1;
        self.steps += outcome.steps;
        self.stray += outcome.stray;
        self.lasted_ms += outcome.lasted_ms;
        for (kind, count) in &outcome.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        for (row, count) in &outcome.coverage {
            *self.coverage.entry(*row).or_default() += count;
        }
        if !outcome.violations.is_empty() {
            self.failed.push(outcome);
        }
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(seed) = options.seed {
        return one(seed, &options);
    }
    let timer = tokio::time::Instant::now();
    let sum = many(&options);
    report(&sum, timer.elapsed());
    sum.failed.first().map_or(ExitCode::SUCCESS, |outcome| {
        tell_failure(outcome, &options);
        ExitCode::FAILURE
    })
}

fn one(seed: u64, options: &Options) -> ExitCode {
    let timer = tokio::time::Instant::now();
    let outcome = if options.trace { cauri_sim::trace(seed) } else { cauri_sim::simulate(seed) };
    for line in &outcome.trace {
        println!("{line}");
    }
    println!("seed {seed}: trace hash {:016x}", outcome.hash);
    let mut sum = Sum::default();
    sum.add(outcome);
    report(&sum, timer.elapsed());
    sum.failed.first().map_or(ExitCode::SUCCESS, |outcome| {
        tell_failure(outcome, options);
        ExitCode::FAILURE
    })
}

fn many(options: &Options) -> Sum {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.unwrap_or(cores).max(1);
    let next = AtomicU64::new(options.first);
    let end = options.first.saturating_add(options.seeds);
    let broken = AtomicBool::new(false);
    let sum = Mutex::new(Sum::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || (broken.load(Ordering::Relaxed) && !options.keep_going) {
                        return;
                    }
                    let mut outcome = cauri_sim::simulate(seed);
                    if options.twice && cauri_sim::simulate(seed).hash != outcome.hash {
                        let text = format!("seed {seed} has two histories");
                        outcome.violations.push(Violation { law: "one seed, one history", text });
                    }
                    if !outcome.violations.is_empty() {
                        broken.store(true, Ordering::Relaxed);
                    }
                    sum.lock().unwrap_or_else(PoisonError::into_inner).add(outcome);
                }
            });
        }
    });
    let mut sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    sum.failed.sort_by_key(|outcome| outcome.seed);
    sum
}

fn report(sum: &Sum, took: Duration) {
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1);
    println!(
        "{} seeds in {}.{:01} s ({} seeds/s), {} steps, {} hours of virtual time",
        sum.seeds,
        millis / 1_000,
        millis % 1_000 / 100,
        sum.seeds * 1_000 / millis,
        sum.steps,
        sum.lasted_ms / 3_600_000,
    );
    println!("\nfaults injected");
    for (kind, count) in &sum.faults {
        println!("  {count:>10}  {kind}");
    }
    println!("\ntransitions taken");
    let mut never = 0;
    for row in cauri_sim::rows() {
        let (machine, from, to) = row;
        let count = sum.coverage.get(&row).copied().unwrap_or_default();
        never += u64::from(count == 0);
        let from = if from.is_empty() { "(new)" } else { from };
        println!("  {count:>10}  {machine}: {from} → {to}");
    }
    println!("\n{never} rows of the tables never taken");
    println!(
        "{} payments paid although called off on their way (a line in their timeline)",
        sum.stray
    );
    println!("{} seeds with violations", sum.failed.len());
    for outcome in &sum.failed {
        let first = outcome.violations.first();
        println!("  seed {}: {}", outcome.seed, first.map_or("", |it| it.law));
    }
}

fn tell_failure(outcome: &Outcome, options: &Options) {
    if options.trace {
        return;
    }
    let shown = if options.no_shrink { outcome.clone() } else { cauri_sim::shrink(outcome) };
    println!("\nseed {}, the shortest history found:", outcome.seed);
    for line in &shown.trace {
        println!("{line}");
    }
    println!("\nseed {} breaks:", outcome.seed);
    for violation in &outcome.violations {
        println!("  {}: {}", violation.law, violation.text);
    }
    println!("run it again with: sim --seed {} --trace", outcome.seed);
}
