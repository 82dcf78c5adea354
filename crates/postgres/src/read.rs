//! Reading: records by their keys, pages of lists, the ledger, statistics. Each is one statement,
//! so each sees one moment, in one round trip.

use std::{
    collections::{BTreeMap, HashMap},
    error::Error as StdError,
    iter,
};

use cauri::{
    Balance, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record, RecordKind, Row,
    Scope, StoreError, Versioned,
};
use cauri_sql::{
    Cell, Column, Counters, Dialect, FilteredListing, Kind, Listing, StatisticsRows, Table,
    key_cells, listed, read_balance, read_entry, read_record,
};
use sea_query::{
    Alias, Expr, JoinType, Order, PostgresQueryBuilder, Query as Sql, SelectStatement,
};
use sqlx::{Row as _, SqlStr, ValueRef as _, postgres::PgRow};

use crate::{
    bind::{Arguments, Columns, Found, cell, int},
    error::{broken, row},
    facts::{compared, has_zero},
    sessions::Session,
    text::{Numbering, Schema, joined, kept, kinds, matches, places, type_of},
    texts::Texts,
};

/// Which tables a `get` looks into, by which columns, and whether for one key or for several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape(Vec<(RecordKind, bool, bool)>);

/// The kinds of columns, in the order in which a row of several tables has them.
const POOLS: [Kind; 5] = [Kind::Flag, Kind::Int, Kind::Text, Kind::Bytes, Kind::Id];

impl Shape {
    /// How many columns of each kind the widest table has.
    fn widths(&self) -> [usize; 5] {
        POOLS.map(|kind| {
            let count = |columns: &[Column]| columns.iter().filter(|it| it.kind == kind).count();
            let counts = self.0.iter().map(|(of, ..)| count(Table::of(*of).columns()));
            counts.max().unwrap_or(0)
        })
    }

    /// Where a table's columns are in a row, behind the number of the table.
    fn layout(&self, kind: RecordKind) -> Vec<usize> {
        let mut next: usize = 1;
        let mut starts = self.widths().map(|width| {
            let start = next;
            next = next.saturating_add(width);
            start
        });
        let mut place = |column: &Column| {
            let pools = POOLS.iter().zip(&mut starts);
            let start = pools.into_iter().find(|(kind, _)| **kind == column.kind);
            start.map_or(0, |(_, start)| {
                let at = *start;
                *start = start.saturating_add(1);
                at
            })
        };
        Table::of(kind).columns().iter().map(&mut place).collect()
    }

    /// One statement for all tables. The columns of a row are sorted by their kinds, so that rows
    /// of different tables fit under one another; what a table has less is null.
    pub(crate) fn text(&self, schema: &Schema) -> SqlStr {
        let widths = self.widths();
        let mut numbering = Numbering::default();
        let term = |(at, (kind, is_alternate, is_many)): (usize, &(RecordKind, bool, bool))| {
            let table = Table::of(*kind);
            let mut select = vec![format!("{at}::bigint")];
            for (kind, width) in POOLS.into_iter().zip(widths) {
                let own = table.columns().iter().filter(|column| column.kind == kind);
                let own = own.map(|column| format!("t.{}", column.name));
                let none = iter::repeat_with(|| format!("null::{}", type_of(kind)));
                select.extend(own.chain(none).take(width));
            }
            let by = compared((*kind, *is_alternate));
            let from = if *is_many {
                let values = numbering.unnest(kinds(by));
                format!(
                    "{values} as v({}) join {} as t on {}",
                    places(by.len()),
                    schema.table(table),
                    matches(by, "t", |at| format!("v.c{at}")),
                )
            } else {
                let values: Vec<_> = by.iter().map(|_| numbering.one()).collect();
                let equal = matches(by, "t", |at| values.get(at).cloned().unwrap_or_default());
                format!("{} as t where {equal}", schema.table(table))
            };
            format!("select {} from {from}", select.join(", "))
        };
        let terms: Vec<_> = self.0.iter().enumerate().map(term).collect();
        kept(terms.join(" union all "))
    }
}

/// A row whose columns are not in the order of its table.
struct Laid<'a> {
    row: &'a PgRow,
    layout: &'a [usize],
}

impl cauri_sql::RowReader for Laid<'_> {
    fn cell(&self, at: usize, kind: Kind) -> Result<Cell<'_>, Box<dyn StdError + Send + Sync>> {
        let at = self.layout.get(at).ok_or("the row is too short")?;
        cell(self.row, *at, kind)
    }
}

/// The records of these keys, at one moment.
pub(crate) async fn get(
    session: &mut Session<'_>,
    texts: &Texts,
    keys: &[Key],
) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
    let mut terms = BTreeMap::<(RecordKind, bool), Vec<Vec<Cell<'_>>>>::new();
    for key in keys {
        let found = key_cells(key);
        // No text in the database has zeros.
        if !found.cells.iter().any(has_zero) {
            terms.entry((found.kind, found.is_alternate)).or_default().push(found.cells);
        }
    }
    if terms.is_empty() {
        return Ok(keys.iter().map(|_| None).collect());
    }
    let shape = terms.iter().map(|((kind, alternate), keys)| (*kind, *alternate, keys.len() > 1));
    let shape = Shape(shape.collect());
    let mut arguments = Arguments::default();
    for (by, keys) in terms {
        match <[_; 1]>::try_from(keys) {
            Ok([key]) => {
                for (cell, column) in key.into_iter().zip(compared(by)) {
                    arguments.cell(cell, column.kind)?;
                }
            }
            Err(keys) => {
                let mut columns = Columns::new(kinds(compared(by)), keys.len());
                keys.into_iter().try_for_each(|key| columns.push(key))?;
                arguments.columns(columns)?;
            }
        }
    }
    let layouts: Vec<Vec<usize>> = shape.0.iter().map(|(kind, ..)| shape.layout(*kind)).collect();
    let by: Vec<RecordKind> = shape.0.iter().map(|(kind, ..)| *kind).collect();
    let rows = rows(session, texts.read(shape), arguments).await?;
    let mut found = HashMap::<Key, Versioned<Record>>::with_capacity(rows.len());
    for read in &rows {
        let term = usize::try_from(int(read, 0)?).map_err(broken)?;
        let stray = || broken("a row of no table");
        let kind = by.get(term).ok_or_else(stray)?;
        let layout = layouts.get(term).ok_or_else(stray)?;
        let record = versioned(read_record(*kind, &Laid { row: read, layout }).map_err(row)?);
        let alternate = record.value.alternate_key();
        found.extend(alternate.map(|key| (key, record.clone())));
        found.insert(record.value.key(), record);
    }
    Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
}

pub(crate) fn versioned(row: Row) -> Versioned<Record> {
    let Row { record, version, due_at, number: _ } = row;
    Versioned { value: record, version, due_at }
}

pub(crate) async fn list(
    session: &mut Session<'_>,
    schema: &Schema,
    query: &Query,
) -> Result<Listed<Versioned<Record>>, StoreError> {
    let kind = listed(query.list).ok_or_else(|| broken("entries are no records"))?;
    let (rows, total) = page(session, schema, query).await?;
    let read = |it: &PgRow| read_record(kind, &Found { row: it, from: 1 }).map(versioned);
    let items = rows.iter().map(read).collect::<Result<_, _>>().map_err(row)?;
    Ok(Listed { items, total })
}

pub(crate) async fn entries(
    session: &mut Session<'_>,
    schema: &Schema,
    query: &Query,
) -> Result<Listed<Entry>, StoreError> {
    if listed(query.list).is_some() {
        return Err(broken("only a scope's entries are entries"));
    }
    let (rows, total) = page(session, schema, query).await?;
    let read = |it: &PgRow| read_entry(&Found { row: it, from: 1 });
    let items = rows.iter().map(read).collect::<Result<_, _>>().map_err(row)?;
    Ok(Listed { items, total })
}

/// The rows of a page, behind the total in each of them; and the total.
async fn page(
    session: &mut Session<'_>,
    schema: &Schema,
    query: &Query,
) -> Result<(Vec<PgRow>, i64), StoreError> {
    let (text, arguments) = match Listing::of(query, Dialect::Postgres) {
        Listing::Nothing => return Ok((Vec::new(), 0)),
        Listing::Numbered(_) => numbered(schema, query)?,
        Listing::Filtered(listing) => filtered(schema, query, *listing)?,
    };
    let mut rows = rows(session, text, arguments).await?;
    let total = rows.first().map_or(Ok(0), |row| int(row, 0))?;
    // A page without rows has one that holds the total alone: what follows it is null.
    let only_total = |row: &PgRow| row.try_get_raw(1).is_ok_and(|value| value.is_null());
    rows.retain(|row| !only_total(row));
    Ok((rows, total))
}

/// All of a list that is numbered: the total is a counter, the page a range of numbers below it.
fn numbered(schema: &Schema, query: &Query) -> Result<(SqlStr, Arguments), StoreError> {
    let Query { list, page, .. } = query;
    let (table, counters) = (Table::listed(*list), Table::counters());
    let mut arguments = Arguments::default();
    let mut numbering = Numbering::default();
    let mut counter = Vec::new();
    for (column, cell) in counters.key().iter().zip(Counters::key(*list)) {
        counter.push(format!("c.{} = {}", column.name, numbering.one()));
        arguments.cell(cell, column.kind)?;
    }
    let scope = match list.scope() {
        // The same two that the counter has.
        Some(_) => "t.account = $1 and t.live = $2 and ",
        None => "",
    };
    // No list is that long, and the difference has to fit.
    arguments.int(page.offset().min(i64::MAX / 2))?;
    let offset = numbering.one();
    arguments.int(i64::from(page.limit()))?;
    let limit = numbering.one();
    let last = list.name();
    let text = format!(
        "select c.{last}, {} from {} as c left join {} as t on {scope}\
         t.number <= c.{last} - {offset} and t.number > c.{last} - {offset} - {limit} \
         where {} order by t.number desc",
        joined(table.columns().iter().map(|column| format!("t.{}", column.name))),
        schema.table(counters),
        schema.table(table),
        counter.join(" and "),
    );
    Ok((kept(text), arguments))
}

/// Some of a list: the total is counted.
fn filtered(
    schema: &Schema,
    query: &Query,
    listing: FilteredListing,
) -> Result<(SqlStr, Arguments), StoreError> {
    let FilteredListing { page, total } = listing;
    let order = if query.list.is_oldest_first() { Order::Asc } else { Order::Desc };
    let columns = Table::listed(query.list).columns();
    let both = Sql::select()
        .column((Alias::new("c"), Alias::new("count")))
        .columns(columns.iter().map(|column| (Alias::new("t"), Alias::new(column.name))))
        .from_subquery(total, "c")
        .join_subquery(JoinType::LeftJoin, page, "t", Expr::cust("true"))
        .order_by((Alias::new("t"), Alias::new("number")), order)
        .take();
    select(schema, &both)
}

/// The text and the arguments of a statement that was put together.
fn select(schema: &Schema, statement: &SelectStatement) -> Result<(SqlStr, Arguments), StoreError> {
    let (text, values) = statement.build(PostgresQueryBuilder);
    let mut arguments = Arguments::default();
    values.into_iter().try_for_each(|value| arguments.value(value))?;
    Ok((kept(schema.qualified(&text)), arguments))
}

pub(crate) async fn balances(
    session: &mut Session<'_>,
    schema: &Schema,
    scope: Scope,
) -> Result<Vec<Balance>, StoreError> {
    let (text, arguments) = select(schema, &cauri_sql::balances(scope))?;
    let rows = rows(session, text, arguments).await?;
    let read = |it: &PgRow| read_balance(&Found { row: it, from: 0 });
    let mut balances: Vec<Balance> =
        rows.iter().map(read).collect::<Result<_, _>>().map_err(row)?;
    balances.sort_by_key(|balance| balance.account);
    Ok(balances)
}

pub(crate) async fn statistics(
    session: &mut Session<'_>,
    schema: &Schema,
    scope: Scope,
    customer: CustomerId,
) -> Result<CustomerStatistics, StoreError> {
    let (text, arguments) = select(schema, &cauri_sql::statistics(scope, customer))?;
    let mut sums = StatisticsRows::default();
    for found in rows(session, text, arguments).await? {
        sums.add(&Found { row: &found, from: 0 }).map_err(row)?;
    }
    Ok(sums.finish())
}

async fn rows(
    session: &mut Session<'_>,
    text: SqlStr,
    arguments: Arguments,
) -> Result<Vec<PgRow>, StoreError> {
    let query = sqlx::query_with(text, arguments.into_inner());
    let rows = session
        .read(async |connection: &mut sqlx::PgConnection| Ok(query.fetch_all(connection).await?));
    Ok(rows.await?)
}
