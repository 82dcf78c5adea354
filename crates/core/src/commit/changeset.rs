//! What is asked of a store: verbs, version checks and postings, all or nothing.

use super::{
    key::Key,
    record::{Record, Versioned},
};
use crate::{
    model::ledger::{LedgerAccount, Posting},
    value::{scope::Scope, time::Timestamp},
};

/// One verb.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new verb must stop every store from compiling")]
pub enum Write {
    /// Keep a new record; refused when one of its keys is taken.
    Insert {
        /// The record.
        record: Record,
        /// When somebody has to do something about it. Later than now when its maker goes on with
        /// it at once: then it is claimed from birth.
        due_at: Option<Timestamp>,
    },
    /// Keep this instead of what was there; refused unless that is at exactly this version.
    Update {
        /// The record.
        record: Record,
        /// The version it replaces.
        expected: u64,
        /// When somebody has to do something about it next.
        due_at: Option<Timestamp>,
    },
    /// Forget what was there; refused unless it is at exactly this version. For idempotency records
    /// only: nothing else is ever forgotten.
    Remove {
        /// Which record.
        key: Key,
        /// The version it removes.
        expected: u64,
    },
}

/// What one command wants to be true, whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changeset {
    writes: Vec<Write>,
    postings: Vec<Posting>,
}

impl Changeset {
    /// Nothing yet.
    ///
    /// ```
    /// use cauri_core::{Changeset, Facts, judge};
    /// let changes = Changeset::new();
    /// assert!(changes.is_empty());
    /// assert_eq!(judge(vec![changes], &Facts::default()).0, [Ok(())]); // nothing is always possible
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a new record.
    ///
    /// ```
    /// use cauri_core::{Account, Changeset, Timestamp, Write};
    /// let id = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
    /// let mut changes = Changeset::new();
    /// changes.insert(Account { id, created_at: Timestamp::EPOCH }, None);
    /// assert!(matches!(changes.writes(), [Write::Insert { due_at: None, .. }]));
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    pub fn insert(&mut self, record: impl Into<Record>, due_at: Option<Timestamp>) {
        self.writes.push(Write::Insert { record: record.into(), due_at });
    }

    /// Replaces the record that was read at `expected`.
    ///
    /// ```
    /// use cauri_core::{Changeset, Payment, Write};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let payment = shop.payment(5_000);
    /// let mut changes = Changeset::new();
    /// changes.update(payment.value, payment.version, None);
    /// assert!(matches!(changes.writes(), [Write::Update { expected: 1, .. }]));
    /// ```
    pub fn update(&mut self, record: impl Into<Record>, expected: u64, due_at: Option<Timestamp>) {
        self.writes.push(Write::Update { record: record.into(), expected, due_at });
    }

    /// Gives a claimed record back as it is, due at a moment.
    ///
    /// ```
    /// use cauri_core::{Changeset, Write};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let (_, held) = shop.delivery();
    /// let now = shop.now();
    /// let mut changes = Changeset::new();
    /// changes.release(held.map(Into::into), now);
    /// assert!(matches!(changes.writes(), [Write::Update { due_at, .. }] if *due_at == Some(now)));
    /// ```
    pub fn release(&mut self, held: Versioned<Record>, due_at: Timestamp) {
        self.update(held.value, held.version, Some(due_at));
    }

    /// Forgets an idempotency record.
    ///
    /// ```
    /// use cauri_core::{Amount, Changeset, IdempotencyRecord, Write, decide, wire};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let ask = wire::Fund { amount: Amount::new(1_000), currency: "XOF".parse()? };
    /// let funding = decide::sandbox::fund(ask, Amount::ZERO, &mut shop.context());
    /// shop.done(funding);
    /// let mut changes = Changeset::new();
    /// let kept = shop.last::<IdempotencyRecord>();
    /// changes.forget(&kept);
    /// let [Write::Remove { expected, .. }] = changes.writes() else { panic!("one removal") };
    /// assert_eq!(*expected, kept.version);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forget(&mut self, record: &Versioned<crate::model::idempotency::IdempotencyRecord>) {
        let key = Key::Idempotency(record.value.scope, record.value.key.clone());
        self.writes.push(Write::Remove { key, expected: record.version });
    }

    /// Moves money; nothing for `None`.
    ///
    /// ```
    /// use cauri_core::{Amount, Changeset, EntryKind, LedgerAccountKind, Posting, PostingHead};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let head = PostingHead {
    ///     scope: shop.scope,
    ///     transaction: shop.env.id(),
    ///     kind: EntryKind::SandboxFunding,
    ///     source: None,
    ///     currency: "XOF".parse()?,
    /// };
    /// let (from, to) = (LedgerAccountKind::Clearing, LedgerAccountKind::MerchantAvailable);
    /// let mut changes = Changeset::new();
    /// changes.post(Posting::moving(head, from, to, Amount::new(1_000), &mut shop.env));
    /// changes.post(Posting::moving(head, from, to, Amount::ZERO, &mut shop.env)); // adds nothing
    /// assert_eq!(changes.postings().len(), 1);
    /// # Ok::<(), cauri_core::CurrencyError>(())
    /// ```
    pub fn post(&mut self, posting: Option<Posting>) {
        self.postings.extend(posting);
    }

    /// The verbs, in order.
    ///
    /// ```
    /// use cauri_core::{RecordKind, Write, decide};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let decision = decide::payment_link::create(Shop::ask_link(5_000), &mut shop.context())?;
    /// let inserted = decision.changes.writes().iter().map(|write| match write {
    ///     Write::Insert { record, .. } => record.kind(),
    ///     _ => unreachable!("nothing was there before"),
    /// });
    /// assert_eq!(inserted.collect::<Vec<_>>(), [RecordKind::Event, RecordKind::PaymentLink]);
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    #[must_use]
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// The postings, in order.
    ///
    /// ```
    /// use cauri_core::{Amount, decide};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let ask = Shop::ask_payout(1_000);
    /// let decision = decide::payout::create(ask, false, &mut shop.context())?;
    /// // The amount and its fee of 100 are put aside.
    /// assert_eq!(decision.changes.postings()[0].lines()[0].amount, Amount::new(1_100));
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    #[must_use]
    pub fn postings(&self) -> &[Posting] {
        &self.postings
    }

    pub(crate) fn into_writes(self) -> Vec<Write> {
        self.writes
    }

    /// Does it ask for nothing?
    ///
    /// ```
    /// use cauri_core::Changeset;
    /// assert!(Changeset::new().is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.postings.is_empty()
    }

    /// Whose it is, by the first write or posting that says; no changeset touches two scopes.
    /// `None` when it is the installation's, or asks for nothing.
    ///
    /// ```
    /// use cauri_core::{Changeset, Environment, Scope, Subscriptions};
    /// let scope = Scope {
    ///     account: "acct_01j9v8k3xw0000000000000000".parse()?,
    ///     environment: Environment::Live,
    /// };
    /// let mut changeset = Changeset::new();
    /// assert_eq!(changeset.scope(), None);
    /// changeset.insert(Subscriptions { scope, endpoints: Vec::new() }, None);
    /// assert_eq!(changeset.scope(), Some(scope));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        let of_write = |write: &Write| match write {
            Write::Insert { record, .. } | Write::Update { record, .. } => record.scope(),
            Write::Remove { key, .. } => key.scope(),
        };
        let posted = || self.postings.first().map(Posting::scope);
        self.writes.iter().find_map(of_write).or_else(posted)
    }

    /// Every key whose record matters to the verdict.
    ///
    /// ```
    /// use cauri_core::{ApiKeyKind, Key, decide};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let (new, changes) =
    ///     decide::api_key::create(shop.scope, ApiKeyKind::Secret, None, None, &mut shop.env);
    /// let keys: Vec<Key> = changes.keys().collect();
    /// assert_eq!(keys, [Key::ApiKey(shop.scope, new.key.id), Key::ApiKeyHash(new.key.hash)]);
    /// ```
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.writes
            .iter()
            .flat_map(|write| match write {
                Write::Insert { record, .. } => [Some(record.key()), record.alternate_key()],
                Write::Update { record, .. } => [Some(record.key()), None],
                Write::Remove { key, .. } => [Some(key.clone()), None],
            })
            .flatten()
    }

    /// Every ledger account it moves, repeats included.
    ///
    /// ```
    /// use cauri_core::{LedgerAccountKind, decide};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let ask = Shop::ask_payout(1_000);
    /// let decision = decide::payout::create(ask, false, &mut shop.context())?;
    /// let moved: Vec<_> = decision.changes.ledger_accounts().map(|account| account.kind).collect();
    /// assert_eq!(moved, [LedgerAccountKind::MerchantAvailable, LedgerAccountKind::MerchantReserved]);
    /// # Ok::<(), cauri_core::Error>(())
    /// ```
    pub fn ledger_accounts(&self) -> impl Iterator<Item = LedgerAccount> {
        self.postings
            .iter()
            .flat_map(|posting| posting.lines().iter().map(|line| posting.account(line)))
    }
}

/// The answer to one changeset: done, or why not.
pub type Verdict = Result<(), Refusal>;

/// Why a changeset was not applied. Nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "the one caller decides about each")]
pub enum Refusal {
    /// A record to be inserted is already there.
    #[error("{0:?} is already there")]
    Exists(Key),
    /// A record to be replaced or removed is at another version, or gone.
    #[error("{0:?} has changed since it was read")]
    Stale(Key),
    /// A merchant account would fall below nothing.
    #[error("the account {0:?} would fall below nothing")]
    Floor(LedgerAccount),
    /// A balance would not fit into 64 bits.
    #[error("the account {0:?} would not fit into 64 bits")]
    Overflow(LedgerAccount),
}
