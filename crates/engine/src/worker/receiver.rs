//! Who receives: an endpoint, with what signs for it.

use std::sync::{Arc, OnceLock};

use cauri_core::{
    Keyring, SealError, Sealed, Timestamp, WebhookEndpoint, decide::webhook_endpoint::secret_owner,
    signature::SigningKey,
};

/// An endpoint as it was read. Its secrets are opened once, when something is signed for it first.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(super) endpoint: Arc<WebhookEndpoint>,
    /// The present secret's, and the previous one's behind it.
    keys: OnceLock<Vec<SigningKey>>,
}

impl Receiver {
    pub(super) const fn new(endpoint: Arc<WebhookEndpoint>) -> Self {
        Self { endpoint, keys: OnceLock::new() }
    }

    /// May anything be sent to it?
    pub(super) fn receives(&self) -> bool {
        self.endpoint.active && self.endpoint.deleted_at.is_none()
    }

    /// What signs at this moment, the present key first.
    pub(super) fn keys(&self, of: &Keyring, now: Timestamp) -> Result<&[SigningKey], SealError> {
        let keys = match self.keys.get() {
            Some(keys) => keys,
            None => {
                let opened = self.open(of)?;
                self.keys.get_or_init(|| opened)
            }
        };
        let previous = self.endpoint.previous_secret.as_ref();
        let count = if previous.is_some_and(|it| it.expires_at > now) { 2 } else { 1 };
        Ok(keys.get(..count).unwrap_or(keys))
    }

    fn open(&self, keys: &Keyring) -> Result<Vec<SigningKey>, SealError> {
        let mut opened = vec![self.key(keys, &self.endpoint.secret)?];
        if let Some(previous) = &self.endpoint.previous_secret {
            // One that cannot be opened any more does not keep the present one from signing.
            opened.extend(self.key(keys, &previous.secret).ok());
        }
        Ok(opened)
    }

    fn key(&self, keys: &Keyring, sealed: &Sealed) -> Result<SigningKey, SealError> {
        let secret = keys.open(sealed, secret_owner(self.endpoint.id).as_bytes())?;
        let text = std::str::from_utf8(&secret).map_err(|_| SealError::Malformed)?;
        SigningKey::new(text).map_err(|_| SealError::Malformed)
    }
}
