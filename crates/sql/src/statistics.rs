//! What a customer's payments add up to, counted by the database.

use cauri_core::{
    Amount, CurrencyStatistics, CustomerId, CustomerStatistics, Overflow, RecordKind, Scope,
    Timestamp,
};
use sea_query::{Expr, ExprTrait, Query, SelectStatement};

use crate::{
    cell::{Column, Kind},
    codec::Scalar,
    lookup::{also_of_scope, value},
    row::{Reader, RowError, RowReader},
    table::Table,
};

const COLUMNS: [Column; 9] = [
    Column::new("currency", Kind::Text),
    Column::new("payments", Kind::Int),
    Column::new("succeeded", Kind::Int),
    Column::new("failed", Kind::Int),
    Column::new("refunds", Kind::Int),
    Column::or_null("first", Kind::Int),
    Column::or_null("last", Kind::Int),
    Column::new("paid", Kind::Int),
    Column::new("refunded", Kind::Int),
];

/// One row for each currency of the customer's payments; read them with [`StatisticsRows`]. The
/// database answers an error when a sum does not fit into 64 bits.
#[must_use]
pub fn statistics(scope: Scope, customer: CustomerId) -> SelectStatement {
    // Casts, since Postgres adds bigints up to a numeric.
    let sum = |column: &str| {
        Expr::cust(format!(
            "cast(coalesce(sum(case when succeeded_at is not null then {column} else 0 end), 0) \
             as bigint)"
        ))
    };
    Query::select()
        .column("currency")
        .expr(Expr::cust("count(*)"))
        .expr(Expr::cust("count(succeeded_at)"))
        .expr(Expr::cust("count(failed_at)"))
        .expr(sum("refunds_count"))
        .expr(Expr::cust("min(case when succeeded_at is not null then created_at end)"))
        .expr(Expr::cust("max(case when succeeded_at is not null then created_at end)"))
        .expr(sum("amount"))
        .expr(sum("refunded_amount"))
        .from(Table::of(RecordKind::Payment).name())
        .cond_where(also_of_scope(scope))
        .and_where(Expr::col("customer").eq(value(customer.cell(), Kind::Id)))
        .group_by_col("currency")
        .take()
}

/// Puts the rows of [`statistics`] together, equal to [`CustomerStatistics::add`] over all
/// payments.
#[derive(Debug, Default)]
pub struct StatisticsRows(CustomerStatistics);

impl StatisticsRows {
    /// Takes one row, in any order.
    ///
    /// # Errors
    /// [`RowError`] when it is none, or when a sum over all currencies does not fit.
    pub fn add<R: RowReader + ?Sized>(&mut self, row: &R) -> Result<(), RowError> {
        let mut reader = Reader::new("statistics", &COLUMNS, row);
        let sums = &mut self.0;
        let currency = reader.take()?;
        let mut count = |to: &mut i64| {
            let (cell, place) = reader.cell()?;
            let count = i64::read(cell).map_err(|wrong| place.wrong(wrong))?;
            *to = to.checked_add(count).ok_or_else(|| place.wrong(Overflow))?;
            Ok(count)
        };
        count(&mut sums.payments_count)?;
        let succeeded = count(&mut sums.succeeded_payments_count)?;
        count(&mut sums.failed_payments_count)?;
        count(&mut sums.refunds_count)?;
        let first = reader.take::<Option<Timestamp>>()?;
        sums.first_payment_at = sums.first_payment_at.into_iter().chain(first).min();
        let last = reader.take::<Option<Timestamp>>()?;
        sums.last_payment_at = sums.last_payment_at.into_iter().chain(last).max();
        let paid_amount = reader.take::<Amount>()?;
        let refunded_amount = reader.take::<Amount>()?;
        if succeeded > 0 {
            sums.by_currency.push(CurrencyStatistics {
                currency,
                succeeded_payments_count: succeeded,
                paid_amount,
                refunded_amount,
            });
        }
        Ok(())
    }

    /// The sums, sorted by currency.
    #[must_use]
    pub fn finish(self) -> CustomerStatistics {
        let mut sums = self.0;
        sums.by_currency.sort_by_key(|it| it.currency);
        sums
    }

    /// What each column of [`statistics`] holds, in order.
    #[must_use]
    pub const fn columns() -> &'static [Column] {
        &COLUMNS
    }
}
