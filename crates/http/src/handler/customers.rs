//! `/v1/customers` (API §13).

use cauri::wire::{CreateCustomer, ModifyCustomer, query};

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn create(ask: &Ask) -> Outcome {
    let customer = ask.read(CreateCustomer::read)?;
    Answer::reply(ask.engine.create_customer(&ask.call, customer).await?)
}

pub(crate) async fn list(ask: &Ask) -> Outcome {
    let query = query::customers(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.customers(ask.caller(), &query).await?)
}

pub(crate) async fn retrieve(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    ask.no_query()?;
    Answer::show(&ask.engine.customer(ask.caller(), id).await?)
}

pub(crate) async fn modify(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    let customer = ask.read(ModifyCustomer::read)?;
    Answer::reply(ask.engine.modify_customer(&ask.call, id, customer).await?)
}
