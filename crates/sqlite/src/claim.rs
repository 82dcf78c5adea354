//! Handing out what is due.

use std::collections::{BinaryHeap, HashMap};

use cauri::{Backlog, Claim, ClaimKind, Lanes, Record, StoreError, Timestamp, Versioned};
use cauri_sql::{Cell, Column, RowReader as _, Table, claimed, lane_cell, read_record};
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use crate::{
    bind::{Arguments, Found, int},
    error::{before, broken},
    read::versioned,
    text::{ROWS_MAX, Verb, fitting, kept, names, text},
};

/// Is anything due that may be handed out? Asked of a reader, so that a worker that finds nothing
/// does not keep the writer from its work.
pub(crate) async fn is_due(
    connection: &mut SqliteConnection,
    claim: &Claim,
) -> Result<bool, StoreError> {
    if claim.limit == 0 {
        return Ok(false);
    }
    match Table::lane(claim.kind) {
        Some(lane) => Ok(!lanes(connection, claim, lane).await?.is_empty()),
        None => {
            let one = Claim { limit: 1, ..claim.clone() };
            Ok(!oldest(connection, &one).await?.is_empty())
        }
    }
}

/// Hands out what is due, within the transaction that the connection is in.
pub(crate) async fn claim(
    connection: &mut SqliteConnection,
    claim: &Claim,
) -> Result<Vec<Versioned<Record>>, StoreError> {
    let rowids = match Table::lane(claim.kind) {
        Some(lane) => oldest_of_lanes(connection, claim, lane).await?,
        None => oldest(connection, claim).await?,
    };
    lease(connection, claim, &rowids).await
}

/// How much is due of a kind by now.
pub(crate) async fn backlog(
    connection: &mut SqliteConnection,
    kind: ClaimKind,
    now: Timestamp,
) -> Result<Backlog, StoreError> {
    let mut arguments = Arguments::default();
    arguments.int(now.millis())?;
    arguments.int(i64::from(Backlog::MAX))?;
    let query = sqlx::query_with(kept(backlog_text(kind)), arguments.into_inner());
    let found = query.fetch_one(connection).await.map_err(before)?;
    let count = u16::try_from(int(&found, 0)?).unwrap_or(u16::MAX).min(Backlog::MAX);
    let oldest: Option<i64> = found.try_get(1).map_err(broken)?;
    Ok(Backlog { count, oldest: oldest.map(Timestamp::from_millis) })
}

pub(crate) fn backlog_text(kind: ClaimKind) -> String {
    let table = Table::claimed(kind).name();
    match Table::lane(kind) {
        Some(lane) => format!(
            "{heads} select coalesce(sum((select count(*) from (select 1 from {table} as d \
             where d.due_at is not null and d.{lane} = head.{lane} and d.due_at <= ?1 \
             limit ?2))), 0), min(since) from head where since <= ?1",
            heads = heads(table, lane),
            lane = lane.name,
        ),
        None => format!(
            "select count(*), min(due_at) from (select due_at from {table} \
             where due_at is not null and due_at <= ?1 order by due_at limit ?2)"
        ),
    }
}

/// The rowids of what has been due the longest; those of one moment go by their keys, as in every
/// store.
async fn oldest(connection: &mut SqliteConnection, claim: &Claim) -> Result<Vec<i64>, StoreError> {
    let mut arguments = Arguments::default();
    arguments.int(claim.now.millis())?;
    arguments.int(i64::from(claim.limit))?;
    let rows = fetch(connection, oldest_text(claim.kind), arguments).await?;
    rows.iter().map(|row| int(row, 0)).collect()
}

pub(crate) fn oldest_text(kind: ClaimKind) -> String {
    let table = Table::claimed(kind);
    format!(
        "select rowid from {} where due_at is not null and due_at <= ? \
         order by due_at, {} limit ?",
        table.name(),
        names(table.key(), ""),
    )
}

/// A lane that something is due in, since when, and how much of it may be handed out.
struct Open {
    lane: Cell<'static>,
    since: i64,
    room: u16,
}

/// Steps from one lane to the next over the index, so that it costs as much as there are lanes,
/// however much waits in each.
fn heads(table: &str, Column { name: lane, .. }: Column) -> String {
    format!(
        "with recursive lane ({lane}) as (\
         select min({lane}) from {table} where due_at is not null \
         union all \
         select (select min(d.{lane}) from {table} as d \
         where d.due_at is not null and d.{lane} > lane.{lane}) \
         from lane where lane.{lane} is not null), \
         head ({lane}, since) as materialized (\
         select {lane}, (select min(d.due_at) from {table} as d \
         where d.due_at is not null and d.{lane} = lane.{lane}) \
         from lane where {lane} is not null)"
    )
}

pub(crate) fn heads_text(kind: ClaimKind, lane: Column) -> String {
    format!(
        "{} select {lane}, since from head where since <= ? order by since, {lane}",
        heads(Table::claimed(kind).name(), lane),
        lane = lane.name,
    )
}

/// The lanes that something is due in and that have room, by their oldest.
async fn lanes(
    connection: &mut SqliteConnection,
    claim: &Claim,
    column: Column,
) -> Result<Vec<Open>, StoreError> {
    let mut arguments = Arguments::default();
    arguments.int(claim.now.millis())?;
    let all = claim.limit;
    let held: HashMap<Cell<'_>, u16> = claim
        .lanes
        .iter()
        .flat_map(|lanes| &lanes.held)
        .map(|(lane, held)| (lane_cell(lane), *held))
        .collect();
    let room = |lane: &Cell<'_>| {
        let used = held.get(lane).copied().unwrap_or(0);
        claim.lanes.as_ref().map_or(all, |lanes: &Lanes| lanes.cap.saturating_sub(used))
    };
    let mut lanes = Vec::new();
    for row in fetch(connection, heads_text(claim.kind, column), arguments).await? {
        let lane = Found { row: &row, from: 0 }.cell(0, column.kind).map_err(broken)?.into_owned();
        let room = room(&lane).min(all);
        if room > 0 {
            lanes.push(Open { lane, since: int(&row, 1)?, room });
        }
    }
    Ok(lanes)
}

/// The oldest that is due, no more of each lane than it has room for.
async fn oldest_of_lanes(
    connection: &mut SqliteConnection,
    claim: &Claim,
    column: Column,
) -> Result<Vec<i64>, StoreError> {
    let limit = usize::from(claim.limit);
    let lanes = lanes(connection, claim, column).await?;
    let mut oldest = BinaryHeap::<Due>::with_capacity(limit.saturating_add(1));
    let mut left = lanes.as_slice();
    while let Some(first) = left.first() {
        // Full, and every lane that is left has younger ones only.
        if oldest.len() >= limit && oldest.peek().is_some_and(|last| last.at < first.since) {
            break;
        }
        let (now, later) = left.split_at(fitting(left.len()).min(LANES_MAX));
        left = later;
        let mut arguments = Arguments::default();
        for open in now {
            arguments.cell(open.lane.clone())?;
            arguments.int(claim.now.millis())?;
            arguments.int(i64::from(open.room))?;
        }
        for row in fetch(connection, lanes_text(claim.kind, column, now.len()), arguments).await? {
            oldest.push(Due {
                at: int(&row, 0)?,
                account: row.try_get(1).map_err(broken)?,
                live: int(&row, 2)?,
                id: row.try_get(3).map_err(broken)?,
                rowid: int(&row, 4)?,
            });
            if oldest.len() > limit {
                oldest.pop();
            }
        }
    }
    Ok(oldest.into_sorted_vec().into_iter().map(|due| due.rowid).collect())
}

/// The oldest of each of so many lanes.
pub(crate) fn lanes_text(kind: ClaimKind, lane: Column, lanes: usize) -> String {
    let lane = format!(
        "select * from (select due_at, account, live, id, rowid from {} \
         where {} = ? and due_at is not null and due_at <= ? \
         order by due_at, account, live, id limit ?)",
        Table::claimed(kind).name(),
        lane.name,
    );
    vec![lane; lanes].join(" union all ")
}

/// What is due, in the order of claims.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: i64,
    account: Vec<u8>,
    live: i64,
    id: Vec<u8>,
    rowid: i64,
}

/// How many lanes one statement looks at.
const LANES_MAX: usize = 16;

/// Moves `due_at` of these rows and answers them, in this order.
async fn lease(
    connection: &mut SqliteConnection,
    claim: &Claim,
    rowids: &[i64],
) -> Result<Vec<Versioned<Record>>, StoreError> {
    let kind = claimed(claim.kind);
    let mut leased = HashMap::with_capacity(rowids.len());
    let mut left = rowids;
    while !left.is_empty() {
        let (now, later) = left.split_at(fitting(left.len()).min(ROWS_MAX));
        left = later;
        let mut arguments = Arguments::default();
        arguments.int(claim.until.millis())?;
        for rowid in now {
            arguments.int(*rowid)?;
        }
        let text = text(Verb::Lease, Table::of(kind), now.len());
        let query = sqlx::query_with(text, arguments.into_inner());
        for found in query.fetch_all(&mut *connection).await.map_err(before)? {
            // One that cannot be read, perhaps because a newer program wrote it, must not keep
            // the others from being done: its lease ends, and it is looked at again.
            match read_record(kind, &Found { row: &found, from: 1 }) {
                Ok(read) => {
                    leased.insert(int(&found, 0)?, versioned(read));
                }
                Err(error) => tracing::error!(%error, "something is due that cannot be read"),
            }
        }
    }
    Ok(rowids.iter().filter_map(|rowid| leased.remove(rowid)).collect())
}

async fn fetch(
    connection: &mut SqliteConnection,
    text: String,
    arguments: Arguments,
) -> Result<Vec<SqliteRow>, StoreError> {
    let query = sqlx::query_with(kept(text), arguments.into_inner());
    query.fetch_all(connection).await.map_err(before)
}
