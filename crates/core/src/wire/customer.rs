//! Customers as they travel (API §13).

use crate::value::{
    country::Country,
    email::Email,
    metadata::{Metadata, MetadataPatch},
    patch::Patch,
    phone::Phone,
    text::Text,
};

/// `POST /v1/customers` (API §13). One of name, email and phone is needed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreateCustomer {
    /// Name.
    pub name: Option<Text<100>>,
    /// E-mail address.
    pub email: Option<Email>,
    /// Phone.
    pub phone: Option<Phone>,
    /// Where they are.
    pub country: Option<Country>,
    /// The merchant's own name for them.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
}

/// `POST /v1/customers/:id` (API §13).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct ModifyCustomer {
    /// Name.
    pub name: Patch<Text<100>>,
    /// E-mail address.
    pub email: Patch<Email>,
    /// Phone.
    pub phone: Patch<Phone>,
    /// Where they are.
    pub country: Patch<Country>,
    /// The merchant's own name for them.
    pub reference: Patch<Text<100>>,
    /// For the merchant.
    pub metadata: MetadataPatch,
}
