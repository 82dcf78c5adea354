//! Handing out what is due.

use std::ops::Bound::{Excluded, Included};

use cauri::{Claim, EndpointId, Id, Record, Versioned};
use cauri_sql::Table;
use redb::{Database, ReadTransaction, ReadableDatabase};
use uuid::Uuid;

use crate::{
    commit::Turn,
    error::Failure,
    read::versioned,
    table::{self, DUES, Due, LAST},
};

pub(crate) fn claim(database: &Database, claim: &Claim) -> Result<Vec<Versioned<Record>>, Failure> {
    // A worker asks all the time, and mostly in vain: then nothing is written.
    if due(&database.begin_read()?, claim)?.is_empty() {
        return Ok(Vec::new());
    }
    let turn = Turn::begin(database)?;
    let mut leased = Vec::new();
    for name in due(&turn.before, claim)? {
        let mut row = table::row(&turn.before, &name)?.ok_or(Failure::Dangling("what is due"))?;
        row.version = row.version.saturating_add(1);
        row.due_at = Some(claim.until);
        leased.push(versioned(row.clone()));
        turn.replace(row)?;
    }
    turn.at.commit()?;
    Ok(leased)
}

/// The names of what is due, oldest first: of each lane the oldest, as many as it has room for, and
/// of all those the oldest. So a backlog in one lane costs the others nothing.
fn due(at: &ReadTransaction, claim: &Claim) -> Result<Vec<String>, Failure> {
    let (table, kind) = (at.open_table(DUES)?, Table::claimed(claim.kind).name());
    let mut found = Vec::new();
    let mut from = Included::<Due<'_>>((kind, 0, i64::MIN, ""));
    let end = Included((kind, u128::MAX, i64::MAX, LAST));
    let room = |lane| {
        let id = EndpointId::from_uuid(Uuid::from_u128(lane));
        usize::from(claim.lanes.as_ref().map_or(claim.limit, |lanes| lanes.room(id)))
    };
    while let Some(first) = table.range((from, end))?.next().transpose()? {
        let lane = first.0.value().1;
        let waiting = (kind, lane, i64::MIN, "")..=(kind, lane, claim.now.millis(), LAST);
        for due in table.range(waiting)?.take(room(lane)) {
            let (due, _) = due?;
            let (_, _, moment, name) = due.value();
            found.push((moment, name.to_owned()));
        }
        from = Excluded((kind, lane, i64::MAX, LAST));
    }
    found.sort();
    found.truncate(usize::from(claim.limit));
    Ok(found.into_iter().map(|(_, name)| name).collect())
}
