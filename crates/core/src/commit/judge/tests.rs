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
        let below = next.balances.iter().find(|(it, sum)| it.kind.has_floor() && sum.units() < 0);
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
        assert_eq!(verdicts, [Err(Refusal::Floor(account(LedgerAccountKind::MerchantPending)))]);
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
