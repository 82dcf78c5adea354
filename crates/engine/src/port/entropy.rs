//! Where chance comes from.

use std::fmt::Debug;

/// Gives unpredictable bytes. Ids and secrets are drawn from them.
///
/// # Laws
/// 1. In production the bytes come from a cryptographically secure source; only tests bring others.
pub trait Entropy: Debug + Send + Sync + 'static {
    /// Thirty-two fresh bytes.
    fn seed(&self) -> [u8; 32];
}
