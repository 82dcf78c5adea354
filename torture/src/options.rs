//! The command line.

use std::time::Duration;

pub(crate) const USAGE: &str = "\
cargo xtask torture [--minutes N] [--store sqlite|postgres|both] [--seed N]
    N minutes of faults in all (2), shared by the stores (both); a round that has begun is ended,
    and there is one at least.
    The seed (1) chooses the faults, their order and their moments, and what the callers ask.";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// For each store.
    pub(crate) time: Duration,
    pub(crate) sqlite: bool,
    pub(crate) postgres: bool,
    pub(crate) seed: u64,
}

impl Options {
    /// `Err` says what makes no sense.
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut minutes, mut store, mut seed) = (2_u64, "both".to_owned(), 1);
        while let Some(arg) = args.next() {
            let value = args.next().ok_or_else(|| format!("{arg:?} takes a value"))?;
            let number =
                || value.parse().map_err(|_| format!("{arg} takes a whole number, not {value:?}"));
            match &*arg {
                "--minutes" => minutes = number()?,
                "--seed" => seed = number()?,
                "--store" => store = value,
                _ => return Err(format!("torture does not know what {arg:?} means")),
            }
        }
        let (sqlite, postgres) = match &*store {
            "sqlite" => (true, false),
            "postgres" => (false, true),
            "both" => (true, true),
            other => return Err(format!("there is no store {other:?}")),
        };
        let stores = u64::from(sqlite) + u64::from(postgres);
        let seconds = minutes.checked_mul(60).ok_or("that would take for ever")?;
        Ok(Self { time: Duration::from_secs(seconds / stores), sqlite, postgres, seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn two_stores_share_the_time() {
        let both = parse("--minutes 3 --seed 7").unwrap();
        let time = Duration::from_secs(90);
        assert_eq!(both, Options { time, sqlite: true, postgres: true, seed: 7 });
        let one = parse("--store sqlite").unwrap();
        let time = Duration::from_secs(120);
        assert_eq!(one, Options { time, sqlite: true, postgres: false, seed: 1 });
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["--minutes", "--minutes x", "--store redb", "--fast 1", "--seed -1"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
