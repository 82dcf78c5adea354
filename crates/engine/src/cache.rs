//! What was read lately, and is believed for a moment.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cauri_core::Timestamp;
use tokio::time::Instant;

/// For how long a record that was read is believed, in milliseconds: well below the second within
/// which a change must reach every node.
const BELIEVED_MS: i64 = 500;
const BELIEVED: Duration = Duration::from_millis(BELIEVED_MS.unsigned_abs());

/// After how long it may be read anew along with another, in milliseconds.
const ALONG_MS: i64 = BELIEVED_MS / 2;

/// After how long it is read anew beside whoever finds it, in milliseconds: soon enough for nobody
/// to wait for that reading, unless it takes longer than is left.
const RENEWED_MS: i64 = BELIEVED_MS * 7 / 10;

/// For how long after it was asked for it is wanted, in milliseconds. To read one more row along with
/// others is a thirtieth of the work of reading it alone, so it pays to read it a few times for
/// nobody; and of accounts that call five times a second a third pause for longer than a belief
/// lasts.
const WANTED_MS: i64 = 2_000;

/// How many are read along with one: as many as make it hardly slower.
const ALONG_MAX: usize = 128;

/// How many are remembered at once.
const REMEMBERED_MAX: usize = 10_000;

/// Records that hardly ever change and that nearly every request needs. What this engine changes is
/// seen by it at once; what another node changes, or this one within a transaction of the host's,
/// when the record is no longer believed.
///
/// A thousand busy accounts would make for two thousand readings a second. So what is still believed
/// and wanted is read anew [in time](Cache::overdue), a hundred at once, and nobody waits for it; and
/// whoever has to read one reads [along](Cache::along) what others will have to read soon.
pub(crate) struct Cache<K, V>(Mutex<Known<K, V>>);

struct Known<K, V> {
    values: HashMap<K, Kept<V>>,
    /// When each was read, the oldest first, until it is read along. Some of these are not so any
    /// more: it was forgotten, or read by itself, in the meantime.
    readings: VecDeque<(K, Timestamp)>,
    forgotten: u64,
}

struct Kept<V> {
    value: V,
    read_at: Timestamp,
    /// The same by a clock that nobody sets: back to a moment at which something was read, the other
    /// one would make it believed again.
    kept_at: Instant,
    /// When it was asked for last.
    wanted_at: Timestamp,
}

/// What a reader holds while it reads, so that it does not bring back what was forgotten meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    /// What is believed at this moment.
    pub(crate) fn find(&self, key: &K, now: Timestamp) -> Option<V> {
        let mut known = self.lock();
        let kept = known.values.get_mut(key)?;
        kept.wanted_at = now;
        let is_believed = (0..BELIEVED_MS).contains(&now.since(kept.read_at))
            && kept.kept_at.elapsed() < BELIEVED;
        is_believed.then(|| kept.value.clone())
    }

    /// To be taken before something is read.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.lock().forgotten)
    }

    /// What somebody should read anew by now, so that nobody will have to wait for it: nothing until
    /// the oldest is [overdue](RENEWED_MS), then what [`Cache::along`] names. By ones and twos, as each
    /// comes of age, it would be as many readings as there are records.
    pub(crate) fn overdue(&self, now: Timestamp) -> Vec<K> {
        let mut known = self.lock();
        let oldest = known.readings.front().map(|(_, read_at)| now.since(*read_at));
        match oldest {
            Some(age) if !(0..RENEWED_MS).contains(&age) => known.along(None, now),
            _ => Vec::new(),
        }
    }

    /// What whoever reads one should read along: what is wanted and will not be believed for much
    /// longer. Each is named to one reader alone. What nobody [wants](WANTED_MS) any more is dropped.
    pub(crate) fn along(&self, own: &K, now: Timestamp) -> Vec<K> {
        self.lock().along(Some(own), now)
    }

    /// Remembers what was read, at the moment before it was, unless anything was forgotten since, or
    /// somebody who read it later was faster.
    pub(crate) fn keep(&self, key: K, value: V, read_at: Timestamp, ticket: Ticket) {
        let mut known = self.lock();
        // One that is far ahead of us is of a clock that was set back since.
        let overtaken = known
            .values
            .get(&key)
            .is_some_and(|it| it.read_at > read_at && it.read_at.since(read_at) < BELIEVED_MS);
        if known.forgotten != ticket.0 || overtaken {
            return;
        }
        if known.values.len() >= REMEMBERED_MAX {
            known.values.clear();
            known.readings.clear();
        }
        // What is not known yet is read because somebody asked.
        let wanted_at = known.values.get(&key).map_or(read_at, |it| it.wanted_at);
        let kept = Kept { value, read_at, kept_at: Instant::now(), wanted_at };
        let before = known.values.insert(key.clone(), kept);
        if before.is_none_or(|before| before.read_at != read_at) {
            known.readings.push_back((key, read_at));
        }
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

impl<K: Clone + Eq + Hash, V> Known<K, V> {
    fn along(&mut self, own: Option<&K>, now: Timestamp) -> Vec<K> {
        let Self { values, readings, .. } = self;
        let mut along = Vec::new();
        let old = |(_, read_at): &mut (K, Timestamp)| !(0..ALONG_MS).contains(&now.since(*read_at));
        while along.len() < ALONG_MAX
            && let Some((key, read_at)) = readings.pop_front_if(old)
        {
            match values.get(&key) {
                Some(kept) if kept.read_at != read_at || Some(&key) == own => {}
                Some(kept) if (0..WANTED_MS).contains(&now.since(kept.wanted_at)) => {
                    along.push(key);
                }
                Some(_) => drop(values.remove(&key)),
                None => {}
            }
        }
        along
    }
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        let readings = VecDeque::new();
        Self(Mutex::new(Known { values: HashMap::new(), readings, forgotten: 0 }))
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

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_shows_the_same_time_twice_proves_nothing_either() {
        let cache = Cache::default();
        cache.keep("a", 1, at(0), cache.ticket());
        tokio::time::advance(Duration::from_millis(499)).await;
        assert_eq!(cache.find(&"a", at(0)), Some(1));
        // It was set back, and has come to this moment once more.
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(cache.find(&"a", at(0)), None);
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

    #[test]
    fn what_will_soon_be_stale_is_read_along_if_anybody_wants_it_and_by_one_reader() {
        let cache = Cache::default();
        for name in ["own", "wanted", "later"] {
            let read_at = if name == "later" { 300 } else { 0 };
            cache.keep(name, 1, at(read_at), cache.ticket());
        }
        assert_eq!(cache.along(&"own", at(249)), [""; 0], "too early");
        assert_eq!(cache.along(&"own", at(400)), ["wanted"]);
        assert_eq!(cache.along(&"own", at(400)), [""; 0], "another reads it already");
        assert_eq!(cache.find(&"wanted", at(400)), Some(1), "believed until it was read anew");
        cache.keep("wanted", 2, at(400), cache.ticket());
        assert_eq!(cache.find(&"wanted", at(700)), Some(2));
        assert_eq!(cache.along(&"own", at(700)), ["later", "wanted"]);
    }

    #[test]
    fn what_nobody_asked_for_in_two_seconds_is_read_no_more_and_dropped() {
        let cache = Cache::default();
        for read_at in [0, 400, 800, 1_200, 1_600] {
            for name in ["asked", "left"] {
                cache.keep(name, 1, at(read_at), cache.ticket());
            }
            assert_eq!(cache.find(&"asked", at(read_at)), Some(1));
            let both = ["asked", "left"];
            assert_eq!(cache.along(&"own", at(read_at + 399)), both[..], "at {read_at}");
        }
        for name in ["asked", "left"] {
            cache.keep(name, 1, at(1_750), cache.ticket());
        }
        assert_eq!(cache.along(&"own", at(2_000)), ["asked"]);
        assert_eq!(cache.find(&"left", at(2_000)), None, "dropped");
    }

    #[test]
    fn a_slow_reader_does_not_bring_back_what_was_there_before() {
        let cache = Cache::default();
        cache.keep("a", 2, at(250), cache.ticket());
        cache.keep("a", 1, at(0), cache.ticket());
        assert_eq!(cache.find(&"a", at(300)), Some(2));
        cache.keep("a", 3, at(-5_000), cache.ticket());
        assert_eq!(cache.find(&"a", at(-5_000)), Some(3), "the clock was set back");
    }

    #[test]
    fn what_is_overdue_is_read_anew_with_all_that_comes_of_age_and_by_one_reader() {
        let cache = Cache::default();
        for (name, read_at) in [("first", 0), ("next", 100), ("young", 101)] {
            cache.keep(name, 1, at(read_at), cache.ticket());
        }
        assert_eq!(cache.overdue(at(349)), [""; 0], "too early for one reading");
        assert_eq!(cache.overdue(at(350)), ["first", "next"]);
        assert_eq!(cache.overdue(at(350)), [""; 0], "another reads it already");
        assert_eq!(cache.find(&"first", at(499)), Some(1), "believed until it was read anew");
        assert_eq!(cache.find(&"young", at(-5_000)), None);
        assert_eq!(cache.overdue(at(-5_000)), ["young"], "the clock was set back");
    }

    #[test]
    fn what_was_forgotten_is_not_read_along() {
        let cache = Cache::default();
        cache.keep("a", 1, at(0), cache.ticket());
        assert_eq!(cache.find(&"a", at(0)), Some(1));
        cache.forget(&"a");
        assert_eq!(cache.along(&"b", at(400)), [""; 0]);
    }

    #[test]
    fn not_too_much_is_read_along_at_once() {
        let cache = Cache::default();
        for key in 0..ALONG_MAX + 1 {
            cache.keep(key, (), at(0), cache.ticket());
            assert!(cache.find(&key, at(0)).is_some());
        }
        assert_eq!(cache.along(&usize::MAX, at(400)).len(), ALONG_MAX);
        assert_eq!(cache.along(&usize::MAX, at(400)), [ALONG_MAX]);
    }
}
