//! A store that breaks one law is told from a right one: each flaw here is small, and each is
//! found by the law that it breaks.

use std::sync::Arc;

use async_trait::async_trait;
use cauri::{
    Amount, Balance, Changeset, Claim, ClaimKind, Connection, CustomerId, CustomerStatistics,
    Entry, IdempotencyRecord, Key, Lane, Listed, Query, Record, Refusal, Scope, Store, StoreError,
    Verdict, Versioned, Write,
};
use cauri_conformance::Harness;
use cauri_memory::MemoryStore;
use tokio::sync::Mutex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    AppliesInParts,
    StopsAtTheFirstRefusal,
    JudgesEachOnTheOldState,
    AcceptsWhatIsThere,
    ForgetsAlternateKeys,
    IgnoresVersions,
    IgnoresFloors,
    LosesBalanceAfter,
    DropsEmptyBalances,
    ReadsKeyByKey,
    CountsThePageOnly,
    CountsOnlyWholeLists,
    TurnsListsAround,
    TurnsTimelinesAround,
    IncludesTheEnd,
    TrimsReferences,
    DropsEmptyTexts,
    ForgetsMoments,
    MixesEnvironments,
    LeasesNothing,
    KeepsTheVersion,
    HandsOutNewestFirst,
    HandsOutBeforeTheTime,
    IgnoresLanes,
    IgnoresLanesOfOrders,
    MixesLanes,
    CountsOnlySucceeded,
    HidesOverflow,
}

/// Answers as the reference does, but for one flaw.
#[derive(Debug)]
struct Flawed {
    inner: MemoryStore,
    flaw: Flaw,
    /// A batch is not judged on top of another's half, whatever the flaw.
    turn: Mutex<()>,
}

impl Flawed {
    async fn one(&self, changes: Changeset) -> Result<Verdict, StoreError> {
        Ok(self.inner.commit(vec![changes]).await?.remove(0))
    }

    /// The same changeset, each verb passed through `with`, with its postings or without.
    async fn rewritten(&self, changes: &Changeset, money: bool) -> Result<Changeset, StoreError> {
        let mut rewritten = Changeset::new();
        for write in changes.writes() {
            match write.clone() {
                Write::Insert { record, due_at } => rewritten.insert(record, due_at),
                Write::Update { record, expected, due_at } => {
                    let there = self.inner.get(&[record.key()]).await?.remove(0);
                    let there = there.filter(|_| self.flaw == Flaw::IgnoresVersions);
                    rewritten.update(record, there.map_or(expected, |it| it.version), due_at);
                }
                Write::Remove { key, expected } => {
                    let found = self.inner.get(&[key]).await?.pop().flatten();
                    if let Some(mut record) = found.and_then(Versioned::of::<IdempotencyRecord>) {
                        record.version = expected;
                        rewritten.forget(&record);
                    }
                }
            }
        }
        for posting in changes.postings().iter().filter(|_| money) {
            rewritten.post(Some(posting.clone()));
        }
        Ok(rewritten)
    }

    /// Verb by verb, posting by posting.
    async fn in_parts(&self, changes: &Changeset) -> Result<Verdict, StoreError> {
        for write in changes.writes() {
            let mut part = Changeset::new();
            match write.clone() {
                Write::Insert { record, due_at } => part.insert(record, due_at),
                Write::Update { record, expected, due_at } => part.update(record, expected, due_at),
                Write::Remove { .. } => return self.one(changes.clone()).await,
            }
            if let Err(refusal) = self.one(part).await? {
                return Ok(Err(refusal));
            }
        }
        let mut money = Changeset::new();
        changes.postings().iter().for_each(|posting| money.post(Some(posting.clone())));
        self.one(money).await
    }

    async fn flawed(&self, changes: Changeset) -> Result<Verdict, StoreError> {
        match self.flaw {
            Flaw::AppliesInParts => self.in_parts(&changes).await,
            Flaw::IgnoresVersions => {
                let rewritten = self.rewritten(&changes, true).await?;
                self.one(rewritten).await
            }
            Flaw::IgnoresFloors => match self.one(changes.clone()).await? {
                Err(Refusal::Floor(_)) => {
                    let rewritten = self.rewritten(&changes, false).await?;
                    self.one(rewritten).await
                }
                verdict => Ok(verdict),
            },
            Flaw::AcceptsWhatIsThere => match self.one(changes).await? {
                Err(Refusal::Exists(_)) => Ok(Ok(())),
                verdict => Ok(verdict),
            },
            _ => self.one(changes).await,
        }
    }
}

#[async_trait]
impl Store for Flawed {
    async fn commit(&self, batch: Vec<Changeset>) -> Result<Vec<Verdict>, StoreError> {
        let _turn = self.turn.lock().await;
        let mut verdicts = Vec::new();
        match self.flaw {
            Flaw::StopsAtTheFirstRefusal => {
                let mut refused = None;
                for changes in batch {
                    let verdict = match refused.clone() {
                        Some(refusal) => Err(refusal),
                        None => self.one(changes).await?,
                    };
                    refused = verdict.clone().err();
                    verdicts.push(verdict);
                }
            }
            Flaw::JudgesEachOnTheOldState => {
                let keys: Vec<Key> = batch.iter().flat_map(Changeset::keys).collect();
                let before = self.inner.get(&keys).await?;
                let there = |key: &Key| {
                    keys.iter().zip(&before).any(|(other, it)| other == key && it.is_some())
                };
                for changes in batch {
                    let mut known = changes.writes().iter().filter_map(|write| match write {
                        Write::Update { record, .. } => Some(record.key()),
                        Write::Insert { .. } | Write::Remove { .. } => None,
                    });
                    verdicts.push(match known.find(|key| !there(key)) {
                        Some(key) => Err(Refusal::Stale(key)),
                        None => self.one(changes).await?,
                    });
                }
            }
            _ => {
                for changes in batch {
                    verdicts.push(self.flawed(changes).await?);
                }
            }
        }
        Ok(verdicts)
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Versioned<Record>>>, StoreError> {
        let mut found = Vec::new();
        if self.flaw == Flaw::ReadsKeyByKey {
            for key in keys {
                // Long enough for a commit to come between, as on a busy network.
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                found.extend(self.inner.get(std::slice::from_ref(key)).await?);
            }
            return Ok(found);
        }
        found = self.inner.get(keys).await?;
        for (key, it) in keys.iter().zip(&mut found) {
            if self.flaw == Flaw::ForgetsAlternateKeys && matches!(key, Key::ApiKeyHash(_)) {
                *it = None;
            }
            let Some(it) = it else { continue };
            match (self.flaw, &mut it.value) {
                (Flaw::ForgetsMoments, _) => it.due_at = None,
                (Flaw::DropsEmptyTexts, Record::Setting(setting)) if setting.value.is_empty() => {
                    Arc::make_mut(setting).value.push(0);
                }
                _ => {}
            }
        }
        Ok(found)
    }

    async fn list(&self, query: &Query) -> Result<Listed<Versioned<Record>>, StoreError> {
        let mut query = query.clone();
        match self.flaw {
            Flaw::IncludesTheEnd => {
                query.created_to = query.created_to.map(|to| to.plus_millis(1));
            }
            Flaw::TrimsReferences => {
                for filter in &mut query.filters {
                    if let cauri::FieldValue::Text(text) = &mut filter.value {
                        *text = text.trim().to_owned();
                    }
                }
            }
            Flaw::MixesEnvironments => query.list = mixed(query.list),
            _ => {}
        }
        let mut listed = self.inner.list(&query).await?;
        match self.flaw {
            Flaw::CountsThePageOnly => {
                listed.total = i64::try_from(listed.items.len()).expect("a count")
            }
            Flaw::CountsOnlyWholeLists => {
                listed.total = self.inner.list(&Query::all(query.list)).await?.total;
            }
            Flaw::TurnsListsAround if !query.list.is_oldest_first() => listed.items.reverse(),
            Flaw::TurnsTimelinesAround if query.list.is_oldest_first() => listed.items.reverse(),
            _ => {}
        }
        Ok(listed)
    }

    async fn claim(&self, claim: &Claim) -> Result<Vec<Versioned<Record>>, StoreError> {
        let mut claim = claim.clone();
        match self.flaw {
            Flaw::LeasesNothing => claim.until = claim.now,
            Flaw::IgnoresLanes => claim.lanes = None,
            Flaw::IgnoresLanesOfOrders if claim.kind != ClaimKind::Deliveries => claim.lanes = None,
            Flaw::MixesLanes => {
                // What is of the sandbox is taken for what goes over its connection.
                let hangs = Lane::Connection(Connection::new("hangs"));
                let inside = |(lane, count): &(Lane, u16)| {
                    (*lane == hangs).then_some((Lane::Inside, *count))
                };
                if let Some(lanes) = &mut claim.lanes {
                    let more: Vec<_> = lanes.held.iter().filter_map(inside).collect();
                    lanes.held.extend(more);
                }
            }
            Flaw::HandsOutBeforeTheTime => claim.now = claim.now.plus_millis(1),
            _ => {}
        }
        let mut claimed = self.inner.claim(&claim).await?;
        match self.flaw {
            Flaw::KeepsTheVersion => claimed.iter_mut().for_each(|it| it.version -= 1),
            Flaw::HandsOutNewestFirst => claimed.reverse(),
            _ => {}
        }
        Ok(claimed)
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        let mut listed = self.inner.entries(query).await?;
        if self.flaw == Flaw::LosesBalanceAfter {
            listed.items.iter_mut().for_each(|it| it.balance_after = Amount::ZERO);
        }
        Ok(listed)
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        let mut balances = self.inner.balances(scope).await?;
        if self.flaw == Flaw::DropsEmptyBalances {
            balances.retain(|it| !it.amount.is_zero());
        }
        Ok(balances)
    }

    async fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, StoreError> {
        let sum = self.inner.statistics(scope, customer).await;
        if self.flaw == Flaw::HidesOverflow {
            return Ok(sum.unwrap_or_default());
        }
        let mut sum = sum?;
        if self.flaw == Flaw::CountsOnlySucceeded {
            sum.payments_count = sum.succeeded_payments_count;
        }
        Ok(sum)
    }
}

/// Live reads what is sandbox's.
fn mixed(list: cauri::List) -> cauri::List {
    use cauri::{Environment, List};
    match list {
        List::Customers(scope) => {
            List::Customers(Scope { environment: Environment::Sandbox, ..scope })
        }
        other => other,
    }
}

/// Does a law, by the beginning of its name, find the flaw?
fn finds(law: &str, flaw: Flaw) -> bool {
    let fresh =
        move || async move { Flawed { inner: MemoryStore::new(), flaw, turn: Mutex::default() } };
    !Harness::new("a flawed store in memory", fresh).broken_laws(law).is_empty()
}

#[test]
fn every_flaw_is_found_by_its_law() {
    // What the laws say about flawed stores is not what this test says.
    std::panic::set_hook(Box::new(|_| {}));
    let mut missed = Vec::new();
    for (flaw, law) in [
        (Flaw::AppliesInParts, "law_1_"),
        (Flaw::StopsAtTheFirstRefusal, "law_2_"),
        (Flaw::JudgesEachOnTheOldState, "law_2_"),
        (Flaw::AcceptsWhatIsThere, "law_3_"),
        (Flaw::AcceptsWhatIsThere, "consequence_"),
        (Flaw::ForgetsAlternateKeys, "law_3_"),
        (Flaw::IgnoresVersions, "law_4_"),
        (Flaw::IgnoresFloors, "law_5_"),
        (Flaw::LosesBalanceAfter, "law_5_"),
        (Flaw::DropsEmptyBalances, "law_5_"),
        (Flaw::ReadsKeyByKey, "law_6_"),
        (Flaw::CountsThePageOnly, "law_7_"),
        (Flaw::CountsOnlyWholeLists, "law_7_"),
        (Flaw::TurnsListsAround, "law_7_"),
        (Flaw::TurnsTimelinesAround, "law_7_"),
        (Flaw::IncludesTheEnd, "law_7_"),
        (Flaw::TrimsReferences, "law_7_"),
        (Flaw::DropsEmptyTexts, "law_8_"),
        (Flaw::ForgetsMoments, "law_8_"),
        (Flaw::MixesEnvironments, "law_8_"),
        (Flaw::LeasesNothing, "law_10_"),
        (Flaw::KeepsTheVersion, "law_10_"),
        (Flaw::HandsOutNewestFirst, "law_10_"),
        (Flaw::HandsOutBeforeTheTime, "law_10_"),
        (Flaw::IgnoresLanes, "law_10_"),
        (Flaw::IgnoresLanesOfOrders, "law_10_"),
        (Flaw::MixesLanes, "law_10_"),
        (Flaw::CountsOnlySucceeded, "law_11_"),
        (Flaw::HidesOverflow, "law_11_"),
    ] {
        if !finds(law, flaw) {
            missed.push((flaw, law));
        }
    }
    let _ = std::panic::take_hook();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn a_store_that_forgets_or_cannot_be_reopened_is_found_by_law_9() {
    let fresh = || async { MemoryStore::new() };
    let law_9 = |broken: Vec<&'static str>| broken.iter().all(|name| name.starts_with("law_9_"));
    // In memory, and its name does not say so.
    let broken = Harness::new("a store", fresh).broken_laws("");
    assert!(broken.len() == 2 && law_9(broken));
    let forgets = Harness::new("a store", fresh).reopening(|_| async { MemoryStore::new() });
    let broken = forgets.broken_laws("");
    assert!(broken.len() == 2 && law_9(broken));
    let keeps = Harness::new("a store", fresh).reopening(|store| async { store });
    assert_eq!(keeps.broken_laws(""), [""; 0]);
}
