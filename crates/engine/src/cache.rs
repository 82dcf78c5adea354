//! What was read lately, and is believed for a moment.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

use cauri_core::Timestamp;

/// For how long a record that was read is believed, in milliseconds: well below the second within
/// which a change must reach every node.
const BELIEVED_MS: i64 = 500;

/// How many are remembered at once.
const REMEMBERED_MAX: usize = 10_000;

/// Records that hardly ever change and that nearly every request needs. What this engine changes is
/// seen by it at once; what another node changes, or this one within a transaction of the host's,
/// when the record is no longer believed.
pub(crate) struct Cache<K, V>(Mutex<Known<K, V>>);

struct Known<K, V> {
    values: HashMap<K, (V, Timestamp)>,
    forgotten: u64,
}

/// What a reader holds while it reads, so that it does not bring back what was forgotten meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// What is believed at this moment.
    pub(crate) fn find(&self, key: &K, now: Timestamp) -> Option<V> {
        let known = self.lock();
        let (value, read_at) = known.values.get(key)?;
        (0..BELIEVED_MS).contains(&now.since(*read_at)).then(|| value.clone())
    }

    /// To be taken before something is read.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.lock().forgotten)
    }

    /// Remembers what was read, at the moment before it was, unless anything was forgotten since.
    pub(crate) fn keep(&self, key: K, value: V, read_at: Timestamp, ticket: Ticket) {
        let mut known = self.lock();
        if known.forgotten != ticket.0 {
            return;
        }
        if known.values.len() >= REMEMBERED_MAX {
            known.values.clear();
        }
        known.values.insert(key, (value, read_at));
    }

    /// It has changed.
    pub(crate) fn forget(&self, key: &K) {
        let mut known = self.lock();
        known.forgotten = known.forgotten.wrapping_add(1);
        known.values.remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, Known<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Known { values: HashMap::new(), forgotten: 0 }))
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    /// Without what it holds, which is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + millis)
    }

    #[test]
    fn what_was_read_is_believed_for_half_a_second() {
        let cache = Cache::default();
        cache.keep("a", 1, at(0), cache.ticket());
        assert_eq!(cache.find(&"a", at(499)), Some(1));
        assert_eq!(cache.find(&"a", at(500)), None);
        assert_eq!(cache.find(&"a", at(-1)), None, "a clock that was set back proves nothing");
        assert_eq!(cache.find(&"b", at(0)), None);
    }

    #[test]
    fn a_reader_does_not_bring_back_what_was_forgotten_while_it_read() {
        let cache = Cache::default();
        let ticket = cache.ticket();
        cache.forget(&"a");
        cache.keep("a", 1, at(0), ticket);
        assert_eq!(cache.find(&"a", at(0)), None);
        cache.keep("a", 2, at(0), cache.ticket());
        assert_eq!(cache.find(&"a", at(0)), Some(2));
        cache.forget(&"a");
        assert_eq!(cache.find(&"a", at(0)), None);
    }
}
