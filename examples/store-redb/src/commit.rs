//! Writing a batch: read what it is judged by, let `judge` judge, write what it says.

use cauri::{Balance, Changeset, Facts, List, Record, Row, Verdict, judge};
use cauri_sql::{balance_cells, entry_cells, read_balance, record_cells};
use redb::{Database, ReadTransaction, ReadableDatabase, WriteTransaction};

use crate::{
    error::Failure,
    row,
    table::{self, ALTERNATES, BALANCES, DUES, LISTS, PAYMENTS, RECORDS},
};

pub(crate) fn commit(database: &Database, batch: Vec<Changeset>) -> Result<Vec<Verdict>, Failure> {
    let turn = Turn::begin(database)?;
    let facts = turn.facts(&batch)?;
    let (verdicts, mut writes) = judge(batch, &facts);
    let lists = writes.growth().into_keys();
    let last = lists.map(|list| Ok((list, table::last(&turn.before, list)?)));
    let numbers = writes.number(&mut last.collect::<Result<_, Failure>>()?);
    for (key, _) in &writes.removes {
        turn.take(&row::name(key))?;
    }
    for row in &writes.inserts {
        turn.insert(row)?;
    }
    for (row, _) in writes.updates {
        turn.replace(row)?;
    }
    let mut lists = turn.at.open_table(LISTS)?;
    let mut balances = turn.at.open_table(BALANCES)?;
    for (entry, number) in writes.entries.iter().zip(numbers) {
        let place = table::place(List::Entries(entry.scope), number);
        lists.insert(place, &*row::encode(&entry_cells(entry, number)))?;
        let balance = Balance { account: entry.ledger_account(), amount: entry.balance_after };
        let account = table::account(&balance.account);
        balances.insert(account, &*row::encode(&balance_cells(&balance)))?;
    }
    drop((lists, balances));
    turn.at.commit()?;
    Ok(verdicts)
}

/// A turn at writing. One at a time has it, so that what was before is still so at its end.
pub(crate) struct Turn {
    pub(crate) at: WriteTransaction,
    pub(crate) before: ReadTransaction,
}

impl Turn {
    pub(crate) fn begin(database: &Database) -> Result<Self, Failure> {
        let at = database.begin_write()?;
        Ok(Self { at, before: database.begin_read()? })
    }

    /// The versions and the balances that a batch names.
    fn facts(&self, batch: &[Changeset]) -> Result<Facts, Failure> {
        let mut facts = Facts::default();
        for key in batch.iter().flat_map(Changeset::keys) {
            if let Some(row) = table::find(&self.before, &key)? {
                facts.versions.insert(key, row.version);
            }
        }
        let balances = self.before.open_table(BALANCES)?;
        for account in batch.iter().flat_map(Changeset::ledger_accounts) {
            if let Some(found) = balances.get(table::account(&account))? {
                facts.balances.insert(account, read_balance(&row::decode(found.value())?)?.amount);
            }
        }
        Ok(facts)
    }

    /// Keeps a new record, in its list too; a timeline's lines bring their numbers.
    fn insert(&self, row: &Row) -> Result<(), Failure> {
        let name = row::name(&row.record.key());
        let place = match &row.record {
            Record::TimelineEntry(it) => Some((List::Timeline(it.scope, it.payment), it.number)),
            record => record.list().zip(row.number),
        };
        if let Some((list, number)) = place {
            self.at.open_table(LISTS)?.insert(table::place(list, number), &*name)?;
        }
        if let Some(alternate) = row.record.alternate_key() {
            self.at.open_table(ALTERNATES)?.insert(&*row::name(&alternate), &*name)?;
        }
        self.put(row, &name)
    }

    /// Keeps another value of a record, at the number that it has for ever.
    pub(crate) fn replace(&self, mut row: Row) -> Result<(), Failure> {
        let name = row::name(&row.record.key());
        row.number = self.take(&name)?.and_then(|old| old.number);
        self.put(&row, &name)
    }

    /// Keeps a value and what it is found by.
    fn put(&self, row: &Row, name: &str) -> Result<(), Failure> {
        let lane = table::lane(row.record.lane().as_ref());
        if let Some(due) = table::due(row, &lane, name) {
            self.at.open_table(DUES)?.insert(due, ())?;
        }
        if let Some(payment) = table::payment(&row.record) {
            self.at.open_table(PAYMENTS)?.insert(payment, name)?;
        }
        self.at.open_table(RECORDS)?.insert(name, &*row::encode(&record_cells(row)))?;
        Ok(())
    }

    /// Lets go of a value and of what it was found by. Only what is in no list and has no alternate
    /// key is ever removed for good.
    fn take(&self, name: &str) -> Result<Option<Row>, Failure> {
        let Some(old) = table::row(&self.before, name)? else { return Ok(None) };
        self.at.open_table(RECORDS)?.remove(name)?;
        let lane = table::lane(old.record.lane().as_ref());
        if let Some(due) = table::due(&old, &lane, name) {
            self.at.open_table(DUES)?.remove(due)?;
        }
        if let Some(payment) = table::payment(&old.record) {
            self.at.open_table(PAYMENTS)?.remove(payment)?;
        }
        Ok(Some(old))
    }
}
