//! `migrate`: the schema of the store.

use std::process::ExitCode;

use serde_json::json;

use crate::{
    error::Done,
    options::StoreOptions,
    output::Output,
    store::{NoStore, Opened, Visit},
};

pub(crate) async fn run(at: &StoreOptions, output: Output) -> Done {
    // Opening a store is bringing it up to date.
    let visit = Visit::or_make(at).await?;
    let migrated = match &visit.opened {
        Opened::Postgres(store) => store.inner().inner().migrated(),
        Opened::Sqlite(store) => store.inner().inner().migrated(),
        Opened::Memory(_) => return Err(NoStore::Forgotten.into()),
    };
    visit.end().await;
    let text = if migrated.from == migrated.to {
        format!("The schema was at version {} already.", migrated.to)
    } else {
        format!("The schema went from version {} to {}.", migrated.from, migrated.to)
    };
    output.say(&json!({ "from": migrated.from, "to": migrated.to }), &text)?;
    Ok(ExitCode::SUCCESS)
}
