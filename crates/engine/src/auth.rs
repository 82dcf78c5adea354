//! Who holds this key? And the keys themselves (API §3).

use cauri_core::{
    Account, AccountId, ApiKey, ApiKeyId, ApiKeyKind, Environment, Key, KeyHash, List, Query,
    Scope, Text, Timestamp, Versioned,
    decide::api_key::{self, NewApiKey},
};
use subtle::ConstantTimeEq;

use crate::{
    cache::{Cache, Ticket},
    call::Caller,
    engine::Engine,
    error::{AuthError, Error},
    port::store::StoreError,
    store_ext::StoreExt,
};

/// The keys that were read lately.
pub(crate) type KeyCache = Cache<KeyHash, ApiKey>;

impl Engine {
    /// The caller that holds a key.
    ///
    /// # Errors
    /// [`AuthError`] when the key opens nothing, or [`Error::Store`].
    pub async fn authenticate(&self, key: &str) -> Result<Caller, Error> {
        let hash = KeyHash::of(key).ok_or(AuthError::Invalid)?;
        let now = self.now();
        let key = match self.0.key_cache.find(&hash, now) {
            Some(key) => {
                self.renew_keys(now);
                key
            }
            None => self.read_key(hash, now).await?,
        };
        if !bool::from(key.hash.as_bytes().ct_eq(hash.as_bytes())) {
            return Err(AuthError::Invalid.into());
        }
        if key.revoked_at.is_some() {
            return Err(AuthError::Revoked.into());
        }
        if key.has_expired(now) {
            return Err(AuthError::Expired.into());
        }
        let caller = match key.kind {
            ApiKeyKind::Secret => Caller::secret(key.scope),
            ApiKeyKind::Public => Caller::public(key.scope),
        };
        Ok(caller.with_key(key.id))
    }

    /// Has the keys that will soon be believed no more read anew.
    fn renew_keys(&self, now: Timestamp) {
        self.renew(&self.0.key_cache, now, |engine, hashes, ticket| async move {
            let found = engine.read_keys(hashes).await?;
            engine.keep_keys(found.into_iter().flatten(), now, ticket);
            Ok(())
        });
    }

    async fn read_keys(
        &self,
        hashes: Vec<KeyHash>,
    ) -> Result<Vec<Option<Versioned<ApiKey>>>, StoreError> {
        let keys: Vec<Key> = hashes.into_iter().map(Key::ApiKeyHash).collect();
        let found = self.0.store.get(&keys).await?;
        Ok(found.into_iter().map(|found| found?.of::<ApiKey>()).collect())
    }

    /// Remembers keys that nobody has asked for at this moment. One whose use is to be noted is left
    /// to whoever uses it.
    fn keep_keys(
        &self,
        found: impl Iterator<Item = Versioned<ApiKey>>,
        now: Timestamp,
        ticket: Ticket,
    ) {
        for key in found {
            if api_key::used(key.clone(), now).is_none() {
                self.0.key_cache.keep(key.value.hash, key.value, now, ticket);
            }
        }
    }

    async fn read_key(&self, hash: KeyHash, now: Timestamp) -> Result<ApiKey, Error> {
        let cache = &self.0.key_cache;
        let ticket = cache.ticket();
        let mut hashes = vec![hash];
        hashes.extend(cache.along(&hash, now));
        let mut found = self.read_keys(hashes).await?.into_iter();
        let own = found.next().flatten();
        self.keep_keys(found.flatten(), now, ticket);
        let own = own.ok_or(AuthError::Invalid)?;
        let mut key = own.value.clone();
        if key.revoked_at.is_none()
            && !key.has_expired(now)
            && let Some(changes) = api_key::used(own, now)
        {
            // Only a note, to the minute: whoever changes the key at the same time is right, and may
            // have revoked it; nor is what was read before a long wait to be believed.
            match self.commit(changes, None).await {
                Ok(Ok(())) => key.last_used_at = Some(now),
                refused => {
                    tracing::debug!(?refused, "the use of a key was not noted");
                    let again = self.0.store.get(&[Key::ApiKeyHash(hash)]).await?;
                    let again = again.into_iter().next().flatten();
                    key = again.and_then(Versioned::of::<ApiKey>).ok_or(AuthError::Invalid)?.value;
                }
            }
        }
        cache.keep(hash, key.clone(), now, ticket);
        Ok(key)
    }

    /// Makes an account: a tenant with a sandbox and a live environment.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn create_account(&self) -> Result<Account, Error> {
        let (account, changes) = api_key::create_account(&mut self.0.ambient.env());
        match self.commit(changes, None).await? {
            Ok(()) => Ok(account),
            Err(_) => Err(Error::Contended),
        }
    }

    /// Every account, in the order in which they were made.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accounts(&self) -> Result<Vec<Account>, Error> {
        let mut accounts: Vec<Account> = self.0.store.all(Query::all(List::Accounts)).await?;
        accounts.reverse();
        Ok(accounts)
    }

    /// Makes a key; the answer holds its clear text for the only time.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn create_key(
        &self,
        scope: Scope,
        kind: ApiKeyKind,
        name: Option<Text<100>>,
        expires_at: Option<Timestamp>,
    ) -> Result<NewApiKey, Error> {
        let mut env = self.0.ambient.env();
        let (new, changes) = api_key::create(scope, kind, name, expires_at, &mut env);
        match self.commit(changes, None).await? {
            Ok(()) => Ok(new),
            Err(_) => Err(Error::Contended),
        }
    }

    /// The keys of an account, newest first: sandbox, then live.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn list_keys(&self, account: AccountId) -> Result<Vec<ApiKey>, Error> {
        let mut keys = Vec::new();
        for &environment in Environment::ALL {
            let list = List::ApiKeys(Scope { account, environment });
            keys.extend(self.0.store.all::<ApiKey>(Query::all(list)).await?);
        }
        Ok(keys)
    }

    /// Revokes a key: every node refuses it within a second.
    ///
    /// # Errors
    /// [`Error::Store`], or `None` inside when there is no such key.
    pub async fn revoke_key(&self, scope: Scope, id: ApiKeyId) -> Result<Option<ApiKey>, Error> {
        for _ in 0..16 {
            let Some(key) = self.0.store.find::<ApiKey>(Key::ApiKey(scope, id)).await? else {
                return Ok(None);
            };
            let (key, changes) = api_key::revoke(key, self.now());
            if changes.is_empty() || self.commit(changes, None).await?.is_ok() {
                self.0.key_cache.forget(&key.hash);
                return Ok(Some(key));
            }
        }
        Err(Error::Contended)
    }

    /// Replaces a key by a new one; the old one ends after `grace_s` seconds, 0 to 604,800.
    ///
    /// # Errors
    /// [`cauri_core::Error::NotFound`] when the key was revoked or has expired, [`Error::Store`], or
    /// `None` inside when there is no such key.
    pub async fn roll_key(
        &self,
        scope: Scope,
        id: ApiKeyId,
        grace_s: u32,
    ) -> Result<Option<NewApiKey>, Error> {
        let env = self.0.ambient.env();
        for _ in 0..16 {
            let Some(key) = self.0.store.find::<ApiKey>(Key::ApiKey(scope, id)).await? else {
                return Ok(None);
            };
            let hash = key.value.hash;
            let (new, changes) = api_key::roll(key, grace_s.min(604_800), &mut env.clone())?;
            if self.commit(changes, None).await?.is_ok() {
                self.0.key_cache.forget(&hash);
                return Ok(Some(new));
            }
        }
        Err(Error::Contended)
    }

    /// A key by its clear text or its id, among all accounts.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn find_key(&self, key_or_id: &str) -> Result<Option<ApiKey>, Error> {
        if let Some(hash) = KeyHash::of(key_or_id) {
            let found = self.0.store.find::<ApiKey>(Key::ApiKeyHash(hash)).await?;
            return Ok(found.map(|found| found.value));
        }
        let Ok(id) = key_or_id.parse::<ApiKeyId>() else { return Ok(None) };
        for account in self.accounts().await? {
            for &environment in Environment::ALL {
                let scope = Scope { account: account.id, environment };
                let found = self.0.store.find::<ApiKey>(Key::ApiKey(scope, id)).await?;
                if let Some(found) = found {
                    return Ok(Some(found.value));
                }
            }
        }
        Ok(None)
    }
}
