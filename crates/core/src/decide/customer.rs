//! Customers: created and modified (API §13). No events.

use super::draft::{Context, Decision, Draft, touched};
use crate::{
    commit::record::Versioned,
    error::{Error, Fault, Faults, Problem},
    model::customer::Customer,
    wire::{self, CreateCustomer, ModifyCustomer, report::TOO_MANY_KEYS},
};

/// Creates a customer.
///
/// # Errors
/// A customer without name, e-mail address and phone.
///
/// ```
/// use cauri_core::{decide, wire::CreateCustomer};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let ask = CreateCustomer { email: Some("awa@example.com".parse()?), ..Default::default() };
/// let customer = decide::customer::create(ask, &mut shop.context())?.value;
/// assert_eq!(customer.email.as_ref().map(|email| email.as_str()), Some("awa@example.com"));
/// let nobody = decide::customer::create(CreateCustomer::default(), &mut shop.context());
/// assert_eq!(nobody.unwrap_err().code(), "parameter_missing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create(
    ask: CreateCustomer,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Customer>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    let now = cx.env.now();
    let customer = Customer {
        id: cx.env.id(),
        scope: cx.scope,
        name: ask.name,
        email: ask.email,
        phone: ask.phone,
        country: ask.country,
        reference: ask.reference,
        metadata: ask.metadata,
        created_at: now,
        updated_at: now,
    };
    let shown = wire::Customer::of(&customer, None)?;
    let mut draft = Draft::new(cx);
    draft.changes.insert(customer, None);
    Ok(draft.decided(shown))
}

/// Modifies a customer.
///
/// # Errors
/// Wrong parameters; a customer that would be left without name, e-mail address and phone.
///
/// ```
/// use cauri_core::{Patch, decide, wire::ModifyCustomer};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let customer = shop.customer("Awa Diop");
/// let ask = ModifyCustomer { email: Patch::Set("awa@example.com".parse()?), ..Default::default() };
/// let decision = decide::customer::modify(ask, customer, &mut shop.context());
/// let customer = shop.done(decision);
/// assert!(customer.name.is_some() && customer.email.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn modify(
    ask: ModifyCustomer,
    customer: Versioned<Customer>,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::Customer>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    let Versioned { value: mut customer, version, .. } = customer;
    let ModifyCustomer { name, email, phone, country, reference, metadata } = ask;
    customer.name = name.applied(&customer.name);
    customer.email = email.applied(&customer.email);
    customer.phone = phone.applied(&customer.phone);
    customer.country = country.applied(&customer.country);
    customer.reference = reference.applied(&customer.reference);
    let mut faults = Vec::new();
    if customer.name.is_none() && customer.email.is_none() && customer.phone.is_none() {
        faults.push(Fault::at("name", Problem::Missing));
    }
    match customer.metadata.patched(&metadata) {
        Ok(patched) => customer.metadata = patched,
        Err(_) => faults.push(Fault::at("metadata", TOO_MANY_KEYS)),
    }
    Faults::none(faults)?;
    customer.updated_at = touched(customer.updated_at, cx.env.now());
    let shown = wire::Customer::of(&customer, None)?;
    let mut draft = Draft::new(cx);
    draft.changes.update(customer, version, None);
    Ok(draft.decided(shown))
}
