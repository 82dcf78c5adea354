//! Handing out what is due.

use std::ops::Bound;

use cauri::{Claim, ClaimKind, EndpointId, Record, Versioned};
use redb::{Database, ReadableDatabase};

use crate::{
    error::Failure,
    key,
    read::versioned,
    table::{self, Bytes, Tables, range},
};

pub(crate) fn claim(database: &Database, claim: &Claim) -> Result<Vec<Versioned<Record>>, Failure> {
    // A worker asks all the time, and mostly in vain: then nothing is written.
    if due(&table::read(&database.begin_read()?)?, claim)?.is_empty() {
        return Ok(Vec::new());
    }
    let transaction = database.begin_write()?;
    let mut tables = table::write(&transaction)?;
    let mut leased = Vec::new();
    for key in due(&tables, claim)? {
        let mut row = tables.row(&key)?.ok_or(Failure::Dangling("what is due"))?;
        row.version = row.version.saturating_add(1);
        row.due_at = Some(claim.until);
        leased.push(versioned(row.clone()));
        tables.replace(row)?;
    }
    drop(tables);
    transaction.commit()?;
    Ok(leased)
}

/// The keys of what is due, oldest first: the oldest of each lane, as many as it has room for, and
/// of all those the oldest. A backlog in one lane costs the others nothing.
fn due(tables: &Tables<impl Bytes>, claim: &Claim) -> Result<Vec<Vec<u8>>, Failure> {
    let kind = key::claim_kind(claim.kind);
    let mut found = Vec::new();
    let mut from = Bound::Included(vec![kind]);
    let end = vec![kind.saturating_add(1)];
    while let Some(first) = range(&tables.dues, (from, Bound::Excluded(end.clone())))?.next() {
        let (first, _) = first?;
        let lane = first.get(..key::LANE).ok_or(Failure::Bytes)?;
        let (endpoint, ..) = key::waiting(&first).ok_or(Failure::Bytes)?;
        let waiting = range(&tables.dues, key::due_until(lane, claim.now))?;
        for due in waiting.take(room(claim, endpoint)) {
            let (due, _) = due?;
            let (_, moment, key) = key::waiting(&due).ok_or(Failure::Bytes)?;
            found.push((moment, key.to_vec()));
        }
        // Behind everything in the lane, whenever it is due.
        let mut behind = lane.to_vec();
        behind.extend([u8::MAX; 9]);
        from = Bound::Included(behind);
    }
    found.sort();
    found.truncate(usize::from(claim.limit));
    Ok(found.into_iter().map(|(_, key)| key).collect())
}

fn room(claim: &Claim, endpoint: EndpointId) -> usize {
    let room = match (claim.kind, &claim.lanes) {
        (ClaimKind::Deliveries, Some(lanes)) => lanes.room(endpoint).min(claim.limit),
        _ => claim.limit,
    };
    usize::from(room)
}
