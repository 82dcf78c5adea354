//! `listen`: events of a running server, forwarded to where they are developed against.
//!
//! The server need not reach this machine: events are asked for, signed here, with a secret of
//! their own, and sent as webhooks are.

use std::process::ExitCode;

use cauri::{
    Attempt, Clock, Entropy, Env, Environment, Notifier, OsEntropy, Receipt, Secret, SystemClock,
    Tick,
    signature::{self, SigningKey},
};
use cauri_client::{EventKind, WebUrl, wire::EventBody};
use cauri_webhook::{HttpNotifier, Policy};
use clap::Args;
use serde_json::json;

use super::events::{PAUSE, Told, next};
use crate::{
    error::{Done, Failure},
    interrupt::Interrupt,
    output::{Output, coloured},
    remote::RemoteOptions,
    words::words,
};

#[derive(Debug, Args)]
pub(crate) struct ListenOptions {
    #[command(flatten)]
    remote: RemoteOptions,
    /// Where events are sent; they are only shown unless told
    #[arg(long, value_name = "URL")]
    forward_to: Option<WebUrl>,
    /// Only these kinds, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = words(EventKind::ALL, EventKind::as_str))]
    events: Vec<EventKind>,
    /// What signs; a new one each time unless told
    #[arg(long, env = "CAURI_LISTEN_SECRET", hide_env_values = true)]
    secret: Option<String>,
}

pub(crate) async fn run(options: ListenOptions, output: Output) -> Done {
    let mut interrupt = Interrupt::new()?;
    tokio::select! {
        told = listen(options, output) => told?,
        () = interrupt.came() => {}
    }
    Ok(ExitCode::SUCCESS)
}

async fn listen(options: ListenOptions, output: Output) -> Result<(), Failure> {
    let ListenOptions { remote, forward_to, events, secret } = options;
    let client = remote.client()?;
    let mut follow = client.events().follow(0);
    // From now on: whoever is told that this listens may begin.
    let mut told = follow.next().await?;
    let forward = forward_to.map(|url| Forward::to(url, secret)).transpose()?;
    greet(output, forward.as_ref())?;
    loop {
        for event in &told {
            let read = Told::read(event)?;
            let wanted = events.is_empty() || events.iter().any(|kind| kind.as_str() == read.kind);
            if wanted {
                pass_on(output, event, &read, forward.as_ref()).await?;
            }
        }
        if told.is_empty() {
            tokio::time::sleep(PAUSE).await;
        }
        told = next(&mut follow, output).await?;
    }
}

fn greet(output: Output, forward: Option<&Forward>) -> Result<(), Failure> {
    let (url, secret) = forward.map(|it| (it.url.as_str(), it.secret.reveal())).unzip();
    let text = match (url, secret) {
        (Some(url), Some(secret)) => {
            format!("Forwarding to {url}. What signs: {secret}\nCtrl-C ends it.")
        }
        _ => "Listening. Ctrl-C ends it.".to_owned(),
    };
    Ok(output.say(&json!({ "forward_to": url, "secret": secret }), &text)?)
}

async fn pass_on(
    output: Output,
    event: &EventBody,
    read: &Told,
    forward: Option<&Forward>,
) -> Result<(), Failure> {
    let Some(forward) = forward else { return Ok(output.say(event, &read.line())?) };
    let Receipt { outcome, duration_ms } = forward.send(event, read).await;
    let answer = match outcome {
        Ok(code) => code.to_string(),
        Err(error) => error.to_string(),
    };
    let is_good = outcome.is_ok_and(|code| (200..300).contains(&code));
    let answer = coloured(&answer, is_good);
    let text = format!("{}  {answer} {duration_ms} ms", read.line());
    let json = json!({
        "event": event, "http_status": outcome.ok(), "duration_ms": duration_ms,
        "error": outcome.err(),
    });
    Ok(output.say(&json, &text)?)
}

/// Sends what a webhook endpoint would be sent, once: who develops sees what goes wrong, and what
/// a delivery does then is the server's to show.
#[derive(Debug)]
struct Forward {
    url: WebUrl,
    secret: Secret,
    key: SigningKey,
    notifier: HttpNotifier,
}

impl Forward {
    fn to(url: WebUrl, secret: Option<String>) -> Result<Self, Failure> {
        let secret = secret.map_or_else(fresh_secret, Secret::new);
        let key = SigningKey::new(secret.reveal())?;
        // It is this machine that sends, to where its user wants.
        let policy = Policy::default().private_in_live(true).private_in_sandbox(true);
        let notifier = HttpNotifier::builder().policy(policy).build()?;
        Ok(Self { url, secret, key, notifier })
    }

    async fn send(&self, event: &EventBody, read: &Told) -> Receipt {
        let body = event.as_str().as_bytes();
        let now = SystemClock::default().now().seconds();
        let signature = signature::header(std::slice::from_ref(&self.key), now, body);
        // There is no delivery: what would name it is as lasting and as unique as the event.
        let delivery = read.id.replace("evt_", "whd_");
        let headers = vec![
            (signature::HEADER_NAME, signature),
            ("X-Webhook-Event", read.kind.clone()),
            ("X-Webhook-Delivery", delivery),
            ("X-Webhook-Attempt", "1".to_owned()),
        ];
        let environment = if read.livemode { Environment::Live } else { Environment::Sandbox };
        let (url, body) = (self.url.as_str().to_owned(), body.to_vec().into());
        self.notifier.deliver(&Attempt { url, environment, headers, body }).await
    }
}

fn fresh_secret() -> Secret {
    let now = SystemClock::default().now();
    Env::new(now, Tick::first(now), OsEntropy::default().seed()).secret("whsec_")
}
