//! A Postgres cluster that exists as long as a chore runs, and `cargo xtask postgres`.

mod binaries;
mod cluster;

use crate::command::{outward, run as run_command};
use crate::error::Error;

pub(crate) use self::cluster::{Cluster, REAP, reap};

/// What the tests and the benchmarks read the server's address from.
pub(crate) const VARIABLE: &str = "CAURI_TEST_POSTGRES";

/// `[--set NAME=VALUE]… [-- REST…]`
#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) rest: Vec<String>,
}

impl Options {
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, Error> {
        let mut settings = Vec::new();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--" => break,
                "--set" => settings.push(setting(args.next())?),
                other => {
                    let why = format!("{other:?} is not an option; what follows -- is passed on");
                    return Err(Error::Usage(why));
                }
            }
        }
        Ok(Self { settings, rest: args.collect() })
    }
}

fn setting(arg: Option<String>) -> Result<(String, String), Error> {
    let arg = arg.unwrap_or_default();
    match arg.split_once('=') {
        // The name goes into the server's configuration as it is.
        Some((name, value))
            if !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
                && !value.contains('\n') =>
        {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(Error::Usage(format!("--set takes NAME=VALUE, not {arg:?}"))),
    }
}

/// `cargo xtask postgres`
pub(crate) fn run(options: Options) -> Result<(), Error> {
    let cluster = Cluster::start(options.settings)?;
    let Some((program, args)) = options.rest.split_first() else {
        println!("{VARIABLE}={}\nEnter stops the cluster.", cluster.url());
        // End of input and a broken terminal are answers too.
        let _ = std::io::stdin().read_line(&mut String::new());
        return Ok(());
    };
    run_command(outward(program).args(args).env(VARIABLE, cluster.url()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Error> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn settings_come_before_the_dashes_and_the_rest_after() {
        let options = parse("--set fsync=off --set a.b=c=d -- psql --set x=y").unwrap();
        let settings = [("fsync", "off"), ("a.b", "c=d")];
        assert_eq!(options.settings, settings.map(|(n, v)| (n.to_owned(), v.to_owned())));
        assert_eq!(options.rest, ["psql", "--set", "x=y"]);
        assert_eq!(parse("").unwrap(), Options { settings: vec![], rest: vec![] });
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for line in ["--set", "--set fsync", "--set =off", "--set a'b=c", "psql"] {
            assert!(matches!(parse(line), Err(Error::Usage(_))), "{line}");
        }
    }
}
