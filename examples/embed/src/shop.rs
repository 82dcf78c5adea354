//! What the shop does, whichever database it has.

use cauri::{
    Amount, Call, Caller, Currency, Engine, Network, PaymentMethod, Phone,
    wire::{CreatePayment, Payment},
};
use sqlx::{Database, Transaction};

/// Whatever goes wrong in an example.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What somebody wants to buy.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct Order {
    /// The shop's own number: its table has each only once.
    pub number: i64,
    /// What it costs, in the currency's smallest unit.
    pub price: Amount,
    /// In which currency.
    pub currency: Currency,
    /// Over which network it is paid.
    pub network: Network,
    /// The payer's phone.
    pub phone: Phone,
}

impl Order {
    /// The payment that is asked for it.
    #[must_use]
    pub fn payment(&self) -> CreatePayment {
        CreatePayment {
            amount: Some(self.price),
            currency: Some(self.currency),
            network: Some(self.network.clone()),
            phone: Some(self.phone.clone()),
            reference: format!("ORDER-{}", self.number).parse().ok(),
            ..CreatePayment::by(PaymentMethod::MobileMoney)
        }
    }
}

/// An order and its payment, written and not yet committed. Dropping it rolls both back.
#[derive(Debug)]
pub struct Placed<D: Database> {
    pub(crate) transaction: Transaction<'static, D>,
    pub(crate) payment: Payment,
}

impl<D: Database> Placed<D> {
    /// The payment, as it will be when this is committed.
    #[must_use]
    pub const fn payment(&self) -> &Payment {
        &self.payment
    }

    /// Makes both true.
    ///
    /// # Errors
    /// What the database says; then neither is true.
    pub async fn commit(self) -> Result<Payment, Failure> {
        self.transaction.commit().await?;
        Ok(self.payment)
    }

    /// Makes neither true.
    ///
    /// # Errors
    /// What the database says; neither is true all the same.
    pub async fn rollback(self) -> Result<(), Failure> {
        Ok(self.transaction.rollback().await?)
    }
}

/// A shop on one database or the other.
#[expect(async_fn_in_trait, reason = "its two implementations are here")]
pub trait Shop {
    /// The database.
    type Database: Database;

    /// The engine over the shop's database.
    fn engine(&self) -> &Engine;

    /// Writes an order and its payment within one transaction of the shop's.
    ///
    /// # Errors
    /// The shop's: the order's number is taken. cauri's: the payment was refused. In both cases
    /// nothing was written.
    async fn place(&self, caller: Caller, order: &Order)
    -> Result<Placed<Self::Database>, Failure>;

    /// The payment of each order, by the orders' numbers.
    ///
    /// # Errors
    /// What the database says.
    async fn orders(&self) -> Result<Vec<(i64, String)>, Failure>;

    /// Places an order and commits it.
    ///
    /// # Errors
    /// As [`Shop::place`] and [`Placed::commit`].
    async fn sell(&self, caller: Caller, order: &Order) -> Result<Payment, Failure> {
        self.place(caller, order).await?.commit().await
    }
}

/// Creates the payment of an order; over the store of a transaction, within it.
pub(crate) async fn pay(
    engine: &Engine,
    caller: Caller,
    order: &Order,
) -> Result<Payment, cauri::Error> {
    Ok(engine.create_payment(&Call::by(caller), order.payment()).await?.object)
}
