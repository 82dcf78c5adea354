//! Query parameters: what lists are asked for (API §2.1).
//!
//! Every function takes the decoded pairs of a query string and reports every fault at once:
//! filters first, then dates, `limit` and `offset`, then what is no parameter here.

use std::{collections::BTreeMap, fmt, str::FromStr};

use super::{field, report::Report};
use crate::{
    commit::query::{Field, FieldValue, List, Query},
    error::{Fault, Faults, Problem},
    model::{
        delivery::DeliveryStatus,
        event::EventKind,
        ledger::{Direction, EntryKind, LedgerAccountKind},
        payment::PaymentStatus,
        payment_link::PaymentLinkStatus,
        payout::PayoutStatus,
        refund::RefundStatus,
        scenario::ScenarioKind,
    },
    value::{
        country::Country,
        currency::Currency,
        email::Email,
        id::{
            CustomerId, EndpointId, EventId, Id, OrderId, PaymentId, PaymentLinkId, ResourceId,
            TransactionId,
        },
        method::PaymentMethod,
        page::Page,
        phone::Phone,
        scope::Scope,
    },
};

/// `GET /v1/payments` (API §9.6).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// use cauri_core::{Environment, Scope, wire::query};
/// let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// let scope = Scope { account, environment: Environment::Sandbox };
/// let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
/// let asked = query::payments(scope, &[pair("status", "failed"), pair("limit", "5")]);
/// assert_eq!(asked.map(|query| (query.filters.len(), query.page.limit())), Ok((1, 5)));
/// let wrong = query::payments(scope, &[pair("statut", "failed"), pair("limit", "0")]);
/// let codes = wrong.map_err(|faults| {
///     faults.all().iter().map(|fault| fault.problem.code()).collect::<Vec<_>>()
/// });
/// assert_eq!(codes.map(|_| ()), Err(vec!["parameter_invalid", "parameter_unknown"]));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn payments(scope: Scope, pairs: &[(String, String)]) -> Result<Query, Faults> {
    Asked::of(List::Payments(scope), pairs)
        .filter("status", Field::Status, one_of(PaymentStatus::ALL))
        .filter("currency", Field::Currency, currency)
        .filter("country", Field::Country, country)
        .filter("payment_method", Field::PaymentMethod, one_of(PaymentMethod::ALL))
        .filter("network", Field::Network, network)
        .filter("customer", Field::Customer, id::<CustomerId>)
        .filter("payment_link", Field::PaymentLink, id::<PaymentLinkId>)
        .filter("reference", Field::Reference, reference)
        .finish()
}

/// `GET /v1/payment-links` (API §12).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let asked = query::payment_links(scope, &[("active".into(), "false".into())]);
/// assert!(asked.is_ok_and(|query| query.filters.len() == 1));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn payment_links(scope: Scope, pairs: &[(String, String)]) -> Result<Query, Faults> {
    Asked::of(List::PaymentLinks(scope), pairs)
        .filter("status", Field::Status, one_of(PaymentLinkStatus::ALL))
        .filter("active", Field::Active, flag)
        .filter("reference", Field::Reference, reference)
        .filter("currency", Field::Currency, currency)
        .finish()
}

/// `GET /v1/payment-links/:id/payments` (API §12).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let link = "plink_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// let asked = query::link_payments(scope, link, &[("status".into(), "failed".into())]);
/// assert!(asked.is_ok_and(|query| query.filters.len() == 2)); // the status and the link
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn link_payments(
    scope: Scope,
    link: PaymentLinkId,
    pairs: &[(String, String)],
) -> Result<Query, Faults> {
    let asked = Asked::of(List::Payments(scope), pairs)
        .filter("status", Field::Status, one_of(PaymentStatus::ALL))
        .finish();
    asked.map(|query| query.with(Field::PaymentLink, FieldValue::Id(link.uuid())))
}

/// `GET /v1/payouts` (API §10).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let asked = query::payouts(scope, &[("status".into(), "created".into())]);
/// assert!(asked.is_ok_and(|query| query.filters.len() == 1));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn payouts(scope: Scope, pairs: &[(String, String)]) -> Result<Query, Faults> {
    Asked::of(List::Payouts(scope), pairs)
        .filter("status", Field::Status, one_of(PayoutStatus::ALL))
        .filter("currency", Field::Currency, currency)
        .filter("country", Field::Country, country)
        .filter("network", Field::Network, network)
        .filter("customer", Field::Customer, id::<CustomerId>)
        .filter("reference", Field::Reference, reference)
        .finish()
}

/// `GET /v1/refunds` (API §11).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let asked = query::refunds(scope, &[("status".into(), "failed".into())]);
/// assert!(asked.is_ok_and(|query| query.filters.len() == 1));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn refunds(scope: Scope, pairs: &[(String, String)]) -> Result<Query, Faults> {
    Asked::of(List::Refunds(scope), pairs)
        .filter("status", Field::Status, one_of(RefundStatus::ALL))
        .filter("payment", Field::Payment, id::<PaymentId>)
        .filter("currency", Field::Currency, currency)
        .filter("reference", Field::Reference, reference)
        .finish()
}

/// `GET /v1/customers` (API §13).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let asked = query::customers(scope, &[("reference".into(), "U-9".into())]);
/// assert!(asked.is_ok_and(|query| query.filters.len() == 1));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn customers(scope: Scope, pairs: &[(String, String)]) -> Result<Query, Faults> {
    Asked::of(List::Customers(scope), pairs)
        .filter("email", Field::Email, email)
        .filter("phone", Field::Phone, phone)
        .filter("reference", Field::Reference, reference)
        .finish()
}

/// `GET /v1/webhooks` (API §16.1): endpoints that are not deleted.
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let asked = query::webhook_endpoints(scope, &[("limit".into(), "5".into())]);
/// assert!(asked.is_ok_and(|query| query.filters.len() == 1));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn webhook_endpoints(scope: Scope, pairs: &[(String, String)]) -> Result<Query, Faults> {
    let asked = Asked::of(List::WebhookEndpoints(scope), pairs).finish();
    asked.map(|query| query.with(Field::Deleted, FieldValue::Flag(false)))
}

/// `GET /v1/webhooks/deliveries` (API §16.3).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let asked = query::deliveries(scope, &[("status".into(), "pending".into())]);
/// assert!(asked.is_ok_and(|query| query.filters.len() == 1));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn deliveries(scope: Scope, pairs: &[(String, String)]) -> Result<Query, Faults> {
    Asked::of(List::Deliveries(scope), pairs)
        .filter("webhook_endpoint", Field::Endpoint, id::<EndpointId>)
        .filter("event", Field::Event, id::<EventId>)
        .filter("event_type", Field::EventKind, one_of(EventKind::ALL))
        .filter("status", Field::Status, one_of(DeliveryStatus::ALL))
        .finish()
}

/// Which events are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct Events {
    /// Which part of the list, of which kind, from when to when.
    pub query: Query,
    /// Only those about this.
    pub resource: Option<ResourceId>,
}

/// `GET /v1/events` (API §22.1).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
/// let asked = query::events(scope, &[pair("resource", "plink_01jd3w8k4f7q2m9x5r6t0v1b3c")]);
/// assert!(asked.is_ok_and(|asked| asked.resource.is_some()));
/// assert!(query::events(scope, &[pair("resource", "whe_01jd3w8k4f7q2m9x5r6t0v1b3c")]).is_err());
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn events(scope: Scope, pairs: &[(String, String)]) -> Result<Events, Faults> {
    let mut asked = Asked::of(List::Events(scope), pairs).filter(
        "type",
        Field::EventKind,
        one_of(EventKind::ALL),
    );
    let resource = asked.pairs.optional("resource", |text| {
        text.parse().map_err(|_| {
            Problem::invalid("must be the id of a payment, a payment link, a payout or a refund")
        })
    });
    asked.finish().map(|query| Events { query, resource })
}

/// `GET /v1/ledger` (API §8.3).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::wire::query;
/// let asked = query::ledger(scope, &[("account".into(), "fees".into())]);
/// assert!(asked.is_ok_and(|query| query.filters.len() == 1));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn ledger(scope: Scope, pairs: &[(String, String)]) -> Result<Query, Faults> {
    Asked::of(List::Entries(scope), pairs)
        .filter("currency", Field::Currency, currency)
        .filter("account", Field::LedgerAccount, one_of(LedgerAccountKind::ALL))
        .filter("direction", Field::Direction, one_of(Direction::ALL))
        .filter("type", Field::EntryKind, one_of(EntryKind::ALL))
        .filter("source", Field::Source, order_id)
        .filter("transaction", Field::Transaction, id::<TransactionId>)
        .finish()
}

/// `GET /v1/payments/:id/timeline` (API §9.7).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// # use cauri_core::{Environment, Scope};
/// # let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// # let scope = Scope { account, environment: Environment::Sandbox };
/// use cauri_core::{List, wire::query};
/// let payment = "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// let asked = query::timeline(scope, payment, &[("limit".into(), "5".into())]);
/// assert_eq!(asked.map(|query| query.list), Ok(List::Timeline(scope, payment)));
/// # Ok::<(), cauri_core::IdError>(())
/// ```
pub fn timeline(
    scope: Scope,
    payment: PaymentId,
    pairs: &[(String, String)],
) -> Result<Query, Faults> {
    Asked::of(List::Timeline(scope, payment), pairs).finish()
}

/// Which scenarios are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct Scenarios {
    /// Only those that can be played on this.
    pub applies_to: Option<ScenarioKind>,
    /// Which part.
    pub page: Page,
}

/// `GET /v1/sandbox/scenarios` (API §17.1).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// use cauri_core::{ScenarioKind, wire::query};
/// let asked = query::scenarios(&[("applies_to".into(), "payout".into())]);
/// assert_eq!(asked.map(|asked| asked.applies_to), Ok(Some(ScenarioKind::Payout)));
/// ```
pub fn scenarios(pairs: &[(String, String)]) -> Result<Scenarios, Faults> {
    let mut pairs = Pairs::new(pairs);
    let applies_to = pairs.optional("applies_to", field::word(ScenarioKind::ALL));
    let page = pairs.page();
    pairs.finish(Some(Scenarios { applies_to, page }))
}

/// Where and in which currency money is to be paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct PaymentMethods {
    /// Where.
    pub country: Country,
    /// In which currency; `None` means in the country's first.
    pub currency: Option<Currency>,
}

/// `GET /v1/payment-methods` (API §14).
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// use cauri_core::wire::query;
/// let asked = query::payment_methods(&[("country".into(), "CI".into())]);
/// assert!(asked.is_ok_and(|asked| asked.currency.is_none()));
/// assert!(query::payment_methods(&[]).is_err());
/// ```
pub fn payment_methods(pairs: &[(String, String)]) -> Result<PaymentMethods, Faults> {
    let mut pairs = Pairs::new(pairs);
    let country = pairs.required("country", field::country);
    let currency = pairs.optional("currency", field::currency);
    pairs.finish(country.map(|country| PaymentMethods { country, currency }))
}

/// `GET /v1/balance` (API §8.4): the one currency that is wanted, if it is one.
///
/// # Errors
/// Everything that is wrong with the parameters.
///
/// ```
/// use cauri_core::wire::query;
/// assert_eq!(query::balance(&[]), Ok(None));
/// assert!(query::balance(&[("currency".into(), "xof".into())]).is_err());
/// ```
pub fn balance(pairs: &[(String, String)]) -> Result<Option<Currency>, Faults> {
    let mut pairs = Pairs::new(pairs);
    let currency = pairs.optional("currency", field::known_currency);
    pairs.finish(Some(currency))
}

/// The parameters of one list, read one after another.
struct Asked<'p> {
    pairs: Pairs<'p>,
    query: Query,
}

impl<'p> Asked<'p> {
    fn of(list: List, pairs: &'p [(String, String)]) -> Self {
        Self { pairs: Pairs::new(pairs), query: Query::all(list) }
    }

    fn filter(
        mut self,
        name: &'static str,
        field: Field,
        read: impl FnOnce(&str) -> Result<FieldValue, Problem>,
    ) -> Self {
        match self.pairs.optional(name, read) {
            Some(value) => Self { query: self.query.with(field, value), ..self },
            None => self,
        }
    }

    fn finish(self) -> Result<Query, Faults> {
        let Self { mut pairs, mut query } = self;
        query.created_from = pairs.optional("created_from", field::date);
        query.created_to = pairs.optional("created_to", field::date);
        query.page = pairs.page();
        pairs.finish(Some(query))
    }
}

/// Decoded pairs, each name at most once.
struct Pairs<'p> {
    values: BTreeMap<&'p str, Vec<&'p str>>,
    report: Report,
}

impl<'p> Pairs<'p> {
    fn new(pairs: &'p [(String, String)]) -> Self {
        let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, value) in pairs {
            values.entry(name).or_default().push(value);
        }
        Self { values, report: Report::default() }
    }

    fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Option<T> {
        self.report.declare(name);
        let value = match self.values.get(name)?.as_slice() {
            [value] => read(value),
            _ => Err(Problem::invalid("must be given once")),
        };
        value.map_err(|problem| self.report.fault(name, problem)).ok()
    }

    fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Option<T> {
        if !self.values.contains_key(name) {
            self.report.fault(name, Problem::Missing);
        }
        self.optional(name, read)
    }

    fn page(&mut self) -> Page {
        let limit = self.optional("limit", limit).unwrap_or(Page::default().limit());
        let offset = self.optional("offset", offset).unwrap_or(0);
        Page::new(limit, offset).unwrap_or_default()
    }

    fn finish<T>(self, asked: Option<T>) -> Result<T, Faults> {
        self.report.finish(self.values.keys().copied())?;
        // What could not be read was reported, so that without faults there is something.
        asked.ok_or_else(|| Fault::overall(Problem::Missing).into())
    }
}

fn limit(text: &str) -> Result<u8, Problem> {
    natural(text)
        .and_then(|number| u8::try_from(number).ok())
        .filter(|limit| (1..=Page::LIMIT_MAX).contains(limit))
        .ok_or(Problem::invalid("must be an integer from 1 to 100"))
}

fn offset(text: &str) -> Result<i64, Problem> {
    natural(text).ok_or(Problem::invalid("must be an integer from 0 to 9223372036854775807"))
}

/// A number as JSON would write it: digits alone, none of them an idle zero.
fn natural(text: &str) -> Option<i64> {
    let idle = text.len() > 1 && text.starts_with('0');
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits && !idle { text.parse().ok() } else { None }
}

/// A word of a closed list, as it is compared.
fn one_of<T: Copy + fmt::Display + FromStr>(
    all: &'static [T],
) -> impl FnOnce(&str) -> Result<FieldValue, Problem> {
    move |text| field::word(all)(text).map(|word| FieldValue::Text(word.to_string()))
}

/// In a filter, what ISO does not list is as wrong as any unknown word (API §2.1).
fn currency(text: &str) -> Result<FieldValue, Problem> {
    field::known_currency(text).map(|currency| FieldValue::Text(currency.code().to_owned()))
}

fn country(text: &str) -> Result<FieldValue, Problem> {
    field::known_country(text).map(|country| FieldValue::Text(country.code().to_owned()))
}

fn network(text: &str) -> Result<FieldValue, Problem> {
    field::network(text).map(|network| FieldValue::Text(network.as_str().to_owned()))
}

fn reference(text: &str) -> Result<FieldValue, Problem> {
    field::text::<100>(text).map(|reference| FieldValue::Text(reference.as_str().to_owned()))
}

fn email(text: &str) -> Result<FieldValue, Problem> {
    field::email(text).map(|email: Email| FieldValue::Text(email.folded()))
}

fn phone(text: &str) -> Result<FieldValue, Problem> {
    let phone: Phone =
        text.parse().map_err(|_| Problem::invalid("must be a phone number in E.164 form"))?;
    Ok(FieldValue::Text(phone.as_str().to_owned()))
}

fn flag(text: &str) -> Result<FieldValue, Problem> {
    match text {
        "true" => Ok(FieldValue::Flag(true)),
        "false" => Ok(FieldValue::Flag(false)),
        _ => Err(Problem::invalid("must be true or false")),
    }
}

/// In a filter an id of another kind is malformed: nothing is looked up by it.
fn id<T: Id>(text: &str) -> Result<FieldValue, Problem> {
    let id: T = text.parse().map_err(|_| {
        Problem::Invalid(format!("must be an id that begins with {}_", T::PREFIX).into())
    })?;
    Ok(FieldValue::Id(id.uuid()))
}

fn order_id(text: &str) -> Result<FieldValue, Problem> {
    let id: OrderId = text
        .parse()
        .map_err(|_| Problem::invalid("must be the id of a payment, a payout or a refund"))?;
    Ok(FieldValue::Id(id.uuid()))
}
