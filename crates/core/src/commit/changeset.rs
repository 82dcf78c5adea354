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
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a new record.
    pub fn insert(&mut self, record: impl Into<Record>, due_at: Option<Timestamp>) {
        self.writes.push(Write::Insert { record: record.into(), due_at });
    }

    /// Replaces the record that was read at `expected`.
    pub fn update(&mut self, record: impl Into<Record>, expected: u64, due_at: Option<Timestamp>) {
        self.writes.push(Write::Update { record: record.into(), expected, due_at });
    }

    /// Gives a claimed record back as it is, due at a moment.
    pub fn release(&mut self, held: Versioned<Record>, due_at: Timestamp) {
        self.update(held.value, held.version, Some(due_at));
    }

    /// Forgets an idempotency record.
    pub fn forget(&mut self, record: &Versioned<crate::model::idempotency::IdempotencyRecord>) {
        let key = Key::Idempotency(record.value.scope, record.value.key.clone());
        self.writes.push(Write::Remove { key, expected: record.version });
    }

    /// Moves money; nothing for `None`.
    pub fn post(&mut self, posting: Option<Posting>) {
        self.postings.extend(posting);
    }

    /// The verbs, in order.
    #[must_use]
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// The postings, in order.
    #[must_use]
    pub fn postings(&self) -> &[Posting] {
        &self.postings
    }

    pub(crate) fn into_writes(self) -> Vec<Write> {
        self.writes
    }

    /// Does it ask for nothing?
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
