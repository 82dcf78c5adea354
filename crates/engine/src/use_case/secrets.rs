//! The keys that seal what is kept, and what they seal.

use cauri_core::{Environment, Key, List, Query, Scope, WebhookEndpoint, decide::webhook_endpoint};

use crate::{engine::Engine, error::Error, store_ext::StoreExt};

/// How often an endpoint is read again that others change meanwhile.
const TRIES: usize = 16;

/// What was sealed anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Resealed {
    /// Webhook endpoints that were looked at.
    pub endpoints: u64,
    /// Those of them whose secrets were sealed with another key before.
    pub renewed: u64,
}

impl Engine {
    /// Seals every webhook secret with the key that seals today, so that the keys behind it on the
    /// ring are needed for none of them any more. It may run beside whatever else runs on the store,
    /// and again.
    ///
    /// Answers kept for an `Idempotency-Key` may hold a secret as well; they are gone a day after
    /// (API §5), and so may then be the old key.
    ///
    /// # Errors
    /// [`Error::Seal`] when a secret opens with no key of the ring; those before it are done.
    /// [`Error::Store`], or [`Error::Contended`].
    pub async fn reseal_secrets(&self) -> Result<Resealed, Error> {
        let mut resealed = Resealed::default();
        for account in self.accounts().await? {
            for &environment in Environment::ALL {
                let scope = Scope { account: account.id, environment };
                let query = Query::all(List::WebhookEndpoints(scope));
                for endpoint in self.0.store.all::<WebhookEndpoint>(query).await? {
                    resealed.endpoints += 1;
                    let key = Key::WebhookEndpoint(scope, endpoint.id);
                    resealed.renewed += u64::from(self.reseal(key).await?);
                }
            }
        }
        Ok(resealed)
    }

    /// Was there anything to do?
    async fn reseal(&self, key: Key) -> Result<bool, Error> {
        for _ in 0..TRIES {
            let found = self.0.store.find::<WebhookEndpoint>(key.clone()).await?;
            // One that is deleted signs nothing any more.
            let Some(found) = found.filter(|it| it.value.deleted_at.is_none()) else {
                return Ok(false);
            };
            let mut env = self.0.ambient.env();
            let Some(changes) = webhook_endpoint::reseal(found, &self.0.keys, &mut env)? else {
                return Ok(false);
            };
            if self.commit(changes, None).await?.is_ok() {
                return Ok(true);
            }
        }
        Err(Error::Contended)
    }
}
