//! Customers (API §13).

use cauri_core::{
    Customer, CustomerId, Error as Refused, Key, List as Listing, Query,
    decide::customer,
    wire::{self, CreateCustomer, List, Mask, ModifyCustomer},
};

use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::Shape,
    store_ext::StoreExt,
};

impl Engine {
    /// `POST /v1/customers`: creates a customer.
    ///
    /// # Errors
    /// What API §13 names, or [`Error::Store`].
    pub async fn create_customer(
        &self,
        call: &Call,
        ask: CreateCustomer,
    ) -> Result<Reply<wire::Customer>, Error> {
        call.caller.may_write()?;
        let shape = Shape::created("create_customer", |it: &wire::Customer| {
            format!("/v1/customers/{}", it.id)
        });
        self.run(call, shape, Vec::new(), |_, cx| customer::create(ask.clone(), cx)).await
    }

    /// `POST /v1/customers/:id`: modifies a customer.
    ///
    /// # Errors
    /// [`Refused::NotFound`], what API §13 names, or [`Error::Store`].
    pub async fn modify_customer(
        &self,
        call: &Call,
        id: CustomerId,
        ask: ModifyCustomer,
    ) -> Result<Reply<wire::Customer>, Error> {
        call.caller.may_write()?;
        let keys = vec![Key::Customer(call.caller.scope, id)];
        self.run(call, Shape::done("modify_customer"), keys, |mut loaded, cx| {
            let found = loaded.take(0).ok_or(Refused::NotFound("customer"))?;
            customer::modify(ask.clone(), found, cx)
        })
        .await
    }

    /// `GET /v1/customers/:id`: the customer with its statistics.
    ///
    /// # Errors
    /// [`Refused::NotFound`], or [`Error::Store`].
    pub async fn customer(&self, caller: &Caller, id: CustomerId) -> Result<wire::Customer, Error> {
        let key = Key::Customer(caller.scope, id);
        self.case("customer", caller.scope, None, async {
            let found =
                self.0.store.find::<Customer>(key).await?.ok_or(Refused::NotFound("customer"))?;
            let statistics = self.0.store.statistics(caller.scope, id).await?;
            let shown =
                wire::Customer::of(&found.value, Some(&statistics)).map_err(Refused::from)?;
            Ok(if self.masks(caller) { shown.masked() } else { shown })
        })
        .await
    }

    /// `GET /v1/customers`.
    ///
    /// # Errors
    /// [`Error::OtherList`], or [`Error::Store`].
    pub async fn customers(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<List<wire::Customer>, Error> {
        let of = Listing::Customers(caller.scope);
        self.listed(caller, "customers", of, query, |it: &Customer| wire::Customer::of(it, None))
            .await
    }
}
