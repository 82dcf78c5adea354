//! `/v1/payouts` (API §10).

use cauri::wire::{CreatePayout, query};

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn create(ask: &Ask) -> Outcome {
    let payout = ask.read(CreatePayout::read)?;
    Answer::reply(ask.engine.create_payout(&ask.call, payout).await?)
}

pub(crate) async fn list(ask: &Ask) -> Outcome {
    let query = query::payouts(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.payouts(ask.caller(), &query).await?)
}

pub(crate) async fn retrieve(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    ask.no_query()?;
    Answer::show(&ask.engine.payout(ask.caller(), id).await?)
}
