//! What the SQL stores of cauri share: tables, row mapping, filters.
//!
//! Nothing here talks to a database. An adapter
//!
//! * creates the [`Table`]s with its own migrations, and tests that they have the columns and
//!   [`indexes`] named here;
//! * writes rows from [`record_cells`], [`entry_cells`], [`balance_cells`] and
//!   [`Counters::cells`], whose cells come in the order of [`Table::columns`];
//! * reads them back by implementing [`RowReader`] for its driver's rows;
//! * runs the statements of [`Listing`], [`records_by_keys`], [`balances`] and [`statistics`].

mod cell;
mod codec;
mod counters;
mod index;
mod listing;
mod lookup;
mod migrated;
mod record;
mod row;
mod statistics;
mod table;

pub use cell::{Cell, Column, Kind};
pub use counters::Counters;
pub use index::{Dialect, Index, indexes};
pub use listing::{FilteredListing, Listing, NumberedListing};
pub use lookup::{KeyCells, balances, key_cells, records_by_keys};
pub use migrated::Migrated;
pub use row::{RowError, RowReader};
pub use statistics::{StatisticsRows, statistics};
pub use table::{
    Table, add_record_cells, balance_cells, claimed, entry_cells, lane_cell, listed, read_balance,
    read_entry, read_record, record_cells,
};
