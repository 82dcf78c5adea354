//! `/v1/balance`, `/v1/ledger` and `/v1/payment-methods` (API §8, §14).

use cauri::wire::query;

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn balance(ask: &Ask) -> Outcome {
    let currency = query::balance(ask.pairs()?)?;
    Answer::show(&ask.engine.balance(ask.caller(), currency).await?)
}

pub(crate) async fn entries(ask: &Ask) -> Outcome {
    let query = query::ledger(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.ledger(ask.caller(), &query).await?)
}

pub(crate) async fn payment_methods(ask: &Ask) -> Outcome {
    let query::PaymentMethods { country, currency } = query::payment_methods(ask.pairs()?)?;
    Answer::show(&ask.engine.payment_methods(ask.caller(), country, currency)?)
}
