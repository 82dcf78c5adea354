//! How far lists are numbered.

use std::collections::BTreeMap;

use cauri_core::{AccountId, Environment, Id as _, List, Scope};
use uuid::Uuid;

use crate::{
    cell::{Cell, Column, Kind},
    codec::Codec as _,
    record::Mapped,
    row::{Reader, RowError, RowReader},
    table::Table,
};

/// The lists that a store numbers, each by its [`List::name`], which is its table's name and the
/// name of its counter's column. The lines of a timeline bring numbers of their own.
const NUMBERED: [&str; 11] = [
    "accounts",
    "api_keys",
    "customers",
    "payment_links",
    "payments",
    "payouts",
    "refunds",
    "webhook_endpoints",
    "events",
    "deliveries",
    "ledger_entries",
];

/// How far the lists of one scope are numbered: one row for all of them, since most of what is
/// committed adds to several lists of one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    whose: Scope,
    last: [i64; NUMBERED.len()],
}

impl Counters {
    /// Under whom a list is counted: its scope, or, for the list of accounts, which is nobody's
    /// own, the id that is all zeros.
    #[must_use]
    pub fn whose(list: List) -> Scope {
        let nobody = || Scope {
            account: AccountId::from_uuid(Uuid::nil()),
            environment: Environment::Sandbox,
        };
        list.scope().unwrap_or_else(nobody)
    }

    /// The key of the row that counts a list.
    #[must_use]
    pub fn key(list: List) -> Vec<Cell<'static>> {
        let mut cells = Self::none(Self::whose(list)).cells();
        cells.truncate(Table::counters().key().len());
        cells
    }

    /// One for each scope, in their order.
    #[must_use]
    pub fn by_scope(numbers: &BTreeMap<List, i64>) -> Vec<Self> {
        let mut scopes = BTreeMap::new();
        for (list, number) in numbers {
            let whose = Self::whose(*list);
            let counters = scopes.entry(whose).or_insert_with(|| Self::none(whose));
            if let Some(last) = place(*list).and_then(|at| counters.last.get_mut(at)) {
                *last = *number;
            }
        }
        scopes.into_values().collect()
    }

    const fn none(whose: Scope) -> Self {
        Self { whose, last: [0; NUMBERED.len()] }
    }

    /// Whose lists they are.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        self.whose
    }

    /// Of the list whose table has this name; 0 for what is not counted.
    #[must_use]
    pub fn of(&self, table: &Table) -> i64 {
        let at = NUMBERED.iter().position(|name| *name == table.name());
        at.and_then(|at| self.last.get(at)).copied().unwrap_or(0)
    }

    /// The cells of the row.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell<'static>> {
        let mut cells = Vec::with_capacity(NUMBERED.len().saturating_add(2));
        self.put(&mut cells);
        cells.into_iter().map(Cell::into_owned).collect()
    }

    /// The counters of a row.
    ///
    /// # Errors
    /// [`RowError`] for a row that nothing of ours would write.
    pub fn read<R: RowReader + ?Sized>(row: &R) -> Result<Self, RowError> {
        let table = Table::counters();
        Self::take(&mut Reader::new(table.name(), table.columns(), row))
    }
}

fn place(list: List) -> Option<usize> {
    NUMBERED.iter().position(|name| *name == list.name())
}

impl Mapped for Counters {
    fn columns() -> Vec<Column> {
        let key = [Column::new("account", Kind::Id), Column::new("live", Kind::Flag)];
        key.into_iter().chain(NUMBERED.map(|name| Column::new(name, Kind::Int))).collect()
    }

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        self.whose.put(cells);
        self.last.iter().for_each(|last| last.put(cells));
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        let mut counters = Self::none(reader.take()?);
        for last in &mut counters.last {
            *last = reader.take()?;
        }
        Ok(counters)
    }
}

#[cfg(test)]
mod tests {
    use cauri_core::{PaymentId, RecordKind};

    use super::*;

    #[test]
    fn every_numbered_table_has_a_counter_of_its_name() {
        let numbered = RecordKind::ALL.iter().map(|kind| Table::of(*kind));
        let numbered = numbered.filter(|table| table.is_numbered()).chain([Table::entries()]);
        let mut names: Vec<_> = numbered.map(Table::name).collect();
        let mut counted = NUMBERED.to_vec();
        names.sort_unstable();
        counted.sort_unstable();
        assert_eq!(names, counted);
    }

    #[test]
    fn lists_of_a_scope_share_a_row() {
        let scope = |byte, environment| Scope {
            account: AccountId::from_uuid(Uuid::from_bytes([byte; 16])),
            environment,
        };
        let (one, two) = (scope(1, Environment::Live), scope(2, Environment::Sandbox));
        let numbers = BTreeMap::from([
            (List::Accounts, 9),
            (List::Payments(two), 3),
            (List::Entries(two), 7),
            (List::Events(one), 5),
        ]);
        let rows = Counters::by_scope(&numbers);
        let scopes: Vec<_> = rows.iter().map(Counters::scope).collect();
        assert_eq!(scopes, [Counters::whose(List::Accounts), one, two]);
        for (list, number) in numbers {
            let row = rows.iter().find(|row| row.scope() == Counters::whose(list)).unwrap();
            assert_eq!(row.of(Table::listed(list)), number, "{list:?}");
        }
        for row in &rows {
            assert_eq!(Counters::read(row.cells().as_slice()).unwrap(), *row);
        }
        let timeline = List::Timeline(one, PaymentId::from_uuid(Uuid::nil()));
        assert_eq!(rows[1].of(Table::listed(timeline)), 0, "timelines are not counted");
    }
}
