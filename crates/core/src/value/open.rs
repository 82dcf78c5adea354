//! Words of open lists, as whoever reads an answer meets them (API §18).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// How long a word may be that is not known here.
const WORD_MAX: usize = 100;

/// A word of a list to which a later server may add: one that is known here, or one that is not.
///
/// ```
/// use cauri_core::{EventKind, Open};
/// let known: Open<EventKind> = serde_json::from_str(r#""payment.failed""#)?;
/// assert_eq!(known, EventKind::PaymentFailed);
/// let new: Open<EventKind> = serde_json::from_str(r#""payment.disputed""#)?;
/// assert_eq!((new.known(), new.to_string().as_str()), (None, "payment.disputed"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Open<T> {
    /// One that is known here.
    Known(T),
    /// Any other.
    Other(Box<str>),
}

impl<T: Copy> Open<T> {
    /// The word, where it is known here.
    ///
    /// ```
    /// use cauri_core::{FailureCode, Open};
    /// let code = Open::Known(FailureCode::UserRejected);
    /// assert_eq!(code.known(), Some(FailureCode::UserRejected));
    /// ```
    #[must_use]
    pub const fn known(&self) -> Option<T> {
        match self {
            Self::Known(word) => Some(*word),
            Self::Other(_) => None,
        }
    }
}

impl<T> From<T> for Open<T> {
    fn from(word: T) -> Self {
        Self::Known(word)
    }
}

impl<T: PartialEq> PartialEq<T> for Open<T> {
    fn eq(&self, word: &T) -> bool {
        matches!(self, Self::Known(known) if known == word)
    }
}

impl<T: fmt::Display> fmt::Display for Open<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(word) => word.fmt(f),
            Self::Other(word) => f.write_str(word),
        }
    }
}

impl<T: Serialize> Serialize for Open<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(word) => word.serialize(serializer),
            Self::Other(word) => serializer.serialize_str(word),
        }
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Open<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        if let Ok(known) = word.parse() {
            return Ok(Self::Known(known));
        }
        let is_word =
            (1..=WORD_MAX).contains(&word.len()) && word.bytes().all(|it| it.is_ascii_graphic());
        if is_word { Ok(Self::Other(word.into())) } else { Err(D::Error::custom("not a word")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EntryKind;

    #[test]
    fn a_word_is_written_as_it_was_read_whether_it_is_known_or_not() {
        for word in ["payment_fee", "chargeback", &"x".repeat(WORD_MAX)] {
            let json = format!("\"{word}\"");
            let read: Open<EntryKind> = serde_json::from_str(&json).expect(word);
            assert_eq!(serde_json::to_string(&read).expect(word), json);
            assert_eq!(read.to_string(), word);
            assert_eq!(read.known().is_some(), word == "payment_fee");
        }
        for other in ["\"\"", "\"a b\"", "5", "null", &format!("\"{}\"", "x".repeat(WORD_MAX + 1))]
        {
            assert!(serde_json::from_str::<Open<EntryKind>>(other).is_err(), "{other}");
        }
    }
}
