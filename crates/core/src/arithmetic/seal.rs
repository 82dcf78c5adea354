//! Sealing secrets at rest, with XChaCha20-Poly1305.
//!
//! A webhook secret cannot be hashed, because it must sign. It is stored sealed instead, under
//! keys the embedder keeps elsewhere, so that a copy of the database signs nothing.

use core::fmt;

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305,
    aead::{Aead, Payload},
};

/// The keys that seal and open secrets.
///
/// A secret is sealed for an *owner*, the id of the record it belongs to: copied into another row,
/// it does not open. The `Debug` of a ring shows the ids of its keys, never the keys.
///
/// # Changing the key
///
/// Put the new key in front and keep the old one behind it: the first seals, all open. Then seal
/// anew whatever [`Keyring::is_current`] denies (the engine's `reseal_secrets` does); when nothing
/// is left, the old key can go.
///
/// ```
/// use cauri_core::{Keyring, SealError};
///
/// let old = Keyring::new([(1, [0xaa; 32])])?;
/// let sealed = old.seal(b"whsec_a", b"whe_1", [7; 24])?;
///
/// let new = Keyring::new([(2, [0xbb; 32]), (1, [0xaa; 32])])?;
/// assert_eq!(new.open(&sealed, b"whe_1")?, b"whsec_a");
/// assert_eq!(new.open(&sealed, b"whe_2"), Err(SealError::NotOurs));
/// assert!(!new.is_current(&sealed));
/// assert_eq!(format!("{new:?}"), "Keyring { ids: [2, 1], .. }");
/// # Ok::<(), SealError>(())
/// ```
#[derive(Clone)]
pub struct Keyring {
    current: (u8, XChaCha20Poly1305),
    former: Vec<(u8, XChaCha20Poly1305)>,
}

impl Keyring {
    /// The length of a key.
    pub const KEY_LEN: usize = 32;

    /// The length of a nonce. It is long enough to be drawn at random for every sealing.
    pub const NONCE_LEN: usize = 24;

    /// Makes a ring of keys, each with an id that stays with it for good. The first seals.
    ///
    /// # Errors
    ///
    /// [`SealError::KeyMissing`] without a key, [`SealError::KeyIdRepeated`] when two have one id.
    ///
    /// ```
    /// use cauri_core::{Keyring, SealError};
    ///
    /// assert!(Keyring::new([(0, [1; 32]), (1, [2; 32])]).is_ok());
    /// assert_eq!(Keyring::new([]).err(), Some(SealError::KeyMissing));
    /// assert_eq!(
    ///     Keyring::new([(0, [1; 32]), (0, [2; 32])]).err(),
    ///     Some(SealError::KeyIdRepeated { key: 0 }),
    /// );
    /// ```
    pub fn new(
        keys: impl IntoIterator<Item = (u8, [u8; Self::KEY_LEN])>,
    ) -> Result<Self, SealError> {
        let mut keys = keys.into_iter().map(|(id, key)| (id, XChaCha20Poly1305::new(&key.into())));
        let current = keys.next().ok_or(SealError::KeyMissing)?;
        let mut ring = Self { current, former: Vec::new() };
        for (id, key) in keys {
            if ring.key(id).is_some() {
                return Err(SealError::KeyIdRepeated { key: id });
            }
            ring.former.push((id, key));
        }
        Ok(ring)
    }

    /// Seals a secret for its owner, the id of the record it belongs to.
    ///
    /// The nonce must never have been used with this key: draw all of it at random.
    ///
    /// # Errors
    ///
    /// [`SealError::SecretTooLong`] beyond what the cipher takes, some 256 GiB.
    ///
    /// ```
    /// use cauri_core::Keyring;
    ///
    /// let keys = Keyring::new([(1, [0xaa; 32])])?;
    /// let sealed = keys.seal(b"whsec_a", b"whe_1", [7; 24])?;
    /// assert_eq!(sealed.as_bytes().len(), 1 + 1 + 24 + 7 + 16);
    /// # Ok::<(), cauri_core::SealError>(())
    /// ```
    pub fn seal(
        &self,
        secret: &[u8],
        owner: &[u8],
        nonce: [u8; Self::NONCE_LEN],
    ) -> Result<Sealed, SealError> {
        let (id, key) = &self.current;
        let aad = associated(*id, owner);
        let ciphertext = key
            .encrypt(&nonce.into(), Payload { msg: secret, aad: &aad })
            .map_err(|_| SealError::SecretTooLong)?;
        Ok(Sealed([&[VERSION, *id], nonce.as_slice(), &ciphertext].concat()))
    }

    /// Opens what any of the keys sealed for this owner.
    ///
    /// # Errors
    ///
    /// [`SealError::Malformed`], [`SealError::VersionUnknown`] and [`SealError::KeyUnknown`] from
    /// the outside of it; [`SealError::NotOurs`] when it was changed, was sealed for another
    /// owner, or under another key of the same id.
    ///
    /// ```
    /// use cauri_core::{Keyring, SealError};
    ///
    /// let keys = Keyring::new([(1, [0xaa; 32])])?;
    /// let sealed = keys.seal(b"whsec_a", b"whe_1", [7; 24])?;
    /// assert_eq!(keys.open(&sealed, b"whe_1")?, b"whsec_a");
    ///
    /// let others = Keyring::new([(2, [0xbb; 32])])?;
    /// assert_eq!(others.open(&sealed, b"whe_1"), Err(SealError::KeyUnknown { key: 1 }));
    /// # Ok::<(), SealError>(())
    /// ```
    pub fn open(&self, sealed: &Sealed, owner: &[u8]) -> Result<Vec<u8>, SealError> {
        let (&[version, id], rest) = sealed.0.split_first_chunk().ok_or(SealError::Malformed)?;
        if version != VERSION {
            return Err(SealError::VersionUnknown { version });
        }
        let key = self.key(id).ok_or(SealError::KeyUnknown { key: id })?;
        let (nonce, msg) =
            rest.split_first_chunk::<{ Self::NONCE_LEN }>().ok_or(SealError::Malformed)?;
        let aad = associated(id, owner);
        key.decrypt(&(*nonce).into(), Payload { msg, aad: &aad }).map_err(|_| SealError::NotOurs)
    }

    /// Whether the key that seals today sealed this: if not, it is to be sealed anew before that
    /// other key goes.
    ///
    /// ```
    /// use cauri_core::Keyring;
    ///
    /// let keys = Keyring::new([(1, [0xaa; 32])])?;
    /// assert!(keys.is_current(&keys.seal(b"whsec_a", b"whe_1", [7; 24])?));
    /// # Ok::<(), cauri_core::SealError>(())
    /// ```
    #[must_use]
    pub fn is_current(&self, sealed: &Sealed) -> bool {
        sealed.0.starts_with(&[VERSION, self.current.0])
    }

    fn key(&self, id: u8) -> Option<&XChaCha20Poly1305> {
        self.keys().find_map(|(known, key)| (*known == id).then_some(key))
    }

    fn keys(&self) -> impl Iterator<Item = &(u8, XChaCha20Poly1305)> {
        core::iter::once(&self.current).chain(&self.former)
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.keys().map(|(id, _)| id).collect();
        f.debug_struct("Keyring").field("ids", &ids).finish_non_exhaustive()
    }
}

/// A sealed secret, as it is stored.
///
/// Any bytes make one: whether they open is [`Keyring::open`]'s to say. Its `Debug` shows only how
/// long it is.
///
/// # Layout
///
/// | Bytes | What |
/// |---|---|
/// | 1 | version of this layout: 1 |
/// | 1 | id of the key |
/// | 24 | nonce |
/// | rest | ciphertext, with its tag of 16 bytes |
///
/// Version, key id and owner are authenticated beside the secret.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Sealed(Vec<u8>);

impl Sealed {
    /// Takes up what was stored.
    ///
    /// ```
    /// use cauri_core::{Keyring, SealError, Sealed};
    ///
    /// let keys = Keyring::new([(1, [0xaa; 32])])?;
    /// let stored = keys.seal(b"whsec_a", b"whe_1", [7; 24])?.into_bytes();
    /// assert_eq!(keys.open(&Sealed::from_bytes(stored), b"whe_1")?, b"whsec_a");
    /// assert_eq!(keys.open(&Sealed::from_bytes(vec![1]), b""), Err(SealError::Malformed));
    /// # Ok::<(), SealError>(())
    /// ```
    #[must_use]
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    ///
    /// ```
    /// use cauri_core::Sealed;
    ///
    /// assert_eq!(Sealed::from_bytes(vec![1, 2]).as_bytes(), [1, 2]);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes to store, without copying them.
    ///
    /// ```
    /// use cauri_core::Sealed;
    ///
    /// assert_eq!(Sealed::from_bytes(vec![1, 2]).into_bytes(), [1, 2]);
    /// ```
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

/// Why something was not sealed or not opened.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// A keyring needs a key.
    #[error("no key was given to seal with")]
    KeyMissing,
    /// Two keys of one ring have the same id.
    #[error("two keys have the id {key}")]
    KeyIdRepeated {
        /// The id.
        key: u8,
    },
    /// The secret is longer than the cipher takes.
    #[error("the secret is too long to seal")]
    SecretTooLong,
    /// Too short to be a sealed secret.
    #[error("not a sealed secret")]
    Malformed,
    /// Sealed by a later version.
    #[error("sealed in the unknown version {version}")]
    VersionUnknown {
        /// The version.
        version: u8,
    },
    /// Sealed with a key that is not on the ring.
    #[error("sealed with the unknown key {key}")]
    KeyUnknown {
        /// The id of the key.
        key: u8,
    },
    /// Changed, sealed for another owner, or with another key of the same id: which of them
    /// cannot be told apart.
    #[error("the seal is broken, or is of another owner")]
    NotOurs,
}

fn associated(id: u8, owner: &[u8]) -> Vec<u8> {
    [&[VERSION, id], owner].concat()
}

const VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &[u8] = b"whsec_9fJ2kQ7xLm4Tz8Rw1Vb6Nc3Hd5Ys0Ga2Pe7Uo4Xi";
    const OWNER: &[u8] = b"whe_01jd3w8k4f7q2m9x5r6t0v1b3c";

    fn ring(ids: &[u8]) -> Keyring {
        Keyring::new(ids.iter().map(|id| (*id, [*id; Keyring::KEY_LEN]))).unwrap()
    }

    fn sealed(ids: &[u8]) -> Sealed {
        ring(ids).seal(SECRET, OWNER, [9; Keyring::NONCE_LEN]).unwrap()
    }

    #[test]
    fn the_layout_is_as_documented_and_hides_the_secret() {
        let bytes = sealed(&[3]).into_bytes();
        assert_eq!(bytes[..2], [1, 3]);
        assert_eq!(bytes[2..26], [9; 24]);
        assert_eq!(bytes.len(), 26 + SECRET.len() + 16);
        assert!(!bytes.windows(6).any(|window| window == b"whsec_"));
    }

    #[test]
    fn the_first_key_seals_and_all_open() {
        let sealed = sealed(&[1]);
        let ring = ring(&[2, 3, 1]);
        assert_eq!(ring.open(&sealed, OWNER).unwrap(), SECRET);
        assert!(!ring.is_current(&sealed));
        let again = ring.seal(SECRET, OWNER, [9; Keyring::NONCE_LEN]).unwrap();
        assert_eq!(again.as_bytes()[1], 2);
        assert!(ring.is_current(&again));
    }

    #[test]
    fn a_secret_does_not_open_in_another_row_or_with_another_key() {
        let sealed = sealed(&[1]);
        for owner in [b"whe_01jd3w8k4f7q2m9x5r6t0v1b3d".as_slice(), b"", &OWNER[1..]] {
            assert_eq!(ring(&[1]).open(&sealed, owner), Err(SealError::NotOurs));
        }
        assert_eq!(ring(&[2]).open(&sealed, OWNER), Err(SealError::KeyUnknown { key: 1 }));
        let namesake = Keyring::new([(1, [0; Keyring::KEY_LEN])]).unwrap();
        assert_eq!(namesake.open(&sealed, OWNER), Err(SealError::NotOurs));
    }

    #[test]
    fn what_is_too_short_or_too_new_is_told_apart() {
        let whole = sealed(&[1]).into_bytes();
        for len in 0..whole.len() {
            let reason = if len < 26 { SealError::Malformed } else { SealError::NotOurs };
            let cut = Sealed::from_bytes(whole[..len].to_vec());
            assert_eq!(ring(&[1]).open(&cut, OWNER), Err(reason), "{len}");
        }
        let newer = Sealed::from_bytes([&[2], &whole[1..]].concat());
        assert_eq!(ring(&[1]).open(&newer, OWNER), Err(SealError::VersionUnknown { version: 2 }));
    }

    #[test]
    fn an_empty_secret_and_an_empty_owner_are_fine() {
        let sealed = ring(&[1]).seal(b"", b"", [0; Keyring::NONCE_LEN]).unwrap();
        assert_eq!(ring(&[1]).open(&sealed, b"").unwrap(), b"");
    }

    #[test]
    fn nothing_of_key_or_secret_is_printed() {
        let keys = Keyring::new([(1, *b"sesame_sesame_sesame_sesame_1234")]).unwrap();
        assert_eq!(format!("{keys:?}"), "Keyring { ids: [1], .. }");
        assert_eq!(format!("{:?}", sealed(&[1])), "Sealed(88 bytes)");
    }

    proptest! {
        #[test]
        fn what_was_sealed_opens(secret: Vec<u8>, owner: Vec<u8>, key: [u8; 32], nonce: [u8; 24]) {
            let keys = Keyring::new([(7, key)]).unwrap();
            let sealed = keys.seal(&secret, &owner, nonce).unwrap();
            prop_assert_eq!(keys.open(&sealed, &owner).unwrap(), secret);
        }

        #[test]
        fn any_changed_byte_is_refused(at: prop::sample::Index, change in 1..=u8::MAX) {
            let mut bytes = sealed(&[1]).into_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= change;
            let every_id: Vec<u8> = (0..=u8::MAX).collect();
            prop_assert!(ring(&[1]).open(&Sealed::from_bytes(bytes.clone()), OWNER).is_err());
            prop_assert!(ring(&every_id).open(&Sealed::from_bytes(bytes), OWNER).is_err());
        }

        #[test]
        fn any_changed_owner_is_refused(at: prop::sample::Index, change in 1..=u8::MAX) {
            let mut owner = OWNER.to_vec();
            owner[at.index(OWNER.len())] ^= change;
            prop_assert_eq!(ring(&[1]).open(&sealed(&[1]), &owner), Err(SealError::NotOurs));
        }

        #[test]
        fn no_bytes_panic(bytes: Vec<u8>, owner: Vec<u8>) {
            prop_assert!(ring(&[1]).open(&Sealed::from_bytes(bytes), &owner).is_err());
        }
    }
}
