//! What the form of a request depends on beside the request, and the rules that do.

use super::field;
use crate::{
    error::{Fault, Problem},
    model::{catalogue::Catalogue, offer::CountryOffer},
    value::{
        country::Country, patch::Patch, phone::Phone, scope::Environment, time::Timestamp,
        web_url::WebUrl,
    },
};

/// What a request is read with: where, when, and among which countries.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "whoever reads a request builds it")]
pub struct Form<'a> {
    /// Sandbox or live.
    pub environment: Environment,
    /// The countries and their phone numbers.
    pub catalogue: &'a Catalogue,
    /// When the request came.
    pub now: Timestamp,
}

impl Form<'_> {
    /// A phone number whose national part is as long as its country wants, where the catalogue
    /// knows the country.
    pub(crate) fn phone(&self, text: &str) -> Result<Phone, Problem> {
        let phone = field::phone(text)?;
        self.check_phone(&phone).map(|()| phone)
    }

    pub(crate) fn check_phone(&self, phone: &Phone) -> Result<(), Problem> {
        let known = self.catalogue.country_of(phone).is_some();
        if known && !self.catalogue.national_length_ok(phone) {
            return Err(Problem::PhoneInvalid);
        }
        Ok(())
    }

    /// Is it a number of this country? Of a country that the catalogue does not know, any number
    /// is that it does not know either.
    pub(crate) fn check_phone_of(&self, phone: &Phone, country: Country) -> Result<(), Problem> {
        let own = self.catalogue.country_of(phone).map(CountryOffer::dial);
        let place = self.catalogue.country(country);
        // Countries may share a calling code, so the codes are compared, not the countries.
        if own != place.map(CountryOffer::dial) {
            return Err(Problem::PhoneCountryMismatch);
        }
        if place.is_some_and(|place| !place.is_national_length(phone)) {
            return Err(Problem::PhoneInvalid);
        }
        Ok(())
    }

    /// The country of a phone: the named one, where it is one of its numbers; else the first with
    /// its calling code.
    pub(crate) fn country_of(
        &self,
        named: Option<Country>,
        phone: &Phone,
    ) -> Result<Country, Fault> {
        let fault = |problem| Fault::at("phone", problem);
        self.check_phone(phone).map_err(fault)?;
        if let Some(named) = named {
            return self.check_phone_of(phone, named).map(|()| named).map_err(fault);
        }
        let place = self.catalogue.country_of(phone);
        place.map(CountryOffer::country).ok_or_else(|| Fault::at("country", Problem::Missing))
    }

    /// Where a payer may be sent: https, in the sandbox http as well.
    pub(crate) fn return_url(&self, text: &str) -> Result<WebUrl, Problem> {
        let url = field::web_url(text)?;
        self.check_return_url(&url).map(|()| url)
    }

    pub(crate) fn check_return_url(&self, url: &WebUrl) -> Result<(), Problem> {
        if self.is_secret_enough(url) {
            Ok(())
        } else {
            Err(Problem::invalid("must be an https URL"))
        }
    }

    /// Where events may be sent, as far as the text can tell.
    pub(crate) fn webhook_url(&self, text: &str) -> Result<WebUrl, Problem> {
        let url = field::web_url(text)?;
        self.check_webhook_url(&url).map(|()| url)
    }

    pub(crate) fn check_webhook_url(&self, url: &WebUrl) -> Result<(), Problem> {
        if !url.is_plain() {
            return Err(Problem::invalid("must have neither user info nor a fragment"));
        }
        if self.is_secret_enough(url) { Ok(()) } else { Err(Problem::UrlNotAllowed) }
    }

    fn is_secret_enough(&self, url: &WebUrl) -> bool {
        url.is_https() || !self.environment.is_live()
    }

    /// A moment to come, at most a year ahead.
    pub(crate) fn expiry(&self, text: &str) -> Result<Timestamp, Problem> {
        let at = field::date(text)?;
        self.check_expiry(at).map(|()| at)
    }

    pub(crate) fn check_expiry(&self, at: Timestamp) -> Result<(), Problem> {
        if at > self.now && at <= self.now.plus_year() {
            Ok(())
        } else {
            Err(Problem::invalid("must be in the future, at most one year ahead"))
        }
    }
}

/// The value that a patch sets.
pub(crate) const fn set<T>(patch: &Patch<T>) -> Option<&T> {
    match patch {
        Patch::Keep | Patch::Clear => None,
        Patch::Set(value) => Some(value),
    }
}
