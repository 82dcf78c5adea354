//! Customers: the merchant's records of who pays (API §13).

use super::payment::Payment;
use crate::value::{
    country::Country,
    currency::Currency,
    email::Email,
    id::CustomerId,
    metadata::Metadata,
    money::{Amount, Overflow},
    phone::Phone,
    scope::Scope,
    text::Text,
    time::Timestamp,
};

/// A customer as it is stored. What the API shows of it is [`crate::wire::Customer`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores map every field")]
pub struct Customer {
    /// Its id.
    pub id: CustomerId,
    /// Whose it is.
    pub scope: Scope,
    /// Name; one of name, email and phone is always there.
    pub name: Option<Text<100>>,
    /// E-mail address.
    pub email: Option<Email>,
    /// Phone, used for payments that name this customer and no phone.
    pub phone: Option<Phone>,
    /// Where they are.
    pub country: Option<Country>,
    /// The merchant's own name for them; not unique.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// When the record was made.
    pub created_at: Timestamp,
    /// Strictly increasing with every change of a visible field (API §19.5).
    pub updated_at: Timestamp,
}

/// What a customer's payments add up to (API §13).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "stores fill every field")]
pub struct CustomerStatistics {
    /// All payments.
    pub payments_count: i64,
    /// Payments that ever succeeded.
    pub succeeded_payments_count: i64,
    /// Payments that failed.
    pub failed_payments_count: i64,
    /// Refunds that succeeded.
    pub refunds_count: i64,
    /// `created_at` of the first payment that ever succeeded.
    pub first_payment_at: Option<Timestamp>,
    /// `created_at` of the last payment that ever succeeded.
    pub last_payment_at: Option<Timestamp>,
    /// Sums of payments that ever succeeded, sorted by currency.
    pub by_currency: Vec<CurrencyStatistics>,
}

/// The sums of one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores fill every field")]
pub struct CurrencyStatistics {
    /// Which.
    pub currency: Currency,
    /// Payments that ever succeeded.
    pub succeeded_payments_count: i64,
    /// The sum of their amounts.
    pub paid_amount: Amount,
    /// The sum of their succeeded refunds.
    pub refunded_amount: Amount,
}

impl CustomerStatistics {
    /// Counts one more payment: the definition that stores which count by themselves must match.
    ///
    /// # Errors
    /// [`Overflow`] when a sum does not fit into 64 bits.
    ///
    /// ```
    /// use cauri_core::{Amount, CustomerStatistics};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let mut statistics = CustomerStatistics::default();
    /// statistics.add(&shop.payment(3_000).value)?;
    /// statistics.add(&shop.paid(5_000).value)?;
    /// assert_eq!((statistics.payments_count, statistics.succeeded_payments_count), (2, 1));
    /// assert_eq!(statistics.by_currency[0].paid_amount, Amount::new(5_000));
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub fn add(&mut self, payment: &Payment) -> Result<(), Overflow> {
        let more = |count: i64| count.checked_add(1).ok_or(Overflow);
        self.payments_count = more(self.payments_count)?;
        if payment.failed_at.is_some() {
            self.failed_payments_count = more(self.failed_payments_count)?;
        }
        if payment.succeeded_at.is_none() {
            return Ok(());
        }
        self.succeeded_payments_count = more(self.succeeded_payments_count)?;
        self.refunds_count =
            self.refunds_count.checked_add(payment.refunds_count).ok_or(Overflow)?;
        let at = payment.created_at;
        self.first_payment_at = Some(self.first_payment_at.map_or(at, |first| first.min(at)));
        self.last_payment_at = Some(self.last_payment_at.map_or(at, |last| last.max(at)));
        let place = self.by_currency.binary_search_by_key(&payment.currency, |sums| sums.currency);
        let at = place.unwrap_or_else(|at| {
            let none = CurrencyStatistics {
                currency: payment.currency,
                succeeded_payments_count: 0,
                paid_amount: Amount::ZERO,
                refunded_amount: Amount::ZERO,
            };
            self.by_currency.insert(at, none);
            at
        });
        if let Some(sums) = self.by_currency.get_mut(at) {
            sums.succeeded_payments_count = more(sums.succeeded_payments_count)?;
            sums.paid_amount = sums.paid_amount.plus(payment.amount)?;
            sums.refunded_amount = sums.refunded_amount.plus(payment.refunded_amount)?;
        }
        Ok(())
    }
}
