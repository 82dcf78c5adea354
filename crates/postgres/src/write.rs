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
    hash::Hash,
};

use cauri::{
    Amount, Balance, Facts, Key, LedgerAccount, Movement, RecordKind, Row, Scope, StoreError,
    Writes,
};
use cauri_sql::{
    Cell, Counters, Kind, Table, add_record_cells, balance_cells, entry_cells, key_cells,
};
use sqlx::SqlStr;

use crate::{
    bind::{Arguments, Columns},
    error::broken,
    schema::Types,
    text::{self, Numbering, Schema, joined, kept, kinds, matches, names},
    undelivered,
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

    /// The tables whose rows are numbered.
    fn counted(&self) -> impl Iterator<Item = &'static Table> {
        self.numbered().map(Table::of).chain(self.entries.then(Table::entries))
    }

    fn counts(&self) -> bool {
        self.counted().next().is_some()
    }
}

/// What is to be written, sorted.
pub(crate) struct Work {
    removes: BTreeMap<RecordKind, Vec<(Key, u64)>>,
    updates: BTreeMap<RecordKind, Vec<(Row, u64)>>,
    inserts: BTreeMap<RecordKind, Vec<Row>>,
    /// In the order in which the server sorts them, as are the movements.
    growth: Vec<Counters>,
    movements: Vec<(LedgerAccount, Movement)>,
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
            growth: sorted(Counters::by_scope(&growth), Counters::cells),
            movements: sorted(movements, |(account, _)| moved_cells(*account, Amount::ZERO)),
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
    pub(crate) fn arguments(&self, form: &Form, types: &Types) -> Result<Arguments, StoreError> {
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
            let changed = rows_of(&self.updates, kind);
            let mut rows = types.rows(Table::of(kind), changed.len())?;
            let mut versions = numbers(changed.len());
            let mut cells = Vec::new();
            for (row, expected) in changed {
                add_record_cells(row, &mut cells);
                rows.push(cells.drain(..))?;
                versions.push([version(*expected)])?;
            }
            arguments.rows(rows)?;
            arguments.columns(versions)?;
        }
        for kind in form.unnumbered() {
            let new = rows_of(&self.inserts, kind);
            let mut rows = types.rows(Table::of(kind), new.len())?;
            let mut cells = Vec::new();
            for row in new {
                add_record_cells(row, &mut cells);
                rows.push(cells.drain(..))?;
            }
            arguments.rows(rows)?;
        }
        if form.counts() {
            let mut rows = types.rows(Table::counters(), self.growth.len())?;
            for counters in &self.growth {
                rows.push(counters.cells())?;
            }
            arguments.rows(rows)?;
            for table in form.counted() {
                let mut growths = numbers(self.growth.len());
                for counters in &self.growth {
                    growths.push([Cell::Int(counters.of(table))])?;
                }
                arguments.columns(growths)?;
            }
        }
        let scopes = places(self.growth.iter().map(Counters::scope));
        for kind in form.numbered() {
            let new = rows_of(&self.inserts, kind);
            let mut rows = types.rows(Table::of(kind), new.len())?;
            let mut counted = numbers(new.len());
            let mut cells = Vec::new();
            for row in new {
                let list = row.record.list().ok_or_else(|| broken("a row of no list"))?;
                add_record_cells(row, &mut cells);
                rows.push(cells.drain(..))?;
                counted.push([place(&scopes, &Counters::whose(list))?])?;
            }
            arguments.rows(rows)?;
            arguments.columns(counted)?;
        }
        if form.entries {
            self.ledger(&mut arguments, types, &scopes)?;
        }
        Ok(arguments)
    }

    fn ledger(
        &self,
        arguments: &mut Arguments,
        types: &Types,
        scopes: &HashMap<Scope, i64>,
    ) -> Result<(), StoreError> {
        let count = self.movements.len();
        let mut rows = types.rows(Table::balances(), count)?;
        let mut bounds = Columns::new([Kind::Int, Kind::Int, Kind::Flag], count);
        for (account, Movement { total, lowest }) in &self.movements {
            rows.push(moved_cells(*account, *total))?;
            let floor = Cell::Flag(account.kind.has_floor());
            bounds.push([Cell::Int(total.units()), Cell::Int(lowest.units()), floor])?;
        }
        arguments.rows(rows)?;
        arguments.columns(bounds)?;
        let accounts = places(self.movements.iter().map(|(account, _)| *account));
        let mut rows = types.rows(Table::entries(), self.entries.len())?;
        let mut counted = Columns::new([Kind::Int, Kind::Int], self.entries.len());
        for (entry, number) in &self.entries {
            rows.push(entry_cells(entry, *number))?;
            counted
                .push([place(scopes, &entry.scope)?, place(&accounts, &entry.ledger_account())?])?;
        }
        arguments.rows(rows)?;
        arguments.columns(counted)
    }
}

fn moved_cells(account: LedgerAccount, amount: Amount) -> Vec<Cell<'static>> {
    balance_cells(&Balance { account, amount })
}

/// An array of numbers beside an array of rows.
fn numbers(rows: usize) -> Columns {
    Columns::new([Kind::Int], rows)
}

/// In the order of the cells of their keys, as the server sorts them.
fn sorted<T>(all: impl IntoIterator<Item = T>, cells: impl Fn(&T) -> Vec<Cell<'static>>) -> Vec<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    all.sort_by_cached_key(|one| {
        let mut bytes = Vec::new();
        for cell in cells(one) {
            match cell {
                Cell::Id(it) => bytes.extend(it.as_bytes()),
                Cell::Flag(it) => bytes.push(u8::from(it)),
                // No text has a zero, so a shorter one comes first.
                Cell::Text(it) => bytes.extend(it.bytes().chain([0])),
                // The rest is no part of the key.
                Cell::Null | Cell::Int(_) | Cell::Bytes(_) => {}
            }
        }
        bytes
    });
    all
}

/// Where each stands, counted as Postgres counts.
fn places<T: Eq + Hash>(all: impl IntoIterator<Item = T>) -> HashMap<T, i64> {
    all.into_iter().zip(1..).collect()
}

fn place<T: Eq + Hash>(all: &HashMap<T, i64>, one: &T) -> Result<Cell<'static>, StoreError> {
    all.get(one).map(|at| Cell::Int(*at)).ok_or_else(|| broken("a row that nothing counts"))
}

fn rows_of<T>(all: &BTreeMap<RecordKind, Vec<T>>, kind: RecordKind) -> &[T] {
    all.get(&kind).map(Vec::as_slice).unwrap_or_default()
}

fn version(version: u64) -> Cell<'static> {
    Cell::Int(i64::try_from(version).unwrap_or(i64::MAX))
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
            text.count(&self.counted().map(Table::name).collect::<Vec<_>>());
        }
        let number =
            |table: &Table| ("number", format!("(select b.{} from bases as b)", table.name()));
        for table in self.numbered().map(Table::of) {
            text.insert(table, &[number(table)]);
        }
        if self.entries {
            text.moved();
            let after = ("balance_after", "(select s.of from starts as s)".to_owned());
            text.insert(Table::entries(), &[number(Table::entries()), after]);
        }
        kept(text.finish())
    }
}

/// What of each row the rest of the statement needs.
fn returning(table: &Table) -> String {
    if undelivered::finds(table) { undelivered::returning() } else { "1".to_owned() }
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

    /// A part that is asked how many rows it touched, so that it runs in its turn.
    fn asked(&mut self, part: String) -> usize {
        let at = self.part(part);
        self.end.push(format!("(select count(*) from p{at})"));
        at
    }

    /// A part that has to touch as many rows as it was given.
    fn guarded(&mut self, part: String, last: usize) -> usize {
        let refuse = self.schema.of("cauri_refuse()");
        let at = self.part(part);
        self.end.push(format!(
            "case when (select count(*) from p{at}) <> cardinality(${last}) then {refuse} end"
        ));
        at
    }

    fn remove(&mut self, table: &Table) {
        let key = table.key();
        let values = self.numbering.unnest(kinds(key).chain([Kind::Int]));
        let part = format!(
            "delete from {} as t using {values} as v({}) where {} and t.version = v.c{} returning 1",
            self.schema.table(table),
            text::places(key.len().saturating_add(1)),
            matches(key, "t", |at| format!("v.c{at}")),
            key.len(),
        );
        let last = self.numbering.last();
        self.guarded(part, last);
    }

    fn update(&mut self, table: &Table) {
        let key = table.key();
        let width = table.columns().len();
        let values = self.numbering.unnest_rows(self.schema, table, 1);
        let sets = table.mutable().iter().zip(key.len()..);
        let sets = joined(sets.map(|(column, at)| format!("{} = v.c{at}", column.name)));
        let part = format!(
            "update {} as t set {sets} from {values} as v({}) where {} and t.version = v.c{width} \
             returning {}",
            self.schema.table(table),
            text::places(width.saturating_add(1)),
            matches(key, "t", |at| format!("v.c{at}")),
            returning(table),
        );
        let last = self.numbering.last();
        let at = self.guarded(part, last);
        if undelivered::finds(table) {
            self.asked(undelivered::removed(self.schema, &format!("p{at}")));
            self.asked(undelivered::changed(self.schema, &format!("p{at}")));
        }
    }

    /// Adds rows. Some of the columns are counted on from an array: for each of these there is an
    /// array of numbers beside the rows, in the same order, which says from which element.
    fn insert(&mut self, table: &Table, counted: &[(&str, String)]) {
        let columns = table.columns();
        let values = self.numbering.unnest_rows(self.schema, table, counted.len());
        let select = joined(columns.iter().enumerate().map(|(at, column)| {
            let on =
                counted.iter().zip(columns.len()..).find(|((name, _), _)| *name == column.name);
            match on {
                Some(((_, array), from)) => format!("({array})[v.c{from}] + v.c{at}"),
                None => format!("v.c{at}"),
            }
        }));
        let part = format!(
            "insert into {} as t ({}) select {select} from {values} as v({}) returning {}",
            self.schema.table(table),
            names(columns, ""),
            text::places(columns.len().saturating_add(counted.len())),
            returning(table),
        );
        let at = self.asked(part);
        if undelivered::finds(table) {
            let added = undelivered::added(self.schema, &format!("p{at}"));
            self.asked(format!("{added} returning 1"));
        }
    }

    /// Adds to rows of which most are there; answers a part of a statement with what the sums have
    /// become, and the place of each row.
    fn add(&mut self, table: &Table, sums: &[&str]) -> String {
        let values = self.numbering.unnest_rows(self.schema, table, 0);
        let at = self.part(format!(
            "insert into {} as t ({}) select v.* from {values} as v({}) on conflict ({}) \
             do update set {} returning {}, {}",
            self.schema.table(table),
            names(table.columns(), ""),
            text::places(table.columns().len()),
            names(table.key(), ""),
            joined(sums.iter().map(|sum| format!("{sum} = t.{sum} + excluded.{sum}"))),
            names(table.key(), "t."),
            joined(sums.iter().map(|sum| format!("t.{sum}"))),
        ));
        // Sorted as they were given, so that a place says which one it is.
        format!(
            "(select {}, row_number() over (order by {}) as at from p{at} as p) as q",
            joined(sums.iter().map(|sum| format!("p.{sum}"))),
            names(table.key(), "p."),
        )
    }

    /// Moves the counters; `bases` holds what each of these was before, in the order of the scopes.
    fn count(&mut self, lists: &[&str]) {
        let moved = self.add(Table::counters(), lists);
        let bases = joined(lists.iter().map(|list| {
            let growth = self.numbering.array(Kind::Int);
            format!("array_agg(q.{list} - ({growth})[q.at] order by q.at)")
        }));
        self.parts.push(format!(
            "bases({}) as materialized (select {bases} from {moved})",
            lists.join(", "),
        ));
        // Asked for here, so that the counters are locked before the balances in every batch, also
        // in one of entries alone.
        self.end.push("(select count(*) from bases)".to_owned());
    }

    /// Moves the balances; `starts` holds what each was before, in the order of the accounts.
    fn moved(&mut self) {
        let moved = self.add(Table::balances(), &["amount"]);
        let total = self.numbering.array(Kind::Int);
        let lowest = self.numbering.array(Kind::Int);
        let floor = self.numbering.array(Kind::Flag);
        self.parts.push(format!(
            "starts(of, is_below) as materialized (\
             select array_agg(q.amount - ({total})[q.at] order by q.at), \
             bool_or(({floor})[q.at] and q.amount - ({total})[q.at] + ({lowest})[q.at] < 0) \
             from {moved})",
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
