//! The secondary indexes, and why there are no more.
//!
//! Every index costs a write for each new row, and in Postgres for each new version of a row as
//! well, since an update that moves an indexed column (`status`, `due_at`) writes to all of them.
//! A payment is written four times in its life, so one index more is four more entries in the log.
//! Hence:
//!
//! * **Numbers.** `(account, live, number)`, unique: pages without filters are ranges of it.
//! * **Few matches.** A filter that names one of very many (customer, payment link, reference,
//!   source, transaction …) has an index of its own with the number behind it, so that a page
//!   needs no sorting. Null is left out where it is usual. Where the one is an id, it belongs to one
//!   scope alone, and the index begins with it: ids grow with time, so what is written at the same
//!   moment lies together, whosever it is. Such a query compares account and environment in a way
//!   that no index understands, or a database without statistics would take any index that begins
//!   with them for as good.
//! * **Facets.** The other filters of a list share *one* index that holds them all. Their totals
//!   have to be counted anyway, and a status, a currency or a country is what a large part of the
//!   list has: an index for each would save little of the counting. The first column is the word
//!   that is asked for most, and of which there are few; the second is the date. So a status, a
//!   status with dates, and dates alone (as a range within each of the few words) are each read
//!   from a contiguous part; a currency, country, method or network is counted over the narrow
//!   index alone, without touching a row, and only within the asked dates.
//! * **Due rows.** Claims run over all accounts, so these begin with the lane (an endpoint, a
//!   connection, so that each can be served from its own oldest on) or with `due_at`, and not with the account;
//!   on a database that is spread by account, each node has its own. They hold only what waits.
//!
//! [`Dialect`] says what one of the databases has that the other has not, and why.

/// An index that is not the primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "adapters read every field")]
pub struct Index {
    /// Its name.
    pub name: &'static str,
    /// Its table.
    pub table: &'static str,
    /// Its columns.
    pub columns: &'static [&'static str],
    /// May no two rows have the same?
    pub unique: bool,
    /// The condition of the rows it holds, if not all.
    pub only: Option<&'static str>,
}

const fn index(
    name: &'static str,
    table: &'static str,
    columns: &'static [&'static str],
    only: Option<&'static str>,
) -> Index {
    Index { name, table, columns, unique: false, only }
}

const fn unique(
    name: &'static str,
    table: &'static str,
    columns: &'static [&'static str],
) -> Index {
    Index { name, table, columns, unique: true, only: None }
}

const NUMBERS: &[&str] = &["account", "live", "number"];
const REFERENCES: &[&str] = &["account", "live", "reference", "number"];
const REFERENCED: Option<&str> = Some("reference is not null");
const DUE: Option<&str> = Some("due_at is not null");

/// A database whose tables differ from the other's in a few things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each adapter names its own")]
pub enum Dialect {
    /// SQLite: an update writes to the indexes of the columns that change, and to no other.
    Sqlite,
    /// Postgres: an update that changes an indexed column writes to every index of its table, and
    /// one that changes none to no index at all. So what changes with each attempt of a delivery is
    /// indexed in a table of its own, [`Table::undelivered`](crate::Table::undelivered).
    Postgres,
}

/// Every index beside the primary keys.
pub fn indexes(dialect: Dialect) -> impl Iterator<Item = &'static Index> {
    let own = match dialect {
        Dialect::Sqlite => OF_SQLITE,
        Dialect::Postgres => OF_POSTGRES,
    };
    COMMON.iter().chain(own)
}

#[rustfmt::skip]
const OF_SQLITE: &[Index] = &[
    // The endpoint comes before the date: "what went wrong on this endpoint" is what is asked.
    index("deliveries_facets", "deliveries",
        &["account", "live", "status", "endpoint", "created_at", "number", "event_kind"], None),
    index("deliveries_due", "deliveries", &["endpoint", "due_at"], DUE),
];

#[rustfmt::skip]
const OF_POSTGRES: &[Index] = &[
    // Without the status: a delivery that is received by its first attempt changes no index.
    index("deliveries_facets", "deliveries",
        &["account", "live", "endpoint", "created_at", "number", "event_kind"], None),
    // What is pending is found by the primary key, which begins with the scope. It is as much as
    // waits; what has failed stays, and is counted over this.
    index("undelivered_failed", "undelivered",
        &["account", "live", "endpoint", "created_at", "number", "event_kind"],
        Some("status = 'failed'")),
    index("undelivered_due", "undelivered", &["endpoint", "due_at"], DUE),
];

#[rustfmt::skip] // One index a paragraph.
const COMMON: &[Index] = &[
    unique("accounts_number", "accounts", &["number"]),

    unique("api_keys_number", "api_keys", NUMBERS),
    // The one thing that is looked up without knowing whose it is.
    unique("api_keys_hash", "api_keys", &["hash"]),

    unique("customers_number", "customers", NUMBERS),
    index("customers_created", "customers", &["account", "live", "created_at", "number"], None),
    index("customers_email", "customers", &["account", "live", "email_folded", "number"],
        Some("email_folded is not null")),
    index("customers_phone", "customers", &["account", "live", "phone", "number"],
        Some("phone is not null")),
    index("customers_reference", "customers", REFERENCES, REFERENCED),

    unique("payment_links_number", "payment_links", NUMBERS),
    index("payment_links_facets", "payment_links",
        &["account", "live", "status", "created_at", "number", "active", "currency"], None),
    index("payment_links_reference", "payment_links", REFERENCES, REFERENCED),

    unique("payments_number", "payments", NUMBERS),
    index("payments_facets", "payments",
        &["account", "live", "status", "created_at", "number", "currency", "country", "method",
          "network"], None),
    index("payments_customer", "payments", &["customer", "number"],
        Some("customer is not null")),
    index("payments_payment_link", "payments", &["payment_link", "number"],
        Some("payment_link is not null")),
    index("payments_reference", "payments", REFERENCES, REFERENCED),
    index("payments_due", "payments", &["lane", "due_at"], DUE),

    unique("payouts_number", "payouts", NUMBERS),
    index("payouts_facets", "payouts",
        &["account", "live", "status", "created_at", "number", "currency", "country", "network"],
        None),
    index("payouts_customer", "payouts", &["customer", "number"],
        Some("customer is not null")),
    index("payouts_reference", "payouts", REFERENCES, REFERENCED),
    index("payouts_due", "payouts", &["lane", "due_at"], DUE),

    unique("refunds_number", "refunds", NUMBERS),
    index("refunds_facets", "refunds",
        &["account", "live", "status", "created_at", "number", "currency"], None),
    index("refunds_payment", "refunds", &["payment", "number"], None),
    index("refunds_reference", "refunds", REFERENCES, REFERENCED),
    index("refunds_due", "refunds", &["lane", "due_at"], DUE),

    unique("webhook_endpoints_number", "webhook_endpoints", NUMBERS),
    // At most sixteen of a scope, whatever was deleted over the years.
    index("webhook_endpoints_present", "webhook_endpoints", NUMBERS, Some("deleted_at is null")),

    unique("events_number", "events", NUMBERS),
    index("events_facets", "events", &["account", "live", "kind", "created_at", "number"], None),

    unique("deliveries_number", "deliveries", NUMBERS),
    index("deliveries_event", "deliveries", &["event", "number"], None),
    index("idempotency_due", "idempotency", &["due_at"], DUE),

    // The words of an account and a kind are few enough for dates within each pair of them.
    index("ledger_entries_facets", "ledger_entries",
        &["account", "live", "ledger_account", "kind", "created_at", "number", "direction",
          "currency"], None),
    index("ledger_entries_source", "ledger_entries", &["source_id", "number"],
        Some("source_id is not null")),
    index("ledger_entries_transaction", "ledger_entries",
        &["transaction_id", "number"], None),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Kind, Table};

    fn everywhere() -> impl Iterator<Item = (&'static str, &'static Index)> {
        let of = |dialect, name| indexes(dialect).map(move |index| (name, index));
        of(Dialect::Sqlite, "sqlite").chain(of(Dialect::Postgres, "postgres"))
    }

    fn table(index: &Index) -> &'static Table {
        let mut all = Table::all().chain([Table::undelivered()]);
        all.find(|table| table.name() == index.table).expect(index.table)
    }

    #[test]
    fn every_index_is_on_columns_that_are_there() {
        let mut names = HashSet::new();
        for (dialect, index) in everywhere() {
            assert!(names.insert((dialect, index.name)), "{}", index.name);
            let columns = table(index).columns();
            for name in index.columns {
                assert!(columns.iter().any(|column| column.name == *name), "{}", index.name);
            }
        }
    }

    #[test]
    fn keys_and_indexes_begin_with_the_account_or_an_id_but_for_the_few_that_say_why() {
        let global = ["accounts", "settings"];
        for table in Table::all().filter(|table| !global.contains(&table.name())) {
            let key: Vec<_> = table.key().iter().map(|column| column.name).collect();
            assert_eq!(key[..2], ["account", "live"], "{}", table.name());
        }
        for (_, index) in everywhere() {
            let is_due = index.only == DUE;
            let is_global = index.name == "api_keys_hash" || global.contains(&index.table);
            let first = table(index).columns().iter().find(|it| it.name == index.columns[0]);
            let is_of_an_id = index.columns[0] != "account" && first.unwrap().kind == Kind::Id;
            let is_of_a_scope = index.columns.starts_with(&["account", "live"]);
            assert!(is_due || is_global || is_of_an_id || is_of_a_scope, "{}", index.name);
        }
    }

    #[test]
    fn every_numbered_table_has_unique_numbers() {
        for table in Table::all().filter(|table| table.is_numbered()) {
            let has = COMMON.iter().any(|index| {
                index.table == table.name() && index.unique && index.columns.ends_with(&["number"])
            });
            assert!(has, "{}", table.name());
        }
    }
}
