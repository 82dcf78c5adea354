//! What is there before a batch.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cauri::{Amount, Balance, Changeset, Facts, Key, LedgerAccount, RecordKind, StoreError, Write};
use cauri_sql::{Cell, Column, KeyCells, Kind, Table, balance_cells, key_cells};
use sqlx::{SqlStr, postgres::PgRow};

use crate::{
    bind::{Arguments, Columns, int},
    error::broken,
    text::{Numbering, Schema, kept, kinds, matches, places},
};

/// Takes a batch at its word: what it updates is at the version it expects, what it inserts is not
/// there. Balances are not read.
pub(crate) fn assumed(batch: &[Changeset]) -> Facts {
    let mut versions = HashMap::new();
    for write in batch.iter().flat_map(Changeset::writes) {
        let (key, expected) = match write {
            // Should the batch update later what it inserts, then what is assumed here is wrong,
            // and is refused.
            Write::Insert { .. } => continue,
            Write::Update { record, expected, .. } => (record.key(), *expected),
            Write::Remove { key, expected } => (key.clone(), *expected),
        };
        // The first word about a record is about what is stored; later ones are about the batch.
        versions.entry(key).or_insert(expected);
    }
    Facts { versions, balances: HashMap::new(), balances_unread: true }
}

/// By which columns of which table.
type By = (RecordKind, bool);

/// The question of what is there: keys and accounts, each sorted, so that whoever locks them locks
/// them in the same order.
pub(crate) struct Question {
    keys: BTreeMap<By, Vec<Key>>,
    accounts: Vec<LedgerAccount>,
}

/// What a question looks like, whatever the keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    by: Vec<By>,
    accounts: bool,
    lock: bool,
}

impl Question {
    pub(crate) fn of(batch: &[Changeset]) -> Self {
        let mut keys = BTreeMap::<By, Vec<Key>>::new();
        let named: BTreeSet<Key> = batch.iter().flat_map(Changeset::keys).collect();
        for key in named {
            let KeyCells { kind, is_alternate, cells } = key_cells(&key);
            // No text in the database has zeros, so nothing with such a key is there.
            if !cells.iter().any(has_zero) {
                keys.entry((kind, is_alternate)).or_default().push(key);
            }
        }
        let accounts: BTreeSet<LedgerAccount> =
            batch.iter().flat_map(Changeset::ledger_accounts).collect();
        Self { keys, accounts: accounts.into_iter().collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.accounts.is_empty()
    }

    pub(crate) fn form(&self, lock: bool) -> Form {
        let by = self.keys.keys().copied().collect();
        Form { by, accounts: !self.accounts.is_empty(), lock }
    }

    pub(crate) fn arguments(&self) -> Result<Arguments, StoreError> {
        let mut arguments = Arguments::default();
        for (by, keys) in &self.keys {
            let mut columns = Columns::new(kinds(compared(*by)), keys.len());
            for key in keys {
                columns.push(key_cells(key).cells)?;
            }
            arguments.columns(columns)?;
        }
        if !self.accounts.is_empty() {
            let key = Table::balances().key();
            let mut columns = Columns::new(kinds(key), self.accounts.len());
            for account in &self.accounts {
                let nothing = Balance { account: *account, amount: Amount::ZERO };
                columns.push(balance_cells(&nothing).into_iter().take(key.len()))?;
            }
            arguments.columns(columns)?;
        }
        Ok(arguments)
    }

    pub(crate) fn facts(self, rows: &[PgRow]) -> Result<Facts, StoreError> {
        let stray = || broken("an answer to no question");
        let mut facts = Facts::default();
        let keys: Vec<Vec<Key>> = self.keys.into_values().collect();
        for row in rows {
            let term = usize::try_from(int(row, 0)?).map_err(broken)?;
            let at = usize::try_from(int(row, 1)?.saturating_sub(1)).map_err(broken)?;
            let value = int(row, 2)?;
            if let Some(keys) = keys.get(term) {
                let key = keys.get(at).ok_or_else(stray)?;
                facts.versions.insert(key.clone(), u64::try_from(value).map_err(broken)?);
            } else {
                let account = self.accounts.get(at).ok_or_else(stray)?;
                facts.balances.insert(*account, Amount::new(value));
            }
        }
        Ok(facts)
    }
}

pub(crate) fn has_zero(cell: &Cell<'_>) -> bool {
    matches!(cell, Cell::Text(text) if text.contains('\0'))
}

/// The columns by which a key is found.
pub(crate) fn compared((kind, is_alternate): By) -> &'static [Column] {
    KeyCells { kind, is_alternate, cells: Vec::new() }.columns()
}

impl Form {
    /// One statement, so one moment: rows of (which table, which key, version or balance).
    ///
    /// With locks, each table is a part of its own that locks its rows in the order of the keys;
    /// the parts are read in their order. Balances are read without one.
    pub(crate) fn text(&self, schema: &Schema) -> SqlStr {
        let Self { by, accounts, lock } = self;
        let mut numbering = Numbering::default();
        let mut terms = Vec::new();
        for by in by {
            let table = Table::of(by.0);
            terms.push(term(schema, &mut numbering, table, compared(*by), "version"));
        }
        if *accounts {
            let table = Table::balances();
            terms.push(term(schema, &mut numbering, table, table.key(), "amount"));
        }
        let found = |(at, term): (usize, &String)| match lock {
            true => format!("select {at}::bigint, f.at, f.found from f{at} as f"),
            false => format!("select {at}::bigint, f.at, f.found from ({term}) as f"),
        };
        let all: Vec<_> = terms.iter().enumerate().map(found).collect();
        let all = all.join(" union all ");
        if !lock {
            return kept(all);
        }
        let balances = accounts.then(|| terms.len().saturating_sub(1));
        let locked = |(at, term): (usize, &String)| {
            // Balances are moved after the counters, so they cannot be locked before them. Whether
            // one falls below its floor is checked when it is moved.
            let lock = if balances == Some(at) { "" } else { " for update of t" };
            format!("f{at} as materialized ({term} order by v.at{lock})")
        };
        let locked: Vec<_> = terms.iter().enumerate().map(locked).collect();
        kept(format!("with {} {all}", locked.join(", ")))
    }
}

fn term(
    schema: &Schema,
    numbering: &mut Numbering,
    table: &Table,
    compared: &[Column],
    answer: &str,
) -> String {
    let kinds: Vec<Kind> = kinds(compared).collect();
    format!(
        "select v.at, t.{answer} as found from {} with ordinality as v({}, at) join {} as t on {}",
        numbering.unnest(kinds),
        places(compared.len()),
        schema.table(table),
        matches(compared, "t", |at| format!("v.c{at}")),
    )
}
