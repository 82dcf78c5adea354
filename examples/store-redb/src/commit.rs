//! Writing a batch: read what it is judged by, let `judge` judge, write what it says.

use cauri::{Balance, Changeset, Facts, List, Record, Row, Verdict, judge};
use redb::Database;

use crate::{
    error::Failure,
    key, row,
    table::{self, Bytes, Open, Tables},
};

pub(crate) fn commit(database: &Database, batch: Vec<Changeset>) -> Result<Vec<Verdict>, Failure> {
    // One transaction writes at a time, so that nothing read here is stale when it is written.
    let transaction = database.begin_write()?;
    let mut tables = table::write(&transaction)?;
    let facts = facts(&tables, &batch)?;
    let (verdicts, mut writes) = judge(batch, &facts);

    let lists = writes.growth().into_keys();
    let mut last =
        lists.map(|list| Ok((list, tables.last(list)?))).collect::<Result<_, Failure>>()?;
    let numbers = writes.number(&mut last);
    for (key, _) in &writes.removes {
        tables.take(&key::key(key))?;
    }
    for row in &writes.inserts {
        tables.insert(row)?;
    }
    for (row, _) in writes.updates {
        tables.replace(row)?;
    }
    for (entry, number) in writes.entries.iter().zip(numbers) {
        let place = key::place(List::Entries(entry.scope), number);
        tables.entries.insert(&*place, &*row::encode_entry(entry, number))?;
        let balance = Balance { account: entry.ledger_account(), amount: entry.balance_after };
        tables
            .balances
            .insert(&*key::balance(&balance.account), &*row::encode_balance(&balance))?;
    }
    drop(tables);
    transaction.commit()?;
    Ok(verdicts)
}

/// The versions and the balances that the batch names.
fn facts(tables: &Tables<impl Bytes>, batch: &[Changeset]) -> Result<Facts, Failure> {
    let mut facts = Facts::default();
    for key in batch.iter().flat_map(Changeset::keys) {
        if let Some(row) = tables.find(&key)? {
            facts.versions.insert(key, row.version);
        }
    }
    for account in batch.iter().flat_map(Changeset::ledger_accounts) {
        if let Some(bytes) = tables.balances.get(&*key::balance(&account))? {
            facts.balances.insert(account, row::decode_balance(bytes.value())?.amount);
        }
    }
    Ok(facts)
}

impl Tables<Open<'_>> {
    /// Keeps a new record: under its keys, in its list, and by what its value is found by.
    fn insert(&mut self, row: &Row) -> Result<(), Failure> {
        let key = key::key(&row.record.key());
        if let Some(place) = key::listed(&row.record, row.number) {
            self.lists.insert(&*place, &*key)?;
        }
        if let Some(alternate) = row.record.alternate_key() {
            self.alternates.insert(&*key::key(&alternate), &*key)?;
        }
        self.put(row)
    }

    /// Keeps another value of a record, at the number that it has for ever.
    pub(crate) fn replace(&mut self, mut row: Row) -> Result<(), Failure> {
        let old = self.take(&key::key(&row.record.key()))?;
        row.number = old.and_then(|old| old.number);
        self.put(&row)
    }

    fn put(&mut self, row: &Row) -> Result<(), Failure> {
        let key = key::key(&row.record.key());
        if let Some(due) = key::due(&row.record, row.due_at) {
            self.dues.insert(&*due, &[][..])?;
        }
        if let Some(payment) = payer(&row.record) {
            self.payments.insert(&*payment, &*key)?;
        }
        self.records.insert(&*key, &*row::encode(row))?;
        Ok(())
    }

    /// Lets go of a record and of what its value was found by. Only what is in no list and has no
    /// alternate key is ever removed for good.
    fn take(&mut self, key: &[u8]) -> Result<Option<Row>, Failure> {
        let Some(old) = self.row(key)? else { return Ok(None) };
        self.records.remove(key)?;
        if let Some(due) = key::due(&old.record, old.due_at) {
            self.dues.remove(&*due)?;
        }
        if let Some(payment) = payer(&old.record) {
            self.payments.remove(&*payment)?;
        }
        Ok(Some(old))
    }
}

/// Where a payment is found by its customer.
fn payer(record: &Record) -> Option<Vec<u8>> {
    match record {
        Record::Payment(it) => it.customer.map(|customer| key::payment(it.scope, customer, it.id)),
        _ => None,
    }
}
