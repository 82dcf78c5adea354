//! From a name to its addresses.

use std::{fmt, io, net::IpAddr, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::{net::lookup_host, sync::Semaphore};

/// Resolves names; tests put a script in its place.
#[derive(Clone)]
pub(crate) struct Lookup(Arc<Resolve>);

type Resolve = dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync;

impl Lookup {
    /// Asks the system.
    pub(crate) fn system() -> Self {
        let slots = Arc::new(Semaphore::new(LOOKUPS_MAX));
        Self::new(move |name| {
            let slots = Arc::clone(&slots);
            // A task of its own, because a lookup cannot be called off: whoever gives up waiting
            // must not free a slot while the system still works on it.
            let lookup = tokio::spawn(async move {
                let _slot = slots.acquire().await.map_err(io::Error::other)?;
                Ok(lookup_host((name, 0)).await?.map(|found| found.ip()).collect())
            });
            lookup.map(|ended| ended.map_err(io::Error::other)?).boxed()
        })
    }

    pub(crate) fn new(
        resolve: impl Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(resolve))
    }

    pub(crate) async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (self.0)(name.to_owned()).await
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}

/// Each lookup holds one of the runtime's blocking threads, of which there are 512, for as long as
/// a dead name server likes. The stores need some of them too.
const LOOKUPS_MAX: usize = 64;
