//! The only place where the machine's own time and chance are read.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use cauri_core::{Env, Tick, Timestamp};

use crate::port::{clock::Clock, entropy::Entropy};

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        // A clock before 1970 is taken as 1970: ids still increase by themselves.
        let millis = since.map_or(0, |since| since.as_millis());
        Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }
}

/// The operating system's random bytes.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    /// # Panics
    /// When the operating system has no random bytes to give: nothing may go on without them.
    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).expect("the operating system gives random bytes");
        seed
    }
}

/// Hands out the time and chance of each command, so that ids of one process strictly increase.
#[derive(Debug)]
pub(crate) struct Ambient {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    last: AtomicU64,
}

impl Ambient {
    pub(crate) fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy, last: AtomicU64::new(0) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A fresh environment: its tick is after every one handed out before, even when the clock
    /// stands still or steps back.
    pub(crate) fn env(&self) -> Env {
        let now = self.clock.now();
        let first = Tick::first(now);
        let next = |last: u64| first.max(Tick::from_bits(last).next()).bits();
        let last = self
            .last
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |last| Some(next(last)))
            .unwrap_or_default();
        Env::new(now, Tick::from_bits(next(last)), self.entropy.seed())
    }
}
