//! Reading: records by their keys, pages of lists, the ledger, statistics.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use cauri::{
    Balance, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record, RecordKind, Row,
    Scope, StoreError, Versioned,
};
use cauri_sql::{
    Cell, Column, Dialect, Listing, StatisticsRows, Table, key_cells, listed, read_balance,
    read_entry, read_record,
};
use sea_query::SelectStatement;
use sqlx::{SqliteConnection, sqlite::SqliteRow};

use crate::{
    bind::{Arguments, Found, int, select},
    commit::keys_of,
    error::{before, broken, row},
    text::{ROWS_MAX, holding, kept, matches, values},
};

/// How many keys one statement takes: with the widest keys, under SQLite's limit of arguments.
pub(crate) const KEYS_MAX: usize = 4_096;

/// The records of these keys, at one moment: one statement for all tables.
pub(crate) async fn get(
    connection: &mut SqliteConnection,
    keys: &[Key],
) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
    let mut found = HashMap::<Key, Versioned<Record>>::with_capacity(keys.len());
    for keys in keys.chunks(KEYS_MAX) {
        let plan = Plan::of(keys);
        let query = sqlx::query_with(kept(plan.text()), plan.arguments()?.into_inner());
        // Use cases ask the same few questions again and again; what is asked of many is not kept.
        let rows = query.persistent(keys.len() <= 16).fetch_all(&mut *connection);
        for found_row in rows.await.map_err(before)? {
            let term = usize::try_from(int(&found_row, 0)?).map_err(broken)?;
            let kind = plan.kind(term).ok_or_else(|| broken("a row of no table"))?;
            let read = read_record(kind, &Found { row: &found_row, from: 1 }).map_err(row)?;
            let read = versioned(read);
            found.extend(keys_of(&read.value).map(|key| (key, read.clone())));
        }
    }
    Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
}

#[cfg(test)]
pub(crate) fn text(keys: &[Key]) -> String {
    Plan::of(keys).text()
}

pub(crate) fn versioned(row: Row) -> Versioned<Record> {
    let Row { record, version, due_at, number: _ } = row;
    Versioned { value: record, version, due_at }
}

/// A part of a plan: a table, the columns that are compared, and the values.
struct Term<'a> {
    kind: RecordKind,
    columns: &'static [Column],
    keys: Vec<Vec<Cell<'a>>>,
}

/// One statement that looks into several tables: rows of different tables are told apart by the
/// number in front, and made equally wide with nulls.
struct Plan<'a>(Vec<Term<'a>>);

impl<'a> Plan<'a> {
    fn of(keys: &'a [Key]) -> Self {
        let mut terms = BTreeMap::<(RecordKind, bool), Term<'a>>::new();
        for key in keys {
            let found = key_cells(key);
            let columns = found.columns();
            let at = (found.kind, found.is_alternate);
            let new = || Term { kind: found.kind, columns, keys: Vec::new() };
            terms.entry(at).or_insert_with(new).keys.push(found.cells);
        }
        Self(terms.into_values().collect())
    }

    fn kind(&self, term: usize) -> Option<RecordKind> {
        self.0.get(term).map(|term| term.kind)
    }

    fn text(&self) -> String {
        let wide = |term: &Term<'_>| Table::of(term.kind).columns().len();
        let widest = self.0.iter().map(wide).max().unwrap_or(0);
        let mut text = String::new();
        for (at, term) in self.0.iter().enumerate() {
            let table = Table::of(term.kind);
            let union = if at == 0 { "" } else { " union all " };
            let _ = write!(text, "{union}select {at}");
            for column in table.columns() {
                let _ = write!(text, ", t.{}", column.name);
            }
            text.push_str(&", null".repeat(widest.saturating_sub(wide(term))));
            let names: Vec<_> = term.columns.iter().map(|column| column.name).collect();
            let _ = match term.keys.len() {
                1 => {
                    let equal: Vec<_> = names.iter().map(|name| format!("t.{name} = ?")).collect();
                    write!(text, " from {} as t where {}", table.name(), equal.join(" and "))
                }
                count => write!(
                    text,
                    " from (values {}) as v cross join {} as t on {}",
                    values(names.len(), padded(count)),
                    table.name(),
                    matches(&names, 1),
                ),
            };
        }
        text
    }

    fn arguments(&self) -> Result<Arguments, StoreError> {
        let mut arguments = Arguments::default();
        for term in &self.0 {
            for cell in term.keys.iter().flatten() {
                arguments.cell(cell.clone())?;
            }
            let missing = padded(term.keys.len()).saturating_sub(term.keys.len());
            for _ in 0..missing.saturating_mul(term.columns.len()) {
                arguments.cell(Cell::Null)?;
            }
        }
        Ok(arguments)
    }
}

/// Few different sizes, so that few statements are prepared; null is equal to nothing.
fn padded(keys: usize) -> usize {
    if keys <= ROWS_MAX { holding(keys) } else { keys.next_multiple_of(ROWS_MAX) }
}

/// The rows of a page, and the total. Two statements see one moment only in a transaction, but
/// for the numbered ones: what a counter counts is never taken away.
async fn page(
    connection: &mut SqliteConnection,
    query: &Query,
) -> Result<(Vec<SqliteRow>, i64), StoreError> {
    match Listing::of(query, Dialect::Sqlite) {
        Listing::Nothing => Ok((Vec::new(), 0)),
        Listing::Numbered(listing) => {
            let total = rows(connection, &listing.total()).await?;
            let total = total.first().map_or(Ok(0), |row| int(row, 0))?;
            let items = match listing.page(total) {
                Some(page) => rows(connection, &page).await?,
                None => Vec::new(),
            };
            Ok((items, total))
        }
        Listing::Filtered(listing) => {
            let total = rows(connection, &listing.total).await?;
            let total = total.first().map_or(Ok(0), |row| int(row, 0))?;
            let items = if query.page.offset() < total {
                rows(connection, &listing.page).await?
            } else {
                Vec::new()
            };
            Ok((items, total))
        }
    }
}

/// Does reading this take two statements that must see one moment?
pub(crate) fn wants_snapshot(query: &Query) -> bool {
    matches!(Listing::of(query, Dialect::Sqlite), Listing::Filtered(_))
}

pub(crate) async fn list(
    connection: &mut SqliteConnection,
    query: &Query,
) -> Result<Listed<Versioned<Record>>, StoreError> {
    let kind = listed(query.list).ok_or_else(|| broken("entries are no records"))?;
    let (rows, total) = page(connection, query).await?;
    let read = |it: &SqliteRow| read_record(kind, &Found { row: it, from: 0 }).map(versioned);
    let items = rows.iter().map(read).collect::<Result<_, _>>().map_err(row)?;
    Ok(Listed { items, total })
}

pub(crate) async fn entries(
    connection: &mut SqliteConnection,
    query: &Query,
) -> Result<Listed<Entry>, StoreError> {
    if listed(query.list).is_some() {
        return Err(broken("only a scope's entries are entries"));
    }
    let (rows, total) = page(connection, query).await?;
    let read = |it: &SqliteRow| read_entry(&Found { row: it, from: 0 });
    let items = rows.iter().map(read).collect::<Result<_, _>>().map_err(row)?;
    Ok(Listed { items, total })
}

pub(crate) async fn balances(
    connection: &mut SqliteConnection,
    scope: Scope,
) -> Result<Vec<Balance>, StoreError> {
    let rows = rows(connection, &cauri_sql::balances(scope)).await?;
    let read = |it: &SqliteRow| read_balance(&Found { row: it, from: 0 });
    let mut balances: Vec<Balance> =
        rows.iter().map(read).collect::<Result<_, _>>().map_err(row)?;
    balances.sort_by_key(|balance| balance.account);
    Ok(balances)
}

pub(crate) async fn statistics(
    connection: &mut SqliteConnection,
    scope: Scope,
    customer: CustomerId,
) -> Result<CustomerStatistics, StoreError> {
    let mut sums = StatisticsRows::default();
    for found in rows(connection, &cauri_sql::statistics(scope, customer)).await? {
        sums.add(&Found { row: &found, from: 0 }).map_err(row)?;
    }
    Ok(sums.finish())
}

async fn rows(
    connection: &mut SqliteConnection,
    statement: &SelectStatement,
) -> Result<Vec<SqliteRow>, StoreError> {
    let (text, arguments) = select(statement)?;
    sqlx::query_with(text, arguments).fetch_all(connection).await.map_err(before)
}
