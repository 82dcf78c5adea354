//! Starts and stops the example.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    client::{self, Answer},
    receiver::Receiver,
};

/// How long a trial may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A running example. It is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Example {
    /// What it calls itself in `X-Host`.
    pub(crate) host: &'static str,
    /// Where it listens, such as `127.0.0.1:40123`.
    pub(crate) address: String,
    key: String,
    child: Child,
}

impl Example {
    pub(crate) async fn start(host: &'static str, binary: &str) -> Self {
        let child = Command::new(binary).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("the example starts");
        let stdout = child.stdout.take().expect("a pipe");
        let lines = tokio::task::spawn_blocking(move || {
            BufReader::new(stdout).lines().take(2).collect::<Result<Vec<_>, _>>()
        });
        let lines = lines.await.expect("a reader").expect("lines");
        let [url, key] = <[String; 2]>::try_from(lines).expect("a URL and a key");
        let address = url.strip_prefix("http://").and_then(|it| it.strip_suffix("/pay/v1"));
        let address = address.expect("a URL of the API").to_owned();
        assert!(key.starts_with("sk_test_"), "a secret sandbox key");
        Self { host, address, key, child }
    }

    /// Asks the API, with the key.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let headers = [("Authorization", self.bearer())];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        self.send(method, &format!("/pay/v1{path}"), &headers, body).await
    }

    /// Asks whatever is at a path of the host's.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Answer {
        let answer = client::send(&self.address, method, path, headers, body).await;
        assert_eq!(answer.header("x-host"), self.host, "the host's own middleware");
        answer
    }

    /// Subscribes a receiver; the secret that signs what it gets.
    pub(crate) async fn subscribe(&self, receiver: &Receiver) -> String {
        let endpoint = self.ask("POST", "/webhooks", Some(json!({"url": receiver.url()}))).await;
        assert_eq!(endpoint.status, 201, "{}", endpoint.body);
        endpoint.json()["secret"].as_str().expect("a secret").to_owned()
    }

    /// A payment that has succeeded, with the receiver told so.
    pub(crate) async fn paid(&self, receiver: &mut Receiver) -> Value {
        let payment = self.ask("POST", "/payments", Some(payment())).await;
        assert_eq!(payment.status, 201, "{}", payment.body);
        let id = &payment.json()["id"];
        receiver.awaits("payment.succeeded", id).await;
        self.ask("GET", &format!("/payments/{}", text(id)), None).await.json()
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.key)
    }

    pub(crate) fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), Signal::TERM).expect("the example is there");
    }

    /// How it ended.
    pub(crate) async fn ended(mut self) -> ExitStatus {
        let id = self.child.id();
        let waited = tokio::task::spawn_blocking(move || {
            let status = self.child.wait();
            drop(self);
            status
        });
        waited.await.expect("a waiter").unwrap_or_else(|error| panic!("{id}: {error}"))
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A payment that pays itself two seconds after it was made.
pub(crate) fn payment() -> Value {
    json!({
        "amount": 5000,
        "currency": "XOF",
        "payment_method": "mobile_money",
        "network": "mtn",
        "phone": "+2250500000000",
    })
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}
