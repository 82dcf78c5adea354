//! `/v1/payment-links` (API §12).

use cauri::wire::{CreatePaymentLink, ModifyPaymentLink, query};

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn create(ask: &Ask) -> Outcome {
    let link = ask.read(CreatePaymentLink::read)?;
    Answer::reply(ask.engine.create_payment_link(&ask.call, link).await?)
}

pub(crate) async fn list(ask: &Ask) -> Outcome {
    let query = query::payment_links(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.payment_links(ask.caller(), &query).await?)
}

pub(crate) async fn retrieve(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    ask.no_query()?;
    Answer::show(&ask.engine.payment_link(ask.caller(), id).await?)
}

pub(crate) async fn modify(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    let link = ask.read(ModifyPaymentLink::read)?;
    Answer::reply(ask.engine.modify_payment_link(&ask.call, id, link).await?)
}

pub(crate) async fn payments(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    let query = query::link_payments(ask.scope(), id, ask.pairs()?)?;
    Answer::show(&ask.engine.payment_link_payments(ask.caller(), id, &query).await?)
}
