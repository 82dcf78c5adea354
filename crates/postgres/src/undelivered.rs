//! Deliveries that were not received, in a table of their own: an index in the shape of a table.
//!
//! An update that changes an indexed column makes Postgres write to every index of the table, and
//! each attempt changes the status of its delivery and when it is due. So neither is indexed there:
//! what an attempt that is received changes is one row, in its place. Here is a row for each delivery
//! that has not succeeded, or that is due, with what claims and lists look for; most live for a few
//! milliseconds.
//!
//! The delivery decides, this table only finds it: whoever writes here has written to the delivery
//! before, in the same statement, so the two are never locked the other way round; and a claim locks
//! the delivery and looks at it again, since what it found here may be a moment old.

use cauri::RecordKind;
use cauri_sql::Table;

use crate::text::{Schema, joined, names};

/// Which deliveries are here.
const IS_HERE: &str = "(p.status <> 'succeeded' or p.due_at is not null)";

/// Are rows of this table found here?
pub(crate) fn finds(table: &Table) -> bool {
    table == Table::of(RecordKind::Delivery)
}

/// What a statement that writes deliveries has to return, `t` being the delivery.
pub(crate) fn returning() -> String {
    names(Table::undelivered().columns(), "t.")
}

/// Adds what was inserted by the part of this name.
pub(crate) fn added(schema: &Schema, part: &str) -> String {
    let columns = names(Table::undelivered().columns(), "");
    format!(
        "insert into {} as u ({columns}) select {} from {part} as p where {IS_HERE}",
        schema.table(Table::undelivered()),
        names(Table::undelivered().columns(), "p."),
    )
}

/// Takes out what was updated by the part of this name and is received.
pub(crate) fn removed(schema: &Schema, part: &str) -> String {
    format!(
        "delete from {} as u using {part} as p where {} and not {IS_HERE} returning 1",
        schema.table(Table::undelivered()),
        same("p"),
    )
}

/// Keeps what was updated by the part of this name and is not received.
pub(crate) fn changed(schema: &Schema, part: &str) -> String {
    let table = Table::undelivered();
    let rest = table.columns().iter().skip(table.key().len());
    format!(
        "{} on conflict ({}) do update set {} returning 1",
        added(schema, part),
        names(table.key(), ""),
        joined(rest.map(|column| format!("{name} = excluded.{name}", name = column.name))),
    )
}

/// Moves `due_at` of the deliveries in the part of this name.
pub(crate) fn moved(schema: &Schema, part: &str, due_at: &str) -> String {
    format!(
        "update {} as u set due_at = {due_at} from {part} as p where {}",
        schema.table(Table::undelivered()),
        same("p"),
    )
}

fn same(other: &str) -> String {
    let key = Table::undelivered().key().iter();
    let equal = key.map(|column| format!("u.{name} = {other}.{name}", name = column.name));
    equal.collect::<Vec<_>>().join(" and ")
}
