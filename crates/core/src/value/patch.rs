//! A change to one field, after JSON Merge Patch (RFC 7396).

use serde::{Serialize, Serializer};

/// What a modification says of one field that may be null.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "merge patch knows no fourth thing")]
pub enum Patch<T> {
    /// It is absent: nothing changes.
    #[default]
    Keep,
    /// It is null: the field is cleared.
    Clear,
    /// It has a value.
    Set(T),
}

impl<T: Clone> Patch<T> {
    /// The field after the change.
    ///
    /// ```
    /// use cauri_core::Patch;
    /// assert_eq!(Patch::Keep.applied(&Some(1)), Some(1));
    /// assert_eq!(Patch::Clear.applied(&Some(1)), None);
    /// assert_eq!(Patch::Set(2).applied(&Some(1)), Some(2));
    /// ```
    #[must_use]
    pub fn applied(&self, before: &Option<T>) -> Option<T> {
        match self {
            Self::Keep => before.clone(),
            Self::Clear => None,
            Self::Set(value) => Some(value.clone()),
        }
    }
}

impl<T> Patch<T> {
    /// Does it leave the field alone?
    ///
    /// ```
    /// use cauri_core::Patch;
    /// assert!(Patch::<i64>::default().is_keep());
    /// assert!(!Patch::<i64>::Clear.is_keep());
    /// ```
    #[must_use]
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

/// As it travels in a modification. What keeps the field is not written at all: whoever writes an
/// object leaves the field out where [`Patch::is_keep`].
impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}
