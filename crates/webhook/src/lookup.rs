//! From a name to its addresses.

use std::{
    fmt, io,
    net::IpAddr,
    sync::{Arc, LazyLock},
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::{net::lookup_host, sync::Semaphore};

/// Resolves names; tests put a script in its place.
#[derive(Clone)]
pub(crate) struct Lookup(Arc<Resolve>);

type Resolve = dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync;

impl Lookup {
    /// Asks the system on behalf of deliveries.
    pub(crate) fn system() -> Self {
        Self::at_once(LOOKUPS_MAX, resolved)
    }

    /// Asks the system on behalf of whoever names a URL, in places of their own: names that nobody
    /// answers for must not keep deliveries waiting.
    pub(crate) fn of_checks() -> Self {
        static CHECKS: LazyLock<Lookup> = LazyLock::new(|| Lookup::at_once(CHECKS_MAX, resolved));
        CHECKS.clone()
    }

    /// So many at once.
    fn at_once<F>(max: usize, resolve: fn(String) -> F) -> Self
    where
        F: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        let slots = Arc::new(Semaphore::new(max));
        Self::new(move |name| {
            let slots = Arc::clone(&slots);
            async move {
                // Whoever gives up leaves the queue.
                let slot = slots.acquire_owned().await.map_err(io::Error::other)?;
                // A task of its own, because a lookup cannot be called off: whoever gives up now
                // must not free the slot while the system still works on it.
                let lookup = tokio::spawn(async move {
                    let _slot = slot;
                    resolve(name).await
                });
                lookup.await.map_err(io::Error::other)?
            }
            .boxed()
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

async fn resolved(name: String) -> io::Result<Vec<IpAddr>> {
    Ok(lookup_host((name, 0)).await?.map(|found| found.ip()).collect())
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}

/// Each lookup holds one of the runtime's blocking threads, of which there are 512, for as long as
/// a dead name server likes. The stores need some of them too.
const LOOKUPS_MAX: usize = 64;
const CHECKS_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_waiting_leaves_the_queue() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let lookup = Lookup::at_once(1, |_| async {
            ASKED.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok(Vec::new())
        });
        for _ in 0..10 {
            assert!(timeout(Duration::from_secs(2), lookup.addresses("slow.test")).await.is_err());
        }
        assert_eq!(ASKED.load(Ordering::SeqCst), 1, "nine never came to be asked");
        // Whoever comes when the first has been answered is the next.
        let begun = tokio::time::Instant::now();
        assert!(lookup.addresses("slow.test").await.is_ok());
        assert_eq!(begun.elapsed(), Duration::from_secs(60 - 20 + 60));
    }
}
