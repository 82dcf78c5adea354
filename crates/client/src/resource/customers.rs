//! Customers (API §13).

use cauri_core::{
    CustomerId,
    wire::{CreateCustomer, Customer, ModifyCustomer},
};

use crate::{
    call::Call,
    client::Client,
    filter,
    listing::{Listing, Order},
};

/// What can be done with customers (API §13).
#[derive(Debug, Clone, Copy)]
pub struct Customers<'c>(pub(crate) &'c Client);

impl Customers<'_> {
    /// Creates a customer.
    pub fn create(&self, ask: &CreateCustomer) -> Call<Customer> {
        self.0.post("/customers", ask)
    }

    /// Retrieves a customer, with statistics.
    pub fn retrieve(&self, id: CustomerId) -> Call<Customer> {
        self.0.get(format!("/customers/{id}"))
    }

    /// Lists customers, newest first.
    pub fn list(&self, filter: &filter::Customers) -> Listing<Customer> {
        Listing::new(self.0, "/customers", "", filter, Order::NewestFirst)
    }

    /// Modifies a customer.
    pub fn modify(&self, id: CustomerId, ask: &ModifyCustomer) -> Call<Customer> {
        self.0.post(format!("/customers/{id}"), ask)
    }
}
