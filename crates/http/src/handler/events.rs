//! `/v1/events` (API §22.1).

use cauri::wire::query;

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn list(ask: &Ask) -> Outcome {
    let asked = query::events(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.events(ask.caller(), &asked).await?)
}

pub(crate) async fn retrieve(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    ask.no_query()?;
    Answer::show(&ask.engine.event(ask.caller(), id).await?)
}
