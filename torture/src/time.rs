//! The machine's clock, which real processes live by.

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "real processes are watched in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a receiver compares a signature's time with its own"
)]
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Asks until the answer is good; `Err` is what was wrong with the last one.
pub(crate) fn within<T>(
    limit: Duration,
    pause: Duration,
    mut probe: impl FnMut() -> Result<T, String>,
) -> Result<T, String> {
    let deadline = now() + limit;
    loop {
        match probe() {
            Ok(found) => return Ok(found),
            Err(seen) if now() >= deadline => return Err(format!("not within {limit:?}: {seen}")),
            Err(_) => sleep(pause),
        }
    }
}
