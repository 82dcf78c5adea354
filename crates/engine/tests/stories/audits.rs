//! The audit beside a ledger that is written to without a rest.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicI64, Ordering::Relaxed},
};

use async_trait::async_trait;
use cauri::{
    Account, Amount, Balance, Changeset, Engine, Entry, EntryKind, Env, Environment,
    LedgerAccountKind, Listed, Posting, PostingHead, Query, Scope, Store, StoreError, Tick,
    Timestamp, Violation,
};
use cauri_conformance::{Around, Outer};
use cauri_memory::MemoryStore;

/// A store of one account, to which somebody writes whenever it is read.
#[derive(Debug)]
struct Busy {
    store: MemoryStore,
    env: Mutex<Env>,
    scope: Scope,
    /// How many transactions come in while a page is read.
    at_once: AtomicI64,
    /// By how much the balances that it tells are wrong.
    wrong_by: AtomicI64,
    /// The entry after which the merchant has so much is lost; 0 for none.
    lost: AtomicI64,
}

impl Busy {
    /// With this many transactions of two entries each.
    async fn with(transactions: usize) -> Arc<Outer<Self>> {
        let start = Timestamp::from_millis(1_731_974_400_000);
        let mut env = Env::new(start, Tick::first(start), [1; 32]);
        let account = Account { id: env.id(), created_at: start };
        let scope = Scope { account: account.id, environment: Environment::Sandbox };
        let store = MemoryStore::new();
        let mut changes = Changeset::new();
        changes.insert(account, None);
        store.commit(vec![changes]).await.unwrap();
        let [at_once, wrong_by, lost] = [0; 3].map(AtomicI64::new);
        let busy = Self { store, env: Mutex::new(env), scope, at_once, wrong_by, lost };
        for _ in 0..transactions {
            busy.write().await;
        }
        Arc::new(Outer(busy))
    }

    async fn write(&self) {
        let mut changes = Changeset::new();
        {
            let mut env = self.env.lock().unwrap();
            let head = PostingHead {
                scope: self.scope,
                transaction: env.id(),
                kind: EntryKind::SandboxFunding,
                source: None,
                currency: "XOF".parse().unwrap(),
            };
            let (from, to) = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantAvailable);
            changes.post(Posting::moving(head, from, to, Amount::new(1), &mut env));
        }
        self.store.commit(vec![changes]).await.unwrap();
    }

    async fn meanwhile(&self) {
        for _ in 0..self.at_once.load(Relaxed) {
            self.write().await;
        }
    }
}

#[async_trait]
impl Around for Busy {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.store
    }

    async fn entries(&self, query: &Query) -> Result<Listed<Entry>, StoreError> {
        if query.list.scope() == Some(self.scope) {
            self.meanwhile().await;
        }
        let mut listed = self.store.entries(query).await?;
        let lost = Amount::new(self.lost.load(Relaxed));
        let is_lost = |it: &Entry| {
            it.account == LedgerAccountKind::MerchantAvailable && it.balance_after == lost
        };
        listed.items.retain(|it| !is_lost(it));
        Ok(listed)
    }

    async fn balances(&self, scope: Scope) -> Result<Vec<Balance>, StoreError> {
        self.meanwhile().await;
        let mut balances = self.store.balances(scope).await?;
        for balance in &mut balances {
            if balance.account.kind == LedgerAccountKind::MerchantAvailable {
                let wrong_by = Amount::new(self.wrong_by.load(Relaxed));
                balance.amount = balance.amount.plus(wrong_by).unwrap();
            }
        }
        Ok(balances)
    }
}

#[tokio::test]
async fn an_audit_ends_and_is_right_though_nobody_rests() {
    for at_once in [0, 1, 30, 49, 50, 80] {
        let busy = Busy::with(400).await;
        busy.at_once.store(at_once, Relaxed);
        let engine = Engine::builder(busy.clone()).build().unwrap();
        let audit = engine.audit().await.unwrap();
        assert_eq!(audit.violations, [], "{at_once}");
        assert!(audit.entries >= 800, "{} of 800, {at_once} at once", audit.entries);

        // One that is wrong at every moment is found, and none that is only on the move.
        busy.wrong_by.store(1_000_000, Relaxed);
        let audit = engine.audit().await.unwrap();
        let wrong: Vec<_> = audit.violations.iter().collect();
        let [Violation::Balance { account, .. }, Violation::Equation { .. }] = wrong[..] else {
            panic!("{wrong:?}, {at_once} at once");
        };
        assert_eq!(account.kind, LedgerAccountKind::MerchantAvailable);
        let told = wrong[0].to_string();
        assert!(told.starts_with("merchant_available in XOF, sandbox of acct_"), "{told}");
    }
}

#[tokio::test]
async fn an_audit_ends_and_tells_where_an_entry_is_lost() {
    for at_once in [0, 30] {
        let busy = Busy::with(400).await;
        busy.at_once.store(at_once, Relaxed);
        busy.lost.store(200, Relaxed);
        let engine = Engine::builder(busy.clone()).build().unwrap();
        let audit = engine.audit().await.unwrap();
        let Violation::Missing { first, last, found, .. } = &audit.violations[0] else {
            panic!("{:?}, {at_once} at once", audit.violations[0]);
        };
        // The second entry of the two hundredth transaction.
        assert!((*first..=*last).contains(&400), "{first} to {last}");
        assert_eq!(i64::try_from(*found), Ok(last - first), "one is missing of these");
        let missing = |it: &&Violation| matches!(it, Violation::Missing { .. });
        assert_eq!(audit.violations.iter().filter(missing).count(), 1, "{at_once} at once");
    }
}
