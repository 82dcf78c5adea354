//! The tables, all of bytes.

use std::ops::RangeBounds;

use cauri::{Key, List, Row};
use redb::{Database, ReadTransaction, ReadableTable, Table, TableDefinition, WriteTransaction};

use crate::{error::Failure, key, row};

type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// A table that is open for writing.
pub(crate) type Open<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// A table that is open for reading, at least.
pub(crate) trait Bytes: ReadableTable<&'static [u8], &'static [u8]> {}

impl<T: ReadableTable<&'static [u8], &'static [u8]>> Bytes for T {}

macro_rules! tables {
    ($($(#[$meta:meta])* $name:ident)+) => {
        /// Every table, as one moment has it.
        pub(crate) struct Tables<T> {
            $($(#[$meta])* pub(crate) $name: T,)+
        }

        const ALL: &[Definition] = &[$(TableDefinition::new(stringify!($name)),)+];

        /// For reading.
        pub(crate) fn read(transaction: &ReadTransaction) -> Result<Tables<impl Bytes>, Failure> {
            $(let $name: Definition = TableDefinition::new(stringify!($name));)+
            Ok(Tables { $($name: transaction.open_table($name)?,)+ })
        }

        /// For writing.
        pub(crate) fn write(transaction: &WriteTransaction) -> Result<Tables<Open<'_>>, Failure> {
            $(let $name: Definition = TableDefinition::new(stringify!($name));)+
            Ok(Tables { $($name: transaction.open_table($name)?,)+ })
        }
    };
}

tables! {
    /// Records, by their primary keys.
    records
    /// Primary keys, by alternate keys.
    alternates
    /// Primary keys, by their places in lists.
    lists
    /// Ledger entries, by their places.
    entries
    /// Balances, by their accounts.
    balances
    /// Payments' primary keys, by their customers.
    payments
    /// What waits: its primary key is the end of its key here.
    dues
}

/// Makes what is not there: reading a table that was never opened for writing is an error.
pub(crate) fn create_all(database: &Database) -> Result<(), Failure> {
    let transaction = database.begin_write()?;
    for table in ALL {
        transaction.open_table(*table)?;
    }
    Ok(transaction.commit()?)
}

impl<T: Bytes> Tables<T> {
    /// A record by its primary key, as bytes.
    pub(crate) fn row(&self, key: &[u8]) -> Result<Option<Row>, Failure> {
        let found = self.records.get(key)?;
        found.map(|bytes| row::decode(bytes.value())).transpose()
    }

    /// A record by its primary or an alternate key.
    pub(crate) fn find(&self, key: &Key) -> Result<Option<Row>, Failure> {
        let key = key::key(key);
        match self.alternates.get(key.as_slice())? {
            Some(primary) => self.row(primary.value()),
            None => self.row(&key),
        }
    }

    /// The last number of a list: how many it holds, since numbers are dense.
    pub(crate) fn last(&self, list: List) -> Result<i64, Failure> {
        let places = key::places(list, (1, i64::MAX));
        let table = match list {
            List::Entries(_) => &self.entries,
            _ => &self.lists,
        };
        let last = range(table, places)?.next_back().transpose()?;
        Ok(last.and_then(|(place, _)| key::number(&place)).unwrap_or(0))
    }
}

/// A key and its value.
type Pair = (Vec<u8>, Vec<u8>);

/// What lies between two keys, in order.
pub(crate) fn range<'t>(
    table: &'t impl Bytes,
    keys: impl RangeBounds<Vec<u8>>,
) -> Result<impl DoubleEndedIterator<Item = Result<Pair, Failure>> + 't, Failure> {
    let bounds = (keys.start_bound().map(Vec::as_slice), keys.end_bound().map(Vec::as_slice));
    let found = table.range::<&[u8]>(bounds)?;
    Ok(found.map(|found| {
        let (key, value) = found?;
        Ok((key.value().to_vec(), value.value().to_vec()))
    }))
}
