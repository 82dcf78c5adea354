//! Commands of the binary, and what they say.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::server::Place;
use super::shop::Shop;
use super::time::within;

/// A command that asks the server of a shop.
pub(crate) fn asking(shop: &Shop, arguments: &[&str]) -> Command {
    asking_with(shop, &shop.account.secret_sandbox, arguments)
}

pub(crate) fn asking_with(shop: &Shop, key: &str, arguments: &[&str]) -> Command {
    let mut command = shop.server.place.command_at(arguments);
    command.env("CAURI_URL", shop.server.http.url()).env("CAURI_KEY", key);
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// What a good end said.
#[track_caller]
pub(crate) fn good(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    assert!(status.success(), "{status}\n{}\n{}", text(&stdout), text(&stderr));
    text(&stdout)
}

/// What was said in JSON: an object a line.
#[track_caller]
pub(crate) fn lines(command: &mut Command) -> Vec<Value> {
    let said = good(command.arg("--json"));
    said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The one thing that was said in JSON.
#[track_caller]
pub(crate) fn one(command: &mut Command) -> Value {
    let mut said = lines(command);
    assert_eq!(said.len(), 1, "{said:?}");
    said.remove(0)
}

/// How a command ended that did not end well, and the error that it told in JSON.
#[track_caller]
pub(crate) fn failed(command: &mut Command) -> (i32, Value) {
    let Output { status, stdout, stderr } = command.arg("--json").output().expect("it runs");
    assert_eq!(text(&stdout), "", "what went wrong is told on stderr");
    let told = text(&stderr);
    let told = told.lines().find(|line| line.starts_with(r#"{"error""#)).expect("an error");
    let told: Value = serde_json::from_str(told).expect("JSON");
    (status.code().expect("an end of its own"), told["error"].clone())
}

/// A command that goes on until it is told to end.
pub(crate) struct Running {
    child: Child,
    said: Receiver<String>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let stdout = child.stdout.take().expect("a pipe");
        let (tell, said) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        Self { child, said }
    }

    /// The next line.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        let line = self.said.recv_timeout(Duration::from_secs(20)).expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// How it ends when it is told to.
    pub(crate) fn end(mut self) -> Option<i32> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), Signal::INT).expect("it is there");
        let child = &mut self.child;
        within(Duration::from_secs(10), || {
            child.try_wait().unwrap().ok_or_else(|| "still running".to_owned())
        })
        .code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A file of keys for `--secret-key`, with these rights.
pub(crate) fn secret_key(place: &Place, mode: u32) -> String {
    let path = place.dir.path().join("cauri.key");
    std::fs::write(&path, "5a".repeat(32)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path.display().to_string()
}
