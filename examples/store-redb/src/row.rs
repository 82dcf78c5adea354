//! Records, entries and balances as JSON. What their fields are, `cauri-sql` knows: it takes each
//! apart into flat cells and puts it together again, and asks nothing of a database.

use std::error::Error as StdError;

use cauri::{Key, RecordKind, Row};
use cauri_sql::{Cell, Kind, RowReader, Table, key_cells, read_record};
use serde_json::Value;
use uuid::Uuid;

use crate::error::Failure;

/// The name of a record: its table, then the cells of its key.
pub(crate) fn name(key: &Key) -> String {
    let found = key_cells(key);
    format!("{}{}", Table::of(found.kind).name(), encode(&found.cells))
}

/// The record of a name.
pub(crate) fn decode_record(name: &str, text: &str) -> Result<Row, Failure> {
    let table = name.split_once('[').map(|(table, _)| table);
    let kind = RecordKind::ALL.iter().find(|kind| Some(Table::of(**kind).name()) == table);
    Ok(read_record(*kind.ok_or(Failure::Dangling("a name"))?, &decode(text)?)?)
}

pub(crate) fn encode(cells: &[Cell<'_>]) -> String {
    let values = cells.iter().map(|cell| match cell {
        Cell::Null => Value::Null,
        Cell::Flag(it) => Value::from(*it),
        Cell::Int(it) => Value::from(*it),
        Cell::Text(it) => Value::from(it.as_ref()),
        Cell::Bytes(it) => Value::from(it.as_ref()),
        Cell::Id(it) => Value::from(it.to_string()),
    });
    Value::from_iter(values).to_string()
}

pub(crate) fn decode(text: &str) -> Result<Cells, Failure> {
    Ok(Cells(serde_json::from_str(text)?))
}

/// A row as it was found.
pub(crate) struct Cells(Vec<Value>);

impl RowReader for Cells {
    fn cell(&self, at: usize, kind: Kind) -> Result<Cell<'_>, Box<dyn StdError + Send + Sync>> {
        let value = self.0.get(at).ok_or("the row is too short")?;
        let cell = match (kind, value) {
            (_, Value::Null) => Some(Cell::Null),
            (Kind::Flag, value) => value.as_bool().map(Cell::Flag),
            (Kind::Int, value) => value.as_i64().map(Cell::Int),
            (Kind::Text, value) => value.as_str().map(|it| Cell::Text(it.into())),
            (Kind::Bytes, value) => {
                let byte = |it: &Value| it.as_u64().and_then(|it| u8::try_from(it).ok());
                let bytes = value.as_array().map(|it| it.iter().map(byte).collect());
                bytes.flatten().map(|it: Vec<u8>| Cell::Bytes(it.into()))
            }
            (Kind::Id, value) => {
                value.as_str().and_then(|it| Uuid::parse_str(it).ok()).map(Cell::Id)
            }
        };
        cell.ok_or_else(|| format!("no {kind:?}").into())
    }
}
