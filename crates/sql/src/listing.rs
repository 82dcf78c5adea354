//! Lists as statements: which rows, in which order, which part, and how many in all.

use cauri_core::{
    DeliveryStatus, EntryKind, EventKind, Field, FieldValue, Filter, LedgerAccountKind, List,
    PaymentLinkStatus, PaymentStatus, PayoutStatus, Query, RefundStatus,
};
use sea_query::{Cond, Expr, ExprTrait, Order, Query as Sql, SelectStatement};

use crate::{
    cell::Kind,
    counters::Counters,
    index::Dialect,
    lookup::{also_of_scope, of_scope, rows_of, value},
    table::Table,
};

/// How a list is read. Where there are two statements, run both in one snapshot.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "an adapter runs each of them")]
pub enum Listing {
    /// Nothing can match: the records of this list have no such field, or no such value of it.
    Nothing,
    /// All of a list that is numbered: the total is a counter, the page a range of numbers.
    Numbered(NumberedListing),
    /// Some of a list.
    Filtered(Box<FilteredListing>),
}

/// Some of a list.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "an adapter runs both")]
pub struct FilteredListing {
    /// Whole rows of the page, in the list's order.
    pub page: SelectStatement,
    /// One number: how many rows match over all pages.
    pub total: SelectStatement,
}

/// All of a list that is numbered.
#[derive(Debug, Clone)]
pub struct NumberedListing {
    query: Query,
}

impl NumberedListing {
    /// The last number of the list, which is the total: no row means 0.
    #[must_use]
    pub fn total(&self) -> SelectStatement {
        let counters = Table::counters();
        let mut select = Sql::select().column(self.query.list.name()).from(counters.name()).take();
        for (column, cell) in counters.key().iter().zip(Counters::key(self.query.list)) {
            select.and_where(Expr::col(column.name).eq(value(cell, column.kind)));
        }
        select
    }

    /// Whole rows of the page, in the list's order; `None` past the end.
    #[must_use]
    pub fn page(&self, total: i64) -> Option<SelectStatement> {
        let list = self.query.list;
        let (lowest, highest) = self.query.page.numbers(total, list.is_oldest_first())?;
        let mut select = rows_of(Table::listed(list));
        if let Some(scope) = list.scope() {
            select.cond_where(of_scope(scope));
        }
        select
            .and_where(Expr::col("number").gte(lowest))
            .and_where(Expr::col("number").lte(highest))
            .order_by("number", order(list));
        Some(select)
    }
}

impl Listing {
    /// How this query is read from this database.
    #[must_use]
    pub fn of(query: &Query, dialect: Dialect) -> Self {
        // A timeline's lines bring their own numbers, so nothing counts them.
        let is_counted = !matches!(query.list, List::Timeline(..));
        if query.is_unfiltered() && is_counted {
            return Self::Numbered(NumberedListing { query: query.clone() });
        }
        let Some(conditions) = conditions(query, dialect) else { return Self::Nothing };
        let table = Table::listed(query.list);
        let searched = if is_apart(query, dialect) { Table::undelivered() } else { table };
        let order = order(query.list);
        let rest = received(query, dialect);
        // Facets are sorted after they were found: going down the numbers until enough of them
        // match would read every row where few or none do. The plus keeps databases from it. Nearly
        // every delivery has been received.
        let is_common = rest.as_ref().is_some_and(Query::is_unfiltered);
        let by_number =
            if is_narrow(query) || is_common { Expr::col("number") } else { Expr::cust("+number") };
        // First the numbers, for which an index is enough, then the rows of the page alone.
        let numbers = Sql::select()
            .column("number")
            .from(searched.name())
            .cond_where(conditions.clone())
            .order_by_expr(by_number, order.clone())
            .limit(u64::from(query.page.limit()))
            .offset(u64::try_from(query.page.offset()).unwrap_or(0))
            .take();
        let page = rows_of(table)
            .cond_where(home(query.list))
            .and_where(Expr::col("number").in_subquery(numbers))
            .order_by("number", order)
            .take();
        let total = match rest.and_then(|rest| self::conditions(&rest, dialect)) {
            Some(rest) => {
                let others = rest.clone().add(Expr::cust("status <> 'succeeded'"));
                let all = Expr::from(count(table, rest));
                let difference = all.sub(Expr::from(count(Table::undelivered(), others)));
                Sql::select().expr_as(difference, "count").take()
            }
            None => count(searched, conditions),
        };
        Self::Filtered(Box::new(FilteredListing { page, total }))
    }
}

fn count(table: &Table, conditions: Cond) -> SelectStatement {
    Sql::select().expr(Expr::cust("count(*)")).from(table.name()).cond_where(conditions).take()
}

const fn order(list: List) -> Order {
    if list.is_oldest_first() { Order::Asc } else { Order::Desc }
}

/// The rows of a list, and not of another of the same table.
fn home(list: List) -> Cond {
    match list {
        List::Timeline(scope, payment) => {
            of_scope(scope).add(Expr::col("payment").eq(cauri_core::Id::uuid(payment)))
        }
        List::Accounts => Cond::all(),
        List::ApiKeys(scope)
        | List::Customers(scope)
        | List::PaymentLinks(scope)
        | List::Payments(scope)
        | List::Payouts(scope)
        | List::Refunds(scope)
        | List::WebhookEndpoints(scope)
        | List::Events(scope)
        | List::Deliveries(scope)
        | List::Entries(scope) => of_scope(scope),
    }
}

/// Are the numbers of what matches found in the table of what was not received? It has every delivery
/// of another status than *succeeded*, and what they are filtered by, but for the event, which finds
/// few of them anyway.
fn is_apart(query: &Query, dialect: Dialect) -> bool {
    let received = DeliveryStatus::Succeeded.as_str();
    dialect == Dialect::Postgres
        && matches!(query.list, List::Deliveries(_))
        && !is_narrow(query)
        && query.filters.iter().any(|Filter { field, value }| {
            *field == Field::Status && *value != FieldValue::Text(received.into())
        })
}

/// Of a query for deliveries that were received, the same for all of them: where only the others are
/// told apart by an index, those are counted and taken off. `None` of other queries.
fn received(query: &Query, dialect: Dialect) -> Option<Query> {
    let is_status = |it: &&Filter| it.field == Field::Status;
    let is_asked = matches!(query.list, List::Deliveries(_))
        && dialect == Dialect::Postgres
        && query.filters.iter().any(|it| is_status(&it));
    if !is_asked || is_narrow(query) || is_apart(query, dialect) {
        return None;
    }
    let filters = query.filters.iter().filter(|it| !is_status(it)).cloned().collect();
    Some(Query { filters, ..query.clone() })
}

/// The conditions of a query; `None` when nothing can meet them.
fn conditions(query: &Query, dialect: Dialect) -> Option<Cond> {
    let by_id = query.filters.iter().any(|filter| {
        let fields = [
            Field::Customer,
            Field::PaymentLink,
            Field::Payment,
            Field::Event,
            Field::Source,
            Field::Transaction,
        ];
        fields.contains(&filter.field)
    });
    let mut all = match query.list.scope() {
        Some(scope) if by_id => also_of_scope(scope),
        _ => home(query.list),
    };
    let apart = is_apart(query, dialect);
    for Filter { field, value } in &query.filters {
        all = all.add(match field {
            Field::Status if apart => unreceived(value)?,
            _ => condition(query.list, *field, value)?,
        });
    }
    if let Some(from) = query.created_from {
        all = all.add(Expr::col("created_at").gte(from.millis()));
    }
    if let Some(to) = query.created_to {
        all = all.add(Expr::col("created_at").lt(to.millis()));
    }
    for (column, words) in implied(query, dialect) {
        all = all.add(Expr::col(column).is_in(words));
    }
    Some(all)
}

/// The status of deliveries in a table of their own, as a word of the statement: an argument would
/// keep the index of those that have failed from a plan that is made for any argument.
fn unreceived(wanted: &FieldValue) -> Option<Expr> {
    let is = |status: DeliveryStatus| *wanted == FieldValue::Text(status.as_str().into());
    if is(DeliveryStatus::Failed) {
        Some(Expr::cust("status = 'failed'"))
    } else if is(DeliveryStatus::Pending) {
        Some(Expr::cust("status = 'pending'"))
    } else {
        None
    }
}

fn condition(list: List, field: Field, wanted: &FieldValue) -> Option<Expr> {
    if field == Field::Deleted {
        return match (list, wanted) {
            (List::WebhookEndpoints(_), FieldValue::Flag(true)) => {
                Some(Expr::col("deleted_at").is_not_null())
            }
            (List::WebhookEndpoints(_), FieldValue::Flag(false)) => {
                Some(Expr::col("deleted_at").is_null())
            }
            _ => None,
        };
    }
    let name = column(list, field)?;
    let column = Table::listed(list).columns().iter().find(|column| column.name == name)?;
    let column_is = |wanted| Expr::col(name).eq(value(wanted, column.kind));
    match (wanted, column.kind) {
        // No text that can be filtered by has control characters, and Postgres takes no zeros.
        (FieldValue::Text(text), Kind::Text) if !text.contains('\0') => {
            Some(column_is(crate::Cell::Text(text.into())))
        }
        (FieldValue::Id(bits), Kind::Id) => Some(column_is(crate::Cell::Id(*bits))),
        (FieldValue::Flag(flag), Kind::Flag) => Some(column_is(crate::Cell::Flag(*flag))),
        (FieldValue::Text(_) | FieldValue::Id(_) | FieldValue::Flag(_), _) => None,
    }
}

/// The column of a field; the same table as `Record::field` and `Entry::field` of core.
const fn column(list: List, field: Field) -> Option<&'static str> {
    match (list, field) {
        (List::Customers(_), Field::Email) => Some("email_folded"),
        (List::Customers(_), Field::Phone) => Some("phone"),
        (
            List::PaymentLinks(_)
            | List::Payments(_)
            | List::Payouts(_)
            | List::Refunds(_)
            | List::Deliveries(_),
            Field::Status,
        ) => Some("status"),
        (List::PaymentLinks(_), Field::Active) => Some("active"),
        (
            List::PaymentLinks(_)
            | List::Payments(_)
            | List::Payouts(_)
            | List::Refunds(_)
            | List::Entries(_),
            Field::Currency,
        ) => Some("currency"),
        (List::Payments(_) | List::Payouts(_), Field::Country) => Some("country"),
        (List::Payments(_), Field::PaymentMethod) => Some("method"),
        (List::Payments(_) | List::Payouts(_), Field::Network) => Some("network"),
        (List::Payments(_) | List::Payouts(_), Field::Customer) => Some("customer"),
        (List::Payments(_), Field::PaymentLink) => Some("payment_link"),
        (
            List::Customers(_)
            | List::PaymentLinks(_)
            | List::Payments(_)
            | List::Payouts(_)
            | List::Refunds(_),
            Field::Reference,
        ) => Some("reference"),
        (List::Refunds(_), Field::Payment) => Some("payment"),
        (List::Events(_), Field::EventKind) | (List::Entries(_), Field::EntryKind) => Some("kind"),
        (List::Deliveries(_), Field::Endpoint) => Some("endpoint"),
        (List::Deliveries(_), Field::Event) => Some("event"),
        (List::Deliveries(_), Field::EventKind) => Some("event_kind"),
        (List::Entries(_), Field::LedgerAccount) => Some("ledger_account"),
        (List::Entries(_), Field::Direction) => Some("direction"),
        (List::Entries(_), Field::Source) => Some("source_id"),
        (List::Entries(_), Field::Transaction) => Some("transaction_id"),
        _ => None,
    }
}

/// Is there a filter with an index of its own, which finds few rows in the order of their numbers?
fn is_narrow(query: &Query) -> bool {
    matches!(query.list, List::Timeline(..))
        || query.filters.iter().any(|filter| {
            matches!(
                filter.field,
                Field::Customer
                    | Field::PaymentLink
                    | Field::Reference
                    | Field::Payment
                    | Field::Email
                    | Field::Phone
                    | Field::Event
                    | Field::Source
                    | Field::Transaction
                    | Field::Deleted
            )
        })
}

/// Words that every row has one of, said so that the index that begins with them can be used for
/// what comes behind them: see the module on indexes. Changes no answer.
fn implied(query: &Query, dialect: Dialect) -> Vec<(&'static str, Vec<&'static str>)> {
    let has = |field| query.filters.iter().any(|filter| filter.field == field);
    let has_dates = query.created_from.is_some() || query.created_to.is_some();
    if is_narrow(query) {
        return Vec::new();
    }
    let words = match query.list {
        List::Payments(_) if has_dates => ("status", words(PaymentStatus::ALL, |it| it.as_str())),
        List::Payouts(_) if has_dates => ("status", words(PayoutStatus::ALL, |it| it.as_str())),
        List::Refunds(_) if has_dates => ("status", words(RefundStatus::ALL, |it| it.as_str())),
        List::PaymentLinks(_) if has_dates => {
            ("status", words(PaymentLinkStatus::ALL, |it| it.as_str()))
        }
        List::Events(_) if has_dates => ("kind", words(EventKind::ALL, |it| it.as_str())),
        List::Deliveries(_) if has(Field::Endpoint) && dialect == Dialect::Sqlite => {
            ("status", words(DeliveryStatus::ALL, |it| it.as_str()))
        }
        List::Entries(_) => {
            return implied_of_entries(has(Field::LedgerAccount), has(Field::EntryKind), has_dates);
        }
        _ => return Vec::new(),
    };
    let is_said = has(if words.0 == "kind" { Field::EventKind } else { Field::Status });
    if is_said { Vec::new() } else { vec![words] }
}

fn implied_of_entries(
    account: bool,
    kind: bool,
    dates: bool,
) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut said = Vec::new();
    if !account && (kind || dates) {
        said.push(("ledger_account", words(LedgerAccountKind::ALL, |it| it.as_str())));
    }
    if !kind && dates {
        said.push(("kind", words(EntryKind::ALL, |it| it.as_str())));
    }
    said
}

fn words<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().copied().map(word).collect()
}
