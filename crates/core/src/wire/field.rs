//! The forms of single fields: from text or a JSON value to a value that has the right form.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use serde_json::Value;

use crate::{
    error::Problem,
    value::{
        country::Country,
        currency::{Currency, CurrencyError},
        email::Email,
        id::{self, Id, OrderId, PaymentId, PayoutId, RefundId},
        method::Network,
        money::Amount,
        phone::Phone,
        text::{Text, TextError},
        time::Timestamp,
        web_url::WebUrl,
    },
};

pub(crate) fn text<const MAX: usize>(text: &str) -> Result<Text<MAX>, Problem> {
    text.parse().map_err(text_problem)
}

pub(crate) fn text_problem(error: TextError) -> Problem {
    Problem::Invalid(error.to_string().into())
}

/// A currency whose turn comes with the catalogue: one that ISO 4217 does not list is just not
/// offered.
pub(crate) fn currency(text: &str) -> Result<Currency, Problem> {
    Currency::of_form(text).map_err(currency_problem)
}

/// A currency where no catalogue is asked.
pub(crate) fn known_currency(text: &str) -> Result<Currency, Problem> {
    text.parse().map_err(currency_problem)
}

const fn currency_problem(error: CurrencyError) -> Problem {
    Problem::invalid(match error {
        CurrencyError::Form => "must be three upper-case letters",
        CurrencyError::Unknown => "must be a currency of ISO 4217",
    })
}

/// A country whose turn comes with the catalogue.
pub(crate) fn country(text: &str) -> Result<Country, Problem> {
    text.parse().map_err(|_| Problem::invalid("must be two upper-case letters"))
}

/// A country where no catalogue is asked.
pub(crate) fn known_country(text: &str) -> Result<Country, Problem> {
    let country = country(text)?;
    is_known(country).map(|()| country)
}

pub(crate) fn is_known(country: Country) -> Result<(), Problem> {
    if country.is_known() {
        Ok(())
    } else {
        Err(Problem::invalid("must be a country of ISO 3166-1"))
    }
}

pub(crate) fn network(text: &str) -> Result<Network, Problem> {
    text.parse()
        .map_err(|_| Problem::invalid("must be 1 to 40 lower-case letters, digits and underscores"))
}

pub(crate) fn phone(text: &str) -> Result<Phone, Problem> {
    text.parse().map_err(|_| Problem::PhoneInvalid)
}

pub(crate) fn email(text: &str) -> Result<Email, Problem> {
    text.parse().map_err(|_| Problem::invalid("must be an e-mail address"))
}

pub(crate) fn web_url(text: &str) -> Result<WebUrl, Problem> {
    text.parse().map_err(|_| {
        Problem::invalid("must be an absolute http or https URL of at most 2048 characters")
    })
}

pub(crate) fn date(text: &str) -> Result<Timestamp, Problem> {
    text.parse()
        .map_err(|_| Problem::invalid("must be a date of the form YYYY-MM-DDTHH:MM:SS.sssZ"))
}

/// An id of one kind. One of another kind names something that does not exist in this place.
pub(crate) fn id<T: Id>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| not_id(text, &[T::PREFIX]))
}

/// The id of something that moves money.
pub(crate) fn order_id(text: &str) -> Result<OrderId, Problem> {
    text.parse().map_err(|_| not_id(text, &[PaymentId::PREFIX, PayoutId::PREFIX, RefundId::PREFIX]))
}

fn not_id(text: &str, wanted: &[&str]) -> Problem {
    let elsewhere = text.split_once('_').is_some_and(|(prefix, _)| {
        !prefix.is_empty()
            && prefix.bytes().all(|byte| byte.is_ascii_lowercase())
            && id::parse(prefix, text).is_ok()
    });
    if elsewhere {
        return Problem::Unrelated;
    }
    Problem::Invalid(format!("must be an id that begins with {}_", wanted.join("_ or ")).into())
}

/// A word of a closed list.
pub(crate) fn word<T: Copy + fmt::Display + FromStr>(
    all: &'static [T],
) -> impl Fn(&str) -> Result<T, Problem> {
    move |text| {
        text.parse().map_err(|_| {
            let words: Vec<String> = all.iter().map(T::to_string).collect();
            Problem::Invalid(format!("must be one of {}", words.join(", ")).into())
        })
    }
}

/// A JSON string, read as something.
pub(crate) fn string<T>(
    read: impl FnOnce(&str) -> Result<T, Problem>,
) -> impl FnOnce(&Value) -> Result<T, Problem> {
    |value| read(value.as_str().ok_or(Problem::invalid("must be a string"))?)
}

pub(crate) fn boolean(value: &Value) -> Result<bool, Problem> {
    value.as_bool().ok_or(Problem::invalid("must be true or false"))
}

pub(crate) fn amount(value: &Value) -> Result<Amount, Problem> {
    // A number with a fraction or an exponent is no integer here, whatever its value.
    let amount = Amount::new(value.as_i64().ok_or_else(not_amount)?);
    in_range(amount).map(|()| amount)
}

/// May a request name this amount?
pub(crate) fn in_range(amount: Amount) -> Result<(), Problem> {
    let range = Amount::SMALLEST..=Amount::LARGEST;
    if range.contains(&amount) { Ok(()) } else { Err(not_amount()) }
}

const fn not_amount() -> Problem {
    Problem::invalid("must be an integer from 1 to 999999999999")
}

/// A JSON integer within limits.
pub(crate) fn integer(range: RangeInclusive<u32>) -> impl FnOnce(&Value) -> Result<u32, Problem> {
    move |value| {
        let number = value.as_i64().and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or_else(|| not_integer(&range))?;
        within(&range, number).map(|()| number)
    }
}

pub(crate) fn within(range: &RangeInclusive<u32>, number: u32) -> Result<(), Problem> {
    if range.contains(&number) { Ok(()) } else { Err(not_integer(range)) }
}

fn not_integer(range: &RangeInclusive<u32>) -> Problem {
    let (least, most) = (range.start(), range.end());
    Problem::Invalid(format!("must be an integer from {least} to {most}").into())
}
