//! Starts and stops the example.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use cauri_client::{
    Amount, Answer, Call, Client, Error, PaymentMethod, Refused, Retry,
    wire::{CreatePayment, CreateWebhookEndpoint, Payment},
};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{raw, receiver::Receiver};

/// How long a trial may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A running example. It is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Example {
    /// What it calls itself in `X-Host`.
    pub(crate) host: &'static str,
    /// Where it listens, such as `127.0.0.1:40123`.
    pub(crate) address: String,
    /// A client of its API, which asks once.
    pub(crate) client: Client,
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
        let client = Client::builder(&url, &key).retry(Retry::never()).build().expect("a client");
        Self { host, address, client, key, child }
    }

    /// Makes a call that goes well.
    pub(crate) async fn call<T: DeserializeOwned>(&self, call: Call<T>) -> Answer<T> {
        let answer = call.send().await.unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(answer.header("x-host"), Some(self.host), "the host's own middleware");
        answer
    }

    /// Makes a call that is refused.
    pub(crate) async fn refused<T: DeserializeOwned>(&self, call: Call<T>) -> Refused {
        match call.send().await.map(|_| ()) {
            Err(Error::Refused(refused)) => *refused,
            other => panic!("no refusal: {other:?}"),
        }
    }

    /// Asks the API for what no client would, with the key.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> raw::Answer {
        let bearer = self.bearer();
        let headers = [("Authorization", bearer.as_str())];
        self.send(method, &format!("/pay/v1{path}"), &headers, body).await
    }

    /// Asks whatever is at a path of the host's.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> raw::Answer {
        let answer = raw::send(&self.address, method, path, headers, body).await;
        assert_eq!(answer.header("x-host"), self.host, "the host's own middleware");
        answer
    }

    /// Subscribes a receiver; the secret that signs what it gets.
    pub(crate) async fn subscribe(&self, receiver: &Receiver) -> String {
        let ask = CreateWebhookEndpoint::at(receiver.url().parse().expect("a URL"));
        let endpoint = self.call(self.client.webhooks().create(&ask)).await.value;
        endpoint.secret.expect("a secret").as_str().to_owned()
    }

    /// A payment that has succeeded, with the receiver told so.
    pub(crate) async fn paid(&self, receiver: &mut Receiver) -> Payment {
        let id = self.call(self.client.payments().create(&payment())).await.value.id;
        receiver.awaits("payment.succeeded", id).await;
        self.call(self.client.payments().retrieve(id)).await.value
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
pub(crate) fn payment() -> CreatePayment {
    CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: "XOF".parse().ok(),
        network: "mtn".parse().ok(),
        phone: "+2250500000000".parse().ok(),
        ..CreatePayment::by(PaymentMethod::MobileMoney)
    }
}

/// A request as it is written.
pub(crate) fn written(ask: &impl Serialize) -> Value {
    serde_json::to_value(ask).expect("a request is written")
}
