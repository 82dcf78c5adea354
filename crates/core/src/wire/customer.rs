//! Customers as they travel (API §13).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    field::{self, string},
    form::{Form, set},
    params::Params,
    private::{Mask, Private},
    report::Report,
    tag,
};
use crate::{
    error::{Fault, Faults, Problem},
    model::customer as model,
    value::{
        country::Country,
        currency::Currency,
        email::Email,
        id::CustomerId,
        metadata::{Metadata, MetadataPatch},
        money::{Amount, Overflow},
        patch::Patch,
        phone::Phone,
        scope::Environment,
        text::Text,
        time::Timestamp,
    },
};

/// `POST /v1/customers` (API §13). One of name, email and phone is needed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreateCustomer {
    /// Name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<100>>,
    /// E-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// Phone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<Phone>,
    /// Where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// The merchant's own name for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Text<100>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

/// `POST /v1/customers/:id` (API §13).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct ModifyCustomer {
    /// Name.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub name: Patch<Text<100>>,
    /// E-mail address.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub email: Patch<Email>,
    /// Phone.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub phone: Patch<Phone>,
    /// Where they are.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub country: Patch<Country>,
    /// The merchant's own name for them.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub reference: Patch<Text<100>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "MetadataPatch::is_keep")]
    pub metadata: MetadataPatch,
}

impl CreateCustomer {
    /// Reads it from a JSON object.
    ///
    /// # Errors
    /// Everything that is wrong with it, in field order.
    ///
    /// ```
    /// # use cauri_core::{Catalogue, Environment, Timestamp};
    /// use cauri_core::wire;
    /// # let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
    /// # let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH };
    /// let body = wire::parse_object(br#"{}"#)?;
    /// let faults = wire::CreateCustomer::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "name is required.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, _form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let customer = Self {
            name: params.optional("name", string(field::text)),
            email: params.optional("email", string(field::email)),
            phone: params.optional("phone", string(field::phone)),
            country: params.optional("country", string(field::known_country)),
            reference: params.optional("reference", string(field::text)),
            metadata: params.metadata(),
        };
        params.agree(named(["name", "email", "phone"].map(|field| params.has(field))));
        params.finish(Some(customer))
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::wire::CreateCustomer;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let faults = CreateCustomer::default().faults(&shop.form());
    /// assert_eq!(faults[0].to_string(), "name is required.");
    /// ```
    #[must_use]
    pub fn faults(&self, _form: &Form<'_>) -> Vec<Fault> {
        let Self { name, email, phone, country, reference: _, metadata } = self;
        let mut report = Report::default();
        report.declare("name");
        report.check("country", *country, field::is_known);
        report.declare("reference");
        report.metadata(metadata);
        report.agree(named([name.is_some(), email.is_some(), phone.is_some()]));
        report.into_faults()
    }
}

/// A customer without name, e-mail address and phone is nobody.
fn named(any: [bool; 3]) -> Vec<Fault> {
    if any.contains(&true) { Vec::new() } else { vec![Fault::at("name", Problem::Missing)] }
}

impl ModifyCustomer {
    /// Reads it from a JSON object.
    ///
    /// # Errors
    /// Everything that is wrong with it, in field order.
    ///
    /// ```
    /// # use cauri_core::{Catalogue, Environment, Timestamp};
    /// use cauri_core::wire;
    /// # let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
    /// # let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH };
    /// let body = wire::parse_object(br#"{"name":null}"#)?;
    /// let read = wire::ModifyCustomer::read(&body, &form).unwrap();
    /// assert_eq!(read.name, cauri_core::Patch::Clear);
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, _form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::modification(body);
        let customer = Self {
            name: params.patch("name", string(field::text)),
            email: params.patch("email", string(field::email)),
            phone: params.patch("phone", string(field::phone)),
            country: params.patch("country", string(field::known_country)),
            reference: params.patch("reference", string(field::text)),
            metadata: params.metadata_patch(),
        };
        params.finish(Some(customer))
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::{Patch, wire::ModifyCustomer};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let ask = ModifyCustomer { country: Patch::Set("ZZ".parse()?), ..Default::default() };
    /// assert_eq!(ask.faults(&shop.form())[0].to_string(), "country must be a country of ISO 3166-1.");
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub fn faults(&self, _form: &Form<'_>) -> Vec<Fault> {
        let mut report = Report::default();
        report.check("country", set(&self.country), |country| field::is_known(*country));
        report.metadata_patch(&self.metadata);
        report.into_faults()
    }
}

/// A customer (API §13).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Customer {
    /// Its id.
    pub id: CustomerId,
    /// `customer`.
    pub object: tag::Customer,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Name.
    pub name: Option<Private>,
    /// E-mail address.
    pub email: Option<Private>,
    /// Phone.
    pub phone: Option<Private>,
    /// Where they are.
    pub country: Option<Country>,
    /// The merchant's own name for them.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// What their payments add up to; only where one customer is retrieved, else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<CustomerStatistics>,
}

/// What a customer's payments add up to (API §13).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerStatistics {
    /// All payments.
    pub payments_count: i64,
    /// Payments that ever succeeded.
    pub succeeded_payments_count: i64,
    /// Payments that failed.
    pub failed_payments_count: i64,
    /// Refunds that succeeded.
    pub refunds_count: i64,
    /// When the first payment that ever succeeded was created.
    pub first_payment_at: Option<Timestamp>,
    /// When the last payment that ever succeeded was created.
    pub last_payment_at: Option<Timestamp>,
    /// The sums, sorted by currency.
    pub by_currency: Vec<CurrencyStatistics>,
}

/// The sums of one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurrencyStatistics {
    /// Which.
    pub currency: Currency,
    /// Payments that ever succeeded.
    pub succeeded_payments_count: i64,
    /// The sum of their amounts.
    pub paid_amount: Amount,
    /// The sum of their succeeded refunds.
    pub refunded_amount: Amount,
    /// The first less the second.
    pub net_paid_amount: Amount,
    /// The amount of one payment on average, rounded down.
    pub average_amount: Amount,
}

impl Customer {
    /// What is shown of a customer.
    ///
    /// # Errors
    /// [`Overflow`], for statistics that this crate did not add up.
    ///
    /// ```
    /// use cauri_core::wire::Customer;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let customer = Shop::open().customer("Awa Diop").value;
    /// let shown = serde_json::to_value(Customer::of(&customer, None)?)?;
    /// assert_eq!((&shown["object"], &shown["name"]), (&"customer".into(), &"Awa Diop".into()));
    /// assert!(shown.get("statistics").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(
        customer: &model::Customer,
        statistics: Option<&model::CustomerStatistics>,
    ) -> Result<Self, Overflow> {
        let model::Customer {
            id,
            scope,
            name,
            email,
            phone,
            country,
            reference,
            metadata,
            created_at,
            updated_at,
        } = customer;
        Ok(Self {
            id: *id,
            object: tag::Customer,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            name: name.as_ref().map(|name| name.as_str().into()),
            email: email.as_ref().map(|email| email.as_str().into()),
            phone: phone.as_ref().map(|phone| phone.as_str().into()),
            country: *country,
            reference: reference.clone(),
            metadata: metadata.clone(),
            created_at: *created_at,
            updated_at: *updated_at,
            statistics: statistics.map(CustomerStatistics::of).transpose()?,
        })
    }
}

impl CustomerStatistics {
    /// What is shown of statistics.
    ///
    /// # Errors
    /// [`Overflow`], for statistics that this crate did not add up.
    ///
    /// ```
    /// use cauri_core::{Amount, CustomerStatistics, wire};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let mut statistics = CustomerStatistics::default();
    /// statistics.add(&shop.paid(5_000).value)?;
    /// statistics.add(&shop.paid(6_001).value)?;
    /// let shown = wire::CustomerStatistics::of(&statistics)?;
    /// assert_eq!(shown.by_currency[0].average_amount, Amount::new(5_500)); // rounded down
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub fn of(statistics: &model::CustomerStatistics) -> Result<Self, Overflow> {
        let model::CustomerStatistics {
            payments_count,
            succeeded_payments_count,
            failed_payments_count,
            refunds_count,
            first_payment_at,
            last_payment_at,
            by_currency,
        } = statistics;
        Ok(Self {
            payments_count: *payments_count,
            succeeded_payments_count: *succeeded_payments_count,
            failed_payments_count: *failed_payments_count,
            refunds_count: *refunds_count,
            first_payment_at: *first_payment_at,
            last_payment_at: *last_payment_at,
            by_currency: by_currency
                .iter()
                .map(CurrencyStatistics::of)
                .collect::<Result<_, Overflow>>()?,
        })
    }
}

impl CurrencyStatistics {
    fn of(sums: &model::CurrencyStatistics) -> Result<Self, Overflow> {
        let model::CurrencyStatistics {
            currency,
            succeeded_payments_count,
            paid_amount,
            refunded_amount,
        } = *sums;
        let average = paid_amount.units().checked_div_euclid(succeeded_payments_count);
        Ok(Self {
            currency,
            succeeded_payments_count,
            paid_amount,
            refunded_amount,
            net_paid_amount: paid_amount.minus(refunded_amount)?,
            average_amount: average.map_or(Amount::ZERO, Amount::new),
        })
    }
}

impl Mask for Customer {
    fn masked(self) -> Self {
        let name = self.name.as_ref().map(Private::masked_name);
        let email = self.email.as_ref().map(Private::masked_email);
        let phone = self.phone.as_ref().map(Private::masked_phone);
        Self { name, email, phone, metadata: Metadata::default(), ..self }
    }
}
