//! Writing what was judged: one statement, whatever the batch.
//!
//! The statement is a chain of parts that run in a fixed order, the same on every node: removals
//! and updates first, each guarded by the version that was judged; then new rows without a number,
//! among them the idempotency keys that somebody else may be inserting at this moment; the hot
//! rows last. These are the counters of the lists and the balances of the ledger: they are moved,
//! and the numbers and running balances of the rows that follow are counted on from what they come
//! to, all within the server. So they are held for as long as it takes to insert those rows, and no
//! answer has to travel in between.
//!
//! When a guard does not hold, or a balance would fall below its floor, the statement fails as a
//! whole, and the batch is judged again on what is there by then.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use cauri::{
    Balance, Facts, Key, LedgerAccount, List, Movement, RecordKind, Row, StoreError, Writes,
};
use cauri_sql::{
    Cell, Kind, Table, balance_cells, counter_cells, entry_cells, key_cells, record_cells,
};
use sqlx::SqlStr;

use crate::{
    bind::{Arguments, Columns},
    error::broken,
    text::{Numbering, Schema, joined, kept, kinds, matches, names, places},
};

/// Kinds of records, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Kinds(u32);

impl Kinds {
    fn bit(kind: RecordKind) -> u32 {
        let at = RecordKind::ALL.iter().position(|it| *it == kind).unwrap_or(0);
        1_u32.checked_shl(u32::try_from(at).unwrap_or(0)).unwrap_or(0)
    }

    fn add(&mut self, kind: RecordKind) {
        self.0 |= Self::bit(kind);
    }

    fn iter(self) -> impl Iterator<Item = RecordKind> {
        RecordKind::ALL.iter().copied().filter(move |kind| self.0 & Self::bit(*kind) != 0)
    }
}

/// Which tables a statement writes, and how. A statement of one form can write whatever needs no
/// more than that: arrays may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Form {
    removes: Kinds,
    updates: Kinds,
    inserts: Kinds,
    entries: bool,
}

impl Form {
    /// Everything there is.
    pub(crate) fn whole() -> Self {
        let mut all = Kinds::default();
        RecordKind::ALL.iter().for_each(|kind| all.add(*kind));
        Self { removes: all, updates: all, inserts: all, entries: true }
    }

    pub(crate) fn covers(&self, other: &Self) -> bool {
        let covers = |own: Kinds, other: Kinds| own.0 & other.0 == other.0;
        covers(self.removes, other.removes)
            && covers(self.updates, other.updates)
            && covers(self.inserts, other.inserts)
            && (self.entries || !other.entries)
    }

    /// How much there is to plan, and to run for nothing where it is not needed.
    pub(crate) const fn size(&self) -> u32 {
        self.removes.0.count_ones() + self.updates.0.count_ones() + self.inserts.0.count_ones()
    }

    fn numbered(&self) -> impl Iterator<Item = RecordKind> {
        self.inserts.iter().filter(|kind| Table::of(*kind).is_numbered())
    }

    fn unnumbered(&self) -> impl Iterator<Item = RecordKind> {
        self.inserts.iter().filter(|kind| !Table::of(*kind).is_numbered())
    }

    fn counts(&self) -> bool {
        self.entries || self.numbered().next().is_some()
    }
}

/// What is to be written, sorted.
pub(crate) struct Work {
    removes: BTreeMap<RecordKind, Vec<(Key, u64)>>,
    updates: BTreeMap<RecordKind, Vec<(Row, u64)>>,
    inserts: BTreeMap<RecordKind, Vec<Row>>,
    growth: BTreeMap<List, i64>,
    movements: BTreeMap<LedgerAccount, Movement>,
    /// With their place among the new entries of their list, and the balance counted from nothing.
    entries: Vec<(cauri::Entry, i64)>,
}

impl Work {
    /// Sorts what was judged on these facts.
    pub(crate) fn of(mut writes: Writes, facts: &Facts) -> Result<Self, StoreError> {
        let growth = writes.growth();
        // Places within the batch: the server adds what it counts from.
        let mut last = growth.keys().map(|list| (*list, 0)).collect();
        let places = writes.number(&mut last);
        let Writes { removes, inserts, updates, entries, movements } = writes;

        // A key that is removed and inserted anew is a row that is replaced.
        let mut removed: HashMap<Key, u64> = removes.into_iter().collect();
        let mut work = Self {
            removes: BTreeMap::new(),
            updates: BTreeMap::new(),
            inserts: BTreeMap::new(),
            growth,
            movements,
            entries: Vec::with_capacity(entries.len()),
        };
        for row in inserts {
            let kind = row.record.kind();
            match if removed.is_empty() { None } else { removed.remove(&row.record.key()) } {
                Some(expected) => work.updates.entry(kind).or_default().push((row, expected)),
                None => work.inserts.entry(kind).or_default().push(row),
            }
        }
        for (row, expected) in updates {
            work.updates.entry(row.record.kind()).or_default().push((row, expected));
        }
        for (key, expected) in removed {
            let found = key_cells(&key);
            if found.is_alternate {
                return Err(broken("a record removed by another key than its own"));
            }
            let kind = found.kind;
            work.removes.entry(kind).or_default().push((key, expected));
        }
        for (mut entry, place) in entries.into_iter().zip(places) {
            let start = facts.balances.get(&entry.ledger_account()).copied().unwrap_or_default();
            entry.balance_after = entry.balance_after.minus(start).map_err(broken)?;
            work.entries.push((entry, place));
        }
        work.sort();
        Ok(work)
    }

    /// Rows are locked, and unique keys taken, in the order in which they are given.
    fn sort(&mut self) {
        for rows in self.removes.values_mut() {
            rows.sort();
        }
        for rows in self.updates.values_mut() {
            rows.sort_by_cached_key(|(row, _)| row.record.key());
        }
        for rows in self.inserts.values_mut() {
            rows.sort_by_cached_key(|row| row.record.key());
        }
    }

    pub(crate) fn form(&self) -> Form {
        let mut form = Form { entries: !self.entries.is_empty(), ..Form::default() };
        self.removes.keys().for_each(|kind| form.removes.add(*kind));
        self.updates.keys().for_each(|kind| form.updates.add(*kind));
        self.inserts.keys().for_each(|kind| form.inserts.add(*kind));
        form
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.form() == Form::default()
    }

    /// The arguments of the statement of a form that covers this, in the order of its text.
    pub(crate) fn arguments(&self, form: &Form) -> Result<Arguments, StoreError> {
        let mut arguments = Arguments::default();
        for kind in form.removes.iter() {
            let rows = rows_of(&self.removes, kind);
            let all = kinds(Table::of(kind).key()).chain([Kind::Int]);
            let mut columns = Columns::new(all, rows.len());
            for (key, expected) in rows {
                columns.push(key_cells(key).cells.into_iter().chain([version(*expected)]))?;
            }
            arguments.columns(columns)?;
        }
        for kind in form.updates.iter() {
            let table = Table::of(kind);
            let width = written(table);
            let all = kinds(table.columns()).take(width);
            let rows = rows_of(&self.updates, kind);
            let mut columns = Columns::new(all.chain([Kind::Int]), rows.len());
            for (row, expected) in rows {
                let cells = record_cells(row).into_iter().take(width);
                columns.push(cells.chain([version(*expected)]))?;
            }
            arguments.columns(columns)?;
        }
        for kind in form.unnumbered() {
            let rows = rows_of(&self.inserts, kind);
            let mut columns = Columns::new(kinds(Table::of(kind).columns()), rows.len());
            for row in rows {
                columns.push(record_cells(row))?;
            }
            arguments.columns(columns)?;
        }
        if form.counts() {
            let mut columns = Columns::new(kinds(Table::counters().columns()), self.growth.len());
            for (list, growth) in &self.growth {
                columns.push(counter_cells(*list, *growth))?;
            }
            arguments.columns(columns)?;
        }
        let lists: Vec<List> = self.growth.keys().copied().collect();
        for kind in form.numbered() {
            let rows = rows_of(&self.inserts, kind);
            let all = kinds(Table::of(kind).columns()).chain([Kind::Int]);
            let mut columns = Columns::new(all, rows.len());
            for row in rows {
                let list = row.record.list().ok_or_else(|| broken("a row of no list"))?;
                columns.push(record_cells(row).into_iter().chain([place(&lists, &list)?]))?;
            }
            arguments.columns(columns)?;
        }
        if form.entries {
            self.ledger(&mut arguments, &lists)?;
        }
        Ok(arguments)
    }

    fn ledger(&self, arguments: &mut Arguments, lists: &[List]) -> Result<(), StoreError> {
        let table = Table::balances();
        let more = [Kind::Int, Kind::Flag];
        let all = kinds(table.columns()).chain(more);
        let mut columns = Columns::new(all, self.movements.len());
        for (account, movement) in &self.movements {
            let Movement { total, lowest } = *movement;
            let balance = Balance { account: *account, amount: total };
            let bounds = [Cell::Int(lowest.units()), Cell::Flag(account.kind.has_floor())];
            columns.push(balance_cells(&balance).into_iter().chain(bounds))?;
        }
        arguments.columns(columns)?;
        let accounts: Vec<LedgerAccount> = self.movements.keys().copied().collect();
        let more = [Kind::Int, Kind::Int];
        let all = kinds(Table::entries().columns()).chain(more);
        let mut columns = Columns::new(all, self.entries.len());
        for (entry, number) in &self.entries {
            let list = place(lists, &List::Entries(entry.scope))?;
            let account = place(&accounts, &entry.ledger_account())?;
            columns.push(entry_cells(entry, *number).into_iter().chain([list, account]))?;
        }
        arguments.columns(columns)
    }
}

fn rows_of<T>(all: &BTreeMap<RecordKind, Vec<T>>, kind: RecordKind) -> &[T] {
    all.get(&kind).map(Vec::as_slice).unwrap_or_default()
}

/// How many columns of a row an update writes, its key included.
fn written(table: &Table) -> usize {
    table.key().len().saturating_add(table.mutable().len())
}

fn version(version: u64) -> Cell<'static> {
    Cell::Int(i64::try_from(version).unwrap_or(i64::MAX))
}

/// Where something stands in a sorted array, counted as Postgres counts.
fn place<T: Ord>(all: &[T], one: &T) -> Result<Cell<'static>, StoreError> {
    let at = all.binary_search(one).map_err(|_| broken("a row that nothing counts"))?;
    Ok(Cell::Int(i64::try_from(at).map_err(broken)?.saturating_add(1)))
}

impl Form {
    /// The statement.
    pub(crate) fn text(&self, schema: &Schema) -> SqlStr {
        let mut text =
            Text { schema, numbering: Numbering::default(), parts: Vec::new(), end: Vec::new() };
        self.removes.iter().for_each(|kind| text.remove(Table::of(kind)));
        self.updates.iter().for_each(|kind| text.update(Table::of(kind)));
        self.unnumbered().for_each(|kind| text.insert(Table::of(kind), &[]));
        if self.counts() {
            text.count();
        }
        let number = [("number", "(select b.of from bases as b)")];
        self.numbered().for_each(|kind| text.insert(Table::of(kind), &number));
        if self.entries {
            text.moved();
            let after = ("balance_after", "(select s.of from starts as s)");
            text.insert(Table::entries(), &[number[0], after]);
        }
        kept(text.finish())
    }
}

/// A statement on its way.
struct Text<'a> {
    schema: &'a Schema,
    numbering: Numbering,
    /// The parts, in order.
    parts: Vec<String>,
    /// What is asked of them in the end: each runs when it is asked, so this is the order.
    end: Vec<String>,
}

impl Text<'_> {
    fn part(&mut self, part: String) -> usize {
        self.parts.push(part);
        self.parts.len().saturating_sub(1)
    }

    /// A part that has to touch as many rows as it was given.
    fn guarded(&mut self, part: String, last: usize) {
        let refuse = self.schema.of("cauri_refuse()");
        let at = self.part(part);
        self.end.push(format!(
            "case when (select count(*) from p{at}) <> cardinality(${last}) then {refuse} end"
        ));
    }

    fn remove(&mut self, table: &Table) {
        let key = table.key();
        let values = self.numbering.unnest(kinds(key).chain([Kind::Int]));
        let part = format!(
            "delete from {} as t using {values} as v({}) where {} and t.version = v.c{} returning 1",
            self.schema.table(table),
            places(key.len().saturating_add(1)),
            matches(key, "t", "v"),
            key.len(),
        );
        let last = self.numbering.last();
        self.guarded(part, last);
    }

    fn update(&mut self, table: &Table) {
        let key = table.key();
        let width = written(table);
        let values = self.numbering.unnest(kinds(table.columns()).take(width).chain([Kind::Int]));
        let sets = table.mutable().iter().zip(key.len()..);
        let sets = joined(sets.map(|(column, at)| format!("{} = v.c{at}", column.name)));
        let part = format!(
            "update {} as t set {sets} from {values} as v({}) where {} and t.version = v.c{width} \
             returning 1",
            self.schema.table(table),
            places(width.saturating_add(1)),
            matches(key, "t", "v"),
        );
        let last = self.numbering.last();
        self.guarded(part, last);
    }

    /// Adds rows. Some of the columns are counted on from an array: each row says, after its own
    /// columns and in the order of these, from which of its elements.
    fn insert(&mut self, table: &Table, counted: &[(&str, &str)]) {
        let columns = table.columns();
        let more = counted.iter().map(|_| Kind::Int);
        let values = self.numbering.unnest(kinds(columns).chain(more));
        let select = joined(columns.iter().enumerate().map(|(at, column)| {
            let on =
                counted.iter().zip(columns.len()..).find(|((name, _), _)| *name == column.name);
            match on {
                Some(((_, array), from)) => format!("({array})[v.c{from}] + v.c{at}"),
                None => format!("v.c{at}"),
            }
        }));
        let part = format!(
            "insert into {} ({}) select {select} from {values} as v({}) returning 1",
            self.schema.table(table),
            names(columns, ""),
            places(columns.len().saturating_add(counted.len())),
        );
        let at = self.part(part);
        self.end.push(format!("(select count(*) from p{at})"));
    }

    /// Moves the counters; `bases` holds what each was before, in the order of the lists.
    fn count(&mut self) {
        let table = Table::counters();
        let values = self.numbering.unnest(kinds(table.columns()));
        let key = names(table.key(), "");
        let width = places(table.columns().len());
        let last = table.key().len();
        let at = self.part(format!(
            "insert into {} as t ({}) select v.* from {values} as v({width}) on conflict ({key}) \
             do update set last = t.last + excluded.last returning {}, t.last",
            self.schema.table(table),
            names(table.columns(), ""),
            names(table.key(), "t."),
        ));
        self.parts.push(format!(
            "bases(of) as materialized (select array_agg(p.last - v.c{last} order by v.at) \
             from {values} with ordinality as v({width}, at) join p{at} as p on {})",
            matches(table.key(), "p", "v"),
        ));
    }

    /// Moves the balances; `starts` holds what each was before, in the order of the accounts.
    fn moved(&mut self) {
        let table = Table::balances();
        let own: Vec<Kind> = kinds(table.columns()).collect();
        let width = own.len();
        let values = self.numbering.unnest(own.into_iter().chain([Kind::Int, Kind::Flag]));
        let all = places(width.saturating_add(2));
        let total = table.key().len();
        let (lowest, floor) = (width, width.saturating_add(1));
        let at = self.part(format!(
            "insert into {} as t ({}) select {} from {values} as v({all}) on conflict ({}) \
             do update set amount = t.amount + excluded.amount returning {}, t.amount",
            self.schema.table(table),
            names(table.columns(), ""),
            joined((0..width).map(|at| format!("v.c{at}"))),
            names(table.key(), ""),
            names(table.key(), "t."),
        ));
        self.parts.push(format!(
            "starts(of, is_below) as materialized (\
             select array_agg(p.amount - v.c{total} order by v.at), \
             bool_or(v.c{floor} and p.amount - v.c{total} + v.c{lowest} < 0) \
             from {values} with ordinality as v({all}, at) join p{at} as p on {})",
            matches(table.key(), "p", "v"),
        ));
        let refuse = self.schema.of("cauri_refuse()");
        self.end.push(format!("case when (select s.is_below from starts as s) then {refuse} end"));
    }

    fn finish(self) -> String {
        let mut text = "with ".to_owned();
        for (at, part) in self.parts.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = match part.starts_with("bases(") || part.starts_with("starts(") {
                true => write!(text, "{comma}{part}"),
                false => write!(text, "{comma}p{at} as ({part})"),
            };
        }
        let _ = write!(text, " select {}", self.end.join(", "));
        text
    }
}
