//! Columns and the values in them.

use std::borrow::Cow;

use uuid::Uuid;

/// What a column holds. Each has one type in each database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new kind must stop every adapter from compiling")]
pub enum Kind {
    /// Yes or no: `boolean` in Postgres, an integer 0 or 1 in SQLite.
    Flag,
    /// A number, an amount, or a moment in milliseconds: `bigint`, an integer in SQLite.
    Int,
    /// A word, a text or JSON: `text`.
    Text,
    /// A hash or a sealed secret: `bytea`, a blob in SQLite.
    Bytes,
    /// The bits of an id: `uuid`, a blob of 16 bytes in SQLite.
    Id,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "adapters read every field")]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// May it be null?
    pub null: bool,
}

impl Column {
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, null: false }
    }

    pub(crate) const fn or_null(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, null: true }
    }
}

/// One value, borrowed from the record where that saves a copy.
///
/// Its `Debug` shows the kind only: cells hold personal data and secrets.
#[derive(Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "adapters bind every kind")]
pub enum Cell<'a> {
    /// Nothing.
    Null,
    /// Yes or no.
    Flag(bool),
    /// A number.
    Int(i64),
    /// A text.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
    /// The bits of an id.
    Id(Uuid),
}

impl Cell<'_> {
    /// What it holds; `None` for null, which fits every column that may be null.
    #[must_use]
    pub const fn kind(&self) -> Option<Kind> {
        match self {
            Self::Null => None,
            Self::Flag(_) => Some(Kind::Flag),
            Self::Int(_) => Some(Kind::Int),
            Self::Text(_) => Some(Kind::Text),
            Self::Bytes(_) => Some(Kind::Bytes),
            Self::Id(_) => Some(Kind::Id),
        }
    }

    /// The same value, borrowing nothing.
    #[must_use]
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Null => Cell::Null,
            Self::Flag(it) => Cell::Flag(it),
            Self::Int(it) => Cell::Int(it),
            Self::Text(it) => Cell::Text(Cow::Owned(it.into_owned())),
            Self::Bytes(it) => Cell::Bytes(Cow::Owned(it.into_owned())),
            Self::Id(it) => Cell::Id(it),
        }
    }
}

impl std::fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind() {
            None => f.write_str("Null"),
            Some(kind) => write!(f, "{kind:?}(…)"),
        }
    }
}
