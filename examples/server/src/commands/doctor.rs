//! `doctor`: what a server would need, and what to do about what is missing.
//!
//! Takes the options of `serve` and changes nothing: what does not exist yet is not made.

use std::{
    fs, io,
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::ExitCode,
    time::SystemTime,
};

use axum::body::Body;
use cauri::{Clock, SystemClock, Timestamp};
use cauri_client::{Client, Retry};
use cauri_postgres::PostgresStore;
use clap::{Args, builder::FalseyValueParser};
use hyper::{Request, StatusCode};
use hyper_util::{client::legacy::Client as Http, rt::TokioExecutor};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::timeout};

use crate::{
    error::{Done, Failure, REFUSED, chain},
    keyring,
    options::{ServeOptions, StoreOptions},
    output::{Output, status},
    serve::NotListening,
    store::{self, PATIENCE, Visit},
};

#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    #[command(flatten)]
    serve: ServeOptions,
    /// A server that runs already: it is asked instead of looking whether its address is free
    #[arg(long, env = "CAURI_URL")]
    url: Option<String>,
    /// An API key to try on it
    #[arg(long, env = "CAURI_KEY", hide_env_values = true)]
    key: Option<String>,
    /// The key may travel unencrypted to another machine
    #[arg(long, env = "CAURI_PLAIN_HTTP", value_parser = FalseyValueParser::new())]
    plain_http: bool,
}

/// Everything lives with clocks that differ by some seconds; beyond this nobody keeps them.
const SKEW_MS_MAX: i64 = 2_000;

/// What one look found.
#[derive(Debug)]
struct Check {
    about: &'static str,
    finding: Finding,
    says: String,
    /// What to do about it.
    advice: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finding {
    Good,
    /// A server would run, and something would be worse than it need be.
    Warning,
    /// A server would not run, or not do what it is for.
    Trouble,
}

impl Finding {
    const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warning => "warning",
            Self::Trouble => "trouble",
        }
    }
}

impl Check {
    fn good(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, finding: Finding::Good, says: says.into(), advice: None }
    }

    fn found(
        about: &'static str,
        finding: Finding,
        says: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { about, finding, says: says.into(), advice: Some(advice.into()) }
    }

    fn trouble(about: &'static str, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::found(about, Finding::Trouble, says, advice)
    }

    fn json(&self) -> Value {
        let Self { about, finding, says, advice } = self;
        json!({ "about": about, "finding": finding.word(), "says": says, "advice": advice })
    }

    fn text(&self) -> String {
        let Self { about, finding, says, advice } = self;
        let line = format!("{}  {about:10}  {says}", status(finding.word(), 7));
        advice.iter().fold(line, |line, advice| format!("{line}\n{:21}{advice}", ""))
    }
}

pub(crate) async fn run(options: DoctorOptions, output: Output) -> Done {
    let DoctorOptions { serve, url, key, plain_http } = options;
    serve.webhooks()?;
    let mut checks = store_checks(&serve.at.store).await;
    let file = serve.secret_key.as_deref();
    let is_open = checks.iter().all(|check| check.finding != Finding::Trouble);
    let unopened = if is_open { unopened(&serve.at, file).await } else { None };
    checks.push(unopened.unwrap_or_else(|| secret_key(file)));
    match url {
        Some(url) => checks.extend(server(&url, key.as_deref(), plain_http).await),
        None => checks.push(address(serve.listen).await),
    }
    let troubles = checks.iter().filter(|check| check.finding == Finding::Trouble).count();
    let text: Vec<String> = checks.iter().map(Check::text).collect();
    let json: Vec<Value> = checks.iter().map(Check::json).collect();
    output.conclude(&json!({ "well": troubles == 0, "checks": json }), &text.join("\n"))?;
    Ok(if troubles == 0 { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}

const STORE: &str = "store";
const SCHEMA: &str = "schema";
const CLOCK: &str = "clock";

async fn store_checks(location: &str) -> Vec<Check> {
    if location == "memory:" {
        let says = "memory: forgets everything when the server ends";
        let advice = "For more than a try, name sqlite:PATH or postgres://….";
        return vec![Check::found(STORE, Finding::Warning, says, advice)];
    }
    if let Some(options) = store::sqlite(location) {
        return match options {
            Ok(options) => sqlite(options.path(), &options).await,
            Err(error) => vec![no_store(&*error)],
        };
    }
    if store::is_postgres(location) {
        return postgres(location).await;
    }
    vec![no_store(&*Failure::from(store::NoStore::Unknown))]
}

fn no_store(error: &(dyn std::error::Error + 'static)) -> Check {
    Check::trouble(STORE, chain(error), "Name one with --store or CAURI_STORE.")
}

async fn sqlite(path: Option<&Path>, options: &cauri_sqlite::SqliteOptions) -> Vec<Check> {
    let Some(path) = path else { return vec![no_store(&store::NoStore::Pathless)] };
    let shown = path.display();
    if !path.exists() {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        return vec![match try_folder(folder) {
            Ok(()) => Check::good(STORE, format!("{shown} is not there yet, and will be made")),
            Err(error) => Check::trouble(
                STORE,
                format!("{shown} is not there and cannot be made: {error}"),
                format!("Make the folder {} writable for this user.", folder.display()),
            ),
        }];
    }
    match options.inspect().await {
        Ok(found) if found.clashing => vec![Check::trouble(
            STORE,
            format!("{shown} is another program's: it has tables of the names of cauri's"),
            "Name a file of its own with --store or CAURI_STORE.",
        )],
        Ok(found) if !found.writable => vec![Check::trouble(
            STORE,
            format!("{shown} can be read, but not written"),
            "Make room on its disk, or see whether that may be written to.",
        )],
        Ok(found) => {
            let store = match seen_by_others(path) {
                Ok(_) if found.occupied => Check::found(
                    STORE,
                    Finding::Warning,
                    format!("{shown} has tables of another program, and none of cauri's yet"),
                    "Name a file of its own with --store, unless both are to share this one.",
                ),
                // What is private in it is sealed or hashed; payers' phones and names are not.
                Ok(Some(mode)) => Check::found(
                    STORE,
                    Finding::Warning,
                    format!("{shown} can be read by others (mode {mode:o})"),
                    format!("chmod 600 {shown}, and {shown}-wal and -shm where they are there."),
                ),
                Ok(None) => Check::good(STORE, format!("{shown} can be read and written")),
                Err(error) => Check::trouble(STORE, format!("{shown}: {error}"), "Look again."),
            };
            vec![store, schema(found.version, found.known, true)]
        }
        Err(error) => vec![Check::trouble(
            STORE,
            format!("{shown}: {}", chain(&error)),
            "It must be a SQLite database of cauri, writable for this user with its folder, on a \
             disk with room, and not held by a long transaction of others.",
        )],
    }
}

/// The mode of a file that is not for this user alone.
fn seen_by_others(path: &Path) -> io::Result<Option<u32>> {
    let mode = fs::metadata(path)?.permissions().mode() & 0o777;
    Ok((mode & 0o077 != 0).then_some(mode))
}

/// Can something be made there?
fn try_folder(folder: &Path) -> io::Result<()> {
    let probe: PathBuf = folder.join(format!(".cauri-doctor-{}", std::process::id()));
    fs::File::create_new(&probe)?;
    fs::remove_file(probe)
}

async fn postgres(location: &str) -> Vec<Check> {
    let (place, before) = (store::place(location), SystemClock::default().now());
    let found = match timeout(PATIENCE, PostgresStore::inspect(location)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            let advice = "Look at host, port, user, password and database of the URL, and whether \
                          the server runs and lets this machine in.";
            return vec![Check::trouble(STORE, format!("{place}: {}", chain(&error)), advice)];
        }
        Err(_) => {
            let says =
                format!("{place}: the server did not answer within {} s", PATIENCE.as_secs());
            return vec![Check::trouble(STORE, says, "Look at host, port and firewalls.")];
        }
    };
    let store = if found.writable {
        Check::good(STORE, "the database can be read and written")
    } else {
        let advice = "A standby is not written to; else grant the user of the URL what is missing: \
                      insert and update on the tables, delete on idempotency, or create on the \
                      database for a new schema.";
        Check::trouble(STORE, "the database lets us in, but not write", advice)
    };
    let clock =
        skew("the database", (found.now, found.now), (before, SystemClock::default().now()));
    vec![store, schema(found.version, found.known, found.migratable), clock]
}

/// The schema that is there, beside the newest that this program knows; `migratable` says whether
/// this user may change it.
fn schema(version: i64, known: i64, migratable: bool) -> Check {
    match version {
        _ if version < known && !migratable => Check::trouble(
            SCHEMA,
            match version {
                0 => "there is none, and this user may not make it".to_owned(),
                _ => format!("version {version}; this user may not bring it to {known}"),
            },
            "Run `cauri-server migrate` as the owner of the schema and its tables.",
        ),
        0 => Check::good(SCHEMA, format!("there is none yet; version {known} will be made")),
        _ if version == known => Check::good(SCHEMA, format!("version {version}")),
        _ if version < known => Check::found(
            SCHEMA,
            Finding::Warning,
            format!("version {version}; this program brings it to {known} when it starts"),
            "Back the store up, then run `cauri-server migrate`.",
        ),
        _ => Check::trouble(
            SCHEMA,
            format!("version {version}; this program knows versions up to {known}"),
            "A newer program has been there: use that one.",
        ),
    }
}

/// How far another clock was from ours: it showed a time within `theirs` while ours went on within
/// `ours`.
fn skew(whose: &str, theirs: (Timestamp, Timestamp), ours: (Timestamp, Timestamp)) -> Check {
    let early = ours.0.since(theirs.1);
    let late = theirs.0.since(ours.1);
    let away = early.max(late).max(0);
    if away <= SKEW_MS_MAX {
        return Check::good(CLOCK, format!("agrees with {whose} to {SKEW_MS_MAX} ms"));
    }
    let says = format!("{away} ms away from {whose}");
    let advice = "Let both machines keep time (chrony, systemd-timesyncd): signatures are good for \
                  300 s only, and work is handed on by the clock.";
    Check::trouble(CLOCK, says, advice)
}

const SECRET_KEY: &str = "secret key";

/// A webhook secret of a store that the keys do not open; nothing where there is none, or nothing to
/// look at: the other checks say why.
async fn unopened(at: &StoreOptions, file: Option<&Path>) -> Option<Check> {
    let visit = Visit::to(at).await.ok()?;
    let store = visit.engine.store().clone();
    let looked = async {
        let keys = keyring::there(file, &*store).await.ok()?;
        keyring::unopened(keys.as_ref(), &*store).await.ok()?
    };
    let found = looked.await;
    visit.end().await;
    let advice =
        "Name the file that holds it with --secret-key, or put it behind the others there.";
    found.map(|unopened| Check::trouble(SECRET_KEY, chain(&unopened), advice))
}

fn secret_key(file: Option<&Path>) -> Check {
    const ABOUT: &str = SECRET_KEY;
    let Some(file) = file else {
        let says =
            "none: webhook secrets would be sealed in name only, by a key in the store itself";
        let advice = "Before going live: `(umask 077; openssl rand -hex 32 > secret.key)`, \
                      then --secret-key secret.key.";
        return Check::found(ABOUT, Finding::Warning, says, advice);
    };
    let shown = file.display();
    if let Err(error) = keyring::read(file) {
        let advice = "It holds 64 hexadecimal digits a line: `openssl rand -hex 32` makes them. Keys \
                      that sealed something must stay in it.";
        return Check::trouble(ABOUT, chain(&error), advice);
    }
    match seen_by_others(file) {
        Ok(Some(mode)) => Check::found(
            ABOUT,
            Finding::Warning,
            format!("{shown} can be read by others (mode {mode:o})"),
            format!("chmod 600 {shown}"),
        ),
        Ok(None) => Check::good(ABOUT, format!("{shown} holds keys, for this user alone")),
        Err(error) => Check::trouble(ABOUT, format!("{shown}: {error}"), "Make it readable."),
    }
}

async fn address(listen: SocketAddr) -> Check {
    const ABOUT: &str = "address";
    match TcpListener::bind(listen).await {
        Ok(_) => Check::good(ABOUT, format!("{listen} is free")),
        Err(error) => {
            let says = format!("{listen}: {error}");
            let advice = NotListening::at(listen, error).advice;
            Check::trouble(ABOUT, says, format!("{advice} If it is cauri, name it with --url."))
        }
    }
}

/// A server that runs: does it answer, does it know the key, and what time is it there?
async fn server(url: &str, key: Option<&str>, plain_http: bool) -> Vec<Check> {
    const ABOUT: &str = "server";
    // Without a key there is nothing that others may not see.
    let client = Client::builder(url, key.unwrap_or("none"))
        .retry(Retry::never())
        .plain_http(plain_http || key.is_none());
    let client = client.build();
    let client = match client {
        Ok(client) => client,
        Err(error) => return vec![Check::trouble(ABOUT, chain(&error), "Correct --url or --key.")],
    };
    let before = SystemClock::default().now();
    let described = match client.description().send().await {
        Ok(answer) => answer,
        Err(error) => {
            let advice = "Start it, or correct --url.";
            return vec![Check::trouble(ABOUT, format!("{url}: {}", chain(&error)), advice)];
        }
    };
    let ours = (before, SystemClock::default().now());
    if !describes_cauri(described.value.get()) {
        let says = format!("{url} answers, but not as cauri does");
        return vec![Check::trouble(ABOUT, says, "Correct --url: something else is there.")];
    }
    let mut checks = vec![Check::good(ABOUT, format!("{url} answers"))];
    let theirs = described.header("date").and_then(second);
    checks.extend(theirs.map(|theirs| skew("the server", theirs, ours)));
    checks.extend(ready(url).await);
    if key.is_some() {
        checks.push(match client.balance(None).await {
            Ok(balance) => Check::good("key", format!("good for {}", balance.environment)),
            Err(error) => {
                let advice = "Compare it with `cauri-server keys list`, or make an account.";
                Check::trouble("key", chain(&error), advice)
            }
        });
    }
    checks
}

/// Does a server say that its store answers? Only the reference server says anything of it, beside
/// the API; over `https` it is whatever stands in front that would be asked, and nobody is.
async fn ready(url: &str) -> Option<Check> {
    const ABOUT: &str = "readiness";
    let base = url.trim_end_matches('/');
    let uri = format!("{}/readyz", base.strip_suffix("/v1").unwrap_or(base));
    let request = Request::get(uri).body(Body::empty()).ok()?;
    let http = Http::builder(TokioExecutor::new()).build_http();
    let status = timeout(PATIENCE, http.request(request)).await.ok()?.ok()?.status();
    match status {
        StatusCode::OK => Some(Check::good(ABOUT, "the server's store answers")),
        StatusCode::SERVICE_UNAVAILABLE => Some(Check::trouble(
            ABOUT,
            "the server says that its store does not answer",
            "Look at the database, and at the log of the server.",
        )),
        _ => None,
    }
}

/// Is it the OpenAPI description of this API? Others have one too.
fn describes_cauri(json: &str) -> bool {
    #[derive(Deserialize)]
    struct Description {
        openapi: String,
        info: Info,
    }
    #[derive(Deserialize)]
    struct Info {
        title: String,
    }
    serde_json::from_str(json).is_ok_and(|Description { openapi, info }| {
        openapi.starts_with("3.") && info.title == "cauri"
    })
}

/// The second that a date of HTTP names.
fn second(date: &str) -> Option<(Timestamp, Timestamp)> {
    let since = httpdate::parse_http_date(date).ok()?.duration_since(SystemTime::UNIX_EPOCH);
    let begins = Timestamp::from_millis(i64::try_from(since.ok()?.as_millis()).ok()?);
    Some((begins, begins.plus_millis(999)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(check: &Check) -> Finding {
        check.finding
    }

    #[test]
    fn a_schema_is_new_known_old_or_of_the_future() {
        let found = |mine| [0, 2, 3, 4].map(|version| finding(&schema(version, 3, mine)));
        use Finding::{Good, Trouble, Warning};
        assert_eq!(found(true), [Good, Warning, Good, Trouble]);
        assert_eq!(found(false), [Trouble, Trouble, Good, Trouble], "who may only read and write");
    }

    #[test]
    fn descriptions_of_others_are_told_from_ours() {
        let ours = r#"{"openapi":"3.1.0","info":{"title":"cauri","version":"1"},"paths":{}}"#;
        assert!(describes_cauri(ours));
        for other in ["{}", "[]", "1", &ours.replace("cauri", "Shop"), &ours.replace("3.1", "2.0")]
        {
            assert!(!describes_cauri(other), "{other}");
        }
    }

    #[test]
    fn clocks_may_differ_a_little() {
        let at = |millis: i64| Timestamp::from_millis(1_731_974_400_000 + millis);
        let found = |theirs, ours| finding(&skew("x", theirs, ours));
        let second = second("Tue, 19 Nov 2024 00:00:00 GMT").expect("a date");
        assert_eq!(second, (at(0), at(999)));
        assert_eq!(found(second, (at(-5_000), at(5_000))), Finding::Good, "a slow answer");
        assert_eq!(found(second, (at(2_999), at(3_500))), Finding::Good);
        assert_eq!(found(second, (at(3_000), at(3_500))), Finding::Trouble);
        assert_eq!(found(second, (at(-9_000), at(-2_000))), Finding::Good);
        assert_eq!(found(second, (at(-9_000), at(-2_001))), Finding::Trouble);
    }
}
