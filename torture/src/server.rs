//! Real processes of `cauri-server`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::watchdog::Watchdog;

/// How long a server may take to be there: a store may have much to recover.
const START: Duration = Duration::from_secs(60);

/// The program, the store it runs on, and where its logs go.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) binary: PathBuf,
    pub(crate) store: String,
    pub(crate) log: PathBuf,
}

impl Program {
    /// The one that was built beside this program.
    pub(crate) fn beside_us() -> Result<PathBuf, String> {
        let us = std::env::current_exe().map_err(|error| error.to_string())?;
        let binary = us.with_file_name("cauri-server");
        if binary.is_file() {
            return Ok(binary);
        }
        Err(format!("{} is missing: cargo build -p cauri-server", binary.display()))
    }

    /// Runs a command to its end; what it printed, or what it complained of.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.binary);
        command.args(arguments).args(["--store", &self.store]).stdin(Stdio::null());
        let output = command.output().map_err(|error| error.to_string())?;
        let (said, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            return Ok(said.into_owned());
        }
        Err(format!("{arguments:?}: {}\n{said}{complained}", output.status))
    }

    fn log(&self) -> Result<File, String> {
        let file = File::options().append(true).create(true).open(&self.log);
        file.map_err(|error| format!("{}: {error}", self.log.display()))
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    _watchdog: Watchdog,
}

impl Server {
    pub(crate) fn start(program: &Program) -> Result<Self, String> {
        let mut child = Command::new(&program.binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--store", &program.store])
            .args(["--accounts", "0", "--json", "--rate-limit", "off"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(program.log()?)
            .spawn()
            .map_err(|error| format!("{}: {error}", program.binary.display()))?;
        let watchdog = Watchdog::over(&format!("kill -9 {}", child.id()))?;
        let (tell, told) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                // Read to the end: a full pipe would hold the server up.
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    let _ = tell.send(line);
                }
            });
        }
        let Some(address) = told.recv_timeout(START).ok().and_then(|line| address(&line)) else {
            let _ = child.kill();
            let ended = child.wait();
            return Err(format!(
                "a server did not start ({ended:?}); its log ends with\n{}",
                end_of(&program.log)
            ));
        };
        Ok(Self { child, address, _watchdog: watchdog })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it without any warning.
    pub(crate) fn kill(&mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Holds it in the middle of whatever it does.
    pub(crate) fn pause(&self) -> Result<(), String> {
        self.signal(Signal::STOP)
    }

    pub(crate) fn resume(&self) -> Result<(), String> {
        self.signal(Signal::CONT)
    }

    /// Whether it ended, which it never should by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn signal(&self, signal: Signal) -> Result<(), String> {
        let pid =
            i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).ok_or("no process")?;
        kill_process(pid, signal).map_err(|error| error.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn address(line: &str) -> Option<SocketAddr> {
    let ready: Value = serde_json::from_str(line).ok()?;
    ready["url"].as_str()?.strip_prefix("http://")?.parse().ok()
}

/// The last lines: a log may be long.
pub(crate) fn end_of(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
