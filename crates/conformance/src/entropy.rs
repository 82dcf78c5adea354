//! Chance that repeats.

use std::sync::{Mutex, PoisonError};

use cauri::Entropy;

use crate::fixtures::Random;

/// Gives the same bytes for the same seed, so that ids and secrets are the same in every run. For
/// tests only: anyone can draw them too.
///
/// ```
/// use cauri::Entropy;
/// use cauri_conformance::SeededEntropy;
/// let (one, other) = (SeededEntropy::new(1), SeededEntropy::new(1));
/// let first = one.seed();
/// assert_eq!(first, other.seed());
/// assert_ne!(first, one.seed());
/// ```
#[derive(Debug)]
pub struct SeededEntropy {
    random: Mutex<Random>,
}

impl SeededEntropy {
    /// The bytes of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { random: Mutex::new(Random::new(seed)) }
    }
}

impl Entropy for SeededEntropy {
    fn seed(&self) -> [u8; 32] {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).bytes()
    }
}
