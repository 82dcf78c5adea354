//! `/v1/payments` (API §9).

use cauri::wire::{CancelPayment, CreatePayment, query};

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn create(ask: &Ask) -> Outcome {
    let payment = ask.read(CreatePayment::read)?;
    Answer::reply(ask.engine.create_payment(&ask.call, payment).await?)
}

pub(crate) async fn list(ask: &Ask) -> Outcome {
    let query = query::payments(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.payments(ask.caller(), &query).await?)
}

pub(crate) async fn retrieve(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    ask.no_query()?;
    Answer::show(&ask.engine.payment(ask.caller(), id).await?)
}

pub(crate) async fn timeline(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    let query = query::timeline(ask.scope(), id, ask.pairs()?)?;
    Answer::show(&ask.engine.payment_timeline(ask.caller(), id, &query).await?)
}

pub(crate) async fn cancel(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    let cancel = ask.read(CancelPayment::read)?;
    Answer::reply(ask.engine.cancel_payment(&ask.call, id, cancel).await?)
}
