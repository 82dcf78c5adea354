//! The keys that seal webhook secrets at rest.

use std::{fs, path::Path};

use cauri::{
    Account, Changeset, EndpointId, Entity, Entropy, Environment, Key, Keyring, List, OsEntropy,
    Page, Query, Scope, SealError, Setting, Store, StoreError, StoreExt, WebhookEndpoint,
    decide::webhook_endpoint::secret_owner,
};

use crate::error::Failure;

/// The name under which a store keeps the development key.
const DEVELOPMENT_KEY: &str = "development_key";

/// The number of the development key, which no key in a file may have.
const DEVELOPMENT_ID: u8 = 0;

/// What is wrong with the keys.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoKeyring {
    #[error("the secret keys cannot be read from {path}")]
    File { path: String, source: std::io::Error },
    #[error(
        "line {line} is not 64 hexadecimal digits, alone or behind a number from 1 to 255 and a colon"
    )]
    Line { line: usize },
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error("the file of secret keys {path}")]
    In { path: String, source: Box<Self> },
    #[error("the development key of the store is not a key")]
    Development,
}

/// The keys in a file, or else the development key of the store. Where a store has one although
/// there is a file, it opens what it sealed before, and seals nothing any more.
pub(crate) async fn of(file: Option<&Path>, store: &dyn Store) -> Result<Keyring, Failure> {
    match file {
        Some(path) => {
            let mut keys = read(path)?;
            keys.extend(found(store).await?.map(|key| (DEVELOPMENT_ID, key)));
            Ok(Keyring::new(keys)?)
        }
        None => {
            tracing::warn!(
                "no --secret-key: webhook secrets are sealed with a key that lies beside them in \
                 the store, in name only"
            );
            development(store).await
        }
    }
}

/// A key by its number.
type Numbered = (u8, [u8; Keyring::KEY_LEN]);

/// The keys in a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Numbered>, NoKeyring> {
    let shown = || path.display().to_string();
    let text = fs::read_to_string(path);
    let text = text.map_err(|source| NoKeyring::File { path: shown(), source })?;
    parse(&text).map_err(|error| NoKeyring::In { path: shown(), source: Box::new(error) })
}

/// A webhook secret that the keys do not open: nothing can be sent to its endpoint.
#[derive(Debug, thiserror::Error)]
#[error(
    "{endpoint}, maybe with others, can be sent no webhook: its secret is sealed with key {key}"
)]
pub(crate) struct Unopened {
    endpoint: EndpointId,
    /// The number of the key that sealed it.
    key: u8,
    source: SealError,
}

/// How many accounts are looked at for a secret that does not open: with a wrong file, each is one.
const LOOKED_AT: u8 = Page::LIMIT_MAX;

/// The keys that a server would have, where none is made; in a store without any there may be none.
pub(crate) async fn there(
    file: Option<&Path>,
    store: &dyn Store,
) -> Result<Option<Keyring>, Failure> {
    let mut keys = file.map(read).transpose()?.unwrap_or_default();
    keys.extend(found(store).await?.map(|key| (DEVELOPMENT_ID, key)));
    Ok(if keys.is_empty() { None } else { Some(Keyring::new(keys)?) })
}

/// Looks for a webhook secret that the keys do not open, among those of some accounts.
pub(crate) async fn unopened(
    keys: Option<&Keyring>,
    store: &dyn Store,
) -> Result<Option<Unopened>, StoreError> {
    let some = Page::new(LOOKED_AT, 0).unwrap_or_default();
    let accounts = store.list(&Query::all(List::Accounts).page(some)).await?.items;
    for account in accounts.into_iter().filter_map(|it| Account::from_record(it.value)) {
        for &environment in Environment::ALL {
            let scope = Scope { account: account.id, environment };
            let endpoints = Query::all(List::WebhookEndpoints(scope));
            for endpoint in store.all::<WebhookEndpoint>(endpoints).await? {
                if let Some(unopened) = tried(keys, &endpoint) {
                    return Ok(Some(unopened));
                }
            }
        }
    }
    Ok(None)
}

/// Why its secret does not open, if it does not.
fn tried(keys: Option<&Keyring>, endpoint: &WebhookEndpoint) -> Option<Unopened> {
    if endpoint.deleted_at.is_some() {
        return None;
    }
    // Behind the version of the seal.
    let key = endpoint.secret.as_bytes().get(1).copied().unwrap_or_default();
    let source = match keys {
        Some(keys) => keys.open(&endpoint.secret, secret_owner(endpoint.id).as_bytes()).err()?,
        None => SealError::KeyUnknown { key },
    };
    Some(Unopened { endpoint: endpoint.id, key, source })
}

fn parse(text: &str) -> Result<Vec<Numbered>, NoKeyring> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let keys = lines
        .map(|(at, line)| key(line.trim()).ok_or(NoKeyring::Line { line: at.saturating_add(1) }));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    // Said here, where the file is all there is.
    Keyring::new(keys.iter().copied())?;
    Ok(keys)
}

/// `1:` and 64 digits; a key without a number is number 1.
fn key(line: &str) -> Option<Numbered> {
    let (id, digits) = line.split_once(':').unwrap_or(("1", line));
    let id = id.parse().ok().filter(|id| *id != DEVELOPMENT_ID)?;
    let digits: Vec<u8> = digits
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let bytes = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    });
    Some((id, bytes.collect::<Option<Vec<u8>>>()?.try_into().ok()?))
}

/// The development key of a store; made by whoever comes first.
async fn development(store: &dyn Store) -> Result<Keyring, Failure> {
    let key = match found(store).await? {
        Some(key) => Some(key),
        None => {
            let value = OsEntropy::default().seed().to_vec();
            let mut changes = Changeset::new();
            changes.insert(Setting { name: DEVELOPMENT_KEY.to_owned(), value }, None);
            // A refusal means that another was faster: theirs is the key.
            store.commit(vec![changes]).await?;
            found(store).await?
        }
    };
    Ok(Keyring::new([(DEVELOPMENT_ID, key.ok_or(NoKeyring::Development)?)])?)
}

/// The development key, where a store has one.
async fn found(store: &dyn Store) -> Result<Option<[u8; Keyring::KEY_LEN]>, Failure> {
    let setting = store.find::<Setting>(Key::Setting(DEVELOPMENT_KEY.to_owned())).await?;
    let key = setting.map(|found| found.value.value.try_into());
    Ok(key.transpose().map_err(|_: Vec<u8>| NoKeyring::Development)?)
}

#[cfg(test)]
mod tests {
    use cauri_memory::MemoryStore;

    use super::*;

    #[test]
    fn a_file_holds_keys_newest_first() {
        let (a, b) = ("aA".repeat(32), "0b".repeat(32));
        for text in [a.clone(), format!("\n  {a}  \n\n"), format!("2:{b}\n1:{a}\n")] {
            assert!(parse(&text).is_ok(), "{text}");
        }
        let ring = |text: &str| Keyring::new(parse(text).unwrap()).unwrap();
        let (old, new) = (ring(&a), ring(&format!("2:{b}\n1:{a}")));
        let sealed = old.seal(b"x", b"y", [0; 24]).unwrap();
        assert_eq!(new.open(&sealed, b"y").unwrap(), b"x");
        assert!(!new.is_current(&sealed));
        for text in [
            String::new(),
            "aa".to_owned(),
            format!("{a}a"),
            format!("0:{a}"),
            format!("256:{a}"),
            format!("{a}\n{b}"),
            "zz".repeat(32),
        ] {
            assert!(parse(&text).is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn a_store_has_one_development_key() {
        let store = MemoryStore::new();
        let sealed = development(&store).await.unwrap().seal(b"x", b"y", [0; 24]).unwrap();
        assert_eq!(development(&store).await.unwrap().open(&sealed, b"y").unwrap(), b"x");
        // It still opens once there is a file, and seals no more.
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "1b".repeat(32)).unwrap();
        let ring = of(Some(file.path()), &store).await.unwrap();
        assert_eq!(ring.open(&sealed, b"y").unwrap(), b"x");
        assert!(!ring.is_current(&sealed));
    }
}
