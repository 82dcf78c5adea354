//! Against the NATS server, with JetStream, that `NATS_URL` names; where it names none, the trials
//! are listed as ignored, and `-- --include-ignored` tells why. Where it names one that is not there,
//! they fail.
//!
//! ```text
//! nats-server -js &
//! NATS_URL=nats://127.0.0.1:4222 cargo test -p cauri-example-notifier-queue --features nats
//! ```
#![expect(clippy::unwrap_used, reason = "a trial that meets the unexpected ends there")]

use std::{env, process::ExitCode};

use async_nats::Client;
use cauri::{Attempt, AttemptError, Environment, Notifier};
use cauri_example_notifier_queue::NatsNotifier;
use futures_util::StreamExt;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let url = env::var("NATS_URL").ok();
    macro_rules! trials {
        ($($name:ident)+) => {
            vec![$({
                let url = url.clone();
                let ignored = url.is_none();
                let run = move || {
                    let Some(url) = url else {
                        return Ok(Completion::ignored_with("NATS_URL names no server"));
                    };
                    let runtime = tokio::runtime::Runtime::new()?;
                    runtime.block_on(async {
                        let client = async_nats::connect(&url).await;
                        let client = client.map_err(|error| format!("no NATS at {url}: {error}"))?;
                        $name(client).await;
                        Ok::<_, Failed>(Completion::Completed)
                    })
                };
                Trial::ignorable_test(stringify!($name), run).with_ignored_flag(ignored)
            }),+]
        };
    }
    let trials = trials! {
        what_nobody_confirms_has_no_receipt
        a_consumer_confirms
        a_stream_confirms_and_keeps_one_copy
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn attempt(delivery: &str) -> Attempt {
    Attempt {
        url: "https://queue.internal/payments".to_owned(),
        environment: Environment::Sandbox,
        headers: vec![
            ("X-Webhook-Event", "payment.succeeded".to_owned()),
            ("X-Webhook-Delivery", delivery.to_owned()),
            ("X-Webhook-Signature", "t=1,v1=ab".to_owned()),
        ],
        body: r#"{"id":"evt_1"}"#.into(),
    }
}

/// Subjects of the trial's own.
fn prefix(trial: &str) -> String {
    format!("cauri-{trial}-{}", std::process::id())
}

async fn what_nobody_confirms_has_no_receipt(client: Client) {
    let notifier = NatsNotifier::new(client, prefix("nobody"));
    let receipt = notifier.deliver(&attempt("dlv_1")).await;
    assert_eq!(receipt.outcome, Err(AttemptError::ConnectionFailed));
}

async fn a_consumer_confirms(client: Client) {
    let prefix = prefix("consumer");
    let mut messages = client.subscribe(format!("{prefix}.payment.*")).await.unwrap();
    client.flush().await.unwrap();
    let notifier = NatsNotifier::new(client.clone(), prefix);
    for (reply, outcome) in
        [(json!({}), Ok(202)), (json!({"error": {}}), Err(AttemptError::ConnectionFailed))]
    {
        let consumer = async {
            let message = messages.next().await.unwrap();
            client.publish(message.reply.clone().unwrap(), reply.to_string().into()).await.unwrap();
            message
        };
        let attempt = attempt("dlv_1");
        let (receipt, message) = tokio::join!(notifier.deliver(&attempt), consumer);
        assert_eq!(receipt.outcome, outcome);
        assert_eq!(message.payload, attempt.body, "byte for byte");
        assert!(message.subject.ends_with(".payment.succeeded"));
        let headers = message.headers.unwrap();
        for (name, value) in &attempt.headers {
            assert_eq!(headers.get(*name).unwrap().as_str(), value);
        }
        assert_eq!(headers.get("Cauri-Url").unwrap().as_str(), attempt.url);
    }
}

async fn a_stream_confirms_and_keeps_one_copy(client: Client) {
    let prefix = prefix("stream");
    let api = async |verb: &str, ask: Value| {
        let subject = format!("$JS.API.STREAM.{verb}.{prefix}");
        let reply = client.request(subject, ask.to_string().into()).await.unwrap();
        let reply: Value = serde_json::from_slice(&reply.payload).unwrap();
        assert!(reply.get("error").is_none(), "{reply}");
        reply
    };
    let stream = json!({
        "name": prefix, "subjects": [format!("{prefix}.>")], "storage": "memory",
        "retention": "limits", "num_replicas": 1,
    });
    api("CREATE", stream).await;
    let notifier = NatsNotifier::new(client.clone(), prefix.clone());
    // The receipt of the first was lost, so it is sent again.
    for delivery in ["dlv_1", "dlv_1", "dlv_2"] {
        assert_eq!(notifier.deliver(&attempt(delivery)).await.outcome, Ok(202));
    }
    assert_eq!(api("INFO", json!({})).await["state"]["messages"], 2);
    api("DELETE", json!({})).await;
}
