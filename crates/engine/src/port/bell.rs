//! Between processes: something is due.

use std::fmt::Debug;

use async_trait::async_trait;

/// Wakes the workers of other processes over the same store, for work that nobody has in hand: a
/// process without a worker made it. Without a bell they find it within their period.
///
/// # Laws
/// 1. **Only a hint.** A ring may be lost, doubled or in vain: what is due is in the store, and the
///    worker's period finds it.
/// 2. **Not before it is there.** Whoever hears a ring finds in the store what it was rung for.
/// 3. **Patient.** `rung` waits until somebody rings, may be dropped at any moment, and misses
///    nothing that was rung since it was last awaited. It is awaited by one worker.
#[async_trait]
pub trait Bell: Debug + Send + Sync + 'static {
    /// Tells the others.
    async fn ring(&self);

    /// Waits until somebody has rung.
    async fn rung(&self);
}
