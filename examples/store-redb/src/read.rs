//! Reading one moment.

use cauri::{
    Balance, CustomerId, CustomerStatistics, Entry, Key, Listed, Query, Record, Row, Scope,
    Versioned,
};
use redb::ReadTransaction;

use crate::{
    error::Failure,
    key, row,
    table::{self, Bytes, Tables, range},
};

pub(crate) fn get(
    moment: &ReadTransaction,
    keys: &[Key],
) -> Result<Vec<Option<Versioned<Record>>>, Failure> {
    let tables = table::read(moment)?;
    keys.iter().map(|key| Ok(tables.find(key)?.map(versioned))).collect()
}

pub(crate) fn list(
    moment: &ReadTransaction,
    query: &Query,
) -> Result<Listed<Versioned<Record>>, Failure> {
    let tables = table::read(moment)?;
    let decode = |key: &[u8]| Ok(versioned(tables.row(key)?.ok_or(Failure::Dangling("a list"))?));
    listed(&tables, &tables.lists, query, decode, |it| query.admits(&it.value))
}

pub(crate) fn entries(moment: &ReadTransaction, query: &Query) -> Result<Listed<Entry>, Failure> {
    let tables = table::read(moment)?;
    listed(&tables, &tables.entries, query, row::decode_entry, |it| query.admits_entry(it))
}

/// A page of a whole list is a range of numbers; of a filtered one, what is admitted is counted.
fn listed<T, B: Bytes>(
    tables: &Tables<B>,
    table: &B,
    query: &Query,
    decode: impl Fn(&[u8]) -> Result<T, Failure>,
    admits: impl Fn(&T) -> bool,
) -> Result<Listed<T>, Failure> {
    let last = tables.last(query.list)?;
    let page = |numbers| {
        let places = range(table, key::places(query.list, numbers))?;
        let items = places.map(|place| decode(&place?.1)).collect::<Result<Vec<_>, Failure>>();
        items.map(|mut items| {
            if !query.list.is_oldest_first() {
                items.reverse();
            }
            items
        })
    };
    if query.is_unfiltered() {
        let numbers = query.page.numbers(last, query.list.is_oldest_first());
        return Ok(Listed { items: numbers.map_or(Ok(Vec::new()), page)?, total: last });
    }
    let admitted: Vec<T> = page((1, last))?.into_iter().filter(admits).collect();
    let total = i64::try_from(admitted.len()).unwrap_or(i64::MAX);
    let offset = usize::try_from(query.page.offset()).unwrap_or(usize::MAX);
    let items = admitted.into_iter().skip(offset).take(usize::from(query.page.limit())).collect();
    Ok(Listed { items, total })
}

pub(crate) fn balances(moment: &ReadTransaction, scope: Scope) -> Result<Vec<Balance>, Failure> {
    let tables = table::read(moment)?;
    let (first, mut last) = (key::scope(scope), key::scope(scope));
    last.push(u8::MAX);
    let balances = range(&tables.balances, first..last)?;
    let mut balances =
        balances.map(|it| row::decode_balance(&it?.1)).collect::<Result<Vec<_>, Failure>>()?;
    // The words of accounts do not sort as the accounts do.
    balances.sort_by_key(|balance| balance.account);
    Ok(balances)
}

pub(crate) fn statistics(
    moment: &ReadTransaction,
    scope: Scope,
    customer: CustomerId,
) -> Result<CustomerStatistics, Failure> {
    let tables = table::read(moment)?;
    let (first, mut last) = (key::customer(scope, customer), key::customer(scope, customer));
    last.extend([u8::MAX; 17]);
    let mut sum = CustomerStatistics::default();
    for payment in range(&tables.payments, first..last)? {
        let row = tables.row(&payment?.1)?.ok_or(Failure::Dangling("a customer"))?;
        if let Record::Payment(payment) = &row.record {
            sum.add(payment)?;
        }
    }
    Ok(sum)
}

pub(crate) fn versioned(row: Row) -> Versioned<Record> {
    Versioned { value: row.record, version: row.version, due_at: row.due_at }
}
