//! `cargo xtask fuzz`: every target from its committed seeds, on the stable toolchain.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::{outward, read, root, run as run_command};
use crate::error::Error;

/// What cargo-fuzz passes with its sanitizer switched off: counters and comparisons for libFuzzer.
/// No crate here has `unsafe` code, so an address sanitizer, which is what asks for the nightly
/// toolchain, would have nothing to find. Overflow and assertions are what there is to find.
const INSTRUMENT: [&str; 10] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Copt-level=3",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    target: Option<String>,
    seconds: u32,
    /// The same bends the same inputs the same way, as long as the corpus is the same; without one, each run goes its own way.
    seed: Option<u32>,
}

impl Options {
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, Error> {
        let mut options = Self { target: None, seconds: 30, seed: None };
        while let Some(arg) = args.next() {
            // libFuzzer takes 0 seconds for "without end", and seed 0 for "any".
            let mut number = || {
                let number = args.next().and_then(|text| text.parse().ok());
                number
                    .filter(|number| *number > 0)
                    .ok_or_else(|| Error::Usage(format!("{arg} takes a whole number above 0")))
            };
            if arg == "--seconds" {
                options.seconds = number()?;
            } else if arg == "--seed" {
                options.seed = Some(number()?);
            } else if arg.starts_with('-') || options.target.is_some() {
                return Err(Error::Usage(format!("fuzz does not know what {arg:?} means")));
            } else {
                options.target = Some(arg);
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let fuzz = root().join("fuzz");
    let targets = targets(&fuzz.join("targets"))?;
    if let Some(wanted) = &options.target
        && !targets.contains(wanted)
    {
        let known = targets.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Error::Usage(format!("there is no target {wanted:?}, only {known}")));
    }
    // With a target named, build scripts and macros are spared the instruments.
    let version = read(outward("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let mut build = outward(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let built = fuzz.join("target");
    build.current_dir(&fuzz).args(["build", "--locked", "--release", "--target", host]);
    build.arg("--target-dir").arg(&built);
    build.env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENT.join("\x1f"));
    run_command(&mut build)?;

    for target in targets.iter().filter(|name| options.target.as_ref().is_none_or(|t| t == *name)) {
        one(&fuzz, &built.join(host).join("release"), target, options)?;
    }
    Ok(())
}

fn one(fuzz: &Path, programs: &Path, target: &str, options: &Options) -> Result<(), Error> {
    let Options { seconds, seed, .. } = options;
    println!("Fuzzing {target} for {seconds} s.");
    let artifacts = directory(&fuzz.join("artifacts").join(target))?;
    // What is new goes to the first directory; the seeds are only read.
    let output = Command::new(programs.join(target))
        .arg(directory(&fuzz.join("corpus").join(target))?)
        .arg(fuzz.join("seeds").join(target))
        .arg(format!("-artifact_prefix={artifacts}/"))
        .arg(format!("-max_total_time={seconds}"))
        .args(seed.map(|seed| format!("-seed={seed}")))
        .args(["-timeout=60", "-verbosity=0", "-print_final_stats=1"])
        .output()
        .map_err(|source| Error::Start { program: target.to_owned(), source })?;
    // libFuzzer tells of hundreds of words it liked, of which only a failure is worth reading.
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprintln!("{log}");
        return Err(Error::Failed { program: target.to_owned(), status: output.status });
    }
    let runs = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    println!("{target}: {} inputs, none of them broke it.", runs.unwrap_or_default().trim());
    Ok(())
}

/// One file, one target.
fn targets(directory: &Path) -> Result<BTreeSet<String>, Error> {
    let entries = fs::read_dir(directory)
        .map_err(|source| Error::File { path: directory.to_path_buf(), source })?;
    let files = entries.flatten().map(|entry| entry.path());
    Ok(files
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|file| file.file_stem()?.to_str().map(str::to_owned))
        .collect())
}

fn directory(path: &Path) -> Result<String, Error> {
    fs::create_dir_all(path).map_err(|source| Error::File { path: path.to_path_buf(), source })?;
    Ok(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Error> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn target_and_seconds_come_in_any_order_or_not_at_all() {
        let all = Options { target: None, seconds: 30, seed: None };
        let one = Options { target: Some("signature".into()), seconds: 5, seed: None };
        assert_eq!(parse("").unwrap(), all);
        assert_eq!(parse("signature --seconds 5").unwrap(), one);
        assert_eq!(parse("--seconds 5 signature").unwrap(), one);
        let again = Options { seed: Some(4), ..all };
        assert_eq!(parse("--seed 4").unwrap(), again);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in
            ["--seconds", "--seconds 0", "--seconds -1", "--seed 0", "--seed", "--fast", "a b"]
        {
            assert!(matches!(parse(line), Err(Error::Usage(_))), "{line}");
        }
    }
}
