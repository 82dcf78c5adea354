//! A clock that tests own.

use std::sync::atomic::{AtomicI64, Ordering};

use cauri::{Clock, Timestamp};

/// Stands still until it is moved.
///
/// ```
/// use cauri::{Clock, Timestamp};
/// use cauri_conformance::ManualClock;
/// let clock = ManualClock::at(Timestamp::EPOCH);
/// clock.advance_millis(1_500);
/// assert_eq!(clock.now().to_string(), "1970-01-01T00:00:01.500Z");
/// ```
#[derive(Debug)]
pub struct ManualClock {
    millis: AtomicI64,
}

impl ManualClock {
    /// Stands at a moment.
    #[must_use]
    pub const fn at(now: Timestamp) -> Self {
        Self { millis: AtomicI64::new(now.millis()) }
    }

    /// Moves to a moment, earlier ones included.
    pub fn set(&self, now: Timestamp) {
        self.millis.store(now.millis(), Ordering::SeqCst);
    }

    /// Moves on, or back; answers the moment after.
    pub fn advance_millis(&self, millis: i64) -> Timestamp {
        let moved = |now| Some(Timestamp::from_millis(now).plus_millis(millis).millis());
        // The closure never declines, so both arms are the moment before.
        let (Ok(before) | Err(before)) =
            self.millis.fetch_update(Ordering::SeqCst, Ordering::SeqCst, moved);
        Timestamp::from_millis(before).plus_millis(millis)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }
}
