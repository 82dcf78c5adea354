//! Runs the laws of a gateway, one named trial each.

use std::{
    fmt,
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use cauri::Capabilities;
use futures_util::future::BoxFuture;
use libtest_mimic::{Arguments, Completion, Trial};
use tokio::{runtime, time::timeout};

use super::{
    law::{LAWS, Law},
    rig::Rig,
    subject::Subject,
};

/// A law that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Makes a fresh rig.
type Fresh = Arc<dyn Fn() -> BoxFuture<'static, Arc<dyn Rig>> + Send + Sync>;

/// A gateway before the laws.
pub struct Harness {
    name: &'static str,
    declared: Capabilities,
    fresh: Fresh,
}

impl Harness {
    /// `fresh` makes a rig of its own for every trial. What the gateway does not declare is only
    /// asked to be refused.
    pub fn new<R, F, Fut>(name: &'static str, declared: Capabilities, fresh: F) -> Self
    where
        R: Rig,
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        let fresh = move || -> BoxFuture<'static, Arc<dyn Rig>> {
            let made = fresh();
            Box::pin(async move {
                let rig: Arc<dyn Rig> = Arc::new(made.await);
                rig
            })
        };
        Self { name, declared, fresh: Arc::new(fresh) }
    }

    /// Runs every law, with the arguments of the command line, as `cargo test` and `cargo nextest`
    /// give them. Cases that say nothing about a gateway that declares this are listed as ignored,
    /// and `--include-ignored` tells why.
    pub fn main(self) -> ExitCode {
        let harness = Arc::new(self);
        let trial = |law: &'static Law| {
            let harness = Arc::clone(&harness);
            let exempt = harness.is_exempt(law);
            let run = move || {
                if exempt {
                    return Ok(Completion::ignored_with(law.about.otherwise));
                }
                harness.run(law);
                Ok(Completion::Completed)
            };
            Trial::ignorable_test(law.name, run).with_ignored_flag(exempt)
        };
        let trials = LAWS.iter().map(trial).collect();
        libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
    }

    /// The names of the cases that say nothing about a gateway that declares this.
    #[must_use]
    pub fn exempt_laws(&self) -> Vec<&'static str> {
        LAWS.iter().filter(|law| self.is_exempt(law)).map(|law| law.name).collect()
    }

    /// The names of the laws that do not hold, of those whose names begin so (`law_2_`; all begin
    /// with nothing): for tests that a broken gateway is told from a right one.
    #[must_use]
    pub fn broken_laws(&self, prefix: &str) -> Vec<&'static str> {
        let breaks = |law: &&Law| panic::catch_unwind(AssertUnwindSafe(|| self.run(law))).is_err();
        let laws = LAWS.iter().filter(|law| law.name.starts_with(prefix) && !self.is_exempt(law));
        laws.filter(breaks).map(|law| law.name).collect()
    }

    fn is_exempt(&self, law: &Law) -> bool {
        !(law.about.applies)(self.declared)
    }

    /// # Panics
    /// When the law does not hold.
    fn run(&self, law: &Law) {
        let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let trial = async {
            let rig = (self.fresh)().await;
            (law.run)(Subject::new(rig, self.declared)).await;
        };
        let trial = async { timeout(LIMIT, trial).await };
        let in_time = runtime.expect("a runtime").block_on(trial);
        in_time.expect("a law that is answered in time");
    }
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness").field("name", &self.name).finish_non_exhaustive()
    }
}
