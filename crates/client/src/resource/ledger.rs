//! The money and how it can be paid (API §8, §14), and what the API says of itself.

use cauri_core::{
    Currency,
    wire::{BalanceSheet, LedgerEntry, PaymentMethods},
};
use serde_json::value::RawValue;

use crate::{
    call::Call,
    client::Client,
    filter,
    listing::{Listing, Order, at},
};

impl Client {
    /// Retrieves the balance: of every currency that ever had an entry, or of one (API §8.4).
    pub fn balance(&self, currency: Option<Currency>) -> Call<BalanceSheet> {
        #[derive(serde::Serialize)]
        struct Filter {
            #[serde(skip_serializing_if = "Option::is_none")]
            currency: Option<Currency>,
        }
        self.get(at("/balance", &Filter { currency }))
    }

    /// Lists the lines of the ledger, newest first (API §8.3).
    pub fn ledger(&self, filter: &filter::Ledger) -> Listing<LedgerEntry> {
        Listing::new(self, "/ledger", "", filter, Order::NewestFirst)
    }

    /// Says how money can be paid in a country (API §14).
    pub fn payment_methods(&self, filter: &filter::PaymentMethods) -> Call<PaymentMethods> {
        self.get(at("/payment-methods", filter))
    }

    /// The API's own description, OpenAPI 3.1.
    pub fn description(&self) -> Call<Box<RawValue>> {
        self.get("/openapi.json")
    }
}
