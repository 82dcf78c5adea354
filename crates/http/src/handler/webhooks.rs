//! `/v1/webhooks` (API §16, §22.2, §22.3).

use cauri::wire::{
    CreateWebhookEndpoint, ModifyWebhookEndpoint, ReplayEvents, RetryDelivery, TestWebhook, query,
};

use super::Outcome;
use crate::{ask::Ask, respond::Answer};

pub(crate) async fn create(ask: &Ask) -> Outcome {
    let endpoint = ask.read(CreateWebhookEndpoint::read)?;
    Answer::reply(ask.engine.create_webhook_endpoint(&ask.call, endpoint).await?)
}

pub(crate) async fn list(ask: &Ask) -> Outcome {
    let query = query::webhook_endpoints(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.webhook_endpoints(ask.caller(), &query).await?)
}

pub(crate) async fn modify(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    let endpoint = ask.read(ModifyWebhookEndpoint::read)?;
    Answer::reply(ask.engine.modify_webhook_endpoint(&ask.call, id, endpoint).await?)
}

pub(crate) async fn delete(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    ask.no_query()?;
    Answer::show(&ask.engine.delete_webhook_endpoint(ask.caller(), id).await?)
}

pub(crate) async fn test(ask: &Ask) -> Outcome {
    let test = ask.read(TestWebhook::read)?;
    Answer::reply(ask.engine.test_webhook(&ask.call, test).await?)
}

pub(crate) async fn deliveries(ask: &Ask) -> Outcome {
    let query = query::deliveries(ask.scope(), ask.pairs()?)?;
    Answer::show(&ask.engine.webhook_deliveries(ask.caller(), &query).await?)
}

pub(crate) async fn retry(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    let retry = ask.read(RetryDelivery::read)?;
    Answer::reply(ask.engine.retry_webhook_delivery(&ask.call, id, retry).await?)
}

pub(crate) async fn replay(ask: &Ask) -> Outcome {
    let id = ask.id()?;
    let replay = ask.read(ReplayEvents::read)?;
    Answer::reply(ask.engine.replay_webhooks(&ask.call, id, replay).await?)
}
