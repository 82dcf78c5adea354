//! Starts and stops the real binary.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::http::Http;
use super::secrecy;
use super::shop::{Caller, Shop};
use super::time;

const BINARY: &str = env!("CARGO_BIN_EXE_cauri-server");

/// Accounts made with each shared server; a story takes the next one.
const ACCOUNTS: usize = 100;

/// The same where a runner gives every story a process, and so a server, of its own.
const ACCOUNTS_ALONE: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    #[cfg(feature = "postgres-tests")]
    Postgres,
}

impl Kind {
    #[cfg(not(feature = "postgres-tests"))]
    pub(crate) const ALL: [Self; 2] = [Self::Memory, Self::Sqlite];
    #[cfg(feature = "postgres-tests")]
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Sqlite, Self::Postgres];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite => "sqlite",
            #[cfg(feature = "postgres-tests")]
            Self::Postgres => "postgres",
        }
    }

    /// Whether its data outlive the process.
    pub(crate) fn is_durable(self) -> bool {
        self != Self::Memory
    }

    /// Whether several servers may run on it at once.
    pub(crate) fn is_shared(self) -> bool {
        !matches!(self, Self::Memory | Self::Sqlite)
    }
}

/// One kind of store, with the server that stories of the default configuration share.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) kind: Kind,
    shared: Mutex<Option<Arc<Server>>>,
}

impl Store {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, shared: Mutex::new(None) }
    }

    /// A fresh account on the shared server.
    pub(crate) fn shop(&self) -> Shop {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shop) = shared.as_ref().and_then(Server::next_shop) {
            return shop;
        }
        let alone = std::env::var_os("NEXTEST").is_some();
        let accounts = if alone { ACCOUNTS_ALONE } else { ACCOUNTS };
        let server = Arc::new(Server::start(&self.place(), accounts, &[]));
        let shop = Server::next_shop(&server).expect("a fresh account");
        *shared = Some(server);
        shop
    }

    /// What the shared server said last.
    pub(crate) fn log(&self) -> String {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.as_ref().map(|server| server.place.log_text(20)).unwrap_or_default()
    }

    /// A server of its own, with two accounts.
    pub(crate) fn serve(&self, options: &[&str]) -> Arc<Server> {
        Arc::new(Server::start(&self.place(), 2, options))
    }

    /// Somewhere empty to keep data in.
    pub(crate) fn place(&self) -> Arc<Place> {
        let dir = tempfile::Builder::new().prefix("acceptance").tempdir().unwrap();
        let store = match self.kind {
            Kind::Memory => "memory:".to_owned(),
            Kind::Sqlite => format!("sqlite:{}", dir.path().join("x.db").display()),
            #[cfg(feature = "postgres-tests")]
            Kind::Postgres => postgres_schema(),
        };
        Arc::new(Place { store, dir })
    }
}

#[cfg(feature = "postgres-tests")]
fn postgres_schema() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let url = std::env::var("CAURI_TEST_POSTGRES").expect("CAURI_TEST_POSTGRES names a server");
    let joint = if url.contains('?') { '&' } else { '?' };
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{url}{joint}schema=acc_{}_{}_{number}", std::process::id(), time::unix_seconds())
}

#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) store: String,
    pub(crate) dir: TempDir,
}

#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) secret_sandbox: String,
    pub(crate) public_sandbox: String,
    pub(crate) secret_live: String,
    pub(crate) public_live: String,
}

impl Account {
    pub(crate) fn read(value: &Value) -> Self {
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let keys = &value["keys"];
        for key in keys.as_object().expect("keys").values() {
            secrecy::learn_key(key.as_str().expect("a key"));
        }
        Self {
            id: text(&value["id"]),
            secret_sandbox: text(&keys["secret_sandbox"]),
            public_sandbox: text(&keys["public_sandbox"]),
            secret_live: text(&keys["secret_live"]),
            public_live: text(&keys["public_live"]),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) http: Http,
    pub(crate) accounts: Vec<Account>,
    pub(crate) place: Arc<Place>,
    child: Mutex<Child>,
    _watchdog: Watchdog,
    next: AtomicUsize,
}

impl Server {
    pub(crate) fn start(place: &Arc<Place>, accounts: usize, options: &[&str]) -> Self {
        let mut child = Command::new(BINARY)
            .args(["serve", "--listen", "127.0.0.1:0", "--store", &place.store])
            .args(["--accounts", &accounts.to_string(), "--json"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(place.log())
            .spawn()
            .expect("the server starts");
        let watchdog = Watchdog::over(&child);
        let ready = first_line(child.stdout.take().expect("a pipe"));
        let Some(ready) = ready else {
            let _ = child.kill();
            let ended = child.wait();
            panic!("the server said nothing, ended with {ended:?}; log:\n{}", place.log_text(60));
        };
        let ready: Value = serde_json::from_str(&ready)
            .unwrap_or_else(|error| panic!("{error} in the line of the server: {ready}"));
        let url = ready["url"].as_str().expect("a url");
        let accounts_made = ready["accounts"].as_array().expect("accounts");
        assert_eq!(accounts_made.len(), accounts, "as many accounts as asked for");
        Self {
            http: Http::at(url),
            accounts: accounts_made.iter().map(Account::read).collect(),
            place: Arc::clone(place),
            child: Mutex::new(child),
            _watchdog: watchdog,
            next: AtomicUsize::new(0),
        }
    }

    pub(crate) fn next_shop(this: &Arc<Self>) -> Option<Shop> {
        let number = this.next.fetch_add(1, Ordering::Relaxed);
        this.accounts.get(number).map(|account| Shop::new(this, account))
    }

    /// Whoever holds this key.
    pub(crate) fn caller(this: &Arc<Self>, key: &str) -> Caller {
        Caller::new(this, Some(key))
    }

    pub(crate) fn terminate(&self) {
        let child = self.child.lock().unwrap();
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, Signal::TERM).expect("the server is there");
    }

    /// Ends it without any warning, as a power cut would.
    pub(crate) fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        child.kill().expect("the server is there");
        child.wait().expect("the server has ended");
    }

    /// What it ended with, waiting no longer than this.
    pub(crate) fn ended(&self, limit: Duration) -> ExitStatus {
        time::within(limit, || {
            let mut child = self.child.lock().unwrap();
            child.try_wait().unwrap().ok_or_else(|| "still running".to_owned())
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
        self.place.search_log();
        if thread::panicking() {
            eprintln!("--- log of the server ---\n{}", self.place.log_text(60));
        }
    }
}

impl Place {
    /// Runs one command of the binary to its end, which must be a good one; its output.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the command runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, complained) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {}\n{said}\n{complained}", output.status);
        said
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command_at(arguments);
        command.args(["--store", &self.store]);
        command
    }

    /// One that names its store itself.
    pub(crate) fn command_at(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments).current_dir(&self.dir).stdin(Stdio::null());
        command
    }

    /// Runs a script on the tables of a store that outlives its process, behind everybody's back.
    pub(crate) fn sql(&self, script: &'static str) {
        use sqlx::Connection as _;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            if let Some(path) = self.store.strip_prefix("sqlite:") {
                let mut sqlite = sqlx::SqliteConnection::connect(path).await.unwrap();
                sqlx::raw_sql(script).execute(&mut sqlite).await.unwrap();
                sqlite.close().await.unwrap();
            } else {
                let (url, schema) = self.store.rsplit_once("schema=").expect("a schema");
                let url = url.trim_end_matches(['?', '&']);
                let mut postgres = sqlx::PgConnection::connect(url).await.unwrap();
                let path = format!("set search_path = \"{schema}\"");
                sqlx::raw_sql(sqlx::AssertSqlSafe(path)).execute(&mut postgres).await.unwrap();
                sqlx::raw_sql(script).execute(&mut postgres).await.unwrap();
                postgres.close().await.unwrap();
            }
        });
    }

    fn log(&self) -> File {
        let path = self.dir.path().join("log");
        File::options().append(true).create(true).open(path).unwrap()
    }

    fn search_log(&self) {
        secrecy::search(&std::fs::read(self.dir.path().join("log")).unwrap_or_default());
    }

    /// The last lines: a log may be long.
    pub(crate) fn log_text(&self, lines_max: usize) -> String {
        let text = std::fs::read(self.dir.path().join("log")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(lines_max)..].join("\n")
    }
}

fn first_line(stdout: impl std::io::Read + Send + 'static) -> Option<String> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    told.recv_timeout(Duration::from_secs(60)).ok()
}

/// Ends the server when this process ends in any way, even by a signal: the pipe then closes.
#[derive(Debug)]
struct Watchdog(Child);

impl Watchdog {
    fn over(child: &Child) -> Self {
        let pid = child.id().to_string();
        let shell = Command::new("sh")
            .args(["-c", "read _; kill -9 \"$0\" 2>/dev/null", &pid])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(shell.expect("a shell"))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
