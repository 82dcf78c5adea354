//! What is believed is read anew in time, beside whoever asks.

use std::hash::Hash;

use cauri_core::Timestamp;
use tokio::runtime::Handle;

use crate::{
    cache::{Cache, Ticket},
    engine::Engine,
    port::store::StoreError,
};

impl Engine {
    /// Has what is overdue read anew in a task of its own, if anything is: whoever found one of it
    /// goes on with what is believed. Should the reading fail, that is all that happens; whoever
    /// needs one that is believed no more reads it and hears why not.
    pub(crate) fn renew<K, V, F>(
        &self,
        cache: &Cache<K, V>,
        now: Timestamp,
        read: impl FnOnce(Self, Vec<K>, Ticket) -> F,
    ) where
        K: Clone + Eq + Hash,
        V: Clone,
        F: Future<Output = Result<(), StoreError>> + Send + 'static,
    {
        // A host's transaction may be over by the time of the reading.
        if self.0.of_host {
            return;
        }
        let overdue = cache.overdue(now);
        if overdue.is_empty() {
            return;
        }
        // Outside of one, everything is read by whoever needs it.
        let Ok(runtime) = Handle::try_current() else { return };
        let ticket = cache.ticket();
        let reading = read(self.clone(), overdue, ticket);
        runtime.spawn(async move {
            if let Err(error) = reading.await {
                tracing::debug!(%error, "what is believed could not be read anew");
            }
        });
    }
}
