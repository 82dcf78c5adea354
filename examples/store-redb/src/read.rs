//! Reading one moment.

use cauri::{
    Balance, CustomerId, CustomerStatistics, Entry, Id, Key, Listed, Query, Record, Row, Scope,
    Versioned,
};
use cauri_sql::{read_balance, read_entry};
use redb::{Database, ReadTransaction, ReadableDatabase};

use crate::{
    error::Failure,
    row,
    table::{self, BALANCES, LAST, LISTS, PAYMENTS, place},
};

pub(crate) fn get(
    database: &Database,
    keys: &[Key],
) -> Result<Vec<Option<Versioned<Record>>>, Failure> {
    let at = database.begin_read()?;
    keys.iter().map(|key| Ok(table::find(&at, key)?.map(versioned))).collect()
}

pub(crate) fn list(
    database: &Database,
    query: &Query,
) -> Result<Listed<Versioned<Record>>, Failure> {
    let at = database.begin_read()?;
    let read =
        |name: &str| Ok(versioned(table::row(&at, name)?.ok_or(Failure::Dangling("a list"))?));
    listed(&at, query, read, |it| query.admits(&it.value))
}

pub(crate) fn entries(database: &Database, query: &Query) -> Result<Listed<Entry>, Failure> {
    let read = |text: &str| Ok(read_entry(&row::decode(text)?)?);
    listed(&database.begin_read()?, query, read, |it| query.admits_entry(it))
}

/// A page of a whole list is a range of numbers; of a filtered one, what is admitted is counted.
fn listed<T>(
    at: &ReadTransaction,
    query: &Query,
    read: impl Fn(&str) -> Result<T, Failure>,
    admits: impl Fn(&T) -> bool,
) -> Result<Listed<T>, Failure> {
    let (last, oldest_first) = (table::last(at, query.list)?, query.list.is_oldest_first());
    let table = at.open_table(LISTS)?;
    let within = |(low, high)| {
        let found = table.range(place(query.list, low)..=place(query.list, high))?;
        let items = found.map(|found| read(found?.1.value()));
        let mut items = items.collect::<Result<Vec<T>, Failure>>()?;
        if !oldest_first {
            items.reverse();
        }
        Ok::<_, Failure>(items)
    };
    if query.is_unfiltered() {
        let page = query.page.numbers(last, oldest_first);
        return Ok(Listed { items: page.map_or(Ok(Vec::new()), within)?, total: last });
    }
    let admitted: Vec<T> = within((1, last))?.into_iter().filter(admits).collect();
    let total = i64::try_from(admitted.len()).unwrap_or(i64::MAX);
    let offset = usize::try_from(query.page.offset()).unwrap_or(usize::MAX);
    let items = admitted.into_iter().skip(offset).take(usize::from(query.page.limit())).collect();
    Ok(Listed { items, total })
}

pub(crate) fn balances(database: &Database, scope: Scope) -> Result<Vec<Balance>, Failure> {
    let at = database.begin_read()?;
    let (account, live) = table::scope(scope);
    let table = at.open_table(BALANCES)?;
    let found = table.range((account, live, "", "")..(account, live, LAST, LAST))?;
    let read = found.map(|found| Ok(read_balance(&row::decode(found?.1.value())?)?));
    let mut balances = read.collect::<Result<Vec<_>, Failure>>()?;
    // The words of accounts do not sort as the accounts do.
    balances.sort_by_key(|balance| balance.account);
    Ok(balances)
}

pub(crate) fn statistics(
    database: &Database,
    scope: Scope,
    customer: CustomerId,
) -> Result<CustomerStatistics, Failure> {
    let at = database.begin_read()?;
    let ((account, live), customer) = (table::scope(scope), customer.uuid().as_u128());
    let table = at.open_table(PAYMENTS)?;
    let mut sum = CustomerStatistics::default();
    let whole = (account, live, customer, u128::MIN)..=(account, live, customer, u128::MAX);
    for found in table.range(whole)? {
        let row = table::row(&at, found?.1.value())?.ok_or(Failure::Dangling("a customer"))?;
        if let Record::Payment(payment) = &row.record {
            sum.add(payment)?;
        }
    }
    Ok(sum)
}

pub(crate) fn versioned(row: Row) -> Versioned<Record> {
    Versioned { value: row.record, version: row.version, due_at: row.due_at }
}
