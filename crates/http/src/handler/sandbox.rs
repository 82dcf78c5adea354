//! `/v1/sandbox` (API §17).

use cauri::wire::{Fund, Simulate, query};

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn simulate(ask: &Ask) -> Outcome {
    let simulate = ask.read(Simulate::read)?;
    Answer::reply(ask.engine.simulate(&ask.call, simulate).await?)
}

pub(crate) async fn fund(ask: &Ask) -> Outcome {
    let fund = ask.read(Fund::read)?;
    Answer::reply(ask.engine.fund(&ask.call, fund).await?)
}

pub(crate) async fn scenarios(ask: &Ask) -> Outcome {
    let query::Scenarios { applies_to, page } = query::scenarios(ask.pairs()?)?;
    Answer::show(&ask.engine.scenarios(ask.caller(), applies_to, page)?)
}
