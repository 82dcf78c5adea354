//! `events`: what happened on a running server.

use std::{process::ExitCode, time::Duration};

use cauri_client::{EventId, EventKind, Follow, ResourceId, filter, wire::EventBody};
use clap::{Args, Subcommand};
use serde::Deserialize;

use crate::{
    error::{self, Done, Failure},
    interrupt::Interrupt,
    output::Output,
    remote::{PageOptions, RemoteOptions, say_whole},
    words::words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum EventsCommand {
    /// Shows an event, as it was told
    Get {
        #[command(flatten)]
        remote: RemoteOptions,
        /// Its id
        id: EventId,
    },
    /// Lists events, newest first
    List {
        #[command(flatten)]
        remote: RemoteOptions,
        /// Of which kind
        #[arg(long = "type", value_parser = words(EventKind::ALL, EventKind::as_str))]
        kind: Option<EventKind>,
        /// About which payment, payment link, payout or refund
        #[arg(long)]
        resource: Option<ResourceId>,
        #[command(flatten)]
        page: PageOptions,
    },
    /// Shows the last events, and every one that comes, oldest first, until it is interrupted
    Tail(TailOptions),
}

#[derive(Debug, Args)]
pub(crate) struct TailOptions {
    #[command(flatten)]
    remote: RemoteOptions,
    /// How many of the last ones to begin with
    #[arg(long, short = 'n', default_value_t = 10)]
    lines: u32,
    /// Ends with the last one instead of waiting for more
    #[arg(long)]
    no_follow: bool,
}

/// What of an event everybody can read, whichever server wrote it.
#[derive(Debug, Deserialize)]
pub(crate) struct Told {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) created: String,
    pub(crate) livemode: bool,
    data: ToldData,
}

#[derive(Debug, Deserialize)]
struct ToldData {
    object: ToldObject,
}

#[derive(Debug, Deserialize)]
struct ToldObject {
    id: String,
}

impl Told {
    pub(crate) fn read(event: &EventBody) -> Result<Self, serde_json::Error> {
        serde_json::from_str(event.as_str())
    }

    pub(crate) fn line(&self) -> String {
        let Self { id, kind, created, data, livemode: _ } = self;
        format!("{created}  {kind:26}  {id}  {}", data.object.id)
    }
}

pub(crate) async fn run(command: EventsCommand, output: Output) -> Done {
    match command {
        EventsCommand::Get { remote, id } => {
            say_whole(output, &remote.client()?.events().retrieve(id).raw().await?)?;
        }
        EventsCommand::List { remote, kind, resource, page } => {
            let filter = filter::Events { kind, resource, ..filter::Events::default() };
            page.say(output, remote.client()?.events().list(&filter).raw(), Told::line).await?;
        }
        EventsCommand::Tail(options) => {
            let mut interrupt = Interrupt::new()?;
            tokio::select! {
                told = tail(options, output) => told?,
                () = interrupt.came() => {}
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How long to wait for more where there is nothing new.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);

async fn tail(options: TailOptions, output: Output) -> Result<(), Failure> {
    let TailOptions { remote, lines, no_follow } = options;
    let mut follow = remote.client()?.events().follow(lines);
    let mut events = follow.next().await?;
    loop {
        for event in &events {
            output.say(event, &Told::read(event)?.line())?;
        }
        match (events.is_empty(), no_follow) {
            (false, _) => {}
            (true, true) => return Ok(()),
            (true, false) => tokio::time::sleep(PAUSE).await,
        }
        events = match no_follow {
            true => follow.next().await?,
            false => next(&mut follow, output).await?,
        };
    }
}

/// What came, and nothing while the server is away: one that is started anew is heard again.
pub(crate) async fn next(
    follow: &mut Follow,
    output: Output,
) -> Result<Vec<EventBody>, cauri_client::Error> {
    follow.next().await.or_else(|error| match error.is_transient() {
        true => {
            error::say(&error, output);
            Ok(Vec::new())
        }
        false => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use cauri_client::{Client, Retry};

    use super::*;

    #[tokio::test]
    async fn a_server_that_is_away_has_nothing_new() {
        let away = Client::builder("http://127.0.0.1:1", "sk_test_x").retry(Retry::never());
        let mut follow = away.build().unwrap().events().follow(0);
        assert!(next(&mut follow, Output { json: true }).await.unwrap().is_empty());
    }
}
