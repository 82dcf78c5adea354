//! `keys`: the administration of API keys.

use std::process::ExitCode;

use cauri::{ApiKey, Engine, Timestamp, wire};
use serde_json::json;

use crate::{
    error::{Done, Failure, Unsaid},
    options::KeysCommand,
    output::Output,
    store::Visit,
};

/// There is no such key.
#[derive(Debug, thiserror::Error)]
#[error("there is no such key")]
struct NoKey;

/// There is no such account.
#[derive(Debug, thiserror::Error)]
#[error("there is no such account")]
struct NoAccount;

pub(crate) async fn run(command: KeysCommand, output: Output) -> Done {
    match command {
        KeysCommand::List { at, account } => {
            let visit = Visit::to(&at).await?;
            let every = visit.engine.accounts().await?;
            let wanted = |id| account.is_none_or(|account| account == id);
            let accounts: Vec<_> = every.iter().map(|it| it.id).filter(|id| wanted(*id)).collect();
            if account.is_some() && accounts.is_empty() {
                return Err(NoAccount.into());
            }
            for account in accounts {
                for key in visit.engine.list_keys(account).await? {
                    let line = line(&key, visit.engine.now());
                    output.say(&json(&key)?, &line)?;
                }
            }
            visit.end().await;
        }
        KeysCommand::Roll { at, key, grace_seconds } => {
            let visit = Visit::to(&at).await?;
            let old = find(&visit.engine, &key).await?;
            let new = visit.engine.roll_key(old.scope, old.id, grace_seconds).await?;
            let new = new.ok_or(NoKey)?;
            visit.end().await;
            let clear = new.clear.reveal();
            let mut json = json(&new.key)?;
            json["key"] = clear.into();
            output.say(&json, &format!("{}  {clear}", new.key.id)).map_err(|source| {
                let id = new.key.id;
                let what = format!(
                    "nobody was shown the key {id}, and nobody can be any more; `keys roll --key \
                     {id}` makes another in its place"
                );
                Unsaid { what, source }
            })?;
        }
        KeysCommand::Revoke { at, key } => {
            let visit = Visit::to(&at).await?;
            let key = find(&visit.engine, &key).await?;
            let key = visit.engine.revoke_key(key.scope, key.id).await?.ok_or(NoKey)?;
            output.say(&json(&key)?, &line(&key, visit.engine.now()))?;
            visit.end().await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn find(engine: &Engine, key_or_id: &str) -> Result<ApiKey, Failure> {
    Ok(engine.find_key(key_or_id).await?.ok_or(NoKey)?)
}

/// The key as the contract shows it (API §3.3), and whose it is.
fn json(key: &ApiKey) -> Result<serde_json::Value, Failure> {
    let mut json = serde_json::to_value(wire::ApiKey::of(key)?)?;
    json["account"] = json!(key.scope.account);
    Ok(json)
}

/// What of a key may be shown, and whose it is.
fn line(key: &ApiKey, now: Timestamp) -> String {
    let state = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) if at <= now => format!("expired {at}"),
        (None, Some(at)) => format!("expires {at}"),
        (None, None) => "good".to_owned(),
    };
    let (environment, kind) = (key.scope.environment.as_str(), key.kind.as_str());
    let ApiKey { id, scope, hint, .. } = key;
    format!("{id}  {}  {environment:7}  {kind:6}  {hint}  {state}", scope.account)
}
