//! Records become rows and the same records again, and what is no row becomes an error.

use std::error::Error as StdError;

use cauri_conformance::fixtures::{Random, posting, record};
use cauri_core::{Amount, Balance, Entry, Posting, RecordKind, Row, Timestamp};
use cauri_sql::{
    Cell, Column, Kind, RowError, RowReader, Table, balance_cells, entry_cells, read_balance,
    read_entry, read_record, record_cells,
};

fn rows(kind: RecordKind) -> impl Iterator<Item = Row> {
    let mut random = Random::new(7);
    let scope = random.scope();
    (1..=200).map(move |number| Row {
        record: record(&mut random, kind, scope),
        version: random.count().unsigned_abs().saturating_add(1),
        due_at: random.maybe(Random::moment),
        number: Table::of(kind).is_numbered().then_some(number),
    })
}

fn assert_fits(columns: &[Column], cells: &[Cell<'_>]) {
    assert_eq!(columns.len(), cells.len());
    for (column, cell) in columns.iter().zip(cells) {
        match cell.kind() {
            Some(kind) => assert_eq!(kind, column.kind, "{}", column.name),
            None => assert!(column.null, "{}", column.name),
        }
    }
}

#[test]
fn every_record_survives_its_row() {
    for kind in RecordKind::ALL {
        for row in rows(*kind) {
            let cells = record_cells(&row);
            assert_fits(Table::of(*kind).columns(), &cells);
            assert_eq!(read_record(*kind, cells.as_slice()).unwrap(), row);
        }
    }
}

#[test]
fn a_key_is_the_beginning_of_its_row() {
    for kind in RecordKind::ALL {
        for row in rows(*kind).take(10) {
            let key = row.record.key();
            let found = cauri_sql::key_cells(&key);
            assert_eq!(found.columns(), Table::of(*kind).key());
            let cells = record_cells(&row);
            assert_eq!(cells.get(..found.cells.len()), Some(found.cells.as_slice()));
        }
    }
}

#[test]
fn a_null_where_there_must_be_a_value_is_an_error() {
    for kind in RecordKind::ALL {
        for row in rows(*kind).take(10) {
            let cells = record_cells(&row);
            for (at, column) in Table::of(*kind).columns().iter().enumerate() {
                let mut holed = cells.clone();
                holed[at] = Cell::Null;
                let read = read_record(*kind, holed.as_slice());
                assert!(column.null || read.is_err(), "{kind:?} {}", column.name);
            }
        }
    }
}

#[test]
fn nothing_that_can_stand_in_a_column_panics_or_is_taken_for_something_else() {
    let strange = [
        Cell::Int(i64::MIN),
        Cell::Int(i64::MAX),
        Cell::Text("".into()),
        Cell::Text("\u{0}".into()),
        Cell::Text("{".into()),
        Cell::Text("[]".into()),
        Cell::Bytes(vec![].into()),
        Cell::Bytes(vec![1; 31].into()),
    ];
    for kind in RecordKind::ALL {
        for row in rows(*kind).take(3) {
            let cells = record_cells(&row);
            for at in 0..cells.len() {
                for cell in &strange {
                    let mut odd = cells.clone();
                    odd[at] = cell.clone();
                    // Whatever is read is written as it was found.
                    if let Ok(read) = read_record(*kind, odd.as_slice()) {
                        let again = record_cells(&read);
                        let is_json_of_nothing = *cell == Cell::Text("[]".into());
                        assert!(again == odd || is_json_of_nothing, "{kind:?} at {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_error_says_where_and_not_what() {
    struct Torn;
    impl RowReader for Torn {
        fn cell(&self, _: usize, _: Kind) -> Result<Cell<'_>, Box<dyn StdError + Send + Sync>> {
            Err("torn".into())
        }
    }
    let error = read_record(RecordKind::Payment, &Torn).unwrap_err();
    assert!(matches!(error, RowError::Unreadable { table: "payments", column: "account", .. }));
    let row = rows(RecordKind::Customer).next().unwrap();
    let mut cells = record_cells(&row);
    let columns = Table::of(RecordKind::Customer).columns();
    let phone = columns.iter().position(|column| column.name == "phone").unwrap();
    cells[phone] = Cell::Text("+225 private".into());
    let error = read_record(RecordKind::Customer, cells.as_slice()).unwrap_err();
    assert_eq!(error.to_string(), "customers.phone holds what is not valid there");
    assert!(!format!("{error:?} {cells:?}").contains("private"));
}

#[test]
fn entries_and_balances_survive_their_rows() {
    let mut random = Random::new(11);
    let scope = random.scope();
    for number in 1..=200 {
        let posting: Posting = posting(&mut random, scope);
        for line in posting.lines() {
            let entry: Entry = posting.entry(line, Amount::new(random.count()));
            let cells = entry_cells(&entry, number);
            assert_fits(Table::entries().columns(), &cells);
            assert_eq!(read_entry(cells.as_slice()).unwrap(), entry);
            let balance = Balance { account: entry.ledger_account(), amount: entry.amount };
            let cells = balance_cells(&balance);
            assert_fits(Table::balances().columns(), &cells);
            assert_eq!(read_balance(cells.as_slice()).unwrap(), balance);
        }
    }
}

#[test]
fn a_moment_out_of_range_is_not_brought_into_it() {
    let row = Row {
        record: rows(RecordKind::Account).next().unwrap().record,
        version: 1,
        due_at: Some(Timestamp::MAX),
        number: Some(1),
    };
    let mut cells = record_cells(&row);
    assert_eq!(read_record(RecordKind::Account, cells.as_slice()).unwrap(), row);
    let due_at = cells.len() - 2;
    cells[due_at] = Cell::Int(Timestamp::MAX.millis() + 1);
    assert!(read_record(RecordKind::Account, cells.as_slice()).is_err());
}
