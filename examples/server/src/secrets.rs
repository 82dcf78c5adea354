//! `secrets`: the keys that seal webhook secrets, and changing them.

use std::process::ExitCode;

use cauri::Engine;

use crate::{error::Done, keyring, options::SecretsCommand, store::Visit};

pub(crate) async fn run(command: SecretsCommand) -> Done {
    let SecretsCommand::Reseal { at, secret_key } = command;
    let visit = Visit::to(&at).await?;
    let store = visit.engine.store().clone();
    let keys = keyring::of(Some(&secret_key), &*store).await?;
    let resealed = Engine::builder(store).keys(keys).build()?.reseal_secrets().await?;
    visit.end().await;
    println!(
        "Every webhook secret is sealed with the first key of the file. Endpoints: {}, sealed \
         anew: {}.",
        resealed.endpoints, resealed.renewed
    );
    Ok(ExitCode::SUCCESS)
}
