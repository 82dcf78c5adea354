//! Handing out what is due, in one statement.
//!
//! Rows that somebody else has in hand at this moment are passed over, not waited for: they are
//! either being claimed, or being written by their holder, who says when they are due next.

use std::borrow::Cow;

use cauri::{Backlog, Claim, ClaimKind, Record, StoreError, Timestamp, Versioned};
use cauri_sql::{Cell, Column, Kind, Table, claimed, lane_cell, read_record};
use sqlx::{PgConnection, Row as _, postgres::PgRow};

use crate::{
    bind::{Arguments, Columns, Found, int},
    error::{Failure, broken},
    read::versioned,
    sessions::Session,
    text::{Schema, joined, kept, matches, names},
    undelivered,
};

/// How many more candidates there are than are handed out, so that several nodes that look at the
/// same moment each find something.
const SPARE: i64 = 2;

pub(crate) async fn claim(
    session: &mut Session<'_>,
    schema: &Schema,
    claim: &Claim,
) -> Result<Vec<Versioned<Record>>, StoreError> {
    if claim.limit == 0 {
        return Ok(Vec::new());
    }
    let kind = claimed(claim.kind);
    let mut arguments = Arguments::default();
    arguments.int(claim.now.millis())?;
    arguments.int(claim.until.millis())?;
    arguments.int(i64::from(claim.limit))?;
    let text = if let Some(lane) = Table::lane(claim.kind) {
        lanes(&mut arguments, claim, lane)?;
        oldest_of_lanes(schema, Table::of(kind), lane)
    } else {
        arguments.int(SPARE)?;
        oldest(schema, Table::of(kind))
    };
    let query = sqlx::query_with(kept(text), arguments.into_inner());
    let run = async |connection: &mut PgConnection| {
        query.fetch_all(connection).await.map_err(Failure::Commit)
    };
    let rows = session.write(run).await?;
    let mut held = Vec::with_capacity(rows.len());
    for found in &rows {
        // One that cannot be read, perhaps because a newer program wrote it, must not keep the others
        // from being done: its lease ends, and it is looked at again.
        match read_record(kind, &Found { row: found, from: 1 }) {
            Ok(read) => held.push((since(found)?, versioned(read))),
            Err(error) => tracing::error!(%error, "something is due that cannot be read"),
        }
    }
    held.sort_by_cached_key(|(since, held)| (*since, held.value.key()));
    Ok(held.into_iter().map(|(_, held)| held).collect())
}

/// How much is due of a kind by now.
pub(crate) async fn backlog(
    session: &mut Session<'_>,
    schema: &Schema,
    kind: ClaimKind,
    now: Timestamp,
) -> Result<Backlog, StoreError> {
    let mut arguments = Arguments::default();
    arguments.int(now.millis())?;
    arguments.int(i64::from(Backlog::MAX))?;
    let query = sqlx::query_with(kept(waiting(schema, kind)), arguments.into_inner());
    let run = async |connection: &mut PgConnection| {
        query.fetch_one(connection).await.map_err(Failure::Before)
    };
    let found = session.read(run).await?;
    let count = u16::try_from(int(&found, 0)?).unwrap_or(u16::MAX).min(Backlog::MAX);
    let oldest: Option<i64> = found.try_get(1).map_err(broken)?;
    Ok(Backlog { count, oldest: oldest.map(Timestamp::from_millis) })
}

/// `$1` now, `$2` how much is counted, of each lane where there are any.
fn waiting(schema: &Schema, kind: ClaimKind) -> String {
    let name = schema.table(sought(Table::claimed(kind)));
    match Table::lane(kind) {
        Some(Column { name: column, .. }) => format!(
            "with recursive {lanes} \
             select coalesce(sum(w.count), 0)::bigint, min(w.since) from lane \
             cross join lateral (select count(*) as count, min(d.due_at) as since from \
             (select d.due_at from {name} as d \
             where d.{column} = lane.{column} and d.due_at <= $1 \
             order by d.due_at limit $2) as d) as w",
            lanes = every_lane(&name, column),
        ),
        None => format!(
            "select count(*), min(d.due_at) from (select d.due_at from {name} as d \
             where d.due_at <= $1 order by d.due_at limit $2) as d"
        ),
    }
}

fn since(row: &PgRow) -> Result<i64, StoreError> {
    int(row, 0)
}

/// The rows that have been due the longest, and of one moment those with the first keys, `count` of
/// them. Read in the order of the index on `due_at`, with all of the last moment, and only those
/// sorted: without statistics the server would sort everything that is due for the sake of the keys.
fn first(name: &str, key: &str, due: &str, count: &str) -> String {
    format!(
        "(select {key}, d.due_at from (select {key}, d.due_at from {name} as d where {due} \
         order by d.due_at fetch first ({count}) rows with ties) as d \
         order by d.due_at, {key} limit {count})"
    )
}

/// `$1` now, `$2` the end of the lease, `$3` how many, `$4` how many times as many candidates.
fn oldest(schema: &Schema, table: &Table) -> String {
    let name = schema.table(table);
    let key = names(table.key(), "d.");
    format!(
        "with oldest as materialized {oldest}, \
         due as materialized (\
         select {key}, d.due_at from oldest as o join {name} as d on {same} \
         where d.due_at <= $1 \
         order by o.due_at, {key} limit $3 for update of d skip locked) \
         {lease}",
        oldest = first(&name, &key, "d.due_at <= $1", "$3 * $4"),
        same = same(table, "d", "o"),
        lease = lease(schema, table),
    )
}

/// The table in which what is due is looked for.
fn sought(table: &'static Table) -> &'static Table {
    if undelivered::finds(table) { Table::undelivered() } else { table }
}

/// Moves `due_at` of the rows in `due`, the last part so far.
fn lease(schema: &Schema, table: &Table) -> String {
    let apart = if undelivered::finds(table) {
        format!(", moved as ({})", undelivered::moved(schema, "due", "$2"))
    } else {
        String::new()
    };
    format!(
        "{apart} update {} as t set due_at = $2, version = t.version + 1 from due where {} \
         returning due.due_at, {}",
        schema.table(table),
        same(table, "t", "due"),
        joined(table.columns().iter().map(|column| format!("t.{}", column.name))),
    )
}

/// How many of each lane may be handed out.
fn lanes(arguments: &mut Arguments, claim: &Claim, lane: Column) -> Result<(), StoreError> {
    let cap = claim.lanes.as_ref().map_or(claim.limit, |lanes| lanes.cap);
    arguments.int(i64::from(cap))?;
    arguments.int(SPARE)?;
    let all = claim.lanes.as_ref().map(|lanes| lanes.held.as_slice()).unwrap_or_default();
    let mut held = Columns::new([lane.kind, Kind::Int], all.len());
    for (of, count) in all {
        let cell = lane_cell(of);
        if cell.kind() == Some(lane.kind) {
            held.push([cell, Cell::Int(i64::from(*count))])?;
        }
    }
    arguments.columns(held)
}

/// The same, and `$4` the room of a lane of which nothing is held, `$5` how many times as many
/// candidates, `$6` and `$7` which lanes hold how many.
///
/// Steps from one lane to the next over the index, looks at the oldest of each, and opens only
/// those that can matter: however much waits for one of them, it costs the others nothing.
fn oldest_of_lanes(schema: &Schema, table: &'static Table, lane: Column) -> String {
    let name = schema.table(sought(table));
    let key = Cow::from(names(table.key(), "d."));
    let array = if lane.kind == Kind::Id { "uuid" } else { "text" };
    let lane = lane.name;
    format!(
        "with recursive {lanes}, \
         held as (select h.lane, max(h.count) as count \
                  from unnest($6::{array}[], $7::bigint[]) as h(lane, count) group by 1), \
         open as materialized (\
         select lane.{lane}, $4 - coalesce(held.count, 0) as room \
         from lane left join held on held.lane = lane.{lane} \
         cross join lateral {head} as d \
         where $4 - coalesce(held.count, 0) > 0 \
         order by d.due_at, {key} limit $3 * $5), \
         oldest as materialized (\
         select {key}, d.due_at from open \
         cross join lateral {waiting} as d \
         order by d.due_at, {key} limit $3 * $5), \
         due as materialized (\
         select {key}, d.due_at from oldest as o join {rows} as d on {same} \
         where d.due_at <= $1 \
         order by o.due_at, {key} limit $3 for update of d skip locked) \
         {lease}",
        rows = schema.table(table),
        lanes = every_lane(&name, lane),
        head = first(&name, &key, &format!("d.{lane} = lane.{lane} and d.due_at <= $1"), "1"),
        waiting =
            first(&name, &key, &format!("d.{lane} = open.{lane} and d.due_at <= $1"), "open.room"),
        same = same(table, "d", "o"),
        lease = lease(schema, table),
    )
}

/// Every lane that something waits in, and a last one that is null.
fn every_lane(name: &str, lane: &str) -> String {
    format!(
        "lane({lane}) as (\
         (select d.{lane} from {name} as d where d.due_at is not null \
          order by d.{lane} limit 1) \
         union all \
         select (select d.{lane} from {name} as d \
                 where d.due_at is not null and d.{lane} > lane.{lane} \
                 order by d.{lane} limit 1) \
         from lane where lane.{lane} is not null)"
    )
}

/// Is it the same row?
fn same(table: &Table, t: &str, other: &str) -> String {
    let key = table.key();
    let name = |at: usize| key.get(at).map_or("", |column| column.name);
    matches(key, t, |at| format!("{other}.{}", name(at)))
}
