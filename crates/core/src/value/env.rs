//! What a decision is handed of the outside: the time and chance, asked once.

use std::fmt;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{id::Id, secret::Secret, time::Timestamp};

/// The moment of a decision and a well of fresh ids and secrets.
///
/// Two decisions made with equal `Env`s make equal ids, which is what lets a decision be made again
/// after a lost race without changing its ids.
#[derive(Clone)]
pub struct Env {
    now: Timestamp,
    tick: Tick,
    seed: [u8; 32],
    ids: u16,
    blocks: u64,
    spare: Vec<u8>,
}

/// A process's place in the order of ids: a millisecond and a number within it. Whoever makes
/// [`Env`]s hands out strictly increasing ticks.
///
/// ```
/// use cauri_core::{Tick, Timestamp};
/// let first = Tick::first(Timestamp::from_millis(1_000));
/// assert!(first < first.next());
/// assert!(first.next() < Tick::first(Timestamp::from_millis(1_001)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(u64);

impl Tick {
    /// The first of a millisecond.
    ///
    /// ```
    /// use cauri_core::{Tick, Timestamp};
    /// let at = Timestamp::from_millis(1_000);
    /// assert!(Tick::first(at) < Tick::first(at.plus_millis(1)));
    /// ```
    #[must_use]
    pub fn first(at: Timestamp) -> Self {
        Self(u64::try_from(at.millis()).unwrap_or(0) << 12)
    }

    /// The one after this; runs on into the next millisecond.
    ///
    /// ```
    /// use cauri_core::{Tick, Timestamp};
    /// let tick = Tick::first(Timestamp::from_millis(1_000));
    /// assert!(tick.next() > tick);
    /// ```
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// As a number, to be kept in an atomic.
    ///
    /// ```
    /// use cauri_core::{Tick, Timestamp};
    /// let tick = Tick::first(Timestamp::from_millis(1_000));
    /// assert_eq!(tick.next().bits(), tick.bits() + 1);
    /// ```
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// From [`Tick::bits`].
    ///
    /// ```
    /// use cauri_core::{Tick, Timestamp};
    /// let tick = Tick::first(Timestamp::from_millis(1_000));
    /// assert_eq!(Tick::from_bits(tick.bits()), tick);
    /// ```
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl Env {
    /// `seed` must come from a cryptographically secure source: secrets are drawn from it.
    ///
    /// ```
    /// use cauri_core::{Env, PaymentId, Tick, Timestamp};
    /// let now = Timestamp::from_millis(1_731_974_400_000);
    /// let mut env = Env::new(now, Tick::first(now), [7; 32]);
    /// let mut again = Env::new(now, Tick::first(now), [7; 32]);
    /// // A decision that is made again names its things as it did before.
    /// assert_eq!(env.id::<PaymentId>(), again.id::<PaymentId>());
    /// ```
    #[must_use]
    pub const fn new(now: Timestamp, tick: Tick, seed: [u8; 32]) -> Self {
        Self { now, tick, seed, ids: 0, blocks: 0, spare: Vec::new() }
    }

    /// The moment of the decision.
    ///
    /// ```
    /// use cauri_core::{Env, Tick, Timestamp};
    /// let now = Timestamp::from_millis(1_731_974_400_000);
    /// assert_eq!(Env::new(now, Tick::first(now), [7; 32]).now(), now);
    /// ```
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// A fresh id: a UUIDv7 that is greater than every id drawn before it, in this `Env` and in
    /// those with an earlier tick.
    ///
    /// ```
    /// use cauri_core::{Env, EventId, Tick, Timestamp};
    /// let now = Timestamp::from_millis(1_731_974_400_000);
    /// let mut env = Env::new(now, Tick::first(now), [7; 32]);
    /// let (first, second): (EventId, EventId) = (env.id(), env.id());
    /// assert!(first < second);
    /// assert!(first.to_string().starts_with("evt_"));
    /// ```
    pub fn id<T: Id>(&mut self) -> T {
        // 48 bits of milliseconds · version · 12 bits of tick · variant · 14 bits of place within
        // this Env · 48 bits of chance.
        let tick = u128::from(self.tick.0);
        let place = u128::from(self.ids & 0x3fff);
        self.ids = self.ids.saturating_add(1);
        let mut chance = 0_u128;
        for _ in 0..6 {
            chance = (chance << 8) | u128::from(self.byte());
        }
        let bits = (tick >> 12) << 80
            | 0x7 << 76
            | (tick & 0xfff) << 64
            | 0b10 << 62
            | place << 48
            | chance;
        T::from_uuid(Uuid::from_u128(bits))
    }

    /// `prefix` and 40 letters and digits: 238 bits of chance (API §3.1, §16.2).
    ///
    /// ```
    /// use cauri_core::{Env, Tick, Timestamp};
    /// let now = Timestamp::from_millis(1_731_974_400_000);
    /// let mut env = Env::new(now, Tick::first(now), [7; 32]);
    /// let secret = env.secret("whsec_");
    /// assert!(secret.reveal().starts_with("whsec_") && secret.reveal().len() == 46);
    /// assert_ne!(secret, env.secret("whsec_"));
    /// ```
    pub fn secret(&mut self, prefix: &str) -> Secret {
        const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut text = String::with_capacity(prefix.len().saturating_add(40));
        text.push_str(prefix);
        let mut left = 40_u8;
        while left > 0 {
            // Bytes from 248 on are passed over, so that every letter is equally likely.
            let byte = self.byte();
            if let (true, Some(letter)) = (byte < 248, BASE62.get(usize::from(byte % 62))) {
                text.push(char::from(*letter));
                left = left.saturating_sub(1);
            }
        }
        Secret::new(text)
    }

    /// Twenty-four bytes that are used once: the nonce of a sealed secret.
    ///
    /// ```
    /// use cauri_core::{Env, Tick, Timestamp};
    /// let now = Timestamp::from_millis(1_731_974_400_000);
    /// let mut env = Env::new(now, Tick::first(now), [7; 32]);
    /// assert_ne!(env.nonce(), env.nonce());
    /// ```
    pub fn nonce(&mut self) -> [u8; 24] {
        std::array::from_fn(|_| self.byte())
    }

    fn byte(&mut self) -> u8 {
        loop {
            if let Some(byte) = self.spare.pop() {
                return byte;
            }
            let block = Sha256::new()
                .chain_update(self.seed)
                .chain_update(self.tick.0.to_be_bytes())
                .chain_update(self.blocks.to_be_bytes())
                .finalize();
            self.blocks = self.blocks.saturating_add(1);
            self.spare.extend_from_slice(&block);
        }
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The seed would give away the secrets drawn from it.
        f.debug_struct("Env")
            .field("now", &self.now)
            .field("tick", &self.tick)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::id::{EventId, PaymentId};

    #[test]
    fn ids_increase_within_an_env_and_over_ticks() {
        let now = Timestamp::from_millis(1_731_974_400_000);
        let mut tick = Tick::first(now);
        let mut last = EventId::from_uuid(Uuid::nil());
        for seed in 0..100_u8 {
            let mut env = Env::new(now, tick, [255 - seed; 32]);
            for _ in 0..50 {
                let id: EventId = env.id();
                assert!(id > last);
                assert_eq!(id.uuid().get_version_num(), 7);
                assert_eq!(id.uuid().get_variant(), uuid::Variant::RFC4122);
                last = id;
            }
            tick = tick.next();
        }
    }

    #[test]
    fn the_same_env_makes_the_same_ids_and_another_seed_makes_others() {
        let env = |seed| Env::new(Timestamp::EPOCH, Tick::first(Timestamp::EPOCH), [seed; 32]);
        let (mut a, mut b, mut c) = (env(1), env(1), env(2));
        assert_eq!(a.id::<PaymentId>(), b.id::<PaymentId>());
        assert_eq!(a.secret("sk_test_"), b.secret("sk_test_"));
        assert_ne!(a.id::<PaymentId>(), c.id::<PaymentId>());
        assert_ne!(a.secret("sk_test_"), c.secret("sk_test_"));
        assert_eq!(a.secret("whsec_").reveal().len(), 46);
        assert!(!format!("{a:?}").contains("seed"));
    }
}
