//! What time it is.

use std::fmt::Debug;

use cauri_core::Timestamp;

/// Tells the time. Asked once per use case and once per step of the worker.
///
/// # Laws
/// 1. It may stand still and it may step back; nothing breaks, since ids and `updated_at` increase
///    by themselves. But what is planned for a moment waits for it: a clock that steps back by an
///    hour delays retries, expiry and settlement by an hour.
/// 2. Clocks of several nodes may differ by less than the length of a lease.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}
