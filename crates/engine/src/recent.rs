//! Orders as this process wrote them last.

use std::{
    collections::HashMap,
    fmt, mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use cauri_core::{Changeset, Key, Record, Timestamp, TraceContext, Versioned, Write};

/// For how long an order is remembered, in milliseconds: as long as a network usually takes. Should
/// the database lose what it had accepted (a failover to a standby that lagged), nothing older is
/// built upon.
const REMEMBERED_MS: i64 = 60_000;

/// How many orders are remembered at least, and half of how many at most.
const REMEMBERED: usize = 4_096;

/// Payments, payouts and refunds that were just written here, and which their network is about to
/// report on: what was written need not be read again.
///
/// Never an authority: others may have written since. So it serves only what ends in a commit that
/// is guarded by the version remembered here, and whoever is refused, or finds nothing to do, looks
/// into the store.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Remembered>);

/// Two generations: what is asked for moves on, what nobody asks for is gone with the older one.
#[derive(Default)]
struct Remembered {
    young: HashMap<Key, Known>,
    old: HashMap<Key, Known>,
}

/// An order, when it was remembered, and the trace in which this process has heard of it first.
struct Known {
    found: Versioned<Record>,
    at: Timestamp,
    trace: Option<TraceContext>,
}

impl Known {
    fn is_fresh(&self, now: Timestamp) -> bool {
        (0..REMEMBERED_MS).contains(&now.since(self.at))
    }
}

impl Recent {
    /// Remembers what a commit that was accepted has written.
    pub(crate) fn note(&self, changes: &Changeset, trace: Option<&TraceContext>, now: Timestamp) {
        for write in changes.writes() {
            let (record, version, due_at) = match write {
                Write::Insert { record, due_at } => (record, 1, *due_at),
                Write::Update { record, expected, due_at } => {
                    (record, expected.saturating_add(1), *due_at)
                }
                Write::Remove { .. } => continue,
            };
            if matches!(record, Record::Payment(_) | Record::Payout(_) | Record::Refund(_)) {
                let found = Versioned { value: record.clone(), version, due_at };
                self.lock().put(record.key(), found, trace, now);
            }
        }
    }

    /// Remembers an order as it was just read, or claimed; unless something newer was written here
    /// lately.
    pub(crate) fn put(&self, found: Versioned<Record>, now: Timestamp) -> bool {
        self.lock().put(found.value.key(), found, None, now)
    }

    /// The orders of these keys; `None` unless all of them are remembered.
    pub(crate) fn all(
        &self,
        keys: &[Key],
        now: Timestamp,
    ) -> Option<Vec<Option<Versioned<Record>>>> {
        let remembered = self.lock();
        let fresh = |key| {
            let known = remembered.get(key)?;
            known.is_fresh(now).then(|| Some(known.found.clone()))
        };
        keys.iter().map(fresh).collect()
    }

    /// The order of this key.
    pub(crate) fn one(&self, key: &Key) -> Option<Record> {
        self.lock().get(key).map(|known| known.found.value.clone())
    }

    /// The trace in which this process has heard of an order first, as long as it is remembered.
    pub(crate) fn trace(&self, key: &Key) -> Option<TraceContext> {
        self.lock().get(key).and_then(|known| known.trace.clone())
    }

    /// They are not what was remembered.
    pub(crate) fn forget(&self, keys: &[Key]) {
        let mut remembered = self.lock();
        for key in keys {
            remembered.young.remove(key);
            remembered.old.remove(key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remembered {
    fn get(&self, key: &Key) -> Option<&Known> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    /// Two commits may be noted in another order than that in which they came to be.
    fn put(
        &mut self,
        key: Key,
        found: Versioned<Record>,
        trace: Option<&TraceContext>,
        at: Timestamp,
    ) -> bool {
        let known = self.get(&key);
        let is_newer = |known: &Known| known.found.version > found.version && known.is_fresh(at);
        if known.is_some_and(is_newer) {
            return false;
        }
        let trace = known.and_then(|known| known.trace.as_ref()).or(trace).cloned();
        if self.young.len() >= REMEMBERED {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, Known { found, at, trace });
        true
    }
}

impl fmt::Debug for Recent {
    /// Without what it holds, which is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recent")
    }
}
