//! `secrets`: the keys that seal webhook secrets, and changing them.

use std::process::ExitCode;

use cauri::Engine;
use serde_json::json;

use crate::{error::Done, keyring, options::SecretsCommand, output::Output, store::Visit};

pub(crate) async fn run(command: SecretsCommand, output: Output) -> Done {
    let SecretsCommand::Reseal { at, secret_key } = command;
    let visit = Visit::to(&at).await?;
    let store = visit.engine.store().clone();
    let keys = keyring::of(Some(&secret_key), &*store).await?;
    let resealed = Engine::builder(store).keys(keys).build()?.reseal_secrets().await?;
    visit.end().await;
    let (endpoints, renewed) = (resealed.endpoints, resealed.renewed);
    let text = format!(
        "Every webhook secret is sealed with the first key of the file. Endpoints: {endpoints}, \
         sealed anew: {renewed}.",
    );
    output.say(&json!({ "endpoints": endpoints, "renewed": renewed }), &text)?;
    Ok(ExitCode::SUCCESS)
}
