//! Cells to SQLite's arguments, and SQLite's rows to cells.

use std::{borrow::Cow, error::Error as StdError, sync::Arc};

use cauri::StoreError;
use cauri_sql::{Cell, Kind, RowReader};
use sea_query::{SelectStatement, SqliteQueryBuilder, Value};
use sqlx::{
    Arguments as _, AssertSqlSafe, Row as _, SqlSafeStr as _, SqlStr,
    sqlite::{SqliteArguments, SqliteRow},
};
use uuid::Uuid;

use crate::error::broken;

/// The arguments of a statement, in their order.
#[derive(Default)]
pub(crate) struct Arguments(SqliteArguments);

impl Arguments {
    pub(crate) fn cell(&mut self, cell: Cell<'_>) -> Result<(), StoreError> {
        match cell {
            Cell::Null => self.0.add(None::<i64>),
            Cell::Flag(it) => self.0.add(i64::from(it)),
            Cell::Int(it) => self.0.add(it),
            Cell::Text(Cow::Borrowed(it)) => self.0.add(Arc::<str>::from(it)),
            Cell::Text(Cow::Owned(it)) => self.0.add(it),
            Cell::Bytes(it) => self.0.add(it.into_owned()),
            Cell::Id(it) => self.0.add(it.into_bytes().to_vec()),
        }
        .map_err(broken)
    }

    pub(crate) fn int(&mut self, it: i64) -> Result<(), StoreError> {
        self.cell(Cell::Int(it))
    }

    pub(crate) fn into_inner(self) -> SqliteArguments {
        self.0
    }
}

/// The text and the arguments of a statement that was put together.
pub(crate) fn select(statement: &SelectStatement) -> Result<(SqlStr, SqliteArguments), StoreError> {
    let (text, values) = statement.build(SqliteQueryBuilder);
    let mut arguments = Arguments::default();
    for value in values {
        arguments.cell(match value {
            Value::Bool(Some(it)) => Cell::Flag(it),
            Value::BigInt(Some(it)) => Cell::Int(it),
            Value::BigUnsigned(Some(it)) => Cell::Int(i64::try_from(it).map_err(broken)?),
            Value::String(Some(it)) => Cell::Text(Cow::Owned(it)),
            Value::Bytes(Some(it)) => Cell::Bytes(Cow::Owned(it)),
            Value::Uuid(Some(it)) => Cell::Id(it),
            _ => return Err(broken("a kind of value that no statement of ours has")),
        })?;
    }
    // Built of our own names of tables and columns; every value is an argument.
    Ok((AssertSqlSafe(text).into_sql_str(), arguments.into_inner()))
}

/// A row of a result, from one of its columns on.
pub(crate) struct Found<'a> {
    pub(crate) row: &'a SqliteRow,
    pub(crate) from: usize,
}

impl RowReader for Found<'_> {
    fn cell(&self, at: usize, kind: Kind) -> Result<Cell<'_>, Box<dyn StdError + Send + Sync>> {
        let at = self.from.saturating_add(at);
        let cell = match kind {
            Kind::Int => self.row.try_get::<Option<i64>, _>(at)?.map(Cell::Int),
            Kind::Text => {
                self.row.try_get::<Option<&str>, _>(at)?.map(|it| Cell::Text(Cow::Borrowed(it)))
            }
            Kind::Bytes => {
                self.row.try_get::<Option<&[u8]>, _>(at)?.map(|it| Cell::Bytes(Cow::Borrowed(it)))
            }
            Kind::Id => match self.row.try_get::<Option<&[u8]>, _>(at)? {
                Some(bits) => Some(Cell::Id(Uuid::from_slice(bits)?)),
                None => None,
            },
            Kind::Flag => match self.row.try_get::<Option<i64>, _>(at)? {
                Some(0) => Some(Cell::Flag(false)),
                Some(1) => Some(Cell::Flag(true)),
                Some(_) => return Err("neither 0 nor 1".into()),
                None => None,
            },
        };
        Ok(cell.unwrap_or(Cell::Null))
    }
}

/// A number of a row.
pub(crate) fn int(row: &SqliteRow, at: usize) -> Result<i64, StoreError> {
    row.try_get(at).map_err(broken)
}
