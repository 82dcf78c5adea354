//! Handing out what is due.

use std::{
    collections::HashMap,
    ops::Bound::{Excluded, Included},
};

use cauri::{Claim, Record, Versioned};
use cauri_sql::Table;
use redb::{Database, ReadTransaction, ReadableDatabase};

use crate::{
    commit::Turn,
    error::Failure,
    read::versioned,
    table::{self, DUES, LAST},
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
    let lanes = claim.lanes.as_ref().filter(|_| Table::lane(claim.kind).is_some());
    let held = lanes.iter().flat_map(|lanes| &lanes.held);
    let held: HashMap<_, _> = held.map(|(lane, held)| (table::lane(Some(lane)), *held)).collect();
    let room = |lane: &str| {
        let held = held.get(lane).copied().unwrap_or(0);
        lanes.map_or(claim.limit, |lanes| lanes.cap.saturating_sub(held))
    };
    let end = Included((kind, LAST, i64::MAX, LAST));
    let mut passed = None::<String>;
    loop {
        let from = match &passed {
            None => Included((kind, "", i64::MIN, "")),
            Some(lane) => Excluded((kind, lane.as_str(), i64::MAX, LAST)),
        };
        let Some(first) = table.range((from, end))?.next().transpose()? else { break };
        let lane = first.0.value().1.to_owned();
        let waiting =
            (kind, lane.as_str(), i64::MIN, "")..=(kind, lane.as_str(), claim.now.millis(), LAST);
        for due in table.range(waiting)?.take(room(&lane).into()) {
            let (due, _) = due?;
            let (_, _, moment, name) = due.value();
            found.push((moment, name.to_owned()));
        }
        passed = Some(lane);
    }
    found.sort();
    found.truncate(usize::from(claim.limit));
    Ok(found.into_iter().map(|(_, name)| name).collect())
}
