//! Accounts with their four keys.

use std::{io, process::ExitCode};

use cauri::{AccountId, ApiKeyKind, Engine, Environment, Error, Scope, Secret};
use futures_util::{StreamExt, TryStreamExt, future::try_join4, stream};
use serde_json::{Value, json};

use crate::{
    error::{Done, Unsaid},
    options::AccountsCommand,
    output::Output,
    store::Visit,
};

/// A new account: its keys are known here and nowhere else.
#[derive(Debug)]
pub(crate) struct NewAccount {
    id: AccountId,
    pub(crate) secret_sandbox: Secret,
    public_sandbox: Secret,
    secret_live: Secret,
    public_live: Secret,
}

impl NewAccount {
    pub(crate) async fn create(engine: &Engine) -> Result<Self, Error> {
        let id = engine.create_account().await?.id;
        let key = async |kind, environment| {
            let scope = Scope { account: id, environment };
            Ok::<_, Error>(engine.create_key(scope, kind, None, None).await?.clear)
        };
        let (secret_sandbox, public_sandbox, secret_live, public_live) = try_join4(
            key(ApiKeyKind::Secret, Environment::Sandbox),
            key(ApiKeyKind::Public, Environment::Sandbox),
            key(ApiKeyKind::Secret, Environment::Live),
            key(ApiKeyKind::Public, Environment::Live),
        )
        .await?;
        Ok(Self { id, secret_sandbox, public_sandbox, secret_live, public_live })
    }

    /// So many of them.
    pub(crate) async fn several(engine: &Engine, count: usize) -> Result<Vec<Self>, Error> {
        stream::iter(0..count).map(|_| Self::create(engine)).buffered(32).try_collect().await
    }

    /// Nobody was shown the keys of these.
    pub(crate) fn unsaid(accounts: &[Self], source: io::Error) -> Unsaid {
        let ids: Vec<String> = accounts.iter().map(|account| account.id.to_string()).collect();
        let what = format!(
            "nobody was shown the keys of {}, and nobody can be any more; `accounts create` makes \
             another account",
            ids.join(", ")
        );
        Unsaid { what, source }
    }

    pub(crate) fn json(&self) -> Value {
        let Self { id, secret_sandbox, public_sandbox, secret_live, public_live } = self;
        json!({
            "id": id,
            "keys": {
                "secret_sandbox": secret_sandbox.reveal(),
                "public_sandbox": public_sandbox.reveal(),
                "secret_live": secret_live.reveal(),
                "public_live": public_live.reveal(),
            }
        })
    }

    pub(crate) fn text(&self) -> String {
        let Self { id, secret_sandbox, public_sandbox, secret_live, public_live } = self;
        format!(
            "Account {id}. Its keys are shown this once:\n\
             \x20 sandbox  secret  {}\n\
             \x20          public  {}\n\
             \x20 live     secret  {}\n\
             \x20          public  {}",
            secret_sandbox.reveal(),
            public_sandbox.reveal(),
            secret_live.reveal(),
            public_live.reveal(),
        )
    }
}

pub(crate) async fn run(command: AccountsCommand, output: Output) -> Done {
    match command {
        AccountsCommand::Create { at } => {
            let visit = Visit::or_make(&at).await?;
            let account = NewAccount::create(&visit.engine).await?;
            visit.end().await;
            output
                .say(&account.json(), &account.text())
                .map_err(|source| NewAccount::unsaid(&[account], source))?;
        }
        AccountsCommand::List { at } => {
            let visit = Visit::to(&at).await?;
            for account in visit.engine.accounts().await? {
                let json = json!({ "id": account.id, "created_at": account.created_at });
                output.say(&json, &format!("{}  {}", account.id, account.created_at))?;
            }
            visit.end().await;
        }
    }
    Ok(ExitCode::SUCCESS)
}
