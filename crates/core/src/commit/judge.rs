//! The meaning of a commit, as a pure function: which changesets of a batch are accepted, and what
//! is to be written for them. A store reads the facts, calls [`judge`] and writes rows.

use std::collections::{BTreeMap, HashMap, btree_map};

use super::{
    changeset::{Changeset, Refusal, Verdict, Write},
    key::Key,
    query::List,
    record::Record,
};
use crate::{
    model::ledger::{Entry, LedgerAccount},
    value::{money::Amount, time::Timestamp},
};

/// What a store knows before a batch.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "stores fill every field")]
pub struct Facts {
    /// The version of every record that the batch names and that is there. An alternate key of a
    /// record that is there has an entry too.
    pub versions: HashMap<Key, u64>,
    /// The balances of the accounts that the batch moves. An account that has none yet holds
    /// nothing.
    pub balances: HashMap<LedgerAccount, Amount>,
    /// Are balances not read yet, because the store learns them only while writing? Then
    /// `balances` is empty, sums are counted from nothing, and floors are checked by
    /// [`Writes::rebase`] once they are known. A verdict of [`Refusal::Overflow`] is a guess then:
    /// the batch must be judged again with the balances read.
    pub balances_unread: bool,
}

/// A record to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores read every field")]
pub struct Row {
    /// The value.
    pub record: Record,
    /// Its version after the batch.
    pub version: u64,
    /// Its `due_at` after the batch.
    pub due_at: Option<Timestamp>,
    /// Its place in its list; given by [`Writes::number`] to inserted rows that have a list.
    pub number: Option<i64>,
}

/// How a batch moves one ledger account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores read every field")]
pub struct Movement {
    /// By how much in all.
    pub total: Amount,
    /// The lowest point after any changeset, from where the batch began.
    pub lowest: Amount,
}

/// What is to be written for the accepted changesets of a batch: removals first, then inserts,
/// then updates. Each key occurs at most once in each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores read every field")]
pub struct Writes {
    /// Records to forget, with the version that was there.
    pub removes: Vec<(Key, u64)>,
    /// New records, in the order in which they were accepted.
    pub inserts: Vec<Row>,
    /// Replaced records, with the version that was there.
    pub updates: Vec<(Row, u64)>,
    /// New ledger entries, in the order in which they were accepted.
    pub entries: Vec<Entry>,
    /// What they do to each account's balance.
    pub movements: BTreeMap<LedgerAccount, Movement>,
}

impl Writes {
    /// How many records each list gains.
    #[must_use]
    pub fn growth(&self) -> BTreeMap<List, i64> {
        let mut growth = BTreeMap::<List, i64>::new();
        let entries = self.entries.iter().map(|entry| List::Entries(entry.scope));
        for list in self.inserts.iter().filter_map(|row| row.record.list()).chain(entries) {
            let count = growth.entry(list).or_default();
            *count = count.saturating_add(1);
        }
        growth
    }

    /// Gives every inserted row its number, counting on from the last number of its list; answers
    /// the numbers of the entries, in their order. `last` holds every list of [`Writes::growth`];
    /// afterwards it holds the new last numbers.
    pub fn number(&mut self, last: &mut BTreeMap<List, i64>) -> Vec<i64> {
        let mut next = |list: List| {
            let number = last.entry(list).or_default();
            *number = number.saturating_add(1);
            *number
        };
        for row in &mut self.inserts {
            row.number = row.record.list().map(&mut next);
        }
        self.entries.iter().map(|entry| next(List::Entries(entry.scope))).collect()
    }

    /// Tells balances that were not read before: the `balance_after` of every entry counts on from
    /// them.
    ///
    /// # Errors
    /// The refusal of the first account that would fall below its floor or overflow; then the
    /// batch must be judged again with the balances read.
    pub fn rebase(&mut self, before: &HashMap<LedgerAccount, Amount>) -> Result<(), Refusal> {
        let base = |account: &LedgerAccount| before.get(account).copied().unwrap_or_default();
        for (account, movement) in &self.movements {
            let overflow = |_| Refusal::Overflow(*account);
            let lowest = base(account).plus(movement.lowest).map_err(overflow)?;
            base(account).plus(movement.total).map_err(overflow)?;
            if account.kind.has_floor() && lowest < Amount::ZERO {
                return Err(Refusal::Floor(*account));
            }
        }
        for entry in &mut self.entries {
            let account = entry.ledger_account();
            entry.balance_after =
                base(&account).plus(entry.balance_after).map_err(|_| Refusal::Overflow(account))?;
        }
        Ok(())
    }
}

/// Judges a batch, in order, each changeset on top of those accepted before it. A refused one
/// leaves no trace and does not disturb its neighbours.
///
/// ```
/// use cauri_core::{Changeset, Facts, judge};
/// let (verdicts, writes) = judge(vec![Changeset::new()], &Facts::default());
/// assert_eq!(verdicts, [Ok(())]);
/// assert!(writes.inserts.is_empty());
/// ```
#[must_use]
pub fn judge(batch: Vec<Changeset>, facts: &Facts) -> (Vec<Verdict>, Writes) {
    let mut bench =
        Bench { facts, slots: BTreeMap::new(), order: Vec::new(), writes: Writes::default() };
    let verdicts = batch.into_iter().map(|changeset| bench.one(changeset)).collect();
    (verdicts, bench.finish())
}

/// What a batch has made of a record so far.
#[derive(Debug)]
struct Slot {
    /// The version in the store before the batch, if it was there.
    stored: Option<u64>,
    /// What is there now; `None` when removed.
    now: Option<Row>,
    /// Was it removed and inserted anew?
    reborn: bool,
}

struct Bench<'a> {
    facts: &'a Facts,
    slots: BTreeMap<Key, Slot>,
    /// Primary keys, in the order in which their present row was inserted or first updated.
    order: Vec<Key>,
    writes: Writes,
}

impl Bench<'_> {
    fn one(&mut self, changeset: Changeset) -> Verdict {
        let moved = self.check(&changeset)?;
        self.apply(changeset, moved);
        Ok(())
    }

    /// Everything is checked before anything moves: after this, nothing can fail.
    fn check(&self, changeset: &Changeset) -> Result<Moved, Refusal> {
        let mut touched = HashMap::<Key, Option<u64>>::new();
        for write in changeset.writes() {
            let version = |touched: &HashMap<Key, Option<u64>>, key: &Key| {
                touched.get(key).copied().unwrap_or_else(|| self.version(key))
            };
            match write {
                Write::Insert { record, .. } => {
                    for key in std::iter::once(record.key()).chain(record.alternate_key()) {
                        if version(&touched, &key).is_some() {
                            return Err(Refusal::Exists(key));
                        }
                        touched.insert(key, Some(1));
                    }
                }
                Write::Update { record, expected, .. } => {
                    let key = record.key();
                    if version(&touched, &key) != Some(*expected) {
                        return Err(Refusal::Stale(key));
                    }
                    touched.insert(key, Some(expected.saturating_add(1)));
                }
                Write::Remove { key, expected } => {
                    if version(&touched, key) != Some(*expected) {
                        return Err(Refusal::Stale(key.clone()));
                    }
                    touched.insert(key.clone(), None);
                }
            }
        }
        self.check_money(changeset)
    }

    fn check_money(&self, changeset: &Changeset) -> Result<Moved, Refusal> {
        let mut moved = Moved::default();
        for posting in changeset.postings() {
            for line in posting.lines() {
                let account = posting.account(line);
                let overflow = |_| Refusal::Overflow(account);
                let before =
                    moved.now.get(&account).copied().unwrap_or_else(|| self.balance(&account));
                let after = before
                    .plus(line.account.moved(line.direction, line.amount))
                    .map_err(overflow)?;
                moved.now.insert(account, after);
                moved.entries.push(posting.entry(line, after));
            }
        }
        // What a batch does to an account is a sum of 64 bits too; a commit that would pass it is
        // refused rather than written wrong.
        for (account, now) in &moved.now {
            now.minus(self.start(account)).map_err(|_| Refusal::Overflow(*account))?;
        }
        let below = moved.now.iter().find(|(account, amount)| {
            !self.facts.balances_unread && account.kind.has_floor() && **amount < Amount::ZERO
        });
        match below {
            Some((account, _)) => Err(Refusal::Floor(*account)),
            None => Ok(moved),
        }
    }

    fn apply(&mut self, changeset: Changeset, moved: Moved) {
        for write in changeset.into_writes() {
            match write {
                Write::Insert { record, due_at } => self.put(record, 1, due_at),
                Write::Update { record, expected, due_at } => {
                    self.put(record, expected.saturating_add(1), due_at);
                }
                Write::Remove { key, .. } => {
                    let stored = self.facts.versions.get(&key).copied();
                    match self.slots.entry(key) {
                        btree_map::Entry::Occupied(mut slot) => {
                            slot.get_mut().now = None;
                            slot.get_mut().reborn = false;
                        }
                        btree_map::Entry::Vacant(slot) => {
                            slot.insert(Slot { stored, now: None, reborn: false });
                        }
                    }
                }
            }
        }
        for (account, now) in moved.now {
            let start = self.start(&account);
            // It fits: that was checked.
            let total = now.minus(start).unwrap_or_default();
            let movement =
                self.writes.movements.entry(account).or_insert(Movement { total, lowest: total });
            movement.total = total;
            movement.lowest = movement.lowest.min(total);
        }
        self.writes.entries.extend(moved.entries);
    }

    fn put(&mut self, record: Record, version: u64, due_at: Option<Timestamp>) {
        let key = record.key();
        let stored = self.facts.versions.get(&key).copied();
        if let Some(alternate) = record.alternate_key() {
            // Only remembered as taken; the primary key's slot holds the row.
            let row = Row { record: record.clone(), version, due_at, number: None };
            self.slots.insert(alternate, Slot { stored: None, now: Some(row), reborn: false });
        }
        let row = Row { record, version, due_at, number: None };
        match self.slots.entry(key.clone()) {
            btree_map::Entry::Occupied(mut slot) => {
                let slot = slot.get_mut();
                if slot.now.is_none() {
                    slot.reborn = slot.stored.is_some();
                    self.order.push(key);
                }
                slot.now = Some(row);
            }
            btree_map::Entry::Vacant(slot) => {
                slot.insert(Slot { stored, now: Some(row), reborn: false });
                self.order.push(key);
            }
        }
    }

    fn version(&self, key: &Key) -> Option<u64> {
        match self.slots.get(key) {
            Some(slot) => slot.now.as_ref().map(|row| row.version),
            None => self.facts.versions.get(key).copied(),
        }
    }

    fn start(&self, account: &LedgerAccount) -> Amount {
        self.facts.balances.get(account).copied().unwrap_or_default()
    }

    fn balance(&self, account: &LedgerAccount) -> Amount {
        let total = self.writes.movements.get(account).map_or(Amount::ZERO, |it| it.total);
        self.start(account).plus(total).unwrap_or_default()
    }

    fn finish(mut self) -> Writes {
        let mut writes = std::mem::take(&mut self.writes);
        for key in std::mem::take(&mut self.order) {
            let Some(mut slot) = self.slots.remove(&key) else { continue };
            match (slot.stored, slot.now.take()) {
                (Some(stored), Some(row)) if !slot.reborn => writes.updates.push((row, stored)),
                (Some(stored), Some(row)) => {
                    writes.removes.push((key, stored));
                    writes.inserts.push(row);
                }
                (None, Some(row)) => writes.inserts.push(row),
                (Some(stored), None) => writes.removes.push((key, stored)),
                (None, None) => {}
            }
        }
        // What is left was only removed, or is an alternate key.
        for (key, slot) in self.slots {
            if let (Some(stored), None) = (slot.stored, slot.now) {
                writes.removes.push((key, stored));
            }
        }
        writes
    }
}

/// What a changeset would do to the ledger.
#[derive(Debug, Default)]
struct Moved {
    /// In an order of its own, so that of several accounts below their floor the same is named.
    now: BTreeMap<LedgerAccount, Amount>,
    entries: Vec<Entry>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::{
        model::{
            api_key::{ApiKey, ApiKeyKind, KeyHash},
            idempotency::{IdempotencyRecord, StoredBody, Success},
            ledger::{EntryKind, LedgerAccountKind, Posting, PostingHead},
        },
        value::{
            env::{Env, Tick},
            id::{AccountId, ApiKeyId, Id, TransactionId},
            scope::{Environment, Scope},
        },
    };

    const KINDS: [LedgerAccountKind; 4] = [
        LedgerAccountKind::Clearing,
        LedgerAccountKind::MerchantPending,
        LedgerAccountKind::MerchantAvailable,
        LedgerAccountKind::Fees,
    ];

    fn scope() -> Scope {
        let account = AccountId::from_uuid(Uuid::from_u128(1));
        Scope { account, environment: Environment::Sandbox }
    }

    fn account(kind: LedgerAccountKind) -> LedgerAccount {
        LedgerAccount { scope: scope(), currency: "XOF".parse().unwrap(), kind }
    }

    /// An answer to one of few keys; `mark` makes values tell from one another.
    fn answer(which: u8, mark: u8) -> IdempotencyRecord {
        IdempotencyRecord {
            scope: scope(),
            key: format!("key-{which}").parse().unwrap(),
            fingerprint: [mark; 32],
            success: Success::Created,
            location: None,
            body: StoredBody::Plain(String::new()),
            created_at: Timestamp::EPOCH,
            expires_at: Timestamp::EPOCH,
        }
    }

    /// One of few API keys, with one of few hashes.
    fn api_key(which: u8, hash: u8) -> ApiKey {
        ApiKey {
            id: ApiKeyId::from_uuid(Uuid::from_u128(which.into())),
            scope: scope(),
            kind: ApiKeyKind::Secret,
            name: None,
            hint: String::new(),
            hash: KeyHash::from_bytes([hash; 32]),
            created_at: Timestamp::EPOCH,
            last_used_at: None,
            expires_at: None,
            revoked_at: None,
        }
    }

    fn posting(debit: LedgerAccountKind, credit: LedgerAccountKind, units: i64) -> Option<Posting> {
        let mut env = Env::new(Timestamp::EPOCH, Tick::first(Timestamp::EPOCH), [0; 32]);
        let head = PostingHead {
            scope: scope(),
            transaction: TransactionId::from_uuid(Uuid::nil()),
            kind: EntryKind::Payment,
            source: None,
            currency: "XOF".parse().unwrap(),
        };
        Posting::moving(head, debit, credit, Amount::new(units), &mut env)
    }

    #[derive(Debug, Clone)]
    enum Act {
        Answer(u8, u8),
        Reanswer(u8, u8, u64),
        Forget(u8, u64),
        Key(u8, u8),
        Post(usize, usize, i64),
    }

    fn changeset(acts: &[Act]) -> Changeset {
        let mut changes = Changeset::new();
        for act in acts {
            match *act {
                Act::Answer(which, mark) => changes.insert(answer(which, mark), None),
                Act::Reanswer(which, mark, version) => {
                    let at = Timestamp::from_millis(mark.into());
                    changes.update(answer(which, mark), version, Some(at));
                }
                Act::Forget(which, version) => {
                    let value = answer(which, 0);
                    changes.forget(&crate::Versioned { value, version, due_at: None });
                }
                Act::Key(which, hash) => changes.insert(api_key(which, hash), None),
                Act::Post(debit, credit, units) => {
                    changes.post(posting(KINDS[debit], KINDS[credit], units));
                }
            }
        }
        changes
    }

    fn act() -> impl Strategy<Value = Act> {
        let version = || prop_oneof![4 => 1..=3_u64, 1 => Just(0), 1 => Just(u64::MAX)];
        prop_oneof![
            3 => (0..3_u8, any::<u8>()).prop_map(|(which, mark)| Act::Answer(which, mark)),
            3 => (0..3_u8, any::<u8>(), version()).prop_map(|(a, b, c)| Act::Reanswer(a, b, c)),
            3 => (0..3_u8, version()).prop_map(|(which, version)| Act::Forget(which, version)),
            2 => (0..3_u8, 0..3_u8).prop_map(|(which, hash)| Act::Key(which, hash)),
            4 => (0..4_usize, 0..4_usize, 1..6_i64).prop_map(|(a, b, c)| Act::Post(a, b, c)),
        ]
    }

    fn batches() -> impl Strategy<Value = Vec<Vec<Changeset>>> {
        let changeset = prop::collection::vec(act(), 0..4).prop_map(|acts| changeset(&acts));
        prop::collection::vec(prop::collection::vec(changeset, 0..6), 1..5)
    }

    /// A store as plain as can be.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    struct Naive {
        records: BTreeMap<Key, (Record, u64, Option<Timestamp>)>,
        alternates: BTreeMap<Key, Key>,
        listed: Vec<(i64, Key)>,
        balances: BTreeMap<LedgerAccount, Amount>,
        entries: Vec<Entry>,
    }

    impl Naive {
        /// Balances so near to the end of 64 bits that a few postings reach it.
        fn near_the_end(offset: i64) -> Self {
            let amount = Amount::new(i64::MAX.saturating_sub(offset));
            let balances = [(account(KINDS[0]), amount), (account(KINDS[1]), amount)];
            Self { balances: balances.into(), ..Self::default() }
        }

        /// Tries one changeset on a copy, verb by verb.
        fn one(&mut self, changeset: &Changeset) -> Verdict {
            let mut next = self.clone();
            for write in changeset.writes() {
                next.write(write)?;
            }
            for posting in changeset.postings() {
                for line in posting.lines() {
                    let account = posting.account(line);
                    let balance = next.balances.entry(account).or_default();
                    *balance = balance
                        .plus(line.account.moved(line.direction, line.amount))
                        .map_err(|_| Refusal::Overflow(account))?;
                    next.entries.push(posting.entry(line, *balance));
                }
            }
            let below =
                next.balances.iter().find(|(it, sum)| it.kind.has_floor() && sum.units() < 0);
            if let Some((account, _)) = below {
                return Err(Refusal::Floor(*account));
            }
            *self = next;
            Ok(())
        }

        fn write(&mut self, write: &Write) -> Verdict {
            match write {
                Write::Insert { record, due_at } => {
                    for key in std::iter::once(record.key()).chain(record.alternate_key()) {
                        if self.records.contains_key(&key) || self.alternates.contains_key(&key) {
                            return Err(Refusal::Exists(key));
                        }
                    }
                    if let Some(alternate) = record.alternate_key() {
                        self.alternates.insert(alternate, record.key());
                    }
                    if record.list().is_some() {
                        let number = i64::try_from(self.listed.len()).unwrap().saturating_add(1);
                        self.listed.push((number, record.key()));
                    }
                    self.records.insert(record.key(), (record.clone(), 1, *due_at));
                }
                Write::Update { record, expected, due_at } => {
                    self.expect(&record.key(), *expected)?;
                    let row = (record.clone(), expected.saturating_add(1), *due_at);
                    self.records.insert(record.key(), row);
                }
                Write::Remove { key, expected } => {
                    self.expect(key, *expected)?;
                    self.records.remove(key);
                }
            }
            Ok(())
        }

        fn expect(&self, key: &Key, version: u64) -> Verdict {
            let there = self.records.get(key).map(|(_, version, _)| *version);
            if there == Some(version) { Ok(()) } else { Err(Refusal::Stale(key.clone())) }
        }

        fn facts(&self, balances_unread: bool) -> Facts {
            let version = |key: &Key| self.records.get(key).map_or(1, |(_, version, _)| *version);
            let primary = self.records.keys().map(|key| (key.clone(), version(key)));
            let alternate = self.alternates.iter().map(|(key, of)| (key.clone(), version(of)));
            let balances = self.balances.iter().map(|(account, sum)| (*account, *sum));
            Facts {
                versions: primary.chain(alternate).collect(),
                balances: balances.filter(|_| !balances_unread).collect(),
                balances_unread,
            }
        }

        /// Writes rows as a store would, minding that each is where it should be.
        fn apply(&mut self, mut writes: Writes) {
            let list = List::ApiKeys(scope());
            let entries = List::Entries(scope());
            let mut last = BTreeMap::from([
                (list, i64::try_from(self.listed.len()).unwrap()),
                (entries, i64::try_from(self.entries.len()).unwrap()),
            ]);
            let growth = writes.growth();
            let numbers = writes.number(&mut last);
            let first = i64::try_from(self.entries.len()).unwrap().saturating_add(1);
            assert!(numbers.into_iter().eq((first..).take(writes.entries.len())));
            for (key, version) in writes.removes {
                let (_, stored, _) = self.records.remove(&key).expect("what is removed is there");
                assert_eq!(stored, version);
            }
            for row in writes.inserts {
                let key = row.record.key();
                if let Some(alternate) = row.record.alternate_key() {
                    assert_eq!(self.alternates.insert(alternate, key.clone()), None);
                }
                self.listed.extend(row.number.map(|number| (number, key.clone())));
                let row = (row.record, row.version, row.due_at);
                assert_eq!(self.records.insert(key, row), None);
            }
            for (row, version) in writes.updates {
                let row = (row.record.key(), (row.record, row.version, row.due_at));
                let (_, stored, _) = self.records.insert(row.0, row.1).expect("is there");
                assert_eq!(stored, version);
            }
            for (account, movement) in writes.movements {
                let balance = self.balances.entry(account).or_default();
                *balance = balance.plus(movement.total).unwrap();
            }
            self.entries.extend(writes.entries);
            let listed = i64::try_from(self.listed.len()).unwrap();
            assert_eq!(last.get(&list), Some(&listed));
            assert!(growth.values().all(|count| *count > 0));
        }
    }

    proptest! {
        #[test]
        fn a_batch_is_as_its_changesets_one_by_one(
            batches in batches(),
            offset in prop_oneof![Just(i64::MAX), 0..8_i64],
        ) {
            let mut naive = Naive::near_the_end(offset);
            let mut judged = naive.clone();
            for batch in batches {
                let one_by_one: Vec<Verdict> = batch.iter().map(|it| naive.one(it)).collect();
                let (verdicts, writes) = judge(batch, &judged.facts(false));
                prop_assert_eq!(verdicts, one_by_one);
                judged.apply(writes);
                prop_assert_eq!(&judged, &naive);
            }
        }

        #[test]
        fn balances_may_be_learnt_later(batches in batches(), start in 0..12_i64) {
            let mut naive = Naive::near_the_end(i64::MAX.saturating_sub(start));
            for batch in batches {
                let (verdicts, writes) = judge(batch.clone(), &naive.facts(false));
                let (guessed, mut later) = judge(batch, &naive.facts(true));
                let known = naive.balances.iter().map(|(account, sum)| (*account, *sum));
                match later.rebase(&known.collect()) {
                    Ok(()) => {
                        prop_assert_eq!(guessed, verdicts);
                        prop_assert_eq!(&later.entries, &writes.entries);
                        prop_assert_eq!(&later.movements, &writes.movements);
                    }
                    Err(Refusal::Floor(_)) => prop_assert_ne!(guessed, verdicts),
                    Err(refusal) => prop_assert!(false, "{refusal}"),
                }
                naive.apply(writes);
            }
        }
    }

    #[test]
    fn what_a_batch_does_to_an_account_must_fit_as_well() {
        let up = || changeset(&[Act::Post(0, 3, i64::MAX)]);
        let clearing = account(KINDS[0]);
        let lowest = Amount::new(-i64::MAX);
        let balances = HashMap::from([(clearing, lowest), (account(KINDS[3]), lowest)]);
        let facts = Facts { balances, ..Facts::default() };
        let (verdicts, writes) = judge(vec![up(), up()], &facts);
        assert_eq!(verdicts, [Ok(()), Err(Refusal::Overflow(clearing))]);
        assert_eq!(writes.movements.get(&clearing).map(|it| it.total.units()), Some(i64::MAX));
    }

    #[test]
    fn of_several_accounts_below_their_floor_the_same_is_named() {
        for _ in 0..50 {
            let acts = [Act::Post(2, 0, 1), Act::Post(1, 0, 1)];
            let (verdicts, _) = judge(vec![changeset(&acts)], &Facts::default());
            assert_eq!(
                verdicts,
                [Err(Refusal::Floor(account(LedgerAccountKind::MerchantPending)))]
            );
        }
    }

    #[test]
    fn a_dip_within_a_changeset_is_nobodys_business() {
        let acts = [Act::Post(1, 0, 5), Act::Post(0, 1, 5)];
        let (verdicts, writes) = judge(vec![changeset(&acts)], &Facts::default());
        assert_eq!(verdicts, [Ok(())]);
        let after: Vec<i64> = writes.entries.iter().map(|it| it.balance_after.units()).collect();
        assert_eq!(after, [-5, -5, 0, 0]);
    }
}
