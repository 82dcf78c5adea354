//! Cells to Postgres's arguments, and Postgres's rows to cells.

use std::{borrow::Cow, error::Error as StdError};

use cauri::StoreError;
use cauri_sql::{Cell, Column, Kind, RowReader};
use sea_query::Value;
use sqlx::{
    Arguments as _, Encode, Postgres, Row as _, Type, ValueRef as _,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgArguments, PgRow, PgTypeInfo, types::Oid},
};
use uuid::Uuid;

use crate::error::broken;

/// The arguments of a statement, in their order.
#[derive(Default)]
pub(crate) struct Arguments(PgArguments);

impl Arguments {
    pub(crate) fn cell(&mut self, cell: Cell<'_>, kind: Kind) -> Result<(), StoreError> {
        match (cell, kind) {
            (Cell::Flag(it), _) => self.0.add(it),
            (Cell::Int(it), _) => self.0.add(it),
            (Cell::Text(it), _) => self.0.add(it.into_owned()),
            (Cell::Bytes(it), _) => self.0.add(it.into_owned()),
            (Cell::Id(it), _) => self.0.add(it),
            (Cell::Null, Kind::Flag) => self.0.add(None::<bool>),
            (Cell::Null, Kind::Int) => self.0.add(None::<i64>),
            (Cell::Null, Kind::Text) => self.0.add(None::<String>),
            (Cell::Null, Kind::Bytes) => self.0.add(None::<Vec<u8>>),
            (Cell::Null, Kind::Id) => self.0.add(None::<Uuid>),
        }
        .map_err(broken)
    }

    pub(crate) fn int(&mut self, it: i64) -> Result<(), StoreError> {
        self.cell(Cell::Int(it), Kind::Int)
    }

    fn array(&mut self, array: Array) -> Result<(), StoreError> {
        self.0.add(array).map_err(broken)
    }

    /// Rows, all in one array.
    pub(crate) fn rows(&mut self, rows: Rows) -> Result<(), StoreError> {
        self.0.add(rows).map_err(broken)
    }

    /// Columns, one array each.
    pub(crate) fn columns(&mut self, columns: Columns) -> Result<(), StoreError> {
        columns.0.into_iter().try_for_each(|array| self.array(array))
    }

    /// A value of a statement that was put together.
    pub(crate) fn value(&mut self, value: Value) -> Result<(), StoreError> {
        match value {
            Value::Bool(Some(it)) => self.0.add(it),
            Value::BigInt(Some(it)) => self.0.add(it),
            Value::BigUnsigned(Some(it)) => self.0.add(i64::try_from(it).map_err(broken)?),
            Value::String(Some(it)) => self.0.add(it),
            Value::Bytes(Some(it)) => self.0.add(it),
            Value::Uuid(Some(it)) => self.0.add(it),
            _ => return Err(broken("a kind of value that no statement of ours has")),
        }
        .map_err(broken)
    }

    pub(crate) fn into_inner(self) -> PgArguments {
        self.0
    }
}

/// By which numbers the server knows a table's rows, and arrays of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowType {
    pub(crate) row: Oid,
    pub(crate) array: Oid,
}

/// Whole rows of one table, as one array of them. Taking apart one such array costs the server a
/// fraction of what an array for each column would.
pub(crate) struct Rows {
    of: RowType,
    kinds: Vec<Kind>,
    count: i32,
    /// How many there will be.
    rows: usize,
    elements: Vec<u8>,
}

impl Rows {
    /// For so many rows.
    pub(crate) fn new(of: RowType, columns: &[Column], rows: usize) -> Self {
        let kinds = columns.iter().map(|column| column.kind).collect();
        Self { of, kinds, count: 0, rows, elements: Vec::new() }
    }

    /// One more row, as wide as the table.
    pub(crate) fn push<'a>(
        &mut self,
        row: impl IntoIterator<Item = Cell<'a>>,
    ) -> Result<(), StoreError> {
        let start = self.elements.len();
        let width = i32::try_from(self.kinds.len()).map_err(broken)?;
        // Its length, once that is known.
        self.elements.extend_from_slice(&[0; 4]);
        self.elements.extend_from_slice(&width.to_be_bytes());
        let mut kinds = self.kinds.iter();
        for cell in row {
            let kind = kinds.next().ok_or_else(|| broken("a row that is too wide"))?;
            self.elements.extend_from_slice(&type_number(*kind).to_be_bytes());
            element(&mut self.elements, &cell, *kind)?;
        }
        if kinds.next().is_some() {
            return Err(broken("a row that is too narrow"));
        }
        let length = self.elements.len().saturating_sub(start).saturating_sub(4);
        let length = i32::try_from(length).map_err(broken)?.to_be_bytes();
        if let Some(place) = self.elements.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
            *place = length;
        }
        if start == 0 {
            // The others are much like the first.
            let rest = self.rows.saturating_sub(1);
            self.elements.reserve(self.elements.len().saturating_mul(rest));
        }
        self.count = self.count.checked_add(1).ok_or_else(|| broken("too many rows"))?;
        Ok(())
    }
}

impl Type<Postgres> for Rows {
    fn type_info() -> PgTypeInfo {
        <Vec<Vec<u8>> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Rows {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        array_of(buffer, self.of.row.0, self.count, false, &self.elements);
        Ok(IsNull::No)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(PgTypeInfo::with_oid(self.of.array))
    }
}

/// The form in which Postgres reads an array: its elements behind what they are and how many.
fn array_of(buffer: &mut PgArgumentBuffer, of: u32, count: i32, has_null: bool, elements: &[u8]) {
    let dimensions: i32 = 1;
    let first: i32 = 1;
    buffer.extend_from_slice(&dimensions.to_be_bytes());
    buffer.extend_from_slice(&i32::from(has_null).to_be_bytes());
    buffer.extend_from_slice(&of.to_be_bytes());
    buffer.extend_from_slice(&count.to_be_bytes());
    buffer.extend_from_slice(&first.to_be_bytes());
    buffer.extend_from_slice(elements);
}

/// A value behind its length.
fn element(elements: &mut Vec<u8>, cell: &Cell<'_>, kind: Kind) -> Result<(), StoreError> {
    match (cell, kind) {
        (Cell::Null, _) => elements.extend_from_slice(&(-1_i32).to_be_bytes()),
        (Cell::Flag(it), Kind::Flag) => short(elements, 1, [u8::from(*it)]),
        (Cell::Int(it), Kind::Int) => short(elements, 8, it.to_be_bytes()),
        (Cell::Id(it), Kind::Id) => short(elements, 16, it.into_bytes()),
        (Cell::Text(it), Kind::Text) => return long(elements, it.as_bytes()),
        (Cell::Bytes(it), Kind::Bytes) => return long(elements, it),
        _ => return Err(broken("a cell of another kind than its column")),
    }
    Ok(())
}

fn short<const N: usize>(elements: &mut Vec<u8>, length: i32, value: [u8; N]) {
    elements.extend_from_slice(&length.to_be_bytes());
    elements.extend_from_slice(&value);
}

fn long(elements: &mut Vec<u8>, value: &[u8]) -> Result<(), StoreError> {
    let length = i32::try_from(value.len()).map_err(broken)?;
    elements.extend_from_slice(&length.to_be_bytes());
    elements.extend_from_slice(value);
    Ok(())
}

/// The number by which every Postgres knows a type.
const fn type_number(kind: Kind) -> u32 {
    match kind {
        Kind::Flag => 16,
        Kind::Bytes => 17,
        Kind::Int => 20,
        Kind::Text => 25,
        Kind::Id => 2950,
    }
}

/// Values by their columns: what one statement takes many keys by.
pub(crate) struct Columns(Vec<Array>);

impl Columns {
    /// With room for so many rows.
    pub(crate) fn new(kinds: impl IntoIterator<Item = Kind>, rows: usize) -> Self {
        Self(kinds.into_iter().map(|kind| Array::new(kind, rows)).collect())
    }

    /// One more row, as wide as there are columns.
    pub(crate) fn push<'a>(
        &mut self,
        row: impl IntoIterator<Item = Cell<'a>>,
    ) -> Result<(), StoreError> {
        let mut arrays = self.0.iter_mut();
        for cell in row {
            let array = arrays.next().ok_or_else(|| broken("a row that is too wide"))?;
            array.push(&cell)?;
        }
        match arrays.next() {
            None => Ok(()),
            Some(_) => Err(broken("a row that is too narrow")),
        }
    }
}

/// An array of one kind, in the form in which Postgres reads it.
struct Array {
    kind: Kind,
    count: i32,
    has_null: bool,
    elements: Vec<u8>,
}

impl Array {
    fn new(kind: Kind, rows: usize) -> Self {
        // Each with its length in front; texts are mostly words.
        let size: usize = match kind {
            Kind::Flag => 5,
            Kind::Int => 12,
            Kind::Text | Kind::Id => 20,
            Kind::Bytes => 36,
        };
        let elements = Vec::with_capacity(rows.saturating_mul(size));
        Self { kind, count: 0, has_null: false, elements }
    }

    fn push(&mut self, cell: &Cell<'_>) -> Result<(), StoreError> {
        self.has_null |= matches!(cell, Cell::Null);
        element(&mut self.elements, cell, self.kind)?;
        self.count = self.count.checked_add(1).ok_or_else(|| broken("too many rows"))?;
        Ok(())
    }
}

impl Type<Postgres> for Array {
    fn type_info() -> PgTypeInfo {
        <Vec<Vec<u8>> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Array {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        array_of(buffer, type_number(self.kind), self.count, self.has_null, &self.elements);
        Ok(IsNull::No)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(match self.kind {
            Kind::Flag => <Vec<bool> as Type<Postgres>>::type_info(),
            Kind::Int => <Vec<i64> as Type<Postgres>>::type_info(),
            Kind::Text => <Vec<String> as Type<Postgres>>::type_info(),
            Kind::Bytes => <Vec<Vec<u8>> as Type<Postgres>>::type_info(),
            Kind::Id => <Vec<Uuid> as Type<Postgres>>::type_info(),
        })
    }
}

/// A row of a result, from one of its columns on.
pub(crate) struct Found<'a> {
    pub(crate) row: &'a PgRow,
    pub(crate) from: usize,
}

impl RowReader for Found<'_> {
    fn cell(&self, at: usize, kind: Kind) -> Result<Cell<'_>, Box<dyn StdError + Send + Sync>> {
        cell(self.row, self.from.saturating_add(at), kind)
    }
}

/// The value of a column, which our own statements say is of this kind.
pub(crate) fn cell(
    row: &PgRow,
    at: usize,
    kind: Kind,
) -> Result<Cell<'_>, Box<dyn StdError + Send + Sync>> {
    let value = row.try_get_raw(at)?;
    if value.is_null() {
        return Ok(Cell::Null);
    }
    Ok(match kind {
        Kind::Flag => Cell::Flag(row.try_get(at)?),
        Kind::Int => Cell::Int(row.try_get(at)?),
        Kind::Text => Cell::Text(Cow::Borrowed(row.try_get(at)?)),
        Kind::Bytes => Cell::Bytes(Cow::Borrowed(row.try_get(at)?)),
        Kind::Id => Cell::Id(row.try_get(at)?),
    })
}

/// A number of a row.
pub(crate) fn int(row: &PgRow, at: usize) -> Result<i64, StoreError> {
    row.try_get(at).map_err(broken)
}
