//! Finding records by their keys, and balances by their scope.

use std::collections::BTreeMap;

use cauri_core::{Key, RecordKind, Scope};
use sea_query::{Cond, Expr, ExprTrait, Func, Query, SelectStatement, Value};

use crate::{
    cell::{Cell, Column, Kind},
    codec::{Codec, Scalar},
    table::Table,
};

/// The columns and values that find a record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "adapters read every field")]
pub struct KeyCells<'a> {
    /// The kind of the record.
    pub kind: RecordKind,
    /// Is it an alternate key (an API key's hash) instead of the primary key?
    pub is_alternate: bool,
    /// The values of [`KeyCells::columns`].
    pub cells: Vec<Cell<'a>>,
}

impl KeyCells<'_> {
    /// The columns that are compared.
    #[must_use]
    pub fn columns(&self) -> &'static [Column] {
        const HASH: &[Column] = &[Column::new("hash", Kind::Bytes)];
        if self.is_alternate { HASH } else { Table::of(self.kind).key() }
    }
}

/// What a key looks like in its table.
#[must_use]
pub fn key_cells(key: &Key) -> KeyCells<'_> {
    let in_scope = |kind: RecordKind, scope: &Scope, cell: Cell<'_>| {
        let mut cells = Vec::with_capacity(3);
        scope.put(&mut cells);
        let mut cells: Vec<_> = cells.into_iter().map(Cell::into_owned).collect();
        cells.push(cell.into_owned());
        KeyCells { kind, is_alternate: false, cells }
    };
    match key {
        Key::Account(id) => {
            KeyCells { kind: RecordKind::Account, is_alternate: false, cells: vec![id.cell()] }
        }
        Key::Setting(name) => {
            KeyCells { kind: RecordKind::Setting, is_alternate: false, cells: vec![name.cell()] }
        }
        Key::ApiKeyHash(hash) => {
            KeyCells { kind: RecordKind::ApiKey, is_alternate: true, cells: vec![hash.cell()] }
        }
        Key::ApiKey(scope, id) => in_scope(RecordKind::ApiKey, scope, id.cell()),
        Key::Customer(scope, id) => in_scope(RecordKind::Customer, scope, id.cell()),
        Key::PaymentLink(scope, id) => in_scope(RecordKind::PaymentLink, scope, id.cell()),
        Key::Payment(scope, id) => in_scope(RecordKind::Payment, scope, id.cell()),
        Key::Payout(scope, id) => in_scope(RecordKind::Payout, scope, id.cell()),
        Key::Refund(scope, id) => in_scope(RecordKind::Refund, scope, id.cell()),
        Key::TimelineEntry(scope, payment, number) => {
            let mut found = in_scope(RecordKind::TimelineEntry, scope, payment.cell());
            found.cells.push(Cell::Int(*number));
            found
        }
        Key::WebhookEndpoint(scope, id) => in_scope(RecordKind::WebhookEndpoint, scope, id.cell()),
        Key::Subscriptions(scope) => {
            let mut cells = Vec::with_capacity(2);
            scope.put(&mut cells);
            KeyCells { kind: RecordKind::Subscriptions, is_alternate: false, cells }
        }
        Key::Event(scope, id) => in_scope(RecordKind::Event, scope, id.cell()),
        Key::Delivery(scope, id) => in_scope(RecordKind::Delivery, scope, id.cell()),
        Key::Idempotency(scope, key) => in_scope(RecordKind::Idempotency, scope, key.cell()),
    }
}

/// A cell as a parameter of a statement.
pub(crate) fn value(cell: Cell<'_>, kind: Kind) -> Value {
    match (cell, kind) {
        (Cell::Flag(it), _) => Value::Bool(Some(it)),
        (Cell::Int(it), _) => Value::BigInt(Some(it)),
        (Cell::Text(it), _) => Value::String(Some(it.into_owned())),
        (Cell::Bytes(it), _) => Value::Bytes(Some(it.into_owned())),
        (Cell::Id(it), _) => Value::Uuid(Some(it)),
        (Cell::Null, Kind::Flag) => Value::Bool(None),
        (Cell::Null, Kind::Int) => Value::BigInt(None),
        (Cell::Null, Kind::Text) => Value::String(None),
        (Cell::Null, Kind::Bytes) => Value::Bytes(None),
        (Cell::Null, Kind::Id) => Value::Uuid(None),
    }
}

/// One statement for each table (and way) by which the keys are found, each answering whole rows,
/// in no order. Match them with [`cauri_core::Record::key`] and `alternate_key`.
#[must_use]
pub fn records_by_keys(keys: &[Key]) -> Vec<(RecordKind, SelectStatement)> {
    let mut groups = BTreeMap::<(RecordKind, bool), Cond>::new();
    for key in keys {
        let found = key_cells(key);
        let columns = found.columns();
        let mut all = Cond::all();
        for (column, cell) in columns.iter().zip(found.cells) {
            all = all.add(Expr::col(column.name).eq(value(cell, column.kind)));
        }
        let any = groups.entry((found.kind, found.is_alternate)).or_insert_with(Cond::any);
        *any = std::mem::replace(any, Cond::any()).add(all);
    }
    groups
        .into_iter()
        .map(|((kind, _), any)| (kind, rows_of(Table::of(kind)).cond_where(any).take()))
        .collect()
}

/// Whole rows of a table.
pub(crate) fn rows_of(table: &Table) -> SelectStatement {
    Query::select()
        .columns(table.columns().iter().map(|column| column.name))
        .from(table.name())
        .take()
}

/// The rows of a scope.
pub(crate) fn of_scope(scope: Scope) -> Cond {
    Cond::all()
        .add(Expr::col("account").eq(value(scope.account.cell(), Kind::Id)))
        .add(Expr::col("live").eq(scope.environment.is_live()))
}

/// The rows of a scope, said so that no index that begins with the scope is taken for it: for
/// queries whose rows are found by an id. See the module on indexes.
pub(crate) fn also_of_scope(scope: Scope) -> Cond {
    let column =
        |name: &'static str| Expr::expr(Func::coalesce([Expr::col(name), Expr::col(name)]));
    Cond::all()
        .add(column("account").eq(value(scope.account.cell(), Kind::Id)))
        .add(column("live").eq(scope.environment.is_live()))
}

/// Every balance of a scope, in no order: databases and core do not sort the words alike.
#[must_use]
pub fn balances(scope: Scope) -> SelectStatement {
    rows_of(Table::balances()).cond_where(of_scope(scope)).take()
}
