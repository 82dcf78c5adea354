//! Chance, each throw of it named: the same seed, place and count give the same throw, whatever
//! else happened in between.

use cauri_conformance::fixtures::Random;

/// Makes one number of several.
pub(crate) const fn mix(seed: u64, parts: &[u64]) -> u64 {
    let mut sum = seed;
    let mut at = 0;
    while at < parts.len() {
        sum = (sum ^ parts[at]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 29;
        at += 1;
    }
    sum
}

/// FNV-1a: small, known, and the same on every machine.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    hash_on(0xcbf2_9ce4_8422_2325, bytes)
}

pub(crate) fn hash_on(sum: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(sum, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The throws of one place at one moment.
#[derive(Debug)]
pub(crate) struct Dice {
    /// What this throw is known by: the name of every fault that comes of it.
    pub(crate) name: u64,
    pub(crate) random: Random,
}

impl Dice {
    pub(crate) fn new(name: u64) -> Self {
        Self { name, random: Random::new(name) }
    }

    /// True so many times in ten thousand.
    pub(crate) fn hit(&mut self, of_ten_thousand: usize) -> bool {
        self.random.below(10_000) < of_ten_thousand
    }

    /// A number of milliseconds.
    pub(crate) fn millis(&mut self, low: u64, high: u64) -> u64 {
        low + self.random.bits() % (high - low + 1)
    }
}
