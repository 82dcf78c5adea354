//! Typed ids: 16 bytes inside, `prefix_` and 26 characters of Crockford base32 outside (API §2).

use std::{fmt, hash::Hash, str::FromStr};

use uuid::Uuid;

use super::short::{self, Short};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 26;

/// What every id can do. Implemented by the types of this crate only.
pub trait Id:
    Copy
    + Ord
    + Hash
    + fmt::Debug
    + fmt::Display
    + FromStr<Err = IdError>
    + Send
    + Sync
    + sealed::Sealed
    + 'static
{
    /// The prefix, without the underscore.
    const PREFIX: &'static str;

    /// An id with these bits. Stores use it to read an id back; nothing is checked.
    ///
    /// ```
    /// use cauri_core::{Id, PaymentId};
    /// let payment: PaymentId = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// assert_eq!(PaymentId::from_uuid(payment.uuid()), payment);
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    fn from_uuid(uuid: Uuid) -> Self;

    /// The bits of this id.
    ///
    /// ```
    /// use cauri_core::{Id, PaymentId, RefundId};
    /// let payment: PaymentId = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let refund: RefundId = "ref_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// assert_eq!(payment.uuid(), refund.uuid()); // the prefix is no part of them
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    fn uuid(self) -> Uuid;
}

/// Why a text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The prefix is another one or is missing.
    #[error("an id of another kind, or no id at all")]
    Prefix,
    /// What follows the prefix is not 26 characters of Crockford base32 below 2^128.
    #[error("not 26 characters of lower-case Crockford base32")]
    Suffix,
}

pub(crate) mod sealed {
    #[expect(unnameable_types, reason = "so that nobody else implements it")]
    pub trait Sealed {}
}

/// `prefix_suffix`.
pub(crate) fn written(prefix: &str, uuid: Uuid) -> Short {
    let mut suffix = [0_u8; LENGTH];
    let mut bits = uuid.as_u128();
    for slot in suffix.iter_mut().rev() {
        let digit = usize::try_from(bits & 31).unwrap_or(0);
        *slot = ALPHABET.get(digit).copied().unwrap_or(b'0');
        bits >>= 5;
    }
    let mut text = Short::default();
    text.push_all(prefix.as_bytes());
    text.push(b'_');
    text.push_all(&suffix);
    text
}

pub(crate) fn parse(prefix: &str, text: &str) -> Result<Uuid, IdError> {
    let suffix = text
        .strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('_'))
        .ok_or(IdError::Prefix)?
        .as_bytes();
    // 26 digits hold 130 bits: the first digit may only fill the lowest three.
    if suffix.len() != LENGTH || !matches!(suffix.first(), Some(b'0'..=b'7')) {
        return Err(IdError::Suffix);
    }
    let mut bits = 0_u128;
    for byte in suffix {
        let digit = ALPHABET.iter().position(|letter| letter == byte).ok_or(IdError::Suffix)?;
        bits = (bits << 5) | u128::try_from(digit).map_err(|_| IdError::Suffix)?;
    }
    Ok(Uuid::from_u128(bits))
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident = $prefix:literal;)+) => {$(
        $(#[$meta])*
        #[doc = concat!("\n\nIt travels as `", $prefix, "_` and 26 characters; parsing is the only way in from text.")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        const _: () = assert!($prefix.len() + 1 + LENGTH <= short::LENGTH_MAX);

        impl sealed::Sealed for $name {}

        impl Id for $name {
            const PREFIX: &'static str = $prefix;

            fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&written($prefix, self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse($prefix, text).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&written($prefix, self.0))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

ids! {
    /// Names an account: the tenant everything is scoped by. Never exposed by the API (API §19.7).
    AccountId = "acct";
    /// Names an API key (API §3.3).
    ApiKeyId = "key";
    /// Names a customer (API §13).
    CustomerId = "cus";
    /// Names a webhook delivery (API §16.3).
    DeliveryId = "whd";
    /// Names a webhook endpoint (API §16.1).
    EndpointId = "whe";
    /// Names one line of a ledger transaction (API §8.3).
    EntryId = "led";
    /// Names an event (API §15).
    EventId = "evt";
    /// Names a payment (API §9).
    PaymentId = "pay";
    /// Names a payment link (API §12).
    PaymentLinkId = "plink";
    /// Names a payout (API §10).
    PayoutId = "pout";
    /// Names a refund (API §11).
    RefundId = "ref";
    /// Names one HTTP request; it only ever leaves in `Request-Id`.
    RequestId = "req";
    /// Names the ledger lines that balance one another (API §8.3).
    TransactionId = "ltx";
}

/// The id of something that moves money: what a ledger entry names as its source and what
/// `POST /v1/sandbox/simulate` takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new kind of order must stop every match")]
pub enum OrderId {
    /// Money collected.
    Payment(PaymentId),
    /// Money sent out.
    Payout(PayoutId),
    /// Money returned.
    Refund(RefundId),
}

impl OrderId {
    /// The bits, which are unique over all kinds.
    ///
    /// ```
    /// use cauri_core::{Id, OrderId, PaymentId};
    /// let payment: PaymentId = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// assert_eq!(OrderId::Payment(payment).uuid(), payment.uuid());
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub fn uuid(self) -> Uuid {
        match self {
            Self::Payment(id) => id.uuid(),
            Self::Payout(id) => id.uuid(),
            Self::Refund(id) => id.uuid(),
        }
    }
}

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payment(id) => fmt::Display::fmt(id, f),
            Self::Payout(id) => fmt::Display::fmt(id, f),
            Self::Refund(id) => fmt::Display::fmt(id, f),
        }
    }
}

impl fmt::Debug for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for OrderId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.split_once('_').map(|(prefix, _)| prefix) {
            Some(PaymentId::PREFIX) => text.parse().map(Self::Payment),
            Some(PayoutId::PREFIX) => text.parse().map(Self::Payout),
            Some(RefundId::PREFIX) => text.parse().map(Self::Refund),
            _ => Err(IdError::Prefix),
        }
    }
}

/// The id of something that events tell of: what `GET /v1/events` can be asked for.
///
/// ```
/// use cauri_core::ResourceId;
/// let link: ResourceId = "plink_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// assert!(matches!(link, ResourceId::PaymentLink(_)));
/// assert_eq!(link.to_string(), "plink_01jd3w8k4f7q2m9x5r6t0v1b3c");
/// assert!("cus_01jd3w8k4f7q2m9x5r6t0v1b3c".parse::<ResourceId>().is_err());
/// # Ok::<(), cauri_core::IdError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new kind must stop every match")]
pub enum ResourceId {
    /// A payment, a payout or a refund.
    Order(OrderId),
    /// A payment link.
    PaymentLink(PaymentLinkId),
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(id) => fmt::Display::fmt(id, f),
            Self::PaymentLink(id) => fmt::Display::fmt(id, f),
        }
    }
}

impl FromStr for ResourceId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.split_once('_').map(|(prefix, _)| prefix) {
            Some(PaymentLinkId::PREFIX) => text.parse().map(Self::PaymentLink),
            _ => text.parse().map(Self::Order),
        }
    }
}

impl serde::Serialize for ResourceId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl serde::Serialize for OrderId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for OrderId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_id_survives_its_text(bits: u128) {
            let id = PaymentId::from_uuid(Uuid::from_u128(bits));
            let text = id.to_string();
            prop_assert_eq!(text.len(), 30);
            prop_assert_eq!(text.parse::<PaymentId>(), Ok(id));
            prop_assert!(text.parse::<PayoutId>().is_err());
        }

        #[test]
        fn order_of_text_is_order_of_bits(a: u128, b: u128) {
            let (a, b) = (PaymentId::from_uuid(Uuid::from_u128(a)), PaymentId::from_uuid(Uuid::from_u128(b)));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }

        #[test]
        fn parsing_never_panics(text: String) {
            let _ = text.parse::<PaymentId>();
            let _ = text.parse::<OrderId>();
        }
    }

    #[test]
    fn a_text_that_is_no_id_is_refused() {
        for text in [
            "",
            "pay_",
            "pay",
            "pay_01jd3w8k4f7q2m9x5r6t0v1b3",
            "pay_01jd3w8k4f7q2m9x5r6t0v1b3cc",
            "pay_81jd3w8k4f7q2m9x5r6t0v1b3c",
            "pay_01JD3W8K4F7Q2M9X5R6T0V1B3C",
            "pay_01jd3w8k4f7q2m9x5r6t0v1b3l",
            "pout_01jd3w8k4f7q2m9x5r6t0v1b3c",
        ] {
            assert!(text.parse::<PaymentId>().is_err(), "{text}");
        }
    }
}
