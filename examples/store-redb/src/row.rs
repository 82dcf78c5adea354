//! Rows as bytes. What the fields of a record are, `cauri-sql` knows: it takes every record apart
//! into flat cells and puts it together again, and asks nothing of a database.

use std::borrow::Cow;

use cauri::{Balance, Entry, RecordKind, Row};
use cauri_sql::{Cell, read_balance, read_entry, read_record, record_cells};
use uuid::Uuid;

use crate::error::Failure;

/// A record's row: its kind, then its cells.
pub(crate) fn encode(row: &Row) -> Vec<u8> {
    let mut bytes = vec![kind_number(row.record.kind())];
    put(&mut bytes, &record_cells(row));
    bytes
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Row, Failure> {
    let (number, cells) = bytes.split_first().ok_or(Failure::Bytes)?;
    let kind = RecordKind::ALL.get(usize::from(*number)).ok_or(Failure::Bytes)?;
    Ok(read_record(*kind, take(cells)?.as_slice())?)
}

pub(crate) fn encode_entry(entry: &Entry, number: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, &cauri_sql::entry_cells(entry, number));
    bytes
}

pub(crate) fn decode_entry(bytes: &[u8]) -> Result<Entry, Failure> {
    Ok(read_entry(take(bytes)?.as_slice())?)
}

pub(crate) fn encode_balance(balance: &Balance) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, &cauri_sql::balance_cells(balance));
    bytes
}

pub(crate) fn decode_balance(bytes: &[u8]) -> Result<Balance, Failure> {
    Ok(read_balance(take(bytes)?.as_slice())?)
}

/// The place of a kind among all kinds. A kind that is added must be added at the end.
pub(crate) fn kind_number(kind: RecordKind) -> u8 {
    let place = RecordKind::ALL.iter().position(|it| *it == kind);
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
}

/// Each cell says what it is, and how long where that varies.
pub(crate) fn put(bytes: &mut Vec<u8>, cells: &[Cell<'_>]) {
    let sized = |bytes: &mut Vec<u8>, tag: u8, it: &[u8]| {
        bytes.push(tag);
        bytes.extend(u64::try_from(it.len()).unwrap_or(u64::MAX).to_be_bytes());
        bytes.extend(it);
    };
    for cell in cells {
        match cell {
            Cell::Null => bytes.push(0),
            Cell::Flag(it) => bytes.extend([1, u8::from(*it)]),
            Cell::Int(it) => {
                bytes.push(2);
                bytes.extend(it.to_be_bytes());
            }
            Cell::Text(it) => sized(bytes, 3, it.as_bytes()),
            Cell::Bytes(it) => sized(bytes, 4, it),
            Cell::Id(it) => {
                bytes.push(5);
                bytes.extend(it.as_bytes());
            }
        }
    }
}

fn take(mut bytes: &[u8]) -> Result<Vec<Cell<'_>>, Failure> {
    let mut cells = Vec::new();
    while let Some((tag, rest)) = bytes.split_first() {
        bytes = rest;
        cells.push(match tag {
            0 => Cell::Null,
            1 => Cell::Flag(array::<1>(&mut bytes)? == [1]),
            2 => Cell::Int(i64::from_be_bytes(array(&mut bytes)?)),
            3 => {
                let text = std::str::from_utf8(sized(&mut bytes)?).map_err(|_| Failure::Bytes)?;
                Cell::Text(Cow::Borrowed(text))
            }
            4 => Cell::Bytes(Cow::Borrowed(sized(&mut bytes)?)),
            5 => Cell::Id(Uuid::from_bytes(array(&mut bytes)?)),
            _ => return Err(Failure::Bytes),
        });
    }
    Ok(cells)
}

fn array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Failure> {
    let (head, rest) = bytes.split_first_chunk().ok_or(Failure::Bytes)?;
    *bytes = rest;
    Ok(*head)
}

fn sized<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Failure> {
    let length = usize::try_from(u64::from_be_bytes(array(bytes)?)).map_err(|_| Failure::Bytes)?;
    let (head, rest) = bytes.split_at_checked(length).ok_or(Failure::Bytes)?;
    *bytes = rest;
    Ok(head)
}
