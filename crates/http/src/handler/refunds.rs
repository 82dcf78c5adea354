//! `/v1/refunds` (API §11).

use cauri::wire::{CreateRefund, query};

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn create(ask: &Ask) -> Outcome {
    let refund = ask.read(CreateRefund::read)?;
    Answer::reply(ask.engine.create_refund(&ask.call, refund).await?)
}

pub(crate) async fn list(ask: &Ask) -> Outcome {
    let query = query::refunds(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.refunds(ask.caller(), &query).await?)
}

pub(crate) async fn retrieve(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    ask.no_query()?;
    Answer::show(&ask.engine.refund(ask.caller(), id).await?)
}
