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
    ///
    /// ```
    /// use cauri_core::{Facts, List, decide, judge};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payment_link::create(Shop::ask_link(5_000), &mut shop.context())?;
    /// let (_, writes) = judge(vec![decision.changes], &Facts::default());
    /// assert_eq!(writes.growth()[&List::PaymentLinks(shop.scope)], 1);
    /// assert_eq!(writes.growth()[&List::Events(shop.scope)], 1);
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
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
    ///
    /// ```
    /// use cauri_core::{Facts, List, RecordKind, decide, judge};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payment_link::create(Shop::ask_link(5_000), &mut shop.context())?;
    /// let (_, mut writes) = judge(vec![decision.changes], &Facts::default());
    /// let mut last = [(List::PaymentLinks(shop.scope), 41)].into();
    /// writes.number(&mut last);
    /// let link = writes.inserts.iter().find(|row| row.record.kind() == RecordKind::PaymentLink);
    /// assert_eq!(link.and_then(|row| row.number), Some(42));
    /// assert_eq!(last[&List::PaymentLinks(shop.scope)], 42);
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
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
    ///
    /// ```
    /// use cauri_core::{Amount, Facts, LedgerAccount, LedgerAccountKind, Refusal, decide, judge};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let ask = Shop::ask_payout(1_000);
    /// let decision = decide::payout::create(ask, false, &mut shop.context())?;
    /// // Judged before the balances are known, as if there were enough …
    /// let facts = Facts { balances_unread: true, ..Facts::default() };
    /// let (verdicts, mut writes) = judge(vec![decision.changes], &facts);
    /// assert_eq!(verdicts, [Ok(())]);
    /// // … and told them afterwards: 1 099 is one short of the amount and its fee.
    /// let (scope, currency) = (shop.scope, "XOF".parse()?);
    /// let available = LedgerAccount { scope, currency, kind: LedgerAccountKind::MerchantAvailable };
    /// let told = |units| [(available, Amount::new(units))].into();
    /// assert_eq!(writes.clone().rebase(&told(1_099)), Err(Refusal::Floor(available)));
    /// assert_eq!(writes.rebase(&told(1_100)), Ok(()));
    /// assert_eq!(writes.entries[0].balance_after, Amount::ZERO);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        let mut touched = BTreeMap::<Key, Option<u64>>::new();
        for write in changeset.writes() {
            let version = |touched: &BTreeMap<Key, Option<u64>>, key: &Key| {
                touched.get(key).copied().unwrap_or_else(|| self.version(key))
            };
            match write {
                Write::Insert { record, .. } => {
                    for key in std::iter::once(record.key()).chain(record.alternate_key()) {
                        if version(&touched, &key).is_some() {
                            return Err(Refusal::Exists(key));
                        }
                        touched.insert(key, Some(record.first_version()));
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
                Write::Insert { record, due_at } => {
                    let version = record.first_version();
                    self.put(record, version, due_at);
                }
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
mod tests;
