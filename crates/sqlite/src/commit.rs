//! A batch in one transaction: read the facts, judge, number, write.
//!
//! The writer holds the database's only write lock from the first statement on, so what was read
//! is still true when it is written, and no statement has to check it again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cauri::{
    Amount, Balance, Changeset, Facts, Key, LedgerAccount, List, Record, RecordKind, Row, Scope,
    StoreError, Verdict, Writes, judge,
};
use cauri_sql::{Cell, Counters, Table, balance_cells, entry_cells, key_cells, record_cells};
use sqlx::{SqlStr, SqliteConnection, sqlite::SqliteRow};

use crate::{
    bind::{Arguments, Found, int},
    error::{before, broken, row},
    text::{ROWS_MAX, Verb, fitting, holding, text},
};

/// What a batch came to.
pub(crate) struct Applied {
    pub(crate) verdicts: Vec<Verdict>,
    /// How many rows were written.
    pub(crate) rows: usize,
}

/// Applies a batch within the transaction that the connection is in.
pub(crate) async fn apply(
    connection: &mut SqliteConnection,
    batch: Vec<Changeset>,
) -> Result<Applied, StoreError> {
    let facts = Facts {
        versions: versions(connection, batch.iter().flat_map(Changeset::keys)).await?,
        balances: balances(connection, batch.iter().flat_map(Changeset::ledger_accounts)).await?,
        balances_unread: false,
    };
    let (verdicts, mut writes) = judge(batch, &facts);
    let growth = writes.growth();
    let numbers = writes.number(&mut last(connection, &growth).await?);
    let rows = write(connection, &writes, &numbers, &growth).await?;
    Ok(Applied { verdicts, rows })
}

async fn write(
    connection: &mut SqliteConnection,
    writes: &Writes,
    numbers: &[i64],
    growth: &BTreeMap<List, i64>,
) -> Result<usize, StoreError> {
    let Writes { removes, inserts, updates, entries, movements } = writes;
    let mut rows = remove(connection, removes).await?;
    for (kind, inserted) in by_kind(inserts.iter()) {
        let cells = inserted.into_iter().map(record_cells).collect();
        rows = rows.saturating_add(put(connection, Verb::Insert, Table::of(kind), cells).await?);
    }
    for (kind, updated) in by_kind(updates.iter().map(|(row, _)| row)) {
        let table = Table::of(kind);
        let cells = updated.into_iter().map(|row| updated_cells(table, row)).collect();
        rows = rows.saturating_add(put(connection, Verb::Update, table, cells).await?);
    }
    let cells = entries.iter().zip(numbers).map(|(entry, number)| entry_cells(entry, *number));
    let entries = put(connection, Verb::Insert, Table::entries(), cells.collect()).await?;
    let moved = movements.iter().map(|(account, movement)| {
        balance_cells(&Balance { account: *account, amount: movement.total })
    });
    let moved = put(connection, Verb::Add, Table::balances(), moved.collect()).await?;
    let counted = Counters::by_scope(growth).iter().map(Counters::cells).collect();
    let counted = put(connection, Verb::Add, Table::counters(), counted).await?;
    Ok(rows.saturating_add(entries).saturating_add(moved).saturating_add(counted))
}

fn by_kind<'a>(rows: impl Iterator<Item = &'a Row>) -> BTreeMap<RecordKind, Vec<&'a Row>> {
    let mut kinds = BTreeMap::<_, Vec<_>>::new();
    for row in rows {
        kinds.entry(row.record.kind()).or_default().push(row);
    }
    kinds
}

/// The key, then what an update writes.
fn updated_cells<'a>(table: &Table, row: &'a Row) -> Vec<Cell<'a>> {
    let mut cells = record_cells(row);
    cells.truncate(table.key().len().saturating_add(table.mutable().len()));
    cells
}

async fn remove(
    connection: &mut SqliteConnection,
    removes: &[(Key, u64)],
) -> Result<usize, StoreError> {
    let mut rows: usize = 0;
    for ((kind, by), (_, cells)) in grouped(removes.iter().map(|(key, _)| key)) {
        let verb = by.map_or(Verb::Delete, Verb::DeleteBy);
        rows = rows.saturating_add(put(connection, verb, Table::of(kind), cells).await?);
    }
    Ok(rows)
}

/// Writes rows with as few statements as fit.
async fn put(
    connection: &mut SqliteConnection,
    verb: Verb,
    table: &'static Table,
    rows: Vec<Vec<Cell<'_>>>,
) -> Result<usize, StoreError> {
    let count = rows.len();
    let mut rows = rows.into_iter();
    while rows.len() > 0 {
        let size = fitting(rows.len());
        let mut arguments = Arguments::default();
        for cell in rows.by_ref().take(size).flatten() {
            arguments.cell(cell)?;
        }
        run(connection, text(verb, table, size), arguments).await?;
    }
    Ok(count)
}

async fn run(
    connection: &mut SqliteConnection,
    text: SqlStr,
    arguments: Arguments,
) -> Result<(), StoreError> {
    sqlx::query_with(text, arguments.into_inner())
        .execute(connection)
        .await
        .map(|_| ())
        .map_err(before)
}

/// A table and, for alternate keys, the column they are in.
type Place = (RecordKind, Option<&'static str>);

/// Keys, with what they look like in their table, by place.
fn grouped<'a>(
    keys: impl Iterator<Item = &'a Key>,
) -> BTreeMap<Place, (Vec<&'a Key>, Vec<Vec<Cell<'a>>>)> {
    let mut groups = BTreeMap::<Place, (Vec<_>, Vec<_>)>::new();
    for key in keys {
        let found = key_cells(key);
        let alternate = found.columns().first().filter(|_| found.is_alternate);
        let group = groups.entry((found.kind, alternate.map(|it| it.name))).or_default();
        group.0.push(key);
        group.1.push(found.cells);
    }
    groups
}

async fn versions(
    connection: &mut SqliteConnection,
    keys: impl Iterator<Item = Key>,
) -> Result<HashMap<Key, u64>, StoreError> {
    let keys: BTreeSet<Key> = keys.collect();
    let mut versions = HashMap::with_capacity(keys.len());
    for ((kind, by), (keys, cells)) in grouped(keys.iter()) {
        let verb = by.map_or(Verb::Find("version"), |by| Verb::FindBy(by, "version"));
        for (at, version) in find(connection, verb, Table::of(kind), cells).await? {
            let key = keys.get(at).ok_or_else(|| broken("an answer to no question"))?;
            versions.insert((*key).clone(), u64::try_from(version).map_err(broken)?);
        }
    }
    Ok(versions)
}

async fn balances(
    connection: &mut SqliteConnection,
    accounts: impl Iterator<Item = LedgerAccount>,
) -> Result<HashMap<LedgerAccount, Amount>, StoreError> {
    let accounts: Vec<LedgerAccount> = accounts.collect::<BTreeSet<_>>().into_iter().collect();
    let cells = accounts.iter().map(|account| {
        let mut cells = balance_cells(&Balance { account: *account, amount: Amount::ZERO });
        cells.truncate(Table::balances().key().len());
        cells
    });
    let found = find(connection, Verb::Find("amount"), Table::balances(), cells.collect()).await?;
    let balance =
        |(at, units): (usize, i64)| accounts.get(at).map(|account| (*account, Amount::new(units)));
    Ok(found.into_iter().filter_map(balance).collect())
}

/// The last numbers of the lists that grow: all of them, also those that are new.
async fn last(
    connection: &mut SqliteConnection,
    growth: &BTreeMap<List, i64>,
) -> Result<BTreeMap<List, i64>, StoreError> {
    let scopes: BTreeMap<Scope, Vec<Cell<'static>>> =
        growth.keys().map(|list| (Counters::whose(*list), Counters::key(*list))).collect();
    let keys = scopes.into_values().collect();
    let mut counters = HashMap::new();
    for found in find_rows(connection, Verb::FindRow, Table::counters(), keys).await? {
        let found = Counters::read(&Found { row: &found, from: 1 }).map_err(row)?;
        counters.insert(found.scope(), found);
    }
    let last = |list: &List| {
        let counters = counters.get(&Counters::whose(*list));
        (*list, counters.map_or(0, |counters| counters.of(Table::listed(*list))))
    };
    Ok(growth.keys().map(last).collect())
}

/// The value that each of the keys that are there has, with the key's place.
async fn find(
    connection: &mut SqliteConnection,
    verb: Verb,
    table: &'static Table,
    keys: Vec<Vec<Cell<'_>>>,
) -> Result<Vec<(usize, i64)>, StoreError> {
    let found = find_rows(connection, verb, table, keys).await?;
    let pair = |row: &SqliteRow| Ok((usize::try_from(int(row, 0)?).map_err(broken)?, int(row, 1)?));
    found.iter().map(pair).collect()
}

/// The rows of those of the keys that are there, each behind the key's place.
async fn find_rows(
    connection: &mut SqliteConnection,
    verb: Verb,
    table: &'static Table,
    keys: Vec<Vec<Cell<'_>>>,
) -> Result<Vec<SqliteRow>, StoreError> {
    let mut found = Vec::with_capacity(keys.len());
    let mut keys = keys.into_iter().enumerate();
    while keys.len() > 0 {
        let size = holding(keys.len().min(ROWS_MAX));
        let mut arguments = Arguments::default();
        let mut width: usize = 0;
        let mut filled: usize = 0;
        for (at, key) in keys.by_ref().take(size) {
            width = key.len().saturating_add(1);
            filled = filled.saturating_add(1);
            arguments.int(i64::try_from(at).map_err(broken)?)?;
            for cell in key {
                arguments.cell(cell)?;
            }
        }
        for _ in 0..width.saturating_mul(size.saturating_sub(filled)) {
            arguments.cell(Cell::Null)?;
        }
        let text = text(verb, table, size);
        let rows = sqlx::query_with(text, arguments.into_inner()).fetch_all(&mut *connection);
        found.extend(rows.await.map_err(before)?);
    }
    Ok(found)
}

/// The keys that a record is asked for by.
pub(crate) fn keys_of(record: &Record) -> impl Iterator<Item = Key> {
    std::iter::once(record.key()).chain(record.alternate_key())
}
