//! Runs the laws, one named trial each.

use std::{
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use cauri::Store;
use futures_util::future::BoxFuture;
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::{runtime, time::timeout};

use crate::{
    law::{LAWS, Law},
    subject::Subject,
};

/// A law that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs every law against a store, with the arguments of the command line, as `cargo test` and
/// `cargo nextest` give them. `fresh` makes a new empty store for each law.
///
/// This is all of a store's `tests/conforms.rs`, which `Cargo.toml` lists with `harness = false`.
/// A store that outlives its process needs [`Harness::reopening`] too.
///
/// ```no_run
/// # use std::process::ExitCode;
/// # use cauri_memory::MemoryStore;
/// fn main() -> ExitCode {
///     cauri_conformance::main("MemoryStore", || async { MemoryStore::new() })
/// }
/// ```
pub fn main<S, F, Fut>(name: &'static str, fresh: F) -> ExitCode
where
    S: Store,
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = S> + Send + 'static,
{
    Harness::new(name, fresh).main()
}

/// A store before the laws.
///
/// ```no_run
/// # use std::process::ExitCode;
/// # use cauri_conformance::Harness;
/// # use cauri_memory::MemoryStore;
/// # type FileStore = MemoryStore;
/// fn main() -> ExitCode {
///     Harness::new("FileStore", || async { FileStore::new() })
///         // Closes it and opens the same files again.
///         .reopening(|store| async move { store })
///         .main()
/// }
/// ```
pub struct Harness<S> {
    name: &'static str,
    fresh: Arc<dyn Fn() -> BoxFuture<'static, S> + Send + Sync>,
    reopen: Option<Reopen<S>>,
}

/// Closes a store and opens it again where it was.
pub(crate) type Reopen<S> = Arc<dyn Fn(S) -> BoxFuture<'static, S> + Send + Sync>;

impl<S: Store> Harness<S> {
    /// `fresh` makes a new empty store, which shares nothing with those made before.
    ///
    /// A store whose name says `memory` is exempt from law 9.
    pub fn new<F, Fut>(name: &'static str, fresh: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = S> + Send + 'static,
    {
        Self { name, fresh: Arc::new(move || Box::pin(fresh())), reopen: None }
    }

    /// `reopen` closes a store, as suddenly as it likes, and opens it again where it was. By then
    /// every commit has been answered, and nobody else uses the store.
    #[must_use]
    pub fn reopening<F, Fut>(mut self, reopen: F) -> Self
    where
        F: Fn(S) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = S> + Send + 'static,
    {
        self.reopen = Some(Arc::new(move |store| Box::pin(reopen(store))));
        self
    }

    /// Runs every law, with the arguments of the command line.
    pub fn main(self) -> ExitCode {
        let harness = Arc::new(self);
        let trial = |law: &'static Law| {
            let harness = Arc::clone(&harness);
            let exempt = harness.is_exempt(law);
            let run = move || {
                harness.run(law);
                Ok::<(), Failed>(())
            };
            Trial::test(law.name, run).with_ignored_flag(exempt)
        };
        let trials = LAWS.iter().map(trial).collect();
        libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
    }

    /// The names of the laws that do not hold, of those whose names begin so (`law_5_`; all begin
    /// with nothing): for tests that a broken store is told from a right one.
    #[must_use]
    pub fn broken_laws(&self, prefix: &str) -> Vec<&'static str> {
        let breaks = |law: &&Law| panic::catch_unwind(AssertUnwindSafe(|| self.run(law))).is_err();
        let laws = LAWS.iter().filter(|law| law.name.starts_with(prefix) && !self.is_exempt(law));
        laws.filter(breaks).map(|law| law.name).collect()
    }

    fn is_exempt(&self, law: &Law) -> bool {
        let in_memory = self.name.to_lowercase().contains("memory");
        law.name.starts_with("law_9_") && in_memory && self.reopen.is_none()
    }

    /// # Panics
    /// When the law does not hold.
    fn run(&self, law: &Law) {
        let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let trial = async {
            let store = (self.fresh)().await;
            (law.run)(Subject::new(Arc::new(store), self.reopen.clone())).await;
        };
        let trial = async { timeout(LIMIT, trial).await };
        let in_time = runtime.expect("a runtime").block_on(trial);
        in_time.expect("a law that is answered in time");
    }
}

impl<S> std::fmt::Debug for Harness<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Harness").field("name", &self.name).finish_non_exhaustive()
    }
}
