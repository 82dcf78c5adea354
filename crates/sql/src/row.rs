//! Reading a row: what an adapter brings, and what can be wrong.

use std::error::Error as StdError;

use crate::{
    cell::{Cell, Column, Kind},
    codec::Codec,
};

/// What was wrong with a value, without the value.
pub(crate) type Wrong = Box<dyn StdError + Send + Sync>;

/// A row of a result, as an adapter's driver has it. The columns come in the order of the table's
/// [`columns`](crate::Table::columns).
pub trait RowReader {
    /// The value at a place, which is of this kind or null.
    ///
    /// # Errors
    /// What the driver says when it is not.
    fn cell(&self, at: usize, kind: Kind) -> Result<Cell<'_>, Box<dyn StdError + Send + Sync>>;
}

impl RowReader for [Cell<'_>] {
    fn cell(&self, at: usize, _: Kind) -> Result<Cell<'_>, Wrong> {
        self.get(at).cloned().ok_or_else(|| "the row is too short".into())
    }
}

/// A row that is no record: somebody else wrote to the database, or a migration is missing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The driver could not read the column as what it should be.
    #[error("{table}.{column} cannot be read")]
    Unreadable {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// What the driver says.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The column holds a value that nothing of ours would write.
    #[error("{table}.{column} holds what is not valid there")]
    Invalid {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// What is wrong with the value, which it does not show.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

/// Reads a row from left to right.
pub(crate) struct Reader<'a, R: ?Sized> {
    table: &'static str,
    columns: &'a [Column],
    row: &'a R,
    at: usize,
}

impl<'a, R: RowReader + ?Sized> Reader<'a, R> {
    pub(crate) const fn new(table: &'static str, columns: &'a [Column], row: &'a R) -> Self {
        Self { table, columns, row, at: 0 }
    }

    /// The value of the next column, and its place for an error.
    pub(crate) fn cell(&mut self) -> Result<(Cell<'a>, Place), RowError> {
        let column = self.columns.get(self.at).copied();
        let Column { name, kind, .. } = column.unwrap_or(Column::new("?", Kind::Int));
        let place = Place { table: self.table, column: name };
        let cell = self.row.cell(self.at, kind).map_err(|source| RowError::Unreadable {
            table: place.table,
            column: place.column,
            source,
        })?;
        self.at = self.at.saturating_add(1);
        Ok((cell, place))
    }

    /// The value of the next field.
    pub(crate) fn take<T: Codec>(&mut self) -> Result<T, RowError> {
        T::take(self)
    }
}

/// Where a value was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    table: &'static str,
    column: &'static str,
}

impl Place {
    pub(crate) fn wrong(self, source: impl Into<Wrong>) -> RowError {
        RowError::Invalid { table: self.table, column: self.column, source: source.into() }
    }
}
