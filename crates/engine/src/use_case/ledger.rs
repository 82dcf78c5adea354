//! Balance, ledger and payment methods (API §8, §14).

use cauri_core::{
    Country, Currency, Error as Refused, List as Listing, Query,
    wire::{BalanceSheet, LedgerEntry, List, PaymentMethods},
};

use super::only;
use crate::{call::Caller, engine::Engine, error::Error};

impl Engine {
    /// `GET /v1/balance`, of one currency where one is named.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn balance(
        &self,
        caller: &Caller,
        currency: Option<Currency>,
    ) -> Result<BalanceSheet, Error> {
        self.case("balance", caller.scope, None, async {
            let balances = self.0.store.balances(caller.scope).await?;
            Ok(BalanceSheet::of(caller.scope, &balances, currency).map_err(Refused::from)?)
        })
        .await
    }

    /// `GET /v1/ledger`. The query is one of `wire::query::ledger`.
    ///
    /// # Errors
    /// [`Error::OtherList`], or [`Error::Store`].
    pub async fn ledger(&self, caller: &Caller, query: &Query) -> Result<List<LedgerEntry>, Error> {
        self.case("ledger", caller.scope, None, async {
            only(Listing::Entries(caller.scope), query)?;
            let listed = self.0.store.entries(query).await?;
            let list = List::each(listed, query.page, |it| LedgerEntry::of(&it));
            Ok(list.map_err(Refused::from)?)
        })
        .await
    }

    /// `GET /v1/payment-methods` of a country, in its first currency unless one is named.
    ///
    /// # Errors
    /// A country or a currency that is not offered.
    pub fn payment_methods(
        &self,
        caller: &Caller,
        country: Country,
        currency: Option<Currency>,
    ) -> Result<PaymentMethods, Error> {
        let environment = caller.scope.environment;
        let catalogue = &self.0.terms.offers(environment).catalogue;
        let (currency, methods) =
            catalogue.methods(country, currency).map_err(Refused::catalogue)?;
        let shown = PaymentMethods::of(environment, country, currency, &methods);
        Ok(shown.map_err(Refused::from)?)
    }
}
