//! API keys as they are shown (API §3.3).

use serde::{Deserialize, Serialize};

use super::tag;
use crate::{
    model::api_key as model,
    value::{id::ApiKeyId, money::Overflow, scope::Environment, text::Text, time::Timestamp},
};

/// An API key, never with the key itself (API §3.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// `api_key`.
    pub object: tag::ApiKey,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Secret or public.
    #[serde(rename = "type")]
    pub kind: model::ApiKeyKind,
    /// For people.
    pub name: Option<Text<100>>,
    /// What of it may be shown.
    pub hint: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last seen.
    pub last_used_at: Option<Timestamp>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// What is shown of a key.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::wire::ApiKey;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let (key, clear) = shop.key();
    /// let shown = serde_json::to_string(&ApiKey::of(&key.value)?)?;
    /// assert!(shown.contains("sk_test_…") && !shown.contains(clear.reveal()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(key: &model::ApiKey) -> Result<Self, Overflow> {
        let model::ApiKey {
            id,
            scope,
            kind,
            name,
            hint,
            hash: _,
            created_at,
            last_used_at,
            expires_at,
            revoked_at,
        } = key;
        Ok(Self {
            id: *id,
            object: tag::ApiKey,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            kind: *kind,
            name: name.clone(),
            hint: hint.clone(),
            created_at: *created_at,
            last_used_at: *last_used_at,
            expires_at: *expires_at,
            revoked_at: *revoked_at,
        })
    }
}
