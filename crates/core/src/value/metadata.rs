//! Metadata: what a client hangs on an object for itself (API §2).

use std::{collections::BTreeMap, fmt};

use serde::{Serialize, Serializer};

/// At most 50 keys of 1 to 40 characters, each with a text of at most 500.
#[derive(Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Metadata(BTreeMap<String, String>);

/// A change to metadata, after JSON Merge Patch: key by key, a missing value deletes the key.
#[derive(Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "merge patch knows no fourth thing")]
pub enum MetadataPatch {
    /// Nothing changes.
    #[default]
    Keep,
    /// Every key goes.
    Clear,
    /// The named keys are set or, where the value is missing, deleted.
    Merge(BTreeMap<String, Option<String>>),
}

// What clients hang on an object may be personal, and stays out of logs.
impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metadata({} keys)", self.0.len())
    }
}

impl fmt::Debug for MetadataPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("Keep"),
            Self::Clear => f.write_str("Clear"),
            Self::Merge(changes) => write!(f, "Merge({} keys)", changes.len()),
        }
    }
}

/// The change would leave more than [`Metadata::KEYS_MAX`] keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("metadata may hold at most 50 keys")]
#[non_exhaustive]
pub struct TooManyKeys;

impl MetadataPatch {
    /// Does it leave metadata alone?
    ///
    /// ```
    /// use cauri_core::MetadataPatch;
    /// assert!(MetadataPatch::default().is_keep());
    /// assert!(!MetadataPatch::Clear.is_keep());
    /// ```
    #[must_use]
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

/// As it travels in a modification; what keeps everything is left out, as with
/// [`Patch`](super::patch::Patch).
impl Serialize for MetadataPatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Merge(changes) => changes.serialize(serializer),
        }
    }
}

impl Metadata {
    /// How many keys there may be.
    pub const KEYS_MAX: usize = 50;
    /// How many characters a key may have.
    pub const KEY_CHARS_MAX: usize = 40;
    /// How many characters a value may have.
    pub const VALUE_CHARS_MAX: usize = 500;

    /// These keys with these values; what is wrong with a single one of them is said by whoever
    /// it is sent to.
    ///
    /// # Errors
    /// [`TooManyKeys`] when they are more than 50.
    ///
    /// ```
    /// use cauri_core::Metadata;
    /// let metadata = Metadata::of([("cart", "77"), ("channel", "web")])?;
    /// assert_eq!(metadata.get("cart"), Some("77"));
    /// # Ok::<(), cauri_core::TooManyKeys>(())
    /// ```
    pub fn of<K: Into<String>, V: Into<String>>(
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, TooManyKeys> {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), Some(value.into())));
        Self::default().patched(&MetadataPatch::Merge(entries.collect()))
    }

    /// Is there nothing in it?
    ///
    /// ```
    /// use cauri_core::{Metadata, MetadataPatch};
    /// let order = MetadataPatch::Merge([("order".to_owned(), Some("1001".to_owned()))].into());
    /// assert!(Metadata::default().is_empty());
    /// assert!(!Metadata::default().patched(&order)?.is_empty());
    /// # Ok::<(), cauri_core::TooManyKeys>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key.
    ///
    /// ```
    /// use cauri_core::{Metadata, MetadataPatch};
    /// let order = MetadataPatch::Merge([("order".to_owned(), Some("1001".to_owned()))].into());
    /// let metadata = Metadata::default().patched(&order)?;
    /// assert_eq!((metadata.get("order"), metadata.get("cart")), (Some("1001"), None));
    /// # Ok::<(), cauri_core::TooManyKeys>(())
    /// ```
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Every key with its value, in the order of the keys.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// This metadata after the change.
    ///
    /// # Errors
    /// [`TooManyKeys`] when more than 50 keys would be left.
    ///
    /// ```
    /// use cauri_core::{Metadata, MetadataPatch};
    /// let set = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
    /// let one = Metadata::default().patched(&MetadataPatch::Merge([set("a", "1"), set("b", "2")].into()))?;
    /// let two = one.patched(&MetadataPatch::Merge([("a".to_owned(), None), set("c", "3")].into()))?;
    /// assert_eq!((two.get("a"), two.get("b"), two.get("c")), (None, Some("2"), Some("3")));
    /// assert!(two.patched(&MetadataPatch::Clear)?.is_empty());
    /// # Ok::<(), cauri_core::TooManyKeys>(())
    /// ```
    pub fn patched(&self, patch: &MetadataPatch) -> Result<Self, TooManyKeys> {
        let changes = match patch {
            MetadataPatch::Keep => return Ok(self.clone()),
            MetadataPatch::Clear => return Ok(Self::default()),
            MetadataPatch::Merge(changes) => changes,
        };
        let mut next = self.0.clone();
        for (key, value) in changes {
            match value {
                Some(value) => next.insert(key.clone(), value.clone()),
                None => next.remove(key),
            };
        }
        if next.len() > Self::KEYS_MAX { Err(TooManyKeys) } else { Ok(Self(next)) }
    }
}
