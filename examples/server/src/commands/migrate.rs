//! `migrate`: the schema of the store.

use std::process::ExitCode;

use serde_json::json;

use crate::{
    error::Done,
    options::StoreOptions,
    output::Output,
    store::{Opened, Visit},
};

pub(crate) async fn run(at: &StoreOptions, output: Output) -> Done {
    // Opening a store is bringing it up to date.
    let visit = Visit::or_make(at).await?;
    let migrated = match &visit.opened {
        Opened::Postgres(store) => Some(store.inner().inner().migrated()),
        Opened::Memory(_) | Opened::Sqlite(_) => None,
    };
    visit.end().await;
    match migrated {
        Some(it) => {
            let text = if it.from == it.to {
                format!("The schema was at version {} already.", it.to)
            } else {
                format!("The schema went from version {} to {}.", it.from, it.to)
            };
            output.say(&json!({ "from": it.from, "to": it.to }), &text)?;
        }
        None => output.say(&json!({ "up_to_date": true }), "The schema is up to date.")?,
    }
    Ok(ExitCode::SUCCESS)
}
