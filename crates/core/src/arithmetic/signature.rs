//! Signing webhooks, and verifying what was signed.
//!
//! A webhook carries `t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of the text of `t`, a dot and
//! the raw body. The key is the whole secret, `whsec_` included, as UTF-8.
//!
//! # Verifying a webhook you received
//!
//! Pass the raw body, before anything parsed it, and the header as it arrived:
//!
//! ```
//! use cauri_core::signature;
//!
//! let secret = "whsec_test_0123456789abcdefghijklmnopqrstuv";
//! let body = br#"{"id":"evt_01jd3w8k5000000000000000a1","type":"payment.succeeded"}"#;
//! let header = b"t=1731974400,v1=7ae203e9a1b70f471f77821b7aeb5d5ba5062ecab0908885f3eea20111d05b2c";
//!
//! assert_eq!(signature::verify(body, header, &[secret], 1_731_974_400), Ok(()));
//! ```
//!
//! # What is refused
//!
//! | Header | Reason |
//! |---|---|
//! | more than 4,096 bytes | [`SignatureError::HeaderTooLong`] |
//! | a byte outside ASCII | [`SignatureError::HeaderNotAscii`] |
//! | no `t`, or two (even equal ones) | [`SignatureError::TimestampMissing`], [`TimestampRepeated`] |
//! | a `t` that is not `[1-9][0-9]{0,11}` | [`SignatureError::TimestampMalformed`] |
//! | no `v1` of 64 lower-case hexadecimal digits | [`SignatureError::SignatureMissing`] |
//! | more than 16 such `v1` | [`SignatureError::SignaturesTooMany`] |
//! | none of them ours | [`SignatureError::SignatureMismatch`] |
//! | ours, but more than 300 s away from now, in the past or future | [`SignatureError::TimestampOutOfTolerance`] |
//!
//! Elements without `=`, unknown keys and unusable `v1` are ignored, so that a later scheme can be
//! sent beside this one. Keys are case-sensitive, and spaces and tabs are trimmed around an
//! element, not inside it.
//!
//! [`TimestampRepeated`]: SignatureError::TimestampRepeated

use core::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

/// The header a webhook's signature travels in, unless an embedder chose another.
pub const HEADER_NAME: &str = "X-Webhook-Signature";

/// The longest header that is read.
pub const HEADER_BYTES_MAX: usize = 4_096;

/// The most usable `v1` in one header. Each costs a comparison with each secret; a sender needs
/// one, or two while a secret is being rotated. A header with more is refused whole rather than
/// cut, so that nothing depends on the order of what a stranger wrote.
pub const CANDIDATES_MAX: usize = 16;

/// How far `t` may be from now, both ways.
pub const TOLERANCE_SECONDS: u64 = 300;

/// Signs a body as of `t` (unix seconds), answering 64 lower-case hexadecimal digits.
///
/// ```
/// use cauri_core::signature::{self, SigningKey};
///
/// let key = SigningKey::new("whsec_test_0123456789abcdefghijklmnopqrstuv")?;
/// let body = br#"{"id":"evt_01jd3w8k5000000000000000a1","type":"payment.succeeded"}"#;
/// assert_eq!(
///     signature::sign(&key, 1_731_974_400, body),
///     "7ae203e9a1b70f471f77821b7aeb5d5ba5062ecab0908885f3eea20111d05b2c",
/// );
/// # Ok::<(), signature::SignatureError>(())
/// ```
#[must_use]
pub fn sign(key: &SigningKey, t: i64, body: &[u8]) -> String {
    let mut hex = String::with_capacity(HEX_LEN);
    push_hex(&mut hex, &key.mac(t.to_string().as_bytes(), body));
    hex
}

/// Makes the header of a webhook: `t=…,v1=…`, one `v1` for each key, in the order of the keys.
///
/// While a secret is being rotated, pass the new key first: a receiver that reads the header into
/// a map sees only one.
///
/// ```
/// use cauri_core::signature::{self, SigningKey};
///
/// let (new, old) = (SigningKey::new("whsec_new")?, SigningKey::new("whsec_old")?);
/// let header = signature::header(&[new, old], 1_731_974_400, b"{}");
/// assert!(header.starts_with("t=1731974400,v1="));
/// assert_eq!(header.matches(",v1=").count(), 2);
/// assert_eq!(signature::verify(b"{}", header.as_bytes(), &["whsec_old"], 1_731_974_400), Ok(()));
/// # Ok::<(), signature::SignatureError>(())
/// ```
#[must_use]
pub fn header(keys: &[SigningKey], t: i64, body: &[u8]) -> String {
    let t = t.to_string();
    let signatures = keys.len().saturating_mul(V1_LEN.saturating_add(1));
    let mut header = String::with_capacity(signatures.saturating_add(t.len()).saturating_add(2));
    header.push_str("t=");
    header.push_str(&t);
    for key in keys {
        header.push_str(",v1=");
        push_hex(&mut header, &key.mac(t.as_bytes(), body));
    }
    header
}

/// Verifies a webhook against any of `secrets`, as of `now` (unix seconds).
///
/// Makes each secret's key schedule anew. Whoever verifies often keeps [`SigningKey`]s and calls
/// [`verify_with`].
///
/// # Errors
///
/// A [`SignatureError`] says what was wrong; see [what is refused](self#what-is-refused).
///
/// ```
/// use cauri_core::signature::{self, SignatureError, SigningKey};
///
/// let header = signature::header(&[SigningKey::new("whsec_a")?], 1_000, b"{}");
/// assert_eq!(signature::verify(b"{}", header.as_bytes(), &["whsec_b", "whsec_a"], 1_300), Ok(()));
/// assert_eq!(
///     signature::verify(b"{}", header.as_bytes(), &["whsec_a"], 1_301),
///     Err(SignatureError::TimestampOutOfTolerance { timestamp: 1_000, now: 1_301 }),
/// );
/// # Ok::<(), SignatureError>(())
/// ```
pub fn verify(
    body: &[u8],
    header: &[u8],
    secrets: &[&str],
    now: i64,
) -> Result<(), SignatureError> {
    let header = SignatureHeader::parse(header)?;
    let keys = secrets.iter().map(|secret| SigningKey::new(secret));
    header.judge(body, keys, now)
}

/// Verifies a webhook against any of `keys`, as of `now` (unix seconds).
///
/// # Errors
///
/// As [`verify`].
///
/// ```
/// use cauri_core::signature::{self, SignatureError, SigningKey};
///
/// let keys = [SigningKey::new("whsec_a")?];
/// let header = signature::header(&keys, 1_000, b"{}");
/// assert_eq!(signature::verify_with(b"{}", header.as_bytes(), &keys, 1_000), Ok(()));
/// assert_eq!(
///     signature::verify_with(b"{ }", header.as_bytes(), &keys, 1_000),
///     Err(SignatureError::SignatureMismatch),
/// );
/// # Ok::<(), SignatureError>(())
/// ```
pub fn verify_with(
    body: &[u8],
    header: &[u8],
    keys: &[SigningKey],
    now: i64,
) -> Result<(), SignatureError> {
    SignatureHeader::parse(header)?.verify(body, keys, now)
}

/// A webhook secret, ready to sign: its key schedule is made once.
///
/// Its `Debug` shows nothing of the secret.
///
/// ```
/// use cauri_core::signature::SigningKey;
///
/// let key = SigningKey::new("whsec_9fJ2kQ7xLm4Tz8Rw1Vb6Nc3Hd5Ys0Ga2Pe7Uo4Xi")?;
/// assert_eq!(format!("{key:?}"), "SigningKey { .. }");
/// # Ok::<(), cauri_core::signature::SignatureError>(())
/// ```
#[derive(Clone)]
pub struct SigningKey {
    keyed: Hmac<Sha256>,
}

impl SigningKey {
    /// Makes the key of a secret: the whole string, prefix included.
    ///
    /// # Errors
    ///
    /// [`SignatureError::SecretEmpty`]: anybody could sign with an empty secret.
    ///
    /// ```
    /// use cauri_core::signature::{SignatureError, SigningKey};
    ///
    /// assert!(SigningKey::new("whsec_a").is_ok());
    /// assert_eq!(SigningKey::new("").err(), Some(SignatureError::SecretEmpty));
    /// ```
    pub fn new(secret: &str) -> Result<Self, SignatureError> {
        if secret.is_empty() {
            return Err(SignatureError::SecretEmpty);
        }
        // HMAC takes a key of any length; the error exists for other algorithms of the trait.
        Hmac::new_from_slice(secret.as_bytes())
            .map(|keyed| Self { keyed })
            .map_err(|_| SignatureError::SecretEmpty)
    }

    fn mac(&self, t: &[u8], body: &[u8]) -> [u8; MAC_LEN] {
        let mut mac = self.keyed.clone();
        mac.update(t);
        mac.update(b".");
        mac.update(body);
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}

/// A signature header that was read but not yet verified.
///
/// Reading takes no memory that grows with the header.
///
/// ```
/// use cauri_core::signature::SignatureHeader;
///
/// let text = format!("t=1731974400, v1={}, v0=ignored", "a".repeat(64));
/// let header = SignatureHeader::parse(text.as_bytes())?;
/// assert_eq!(header.timestamp(), 1_731_974_400);
/// assert_eq!(header.candidates(), [[0xaa; 32]]);
/// # Ok::<(), cauri_core::signature::SignatureError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SignatureHeader<'a> {
    /// The text of `t` as received: it is what the sender signed.
    text: &'a [u8],
    timestamp: i64,
    candidates: [[u8; MAC_LEN]; CANDIDATES_MAX],
    candidates_len: usize,
}

impl<'a> SignatureHeader<'a> {
    /// Reads a header.
    ///
    /// # Errors
    ///
    /// Every reason that needs neither secret nor clock, see
    /// [what is refused](self#what-is-refused).
    ///
    /// ```
    /// use cauri_core::signature::{SignatureError, SignatureHeader};
    ///
    /// assert_eq!(SignatureHeader::parse(b"t=+1").err(), Some(SignatureError::TimestampMalformed));
    /// assert_eq!(SignatureHeader::parse(b"t=1").err(), Some(SignatureError::SignatureMissing));
    /// ```
    pub fn parse(header: &'a [u8]) -> Result<Self, SignatureError> {
        if header.len() > HEADER_BYTES_MAX {
            return Err(SignatureError::HeaderTooLong { bytes: header.len() });
        }
        if !header.is_ascii() {
            return Err(SignatureError::HeaderNotAscii);
        }
        // Filled in place: it is half a kilobyte that would be copied otherwise.
        let mut read = Self {
            text: b"",
            timestamp: 0,
            candidates: [[0; MAC_LEN]; CANDIDATES_MAX],
            candidates_len: 0,
        };
        let mut left = Some(header);
        while let Some(elements) = left {
            let (element, mac);
            (element, mac, left) = first(elements);
            if let Some(text) = element.strip_prefix(b"t=") {
                let seconds = timestamp(text).ok_or(SignatureError::TimestampMalformed)?;
                if !read.text.is_empty() {
                    return Err(SignatureError::TimestampRepeated);
                }
                (read.text, read.timestamp) = (text, seconds);
            } else if let Some(mac) = mac {
                let free = read.candidates.get_mut(read.candidates_len);
                *free.ok_or(SignatureError::SignaturesTooMany)? = mac;
                read.candidates_len = read.candidates_len.saturating_add(1);
            }
        }
        if read.text.is_empty() {
            return Err(SignatureError::TimestampMissing);
        }
        if read.candidates_len == 0 {
            return Err(SignatureError::SignatureMissing);
        }
        Ok(read)
    }

    /// When the sender says it signed, in unix seconds: from 1 to 999,999,999,999.
    ///
    /// ```
    /// use cauri_core::signature::SignatureHeader;
    ///
    /// let text = format!("t=7,v1={}", "0".repeat(64));
    /// assert_eq!(SignatureHeader::parse(text.as_bytes())?.timestamp(), 7);
    /// # Ok::<(), cauri_core::signature::SignatureError>(())
    /// ```
    #[must_use]
    pub const fn timestamp(&self) -> i64 {
        self.timestamp
    }

    /// The usable signatures in the order received, 1 to [`CANDIDATES_MAX`].
    ///
    /// ```
    /// use cauri_core::signature::SignatureHeader;
    ///
    /// let text = format!("t=7,v1={},v1=short,v1={}", "0".repeat(64), "f".repeat(64));
    /// assert_eq!(SignatureHeader::parse(text.as_bytes())?.candidates(), [[0; 32], [0xff; 32]]);
    /// # Ok::<(), cauri_core::signature::SignatureError>(())
    /// ```
    #[must_use]
    pub fn candidates(&self) -> &[[u8; 32]] {
        self.candidates.get(..self.candidates_len).unwrap_or_default()
    }

    /// Verifies the header against a body and any of `keys`, as of `now` (unix seconds).
    ///
    /// # Errors
    ///
    /// As [`verify`]; a header out of tolerance is only called that once its signature is known to
    /// be ours.
    ///
    /// ```
    /// use cauri_core::signature::{self, SignatureHeader, SigningKey};
    ///
    /// let keys = [SigningKey::new("whsec_a")?];
    /// let text = signature::header(&keys, 1_000, b"{}");
    /// assert_eq!(SignatureHeader::parse(text.as_bytes())?.verify(b"{}", &keys, 700), Ok(()));
    /// # Ok::<(), signature::SignatureError>(())
    /// ```
    pub fn verify(&self, body: &[u8], keys: &[SigningKey], now: i64) -> Result<(), SignatureError> {
        self.judge(body, keys.iter().map(Ok), now)
    }

    fn judge<K: core::borrow::Borrow<SigningKey>>(
        &self,
        body: &[u8],
        keys: impl ExactSizeIterator<Item = Result<K, SignatureError>>,
        now: i64,
    ) -> Result<(), SignatureError> {
        if keys.len() == 0 {
            return Err(SignatureError::SecretMissing);
        }
        let mut ours = Choice::from(0);
        for key in keys {
            let mac = words(&key?.borrow().mac(self.text, body));
            for candidate in self.candidates() {
                ours |= equal(&mac, &words(candidate));
            }
        }
        if !bool::from(ours) {
            return Err(SignatureError::SignatureMismatch);
        }
        if now.abs_diff(self.timestamp) > TOLERANCE_SECONDS {
            return Err(SignatureError::TimestampOutOfTolerance { timestamp: self.timestamp, now });
        }
        Ok(())
    }
}

/// Why a signature was refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The header is longer than [`HEADER_BYTES_MAX`].
    #[error("the signature header has {bytes} bytes, more than {HEADER_BYTES_MAX}")]
    HeaderTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// The header has a byte outside ASCII.
    #[error("the signature header is not ASCII")]
    HeaderNotAscii,
    /// The header has no `t`.
    #[error("the signature header has no t")]
    TimestampMissing,
    /// The header has more than one `t`: receivers disagree on which of them counts.
    #[error("the signature header has more than one t")]
    TimestampRepeated,
    /// `t` is not 1 to 12 ASCII digits without a leading zero.
    #[error("t of the signature header is not a count of seconds")]
    TimestampMalformed,
    /// The header has no `v1` of 64 lower-case hexadecimal digits.
    #[error("the signature header has no usable v1")]
    SignatureMissing,
    /// The header has more usable `v1` than [`CANDIDATES_MAX`].
    #[error("the signature header has more than {CANDIDATES_MAX} usable v1")]
    SignaturesTooMany,
    /// No secret was given to verify with.
    #[error("no secret was given to verify with")]
    SecretMissing,
    /// A secret is the empty string.
    #[error("the secret is empty")]
    SecretEmpty,
    /// No signature was made with any of the secrets over this body and this `t`.
    #[error("no signature matches: another secret, or the body was changed")]
    SignatureMismatch,
    /// The signature is ours, but too old, or from the future.
    #[error("signed at {timestamp}, which is more than {TOLERANCE_SECONDS} s away from {now}")]
    TimestampOutOfTolerance {
        /// When it was signed, in unix seconds.
        timestamp: i64,
        /// When it was verified, in unix seconds.
        now: i64,
    },
}

/// An element, the signature that it is if it is a usable one, and what comes behind its comma.
type Element<'a> = (&'a [u8], Option<[u8; MAC_LEN]>, Option<&'a [u8]>);

fn first(elements: &[u8]) -> Element<'_> {
    // As senders write it: where it ends is known without looking for the comma.
    if let Some((element, rest)) = elements.split_first_chunk::<V1_LEN>()
        && matches!(rest, [] | [b',', ..])
        && let Some(mac) = mac_of(element)
    {
        return (element, Some(mac), rest.get(1..));
    }
    let end = elements.iter().position(|it| *it == b',');
    let (element, rest) = match end.and_then(|at| elements.split_at_checked(at)) {
        Some((element, rest)) => (element, rest.get(1..)),
        None => (elements, None),
    };
    let element = trim(element);
    (element, mac_of(element), rest)
}

fn trim(mut element: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = element {
        element = rest;
    }
    element
}

fn mac_of(element: &[u8]) -> Option<[u8; MAC_LEN]> {
    mac_from_hex(element.strip_prefix(b"v1=")?.try_into().ok()?)
}

fn timestamp(text: &[u8]) -> Option<i64> {
    match text {
        [b'1'..=b'9', rest @ ..]
            if rest.len() < TIMESTAMP_DIGITS_MAX && rest.iter().all(u8::is_ascii_digit) =>
        {
            // Twelve digits fit, so nothing wraps.
            let digit = |digit: &u8| i64::from(digit.wrapping_sub(b'0'));
            let seconds = |seconds: i64, next| seconds.wrapping_mul(10).wrapping_add(digit(next));
            Some(text.iter().fold(0, seconds))
        }
        _ => None,
    }
}

// Both ways without a table or a branch for each digit, so that the compiler takes many at a time:
// beside a processor that hashes a block in 40 ns, 64 digits one by one would show.

fn mac_from_hex(digits: &[u8; HEX_LEN]) -> Option<[u8; MAC_LEN]> {
    let values = digits.map(|digit| {
        let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
        match (number < 10, letter < 6) {
            (true, _) => number,
            (false, true) => letter.wrapping_add(10),
            (false, false) => NO_DIGIT,
        }
    });
    let mut mac = [0; MAC_LEN];
    for (byte, [high, low]) in mac.iter_mut().zip(values.as_chunks().0) {
        *byte = (high << 4) | low;
    }
    (values.iter().fold(0, |seen, value| seen | value) < NO_DIGIT).then_some(mac)
}

fn push_hex(text: &mut String, mac: &[u8; MAC_LEN]) {
    let mut digits = [0; HEX_LEN];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(mac) {
        *pair = [byte >> 4, byte & 0x0f];
    }
    let digits = digits.map(|value| match value < 10 {
        true => value.wrapping_add(b'0'),
        false => value.wrapping_sub(10).wrapping_add(b'a'),
    });
    // Digits are ASCII: it cannot fail.
    text.push_str(core::str::from_utf8(&digits).unwrap_or_default());
}

/// Comparing by words costs a few nanoseconds where byte by byte costs as much as a hash block.
fn words(mac: &[u8; MAC_LEN]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(mac.as_chunks().0) {
        *word = u64::from_ne_bytes(*bytes);
    }
    words
}

fn equal(one: &[u64; 4], other: &[u64; 4]) -> Choice {
    one.iter().zip(other).fold(0, |differing, (a, b)| differing | (a ^ b)).ct_eq(&0)
}

const MAC_LEN: usize = 32;
const HEX_LEN: usize = 64;
/// `v1=`, and the digits.
const V1_LEN: usize = 3 + HEX_LEN;
const TIMESTAMP_DIGITS_MAX: usize = 12;
/// More than any digit is worth.
const NO_DIGIT: u8 = 0x10;

#[cfg(test)]
mod tests;
