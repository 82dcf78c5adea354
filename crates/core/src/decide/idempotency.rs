//! Idempotency: what a key that was used before means (API §5).

use std::fmt;

use crate::{
    arithmetic::seal::{Keyring, SealError},
    commit::{changeset::Changeset, record::Versioned},
    error::Error,
    model::idempotency::{IdempotencyKey, IdempotencyRecord, RETENTION_MS, StoredBody, Success},
    value::{env::Env, scope::Scope, time::Timestamp},
};

/// A request as its `Idempotency-Key` sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the http crate and tests build it")]
pub struct Idempotency {
    /// The client's key.
    pub key: IdempotencyKey,
    /// What is asked: the SHA-256 of method, path and canonical body.
    pub fingerprint: [u8; 32],
}

/// The record of an earlier use, where it still counts.
///
/// # Errors
/// [`Error::IdempotencyKeyReused`] when the key was used for another request.
///
/// ```
/// use cauri_core::{
///     Changeset, Error, Success,
///     decide::idempotency::{Answered, Idempotency, earlier, keep},
/// };
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let asked = Idempotency { key: "order-1001".parse()?, fingerprint: [1; 32] };
/// let answered =
///     Answered { success: Success::Created, location: None, body: "{}".into(), secret: false };
/// let (mut changes, keys) = (Changeset::new(), shop.keys.clone());
/// keep(&mut changes, shop.scope, asked.clone(), answered, None, &keys, &mut shop.env)?;
/// assert_eq!(shop.commit(changes), Ok(()));
///
/// let record = shop.last();
/// // The same request is answered from the record …
/// assert!(earlier(&asked, Some(&record), shop.now())?.is_some());
/// // … another one under the same key is refused, and after a day the key is free.
/// let other = Idempotency { fingerprint: [2; 32], ..asked };
/// assert_eq!(earlier(&other, Some(&record), shop.now()), Err(Error::IdempotencyKeyReused));
/// assert_eq!(earlier(&other, Some(&record), shop.now().plus_seconds(86_400)), Ok(None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn earlier<'a>(
    asked: &Idempotency,
    record: Option<&'a Versioned<IdempotencyRecord>>,
    now: Timestamp,
) -> Result<Option<&'a IdempotencyRecord>, Error> {
    match record.map(|record| &record.value) {
        Some(record) if record.expires_at > now => {
            if record.fingerprint == asked.fingerprint {
                Ok(Some(record))
            } else {
                Err(Error::IdempotencyKeyReused)
            }
        }
        Some(_) | None => Ok(None),
    }
}

/// What is answered to a key, to be kept.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "the engine builds it")]
pub struct Answered {
    /// Which kind of success.
    pub success: Success,
    /// The path of what was created.
    pub location: Option<String>,
    /// The body.
    pub body: String,
    /// Does the body hold a secret?
    pub secret: bool,
}

impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The body is what only the caller may see.
        f.debug_struct("Answered")
            .field("success", &self.success)
            .field("location", &self.location)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .field("secret", &self.secret)
            .finish()
    }
}

/// Adds the record of an answer to the changes that make it true. A record whose time is over is
/// replaced.
///
/// # Errors
/// [`SealError`] when a secret body cannot be sealed.
///
/// ```
/// use cauri_core::{
///     Changeset, IdempotencyRecord, Success,
///     decide::idempotency::{Answered, Idempotency, keep},
/// };
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let asked = Idempotency { key: "order-1001".parse()?, fingerprint: [1; 32] };
/// let answered =
///     Answered { success: Success::Created, location: None, body: "{}".into(), secret: false };
/// let (mut changes, keys) = (Changeset::new(), shop.keys.clone());
/// keep(&mut changes, shop.scope, asked, answered, None, &keys, &mut shop.env)?;
/// assert_eq!(shop.commit(changes), Ok(()));
/// let kept = shop.last::<IdempotencyRecord>();
/// assert_eq!(kept.due_at, Some(shop.now().plus_seconds(86_400))); // then it is forgotten
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn keep(
    changes: &mut Changeset,
    scope: Scope,
    asked: Idempotency,
    answered: Answered,
    expired: Option<&Versioned<IdempotencyRecord>>,
    keys: &Keyring,
    env: &mut Env,
) -> Result<(), SealError> {
    let Idempotency { key, fingerprint } = asked;
    let Answered { success, location, body, secret } = answered;
    let body = if secret {
        StoredBody::Sealed(keys.seal(body.as_bytes(), key.as_str().as_bytes(), env.nonce())?)
    } else {
        StoredBody::Plain(body)
    };
    let now = env.now();
    let expires_at = now.plus_millis(RETENTION_MS);
    let created_at = now;
    let record = IdempotencyRecord {
        scope,
        key,
        fingerprint,
        success,
        location,
        body,
        created_at,
        expires_at,
    };
    match expired {
        Some(old) => changes.update(record, old.version, Some(expires_at)),
        None => changes.insert(record, Some(expires_at)),
    }
    Ok(())
}

/// The body of a record, in clear.
///
/// # Errors
/// [`SealError`] when it cannot be opened with these keys.
///
/// ```
/// use cauri_core::{
///     Changeset, IdempotencyRecord, StoredBody, Success,
///     decide::idempotency::{Answered, Idempotency, body, keep},
/// };
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let asked = Idempotency { key: "endpoint-1".parse()?, fingerprint: [1; 32] };
/// let text = r#"{"secret":"whsec_1234"}"#.to_owned();
/// let answered =
///     Answered { success: Success::Created, location: None, body: text.clone(), secret: true };
/// let (mut changes, keys) = (Changeset::new(), shop.keys.clone());
/// keep(&mut changes, shop.scope, asked, answered, None, &keys, &mut shop.env)?;
/// assert_eq!(shop.commit(changes), Ok(()));
/// // An answer with a secret in it is kept sealed, and opened for whoever sends the key again.
/// let record = shop.last::<IdempotencyRecord>().value;
/// assert!(matches!(record.body, StoredBody::Sealed(_)));
/// assert_eq!(body(&record, &keys)?, text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn body(record: &IdempotencyRecord, keys: &Keyring) -> Result<String, SealError> {
    match &record.body {
        StoredBody::Plain(body) => Ok(body.clone()),
        StoredBody::Sealed(sealed) => {
            let opened = keys.open(sealed, record.key.as_str().as_bytes())?;
            String::from_utf8(opened).map_err(|_| SealError::Malformed)
        }
    }
}
