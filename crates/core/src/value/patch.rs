//! A change to one field, after JSON Merge Patch (RFC 7396).

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
    #[must_use]
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}
