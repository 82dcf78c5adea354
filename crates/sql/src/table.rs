//! The tables: one for each kind of record, and three for the ledger and the lists.

use std::sync::LazyLock;

use cauri_core::{
    Account, ApiKey, Balance, ClaimKind, Customer, Delivery, Entry, Event, Id as _,
    IdempotencyRecord, Lane, List, Payment, PaymentLink, Payout, Record, RecordKind, Refund, Row,
    Setting, Subscriptions, TimelineEntry, WebhookEndpoint,
};

use crate::{
    cell::{Cell, Column, Kind},
    codec::Codec,
    counters::Counters,
    record::{BalanceRow, EntryRow, Mapped},
    row::{Reader, RowError, RowReader},
};

/// A table: its name and its columns, in the order in which rows are written and read.
///
/// The primary key is the first [`key`](Self::key) columns. Tables of records end in `version`,
/// `due_at`, of orders `lane`, and, where the store numbers them, `number`.
///
/// Every table has `due_at`, also those whose records never wait for anything: a store keeps what
/// it is given, and a null costs a bit. Only those that are claimed have an index on it.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    name: &'static str,
    key: usize,
    columns: Vec<Column>,
}

/// The tables of records: the kind, its struct, the table's name, how many columns its primary key
/// has, and whether the store numbers its rows.
macro_rules! records {
    ($($kind:ident($type:ty) = $name:literal, $key:literal, $numbered:literal;)+) => {
        impl Table {
            /// The table of a kind of record.
            #[must_use]
            pub fn of(kind: RecordKind) -> &'static Self {
                match kind {
                    $(RecordKind::$kind => {
                        static TABLE: LazyLock<Table> = LazyLock::new(|| {
                            of::<$type>(RecordKind::$kind, $name, $key, $numbered)
                        });
                        &TABLE
                    })+
                }
            }
        }

        fn put<'a>(record: &'a Record, cells: &mut Vec<Cell<'a>>) {
            match record { $(Record::$kind(it) => it.put(cells),)+ }
        }

        fn take<R: RowReader + ?Sized>(
            kind: RecordKind,
            reader: &mut Reader<'_, R>,
        ) -> Result<Record, RowError> {
            match kind { $(RecordKind::$kind => <$type>::take(reader).map(Record::from),)+ }
        }
    };
}

records! {
    Account(Account) = "accounts", 1, true;
    Setting(Setting) = "settings", 1, false;
    ApiKey(ApiKey) = "api_keys", 3, true;
    Customer(Customer) = "customers", 3, true;
    PaymentLink(PaymentLink) = "payment_links", 3, true;
    Payment(Payment) = "payments", 3, true;
    Payout(Payout) = "payouts", 3, true;
    Refund(Refund) = "refunds", 3, true;
    TimelineEntry(TimelineEntry) = "timeline_entries", 4, false;
    WebhookEndpoint(WebhookEndpoint) = "webhook_endpoints", 3, true;
    Subscriptions(Subscriptions) = "subscriptions", 2, false;
    Event(Event) = "events", 3, true;
    Delivery(Delivery) = "deliveries", 3, true;
    Idempotency(IdempotencyRecord) = "idempotency", 3, false;
}

static ENTRIES: LazyLock<Table> = LazyLock::new(|| plain::<EntryRow>("ledger_entries", 3));
static BALANCES: LazyLock<Table> = LazyLock::new(|| plain::<BalanceRow>("ledger_balances", 4));
static UNDELIVERED: LazyLock<Table> = LazyLock::new(|| {
    let kept = [
        "account",
        "live",
        "id",
        "endpoint",
        "event_kind",
        "status",
        "created_at",
        "due_at",
        "number",
    ];
    let all = &Table::of(RecordKind::Delivery).columns;
    let columns = all.iter().filter(|column| kept.contains(&column.name)).copied().collect();
    Table { name: "undelivered", key: 3, columns }
});
static COUNTERS: LazyLock<Table> = LazyLock::new(|| plain::<Counters>("list_counters", 2));

fn plain<T: Mapped>(name: &'static str, key: usize) -> Table {
    Table { name, key, columns: T::columns() }
}

fn of<T: Mapped>(kind: RecordKind, name: &'static str, key: usize, numbered: bool) -> Table {
    let mut table = plain::<T>(name, key);
    table.columns.extend([Column::new("version", Kind::Int), Column::or_null("due_at", Kind::Int)]);
    if is_order(kind) {
        table.columns.push(LANE);
    }
    if numbered {
        table.columns.push(Column::new("number", Kind::Int));
    }
    table
}

/// Where an order waits when it is due, see [`lane_cell`]. Follows from the rest of the row; only an
/// index can tell lanes apart that are not in a column.
const LANE: Column = Column::new("lane", Kind::Text);

const fn is_order(kind: RecordKind) -> bool {
    matches!(kind, RecordKind::Payment | RecordKind::Payout | RecordKind::Refund)
}

impl Table {
    /// The table of what can be claimed.
    #[must_use]
    pub fn claimed(kind: ClaimKind) -> &'static Self {
        Self::of(claimed(kind))
    }

    /// The table of a list's items.
    #[must_use]
    pub fn listed(list: List) -> &'static Self {
        listed(list).map_or_else(Self::entries, Self::of)
    }

    /// The ledger's entries.
    #[must_use]
    pub fn entries() -> &'static Self {
        &ENTRIES
    }

    /// The balances of the ledger's accounts.
    #[must_use]
    pub fn balances() -> &'static Self {
        &BALANCES
    }

    /// The last number of each list, see [`Counters`].
    #[must_use]
    pub fn counters() -> &'static Self {
        &COUNTERS
    }

    /// What Postgres keeps beside the deliveries: of each that has not succeeded, or that is due, what
    /// it is looked for by. An index in the shape of a table, see
    /// [`Dialect::Postgres`](crate::Dialect::Postgres); no record is read from it.
    #[must_use]
    pub fn undelivered() -> &'static Self {
        &UNDELIVERED
    }

    /// Every table that holds what the others do not.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        RecordKind::ALL.iter().map(|kind| Self::of(*kind)).chain([
            Self::entries(),
            Self::balances(),
            Self::counters(),
        ])
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its columns, in the order of rows.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns of its primary key.
    #[must_use]
    pub fn key(&self) -> &[Column] {
        self.columns.get(..self.key).unwrap_or_default()
    }

    /// The columns that an update writes: all but the primary key and the number, which a record
    /// keeps for ever.
    #[must_use]
    pub fn mutable(&self) -> &[Column] {
        let rest = self.columns.get(self.key..).unwrap_or_default();
        match rest.split_last() {
            Some((last, others)) if last.name == "number" => others,
            _ => rest,
        }
    }

    /// The column that tells lanes apart; `None` of what waits in none.
    #[must_use]
    pub fn lane(kind: ClaimKind) -> Option<Column> {
        match kind {
            ClaimKind::Payments | ClaimKind::Payouts | ClaimKind::Refunds => Some(LANE),
            ClaimKind::Deliveries => Some(Column::new("endpoint", Kind::Id)),
            ClaimKind::Idempotency => None,
        }
    }

    /// Does the store number its rows?
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        self.columns.last().is_some_and(|column| column.name == "number")
    }
}

/// Which kind of record can be claimed.
#[must_use]
pub const fn claimed(kind: ClaimKind) -> RecordKind {
    match kind {
        ClaimKind::Payments => RecordKind::Payment,
        ClaimKind::Payouts => RecordKind::Payout,
        ClaimKind::Refunds => RecordKind::Refund,
        ClaimKind::Deliveries => RecordKind::Delivery,
        ClaimKind::Idempotency => RecordKind::Idempotency,
    }
}

/// Which kind of record a list holds; `None` for entries, which are no records.
#[must_use]
pub const fn listed(list: List) -> Option<RecordKind> {
    match list {
        List::Accounts => Some(RecordKind::Account),
        List::ApiKeys(_) => Some(RecordKind::ApiKey),
        List::Customers(_) => Some(RecordKind::Customer),
        List::PaymentLinks(_) => Some(RecordKind::PaymentLink),
        List::Payments(_) => Some(RecordKind::Payment),
        List::Payouts(_) => Some(RecordKind::Payout),
        List::Refunds(_) => Some(RecordKind::Refund),
        List::Timeline(..) => Some(RecordKind::TimelineEntry),
        List::WebhookEndpoints(_) => Some(RecordKind::WebhookEndpoint),
        List::Events(_) => Some(RecordKind::Event),
        List::Deliveries(_) => Some(RecordKind::Delivery),
        List::Entries(_) => None,
    }
}

/// What the column of lanes holds of a lane: the endpoint, or a text that no name of a connection
/// can make another lane's.
#[must_use]
pub fn lane_cell(lane: &Lane) -> Cell<'static> {
    match lane {
        Lane::Inside => Cell::Text("".into()),
        Lane::Connection(connection) => Cell::Text(format!(">{connection}").into()),
        Lane::Endpoint(endpoint) => Cell::Id(endpoint.uuid()),
    }
}

/// The cells of a record's row, in the order of its table's columns. A number that is not known
/// (on updates) is null.
#[must_use]
pub fn record_cells(row: &Row) -> Vec<Cell<'_>> {
    let mut cells = Vec::with_capacity(Table::of(row.record.kind()).columns.len());
    add_record_cells(row, &mut cells);
    cells
}

/// The same, behind what is there: for many rows, one after the other.
pub fn add_record_cells<'a>(row: &'a Row, cells: &mut Vec<Cell<'a>>) {
    let Row { record, version, due_at, number } = row;
    put(record, cells);
    version.put(cells);
    due_at.put(cells);
    if is_order(record.kind()) {
        cells.push(record.lane().map_or(Cell::Null, |lane| lane_cell(&lane)));
    }
    if Table::of(record.kind()).is_numbered() {
        number.put(cells);
    }
}

/// The record of a row whose columns come in the order of its table's.
///
/// # Errors
/// [`RowError`] for a row that nothing of ours would write.
pub fn read_record<R: RowReader + ?Sized>(kind: RecordKind, row: &R) -> Result<Row, RowError> {
    let table = Table::of(kind);
    let mut reader = Reader::new(table.name, &table.columns, row);
    let record = take(kind, &mut reader)?;
    let version = reader.take()?;
    let due_at = reader.take()?;
    if is_order(kind) {
        let (lane, place) = reader.cell()?;
        if record.lane().is_none_or(|it| lane_cell(&it) != lane) {
            return Err(place.wrong("another lane than the record's"));
        }
    }
    let number = if table.is_numbered() { Some(reader.take::<i64>()?) } else { None };
    Ok(Row { record, version, due_at, number })
}

/// The cells of an entry's row.
#[must_use]
pub fn entry_cells(entry: &Entry, number: i64) -> Vec<Cell<'static>> {
    owned(&EntryRow::new(entry, number))
}

/// The entry of a row.
///
/// # Errors
/// [`RowError`] for a row that nothing of ours would write.
pub fn read_entry<R: RowReader + ?Sized>(row: &R) -> Result<Entry, RowError> {
    EntryRow::take(&mut Reader::new(ENTRIES.name, &ENTRIES.columns, row)).map(EntryRow::into_entry)
}

/// The cells of a balance's row.
#[must_use]
pub fn balance_cells(balance: &Balance) -> Vec<Cell<'static>> {
    owned(&BalanceRow::new(balance))
}

/// The balance of a row.
///
/// # Errors
/// [`RowError`] for a row that nothing of ours would write.
pub fn read_balance<R: RowReader + ?Sized>(row: &R) -> Result<Balance, RowError> {
    BalanceRow::take(&mut Reader::new(BALANCES.name, &BALANCES.columns, row))
        .map(BalanceRow::into_balance)
}

fn owned<T: Mapped>(row: &T) -> Vec<Cell<'static>> {
    let mut cells = Vec::new();
    row.put(&mut cells);
    cells.into_iter().map(Cell::into_owned).collect()
}
