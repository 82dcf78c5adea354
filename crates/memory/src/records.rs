//! The records, and every index on them.

use std::collections::{BTreeSet, HashMap};

use cauri::{
    Backlog, Claim, ClaimKind, CustomerId, CustomerStatistics, Key, List, Listed, Overflow,
    PaymentId, Query, Record, Row, Scope, Timestamp, Versioned,
};

use crate::{
    due::Dues,
    lists::{self, Lists},
};

/// All records by their primary keys, and who finds them otherwise.
#[derive(Default)]
pub(crate) struct Records {
    stored: HashMap<Key, Versioned<Record>>,
    alternates: HashMap<Key, Key>,
    lists: Lists,
    dues: Dues,
    payments: HashMap<(Scope, CustomerId), BTreeSet<PaymentId>>,
}

impl Records {
    /// By primary or alternate key.
    pub(crate) fn find(&self, key: &Key) -> Option<&Versioned<Record>> {
        self.stored.get(key).or_else(|| self.stored.get(self.alternates.get(key)?))
    }

    /// The versions of those that are there.
    pub(crate) fn versions(&self, keys: impl Iterator<Item = Key>) -> HashMap<Key, u64> {
        keys.filter_map(|key| self.find(&key).map(|it| it.version).map(|it| (key, it))).collect()
    }

    pub(crate) fn insert(&mut self, row: Row) {
        let key = row.record.key();
        let numbered = match &row.record {
            // A timeline's lines bring their own numbers.
            Record::TimelineEntry(it) => Some((List::Timeline(it.scope, it.payment), it.number)),
            record => record.list().zip(row.number),
        };
        if let Some((list, number)) = numbered {
            self.lists.place(list, number, key.clone());
        }
        if let Some(alternate) = row.record.alternate_key() {
            self.alternates.insert(alternate, key);
        }
        self.put(row);
    }

    pub(crate) fn replace(&mut self, row: Row) {
        self.take(&row.record.key());
        self.put(row);
    }

    /// Only what is in no list is ever forgotten.
    pub(crate) fn remove(&mut self, key: &Key) {
        self.take(key);
    }

    pub(crate) fn total(&self, list: List) -> i64 {
        self.lists.total(list)
    }

    pub(crate) fn list(&self, query: &Query) -> Listed<Versioned<Record>> {
        if query.is_unfiltered() {
            let items = self.lists.range(query).filter_map(|key| self.stored.get(key)).cloned();
            return Listed { items: items.collect(), total: self.lists.total(query.list) };
        }
        let all = self.lists.all(query.list).filter_map(|key| self.stored.get(key));
        lists::page(query, all.filter(|it| query.admits(&it.value)))
    }

    pub(crate) fn claim(&mut self, claim: &Claim) -> Vec<Versioned<Record>> {
        let keys = self.dues.oldest(claim);
        keys.iter().filter_map(|key| self.lease(key, claim)).collect()
    }

    pub(crate) fn backlog(&self, kind: ClaimKind, now: Timestamp) -> Backlog {
        self.dues.backlog(kind, now)
    }

    fn lease(&mut self, key: &Key, claim: &Claim) -> Option<Versioned<Record>> {
        let held = self.stored.get_mut(key)?;
        self.dues.remove(&held.value, held.due_at);
        held.version = held.version.saturating_add(1);
        held.due_at = Some(claim.until);
        self.dues.add(&held.value, held.due_at);
        Some(held.clone())
    }

    pub(crate) fn statistics(
        &self,
        scope: Scope,
        customer: CustomerId,
    ) -> Result<CustomerStatistics, Overflow> {
        let mut sum = CustomerStatistics::default();
        for id in self.payments.get(&(scope, customer)).into_iter().flatten() {
            let found = self.stored.get(&Key::Payment(scope, *id)).map(|it| &it.value);
            if let Some(Record::Payment(payment)) = found {
                sum.add(payment)?;
            }
        }
        Ok(sum)
    }

    /// Keeps a record and what its value is found by.
    fn put(&mut self, row: Row) {
        let Row { record, version, due_at, number: _ } = row;
        self.dues.add(&record, due_at);
        if let Some((payer, payment)) = payer(&record) {
            self.payments.entry(payer).or_default().insert(payment);
        }
        self.stored.insert(record.key(), Versioned { value: record, version, due_at });
    }

    /// Lets go of a record and of what its value was found by.
    fn take(&mut self, key: &Key) {
        let Some(old) = self.stored.remove(key) else { return };
        self.dues.remove(&old.value, old.due_at);
        if let Some((payer, payment)) = payer(&old.value)
            && let Some(payments) = self.payments.get_mut(&payer)
        {
            payments.remove(&payment);
        }
    }
}

fn payer(record: &Record) -> Option<((Scope, CustomerId), PaymentId)> {
    match record {
        Record::Payment(it) => it.customer.map(|customer| ((it.scope, customer), it.id)),
        _ => None,
    }
}
