//! `cargo xtask pure`: what each crate does without, proved by its dependency tree.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::command::{cargo, probe, read, run as run_command};
use crate::error::Error;

const WASM: &str = "wasm32-unknown-unknown";

const DATABASE: [&str; 4] = ["sqlx", "sea-query", "libsqlite3-sys", "rusqlite"];
const WEB: [&str; 5] = ["http", "hyper", "axum", "tower", "reqwest"];
const TLS: [&str; 3] = ["rustls", "native-tls", "openssl"];
const ASYNC: [&str; 4] = ["tokio", "futures", "async-trait", "async-std"];
const CHANCE: [&str; 4] = ["getrandom", "rand", "rand_chacha", "fastrand"];
/// What asks the machine for the time or its zone.
const CLOCK: [&str; 3] = ["iana-time-zone", "time", "web-time"];
/// What opens a socket, whoever asked for it.
const SOCKETS: [&str; 2] = ["mio", "socket2"];

/// Each stands on its own outside dependency; none may know another.
const ADAPTERS: [&str; 5] =
    ["cauri-memory", "cauri-sqlite", "cauri-postgres", "cauri-http", "cauri-webhook"];

const ENGINE: &str = "cauri";

struct Rule {
    package: &'static str,
    without: Vec<&'static str>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// Is the core built for [`WASM`], as its README says it can be?
    wasm: bool,
}

impl Options {
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Self, Error> {
        let mut options = Self { wasm: true };
        for arg in args {
            if arg != "--without-wasm" {
                return Err(Error::Usage(format!("pure does not know what {arg:?} means")));
            }
            options.wasm = false;
        }
        Ok(options)
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let mut faults = 0;
    for rule in rules() {
        // Every feature and every target: a rule that holds only here would prove nothing.
        let tree = read(cargo().args(["tree", "--package", rule.package]).args([
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--all-features",
            "--target",
            "all",
        ]))?;
        let names = names(&tree);
        let found = rule.found_in(&names);
        for name in &found {
            eprintln!("{} must do without {name}; it is there by way of", rule.package);
            let path = read(cargo().args(["tree", "--package", rule.package]).args([
                "--edges",
                "normal",
                "--all-features",
                "--target",
                "all",
                "--invert",
                name,
            ]));
            eprintln!("{}", path.unwrap_or_default());
        }
        if found.is_empty() {
            println!("{}: {} crates, none that it must do without.", rule.package, names.len());
        }
        faults += found.len();
    }
    if faults > 0 {
        return Err(Error::Impure(faults));
    }
    if options.wasm {
        return wasm();
    }
    println!("cauri-core was NOT built for {WASM}: only the dependency proof ran.");
    Ok(())
}

/// Builds the core where there is no operating system to ask for anything.
fn wasm() -> Result<(), Error> {
    let libraries =
        probe(Command::new("rustc").args(["--print", "target-libdir", "--target", WASM]));
    if !libraries.is_some_and(|path| Path::new(&path).exists()) {
        return Err(Error::NoTarget(WASM));
    }
    let core = ["build", "--locked", "--package", "cauri-core", "--target", WASM];
    run_command(cargo().args(core))?;
    println!("cauri-core builds for {WASM}.");
    Ok(())
}

fn rules() -> Vec<Rule> {
    let mut rules = vec![
        Rule {
            package: "cauri-core",
            without: [&DATABASE[..], &WEB, &TLS, &ASYNC, &CHANCE, &CLOCK, &SOCKETS].concat(),
        },
        Rule { package: "cauri", without: [&DATABASE[..], &WEB, &TLS, &SOCKETS].concat() },
        Rule { package: "cauri-memory", without: [&DATABASE[..], &WEB, &TLS, &SOCKETS].concat() },
        Rule { package: "cauri-sql", without: WEB.to_vec() },
        Rule { package: "cauri-sqlite", without: [&WEB[..], &["sqlx-postgres"]].concat() },
        Rule {
            package: "cauri-postgres",
            without: [&WEB[..], &["sqlx-sqlite", "libsqlite3-sys"]].concat(),
        },
        Rule {
            package: "cauri-http",
            without: [&DATABASE[..], &SOCKETS, &["hyper", "axum", "reqwest", "rustls"]].concat(),
        },
        Rule { package: "cauri-webhook", without: [&DATABASE[..], &["axum"]].concat() },
        Rule { package: "cauri-client", without: [&DATABASE[..], &["axum", ENGINE]].concat() },
    ];
    for rule in &mut rules {
        let others = ADAPTERS.iter().filter(|adapter| **adapter != rule.package);
        rule.without.extend(others);
        rule.without.push("cauri-conformance");
        if !matches!(rule.package, "cauri-sql" | "cauri-sqlite" | "cauri-postgres") {
            rule.without.push("cauri-sql");
        }
    }
    rules
}

impl Rule {
    /// A family goes with its name: `sqlx` stands for `sqlx-core` too, but never for `sqlxyz`. Only
    /// [`ENGINE`] is one crate among ours.
    fn found_in<'a>(&self, names: &BTreeSet<&'a str>) -> Vec<&'a str> {
        let is_banned = |name: &str| {
            self.without.iter().any(|banned| {
                name.strip_prefix(banned).is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with('-') && *banned != ENGINE
                })
            })
        };
        names.iter().copied().filter(|name| *name != self.package && is_banned(name)).collect()
    }
}

/// The packages in what `cargo tree --prefix none` prints: `name v1.2.3 (…) (*)`.
fn names(tree: &str) -> BTreeSet<&str> {
    tree.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "cauri-core v0.1.0 (/somewhere/crates/core)
chrono v0.4.45
num-traits v0.2.19
serde v1.0.228
serde_core v1.0.228
chrono v0.4.45 (*)
";

    #[test]
    fn a_tree_is_read_as_a_set_of_names() {
        let names = names(TREE);
        let expected = ["cauri-core", "chrono", "num-traits", "serde", "serde_core"];
        assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_build_of_the_core_is_left_out_only_when_asked() {
        let parse = |args: &[&str]| Options::parse(args.iter().map(|arg| (*arg).to_owned()));
        assert_eq!(parse(&[]).unwrap(), Options { wasm: true });
        assert_eq!(parse(&["--without-wasm"]).unwrap(), Options { wasm: false });
        assert!(matches!(parse(&["--wasm"]), Err(Error::Usage(_))));
    }

    #[test]
    fn a_rule_names_what_it_finds() {
        let rule = Rule { package: "cauri-core", without: vec!["sqlx", "http", "rand"] };
        let found = |tree| rule.found_in(&names(tree));
        assert!(found(TREE).is_empty());
        assert_eq!(found("sqlx v0.9.0\nsqlx-core v0.9.0"), ["sqlx", "sqlx-core"]);
        assert_eq!(found("http-body v1.0.1"), ["http-body"]);
        let rule = Rule { package: "cauri-client", without: vec![ENGINE] };
        assert_eq!(rule.found_in(&names("cauri v0.1.0\ncauri-core v0.1.0")), ["cauri"]);
        assert!(found("httparse v1.10.0\nrandom v1.0.0\nrand_core v0.9.0").is_empty());
    }

    #[test]
    fn a_package_is_not_its_own_fault() {
        let rule = Rule { package: "cauri-http", without: vec!["cauri-http"] };
        assert!(rule.found_in(&names("cauri-http v0.1.0")).is_empty());
    }

    #[test]
    fn no_adapter_may_know_another() {
        for rule in rules().iter().filter(|rule| ADAPTERS.contains(&rule.package)) {
            for other in ADAPTERS.iter().filter(|other| **other != rule.package) {
                assert!(rule.without.contains(other), "{} and {other}", rule.package);
            }
        }
    }
}
