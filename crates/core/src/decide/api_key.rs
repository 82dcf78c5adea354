//! Accounts and API keys: what the library's admin functions decide (API §3).

use crate::{
    commit::{changeset::Changeset, record::Versioned},
    error::Error,
    model::{
        account::Account,
        api_key::{ApiKey, ApiKeyKind, KeyHash, hint, prefix},
    },
    value::{env::Env, scope::Scope, secret::Secret, text::Text, time::Timestamp},
};

/// A new key, in clear for the only time.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "the engine takes it apart")]
pub struct NewApiKey {
    /// What is stored.
    pub key: ApiKey,
    /// What is handed out.
    pub clear: Secret,
}

/// Makes an account.
///
/// ```
/// use cauri_core::{Write, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (account, changes) = decide::api_key::create_account(&mut shop.env);
/// assert!(account.id.to_string().starts_with("acct_"));
/// assert!(matches!(changes.writes(), [Write::Insert { .. }]));
/// ```
#[must_use]
pub fn create_account(env: &mut Env) -> (Account, Changeset) {
    let account = Account { id: env.id(), created_at: env.now() };
    let mut changes = Changeset::new();
    changes.insert(account.clone(), None);
    (account, changes)
}

/// Makes a key: its clear text is known from here on only to whoever holds the answer.
///
/// ```
/// use cauri_core::{ApiKeyKind, KeyHash, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (new, changes) =
///     decide::api_key::create(shop.scope, ApiKeyKind::Public, None, None, &mut shop.env);
/// assert!(new.clear.reveal().starts_with("pk_test_"));
/// // What is kept is its hash: the changes do not hold the key itself.
/// assert_eq!(KeyHash::of(new.clear.reveal()), Some(new.key.hash));
/// assert!(!format!("{changes:?}").contains(new.clear.reveal()));
/// ```
#[must_use]
pub fn create(
    scope: Scope,
    kind: ApiKeyKind,
    name: Option<Text<100>>,
    expires_at: Option<Timestamp>,
    env: &mut Env,
) -> (NewApiKey, Changeset) {
    let clear = env.secret(prefix(kind, scope.environment));
    // A key of our own making always has the form that is looked up.
    let hash = KeyHash::of(clear.reveal()).unwrap_or(KeyHash::from_bytes([0; 32]));
    let key = ApiKey {
        id: env.id(),
        scope,
        kind,
        name,
        hint: hint(kind, scope.environment, &clear),
        hash,
        created_at: env.now(),
        last_used_at: None,
        expires_at,
        revoked_at: None,
    };
    let mut changes = Changeset::new();
    changes.insert(key.clone(), None);
    (NewApiKey { key, clear }, changes)
}

/// Revokes a key; one that is revoked already stays as it is.
///
/// ```
/// use cauri_core::decide;
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (key, _) = shop.key();
/// let (revoked, changes) = decide::api_key::revoke(key, shop.now());
/// assert_eq!(revoked.revoked_at, Some(shop.now()));
/// assert_eq!(shop.commit(changes), Ok(()));
/// // Once more, later: it stays revoked since then.
/// let (revoked, changes) = decide::api_key::revoke(shop.last(), shop.now().plus_seconds(60));
/// assert_eq!(revoked.revoked_at, Some(shop.now()));
/// assert!(changes.is_empty());
/// ```
#[must_use]
pub fn revoke(key: Versioned<ApiKey>, now: Timestamp) -> (ApiKey, Changeset) {
    let Versioned { value: mut key, version, .. } = key;
    let mut changes = Changeset::new();
    if key.revoked_at.is_none() {
        key.revoked_at = Some(now);
        changes.update(key.clone(), version, None);
    }
    (key, changes)
}

/// Replaces a key by a new one of the same kind and name, which has no end; the old one ends after a
/// grace of 0 to 604,800 seconds, at once when there is none.
///
/// # Errors
/// [`Error::NotFound`] for a key that has ended: whoever holds it must not get another one.
///
/// ```
/// use cauri_core::{KeyHash, Write, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (key, _) = shop.key();
/// let (old, now) = (key.value.hash, shop.now());
/// let (new, changes) = decide::api_key::roll(key, 86_400, &mut shop.env)?;
/// assert_ne!(KeyHash::of(new.clear.reveal()), Some(old));
/// assert_eq!(shop.commit(changes), Ok(()));
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn roll(
    key: Versioned<ApiKey>,
    grace_s: u32,
    env: &mut Env,
) -> Result<(NewApiKey, Changeset), Error> {
    let Versioned { value: mut old, version, .. } = key;
    let now = env.now();
    if old.revoked_at.is_some() || old.has_expired(now) {
        return Err(Error::NotFound("API key"));
    }
    let (new, mut changes) = create(old.scope, old.kind, old.name.clone(), None, env);
    if grace_s == 0 {
        old.revoked_at = old.revoked_at.or(Some(now));
    } else {
        let end = now.plus_seconds(i64::from(grace_s));
        old.expires_at = Some(old.expires_at.map_or(end, |at| at.min(end)));
    }
    changes.update(old, version, None);
    Ok((new, changes))
}

/// Notes that a key was used; `None` when it was noted within the last minute.
///
/// ```
/// use cauri_core::decide;
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (key, _) = shop.key();
/// let changes = decide::api_key::used(key, shop.now()).expect("its first use");
/// assert_eq!(shop.commit(changes), Ok(()));
/// // A minute is not over: nothing is written for the next request.
/// assert!(decide::api_key::used(shop.last(), shop.now().plus_seconds(59)).is_none());
/// assert!(decide::api_key::used(shop.last(), shop.now().plus_seconds(60)).is_some());
/// ```
#[must_use]
pub fn used(key: Versioned<ApiKey>, now: Timestamp) -> Option<Changeset> {
    let Versioned { value: mut key, version, .. } = key;
    if key.last_used_at.is_some_and(|at| now.since(at) < 60_000) {
        return None;
    }
    key.last_used_at = Some(now);
    let mut changes = Changeset::new();
    changes.update(key, version, None);
    Some(changes)
}
