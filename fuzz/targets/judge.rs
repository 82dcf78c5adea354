//! Batches against a model that knows no batches: one changeset after another, on maps.
//!
//! Input: how many batches, then what bends their draws.

#![no_main]

use std::collections::{BTreeMap, HashMap};

use cauri::{
    Amount, Changeset, Entry, Facts, Key, LedgerAccount, List, Record, Timestamp, Verdict, Write,
    Writes, judge,
};
use cauri_conformance::fixtures::{Fill, History, Random};
use cauri_fuzz::Choices;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let batches = 1 + choices.byte() % 8;
    let fill = *choices.pick(&[Fill::Some, Fill::Every, Fill::Nothing, Fill::Extreme]);
    let random = Random::new(choices.pair().into()).filling(fill).bent_by(choices.rest());
    let mut history = History::of(random);
    let mut store = Model::default();
    for _ in 0..batches {
        let batch = history.batch();
        let facts = store.facts(&batch);
        let mut expected = store.clone();
        let verdicts: Vec<bool> = batch.iter().map(|it| expected.one(it).is_some()).collect();

        let (judged, writes) = judge(batch.clone(), &facts);
        let accepted: Vec<bool> = judged.iter().map(Verdict::is_ok).collect();
        assert_eq!(accepted, verdicts, "{batch:#?}");
        let mut written = store.clone();
        written.write(writes.clone());
        assert_eq!(written, expected, "{batch:#?}");

        guessed(&batch, &facts, &judged, &writes);
        // What was accepted is refused when it is sent again, unless all it did was to put a record in
        // the place of one that it removed: no command is made of that alone.
        for (changeset, verdict) in batch.iter().zip(&judged) {
            let removes = |key: &Key| {
                let mut writes = changeset.writes().iter();
                writes.any(|it| matches!(it, Write::Remove { key: removed, .. } if removed == key))
            };
            let inserts = changeset.writes().iter().any(|it| match it {
                Write::Insert { record, .. } => !removes(&record.key()),
                Write::Update { .. } | Write::Remove { .. } => false,
            });
            if verdict.is_ok() && inserts {
                assert_eq!(expected.clone().one(changeset), None, "{changeset:#?}");
            }
        }
        history.learn(&batch, &judged);
        store = expected;
    }
});

/// A batch judged before the balances are known comes to the same, or says that it must be judged
/// again.
fn guessed(batch: &[Changeset], facts: &Facts, judged: &[Verdict], writes: &Writes) {
    let unread = Facts { balances: HashMap::new(), balances_unread: true, ..facts.clone() };
    let (guess, mut guessed) = judge(batch.to_vec(), &unread);
    if guess.iter().any(|it| matches!(it, Err(cauri::Refusal::Overflow(_)))) {
        return;
    }
    if guessed.rebase(&facts.balances).is_ok() {
        assert_eq!((guess.as_slice(), &guessed), (judged, writes), "{batch:#?}");
    }
}

/// A store as one would write it who has never heard of batches.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    records: BTreeMap<Key, (Record, u64, Option<Timestamp>)>,
    balances: BTreeMap<LedgerAccount, i64>,
    entries: Vec<Entry>,
    counts: BTreeMap<List, i64>,
}

impl Model {
    fn version(&self, key: &Key) -> Option<u64> {
        let alternate =
            || self.records.values().find(|it| it.0.alternate_key().as_ref() == Some(key));
        self.records.get(key).or_else(alternate).map(|it| it.1)
    }

    fn facts(&self, batch: &[Changeset]) -> Facts {
        let keys = batch.iter().flat_map(Changeset::keys);
        let accounts = batch.iter().flat_map(Changeset::ledger_accounts);
        Facts {
            versions: keys.filter_map(|key| Some((key.clone(), self.version(&key)?))).collect(),
            balances: accounts
                .filter_map(|it| Some((it, Amount::new(*self.balances.get(&it)?))))
                .collect(),
            balances_unread: false,
        }
    }

    /// All of it or nothing.
    fn one(&mut self, changeset: &Changeset) -> Option<()> {
        let mut next = self.clone();
        for write in changeset.writes() {
            match write {
                Write::Insert { record, due_at } => {
                    let taken =
                        record.alternate_key().is_some_and(|it| next.version(&it).is_some());
                    if taken || next.version(&record.key()).is_some() {
                        return None;
                    }
                    next.insert(record.clone(), *due_at);
                }
                Write::Update { record, expected, due_at } => {
                    let stored =
                        next.records.get_mut(&record.key()).filter(|it| it.1 == *expected)?;
                    *stored = (record.clone(), expected + 1, *due_at);
                }
                Write::Remove { key, expected } => {
                    next.records.get(key).filter(|it| it.1 == *expected)?;
                    next.records.remove(key);
                }
            }
        }
        let mut touched = Vec::new();
        for posting in changeset.postings() {
            for line in posting.lines() {
                let account = posting.account(line);
                let balance = next.balances.entry(account).or_default();
                *balance =
                    balance.checked_add(line.account.moved(line.direction, line.amount).units())?;
                next.entries.push(posting.entry(line, Amount::new(*balance)));
                touched.push(account);
            }
        }
        if touched.iter().any(|it| it.kind.has_floor() && next.balances[it] < 0) {
            return None;
        }
        *self = next;
        Some(())
    }

    fn insert(&mut self, record: Record, due_at: Option<Timestamp>) {
        if let Some(list) = record.list() {
            *self.counts.entry(list).or_default() += 1;
        }
        let first = record.first_version();
        self.records.insert(record.key(), (record, first, due_at));
    }

    /// What `judge` says is to be written.
    fn write(&mut self, mut writes: Writes) {
        let entries = writes.entries.iter().map(|it| List::Entries(it.scope));
        let entries: std::collections::BTreeSet<List> = entries.collect();
        let mut last = writes.growth();
        for (list, count) in &mut last {
            *count = self.counts.get(list).copied().unwrap_or(0);
        }
        writes.number(&mut last);
        for (key, version) in writes.removes {
            let removed = self.records.remove(&key).expect("only what is there is removed");
            assert_eq!(removed.1, version);
        }
        for row in writes.inserts {
            let key = row.record.key();
            let stored = (row.record, row.version, row.due_at);
            assert!(self.records.insert(key, stored).is_none(), "inserted over another");
        }
        for (row, version) in writes.updates {
            let stored = self.records.get_mut(&row.record.key()).expect("only what is there");
            assert_eq!(stored.1, version);
            *stored = (row.record, row.version, row.due_at);
        }
        for (account, movement) in &writes.movements {
            let balance = self.balances.entry(*account).or_default();
            *balance = balance.checked_add(movement.total.units()).expect("it was judged");
        }
        self.entries.extend(writes.entries);
        last.retain(|list, _| !entries.contains(list));
        self.counts.extend(last);
    }
}
