//! The tables. redb sorts the tuples that are their keys, so that what is read together lies
//! together.

use cauri::{Id, Key, Lane, LedgerAccount, List, Record, Row, Scope};
use cauri_sql::Table;
use redb::{Database, ReadTransaction, TableDefinition};

use crate::{error::Failure, row};

/// Records, by their names.
pub(crate) const RECORDS: TableDefinition<'_, &str, &str> = TableDefinition::new("records");
/// Their names, by the names that alternate keys have.
pub(crate) const ALTERNATES: TableDefinition<'_, &str, &str> = TableDefinition::new("alternates");
/// What each list holds, by its number: names of records, or ledger entries as they are.
pub(crate) const LISTS: TableDefinition<'_, Place, &str> = TableDefinition::new("lists");
/// Balances, by scope, currency and account.
pub(crate) const BALANCES: TableDefinition<'_, Account, &str> = TableDefinition::new("balances");
/// Names of payments, by scope, customer and payment.
pub(crate) const PAYMENTS: TableDefinition<'_, Payment, &str> = TableDefinition::new("payments");
/// What waits: its table, lane, moment and name.
pub(crate) const DUES: TableDefinition<'_, Due<'static>, ()> = TableDefinition::new("dues");

/// List, account, live, payment (of a timeline), number.
pub(crate) type Place = (&'static str, u128, bool, u128, i64);
/// Table, lane, moment, name.
pub(crate) type Due<'a> = (&'a str, &'a str, i64, &'a str);
type Account<'a> = (u128, bool, &'a str, &'static str);
type Payment = (u128, bool, u128, u128);

/// Sorts behind every name and every word of ours.
pub(crate) const LAST: &str = "~";

/// Makes what is not there: reading a table that nobody wrote to is an error of redb's.
pub(crate) fn create_all(database: &Database) -> Result<(), Failure> {
    let transaction = database.begin_write()?;
    transaction.open_table(RECORDS)?;
    transaction.open_table(ALTERNATES)?;
    transaction.open_table(LISTS)?;
    transaction.open_table(BALANCES)?;
    transaction.open_table(PAYMENTS)?;
    transaction.open_table(DUES)?;
    Ok(transaction.commit()?)
}

pub(crate) fn scope(scope: Scope) -> (u128, bool) {
    (scope.account.uuid().as_u128(), scope.environment.is_live())
}

pub(crate) fn place(list: List, number: i64) -> Place {
    let (account, live) = list.scope().map_or((0, false), scope);
    let payment = match list {
        List::Timeline(_, payment) => payment.uuid().as_u128(),
        _ => 0,
    };
    (list.name(), account, live, payment, number)
}

pub(crate) fn account(of: &LedgerAccount) -> Account<'_> {
    let (account, live) = scope(of.scope);
    (account, live, of.currency.code(), of.kind.as_str())
}

pub(crate) fn payment(record: &Record) -> Option<Payment> {
    let Record::Payment(it) = record else { return None };
    let (account, live) = scope(it.scope);
    Some((account, live, it.customer?.uuid().as_u128(), it.id.uuid().as_u128()))
}

/// Where a record waits: what has no lane in one of the same name.
pub(crate) fn lane(lane: Option<&Lane>) -> String {
    match lane {
        None | Some(Lane::Inside) => String::new(),
        Some(Lane::Connection(name)) => format!(">{name}"),
        Some(Lane::Endpoint(id)) => id.to_string(),
    }
}

/// By what it is found when it is due, if it ever is.
pub(crate) fn due<'a>(row: &Row, lane: &'a str, name: &'a str) -> Option<Due<'a>> {
    Some((Table::of(row.record.kind()).name(), lane, row.due_at?.millis(), name))
}

/// A record by its name, as one moment has it.
pub(crate) fn row(at: &ReadTransaction, name: &str) -> Result<Option<Row>, Failure> {
    let found = at.open_table(RECORDS)?.get(name)?;
    found.map(|text| row::decode_record(name, text.value())).transpose()
}

/// A record by its primary or an alternate key.
pub(crate) fn find(at: &ReadTransaction, key: &Key) -> Result<Option<Row>, Failure> {
    let name = row::name(key);
    match at.open_table(ALTERNATES)?.get(&*name)? {
        Some(primary) => row(at, primary.value()),
        None => row(at, &name),
    }
}

/// The last number of a list: how many it holds, for they are dense.
pub(crate) fn last(at: &ReadTransaction, list: List) -> Result<i64, Failure> {
    let mut numbered = at.open_table(LISTS)?.range(place(list, 1)..=place(list, i64::MAX))?;
    Ok(numbered.next_back().transpose()?.map_or(0, |(place, _)| place.value().4))
}
