//! API keys (API §3).

use std::fmt;

use sha2::{Digest, Sha256};

use crate::value::{
    choice::choice,
    id::ApiKeyId,
    scope::{Environment, Scope},
    secret::Secret,
    text::Text,
    time::Timestamp,
};

choice! {
    /// What a key may be used for.
    #[expect(clippy::exhaustive_enums, reason = "the reference knows two kinds")]
    ApiKeyKind {
        /// Everything.
        Secret = "secret",
        /// Reading, with personal data masked (API §3.4).
        Public = "public",
    }
}

/// The SHA-256 of a whole key: what is stored and looked up instead of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Hashes a key as the client sent it; `None` for a text that is not of the form
    /// `^(sk|pk)_(test|live)_[0-9A-Za-z]{40}$`, which needs no look-up to be refused.
    ///
    /// ```
    /// use cauri_core::KeyHash;
    /// assert!(KeyHash::of(&format!("sk_test_{}", "a".repeat(40))).is_some());
    /// assert!(KeyHash::of("sk_test_nope").is_none());
    /// ```
    #[must_use]
    pub fn of(key: &str) -> Option<Self> {
        let (_, _, random) = parts(key)?;
        let form = random.len() == 40 && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        form.then(|| Self(Sha256::digest(key.as_bytes()).into()))
    }

    /// From the bytes of a store.
    ///
    /// ```
    /// use cauri_core::KeyHash;
    /// assert_eq!(KeyHash::from_bytes([7; 32]).as_bytes(), &[7; 32]);
    /// ```
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for a store.
    ///
    /// ```
    /// use cauri_core::KeyHash;
    /// let hash = KeyHash::of(&format!("sk_test_{}", "a".repeat(40))).expect("the form of a key");
    /// assert_eq!(KeyHash::from_bytes(*hash.as_bytes()), hash);
    /// ```
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

fn parts(key: &str) -> Option<(ApiKeyKind, Environment, &str)> {
    let (kind, rest) = match key.split_once('_')? {
        ("sk", rest) => (ApiKeyKind::Secret, rest),
        ("pk", rest) => (ApiKeyKind::Public, rest),
        _ => return None,
    };
    match rest.split_once('_')? {
        ("test", random) => Some((kind, Environment::Sandbox, random)),
        ("live", random) => Some((kind, Environment::Live, random)),
        _ => None,
    }
}

/// The start of every key of a kind and an environment.
#[must_use]
pub(crate) const fn prefix(kind: ApiKeyKind, environment: Environment) -> &'static str {
    match (kind, environment) {
        (ApiKeyKind::Secret, Environment::Sandbox) => "sk_test_",
        (ApiKeyKind::Secret, Environment::Live) => "sk_live_",
        (ApiKeyKind::Public, Environment::Sandbox) => "pk_test_",
        (ApiKeyKind::Public, Environment::Live) => "pk_live_",
    }
}

/// What of a key may be shown: its prefix and its last four characters.
#[must_use]
pub(crate) fn hint(kind: ApiKeyKind, environment: Environment, key: &Secret) -> String {
    let text = key.reveal();
    let tail = text.get(text.len().saturating_sub(4)..).unwrap_or_default();
    format!("{}…{tail}", prefix(kind, environment))
}

/// An API key as it is stored: never the key itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// What it opens.
    pub scope: Scope,
    /// What it may be used for.
    pub kind: ApiKeyKind,
    /// For people.
    pub name: Option<Text<100>>,
    /// What of it may be shown, e.g. `sk_test_…a1B2`.
    pub hint: String,
    /// What it is looked up by; unique, and never changed.
    pub hash: KeyHash,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last seen, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// Has it come to its end by then?
    ///
    /// ```
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let (mut key, now) = (shop.key().0.value, shop.now());
    /// assert!(!key.has_expired(now));
    /// key.expires_at = Some(now);
    /// assert!(key.has_expired(now));
    /// ```
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}
