//! Where money can be moved, by which network, within which limits (API §14).

mod sandbox;
#[cfg(test)]
mod tests;

use super::offer::{CountryOffer, Offer, Purpose};
use crate::value::{
    country::Country,
    currency::Currency,
    method::{Network, PaymentMethod},
    money::Amount,
    phone::Phone,
};

/// What is looked up: a movement of money that someone asks for.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it is written as a literal")]
pub struct Ask<'a> {
    /// Where the payer or recipient is.
    pub country: Country,
    /// By which method.
    pub method: PaymentMethod,
    /// On which network. None: on the first that moves this currency this way, as for a card
    /// before its number is typed.
    pub network: Option<&'a Network>,
    /// In which currency.
    pub currency: Currency,
    /// How much, in the currency's smallest unit.
    pub amount: Amount,
    /// In or out.
    pub purpose: Purpose,
}

/// Why the catalogue does not offer something, in the order of the checks (API §9.2, §10).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The country is not in the catalogue.
    #[error("country {country} is not supported.")]
    CountryNotSupported {
        /// The country.
        country: Country,
    },
    /// The country has no network of the method.
    #[error("payment_method {method} is not supported in {country}.")]
    PaymentMethodNotSupported {
        /// The method.
        method: PaymentMethod,
        /// The country.
        country: Country,
    },
    /// The country has no such network of the method.
    #[error("network {network} is not supported for {method} in {country}.")]
    NetworkNotSupported {
        /// The network.
        network: Network,
        /// The method.
        method: PaymentMethod,
        /// The country.
        country: Country,
    },
    /// The network, or the method when no network was named, or the country when the method was
    /// not either, does not move the currency.
    #[error("currency {currency} is not supported {}.", place(*method, network.as_ref(), *country))]
    CurrencyNotSupported {
        /// The currency.
        currency: Currency,
        /// The method that was named.
        method: Option<PaymentMethod>,
        /// The network that was named.
        network: Option<Network>,
        /// The country.
        country: Country,
    },
    /// The network takes no payments.
    #[error("payments are not supported {}.", place(Some(*method), network.as_ref(), *country))]
    PayinNotSupported {
        /// The method.
        method: PaymentMethod,
        /// The network that was named.
        network: Option<Network>,
        /// The country.
        country: Country,
    },
    /// The network, or the method altogether, pays nothing out.
    #[error("payouts are not supported {}.", place(Some(*method), network.as_ref(), *country))]
    PayoutNotSupported {
        /// The method.
        method: PaymentMethod,
        /// The network that pays nothing out; None: no network of the method does.
        network: Option<Network>,
        /// The country.
        country: Country,
    },
    /// The amount is less than the network moves.
    #[error("amount must be at least {minimum} {currency} on network {network} in {country}.")]
    AmountBelowMinimum {
        /// The least it moves.
        minimum: Amount,
        /// The currency.
        currency: Currency,
        /// The network.
        network: Network,
        /// The country.
        country: Country,
    },
    /// The amount is more than the network moves.
    #[error("amount must be at most {maximum} {currency} on network {network} in {country}.")]
    AmountAboveMaximum {
        /// The most it moves.
        maximum: Amount,
        /// The currency.
        currency: Currency,
        /// The network.
        network: Network,
        /// The country.
        country: Country,
    },
}

fn place(method: Option<PaymentMethod>, network: Option<&Network>, country: Country) -> String {
    match (network, method) {
        (Some(network), _) => format!("on network {network} in {country}"),
        (None, Some(method)) => format!("for {method} in {country}"),
        (None, None) => format!("in {country}"),
    }
}

impl CatalogueError {
    /// The parameter of the request that is at fault.
    ///
    /// ```
    /// use cauri_core::{Ask, Amount, Catalogue, PaymentMethod, Purpose};
    /// let ask = Ask {
    ///     country: "SN".parse()?,
    ///     method: PaymentMethod::Card,
    ///     network: Some(&"orange".parse()?),
    ///     currency: "XOF".parse()?,
    ///     amount: Amount::new(10_000),
    ///     purpose: Purpose::Payout,
    /// };
    /// let refused = Catalogue::sandbox().offer(ask).map(|offer| offer.min);
    /// assert_eq!(refused.map_err(|error| error.param()), Err("payment_method"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn param(&self) -> &'static str {
        match self {
            Self::CountryNotSupported { .. } => "country",
            Self::PaymentMethodNotSupported { .. }
            | Self::PayinNotSupported { network: None, .. }
            | Self::PayoutNotSupported { network: None, .. } => "payment_method",
            Self::NetworkNotSupported { .. }
            | Self::PayinNotSupported { network: Some(_), .. }
            | Self::PayoutNotSupported { network: Some(_), .. } => "network",
            Self::CurrencyNotSupported { .. } => "currency",
            Self::AmountBelowMinimum { .. } | Self::AmountAboveMaximum { .. } => "amount",
        }
    }
}

/// Why an offer is not taken into the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// The country is not in the catalogue.
    #[error("country {country} is not in the catalogue")]
    CountryUnknown {
        /// The country.
        country: Country,
    },
    /// The country does not have the currency.
    #[error("country {country} does not have the currency {currency}")]
    CurrencyUnknown {
        /// The country.
        country: Country,
        /// The currency.
        currency: Currency,
    },
    /// The limits leave no amount, or allow one that no request may name.
    #[error("the limits are not within 1 and 999999999999, or in the wrong order")]
    Limits,
}

/// The networks of one payment method.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodOffers<'a> {
    /// The method.
    pub method: PaymentMethod,
    /// Its networks, at least one, in catalogue order.
    pub offers: Vec<&'a Offer>,
}

/// Every country and network known, in a fixed order.
///
/// # Building one
/// Countries first, then the networks that someone is ready to run:
///
/// ```
/// use cauri_core::{Amount, Capabilities, Catalogue, Connection, Flow, Offer, PaymentMethod};
/// let country = "CI".parse()?;
/// let catalogue = Catalogue::sandbox().without_offers().with_offer(
///     country,
///     Offer {
///         method: PaymentMethod::MobileMoney,
///         network: "mtn".parse()?,
///         currency: "XOF".parse()?,
///         min: Amount::new(100),
///         max: Amount::new(1_500_000),
///         capabilities: Capabilities { payin: true, ..Capabilities::default() },
///         flow: Flow::Push,
///         connection: Connection::new("mtn_ci_main"),
///     },
/// )?;
/// assert_eq!(catalogue.country(country).map(|found| found.offers().len()), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalogue(Vec<CountryOffer>);

impl Catalogue {
    /// No country at all.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// assert!(Catalogue::empty().countries().is_empty());
    /// ```
    #[must_use]
    pub const fn empty() -> Self {
        Self(Vec::new())
    }

    /// The built-in catalogue of the sandbox (API §14).
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let codes: Vec<_> =
    ///     Catalogue::sandbox().countries().iter().map(|c| c.country().to_string()).collect();
    /// assert_eq!(codes.join(" "), "CI SN BJ BF CM CD GH KE UG TZ RW ZM NG KW");
    /// ```
    #[must_use]
    pub fn sandbox() -> Self {
        Self(sandbox::countries())
    }

    /// The same countries without any network: where live begins.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let bare = Catalogue::sandbox().without_offers();
    /// assert!(bare.countries().iter().all(|country| country.offers().is_empty()));
    /// ```
    #[must_use]
    pub fn without_offers(mut self) -> Self {
        for country in &mut self.0 {
            country.offers.clear();
        }
        self
    }

    /// The same with this country at the end, or in the place it had before.
    ///
    /// ```
    /// use cauri_core::{Catalogue, CountryOffer};
    /// let mali = CountryOffer::new("ML".parse()?, 223, 8..=8, "XOF".parse()?);
    /// let catalogue = Catalogue::empty().with_country(mali);
    /// assert_eq!(catalogue.countries().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_country(mut self, country: CountryOffer) -> Self {
        match self.0.iter_mut().find(|old| old.country == country.country) {
            Some(old) => *old = country,
            None => self.0.push(country),
        }
        self
    }

    /// The same with this offer at the end of its country, or in the place of the one with the
    /// same method, network and currency.
    ///
    /// # Errors
    /// When the country or its currency is unknown, or the limits are no limits.
    ///
    /// ```
    /// use cauri_core::{
    ///     Amount, Capabilities, Catalogue, Connection, CountryOffer, Flow, Offer, OfferError,
    ///     PaymentMethod,
    /// };
    /// let mali = "ML".parse()?;
    /// let offer = Offer {
    ///     method: PaymentMethod::MobileMoney,
    ///     network: "orange".parse()?,
    ///     currency: "XOF".parse()?,
    ///     min: Amount::new(100),
    ///     max: Amount::new(2_000_000),
    ///     capabilities: Capabilities { payin: true, ..Capabilities::default() },
    ///     flow: Flow::Push,
    ///     connection: Connection::new("orange_ml"),
    /// };
    /// let unknown = Catalogue::empty().with_offer(mali, offer.clone());
    /// assert_eq!(unknown.err(), Some(OfferError::CountryUnknown { country: mali }));
    /// let country = CountryOffer::new(mali, 223, 8..=8, "XOF".parse()?);
    /// let catalogue = Catalogue::empty().with_country(country).with_offer(mali, offer)?;
    /// assert_eq!(catalogue.countries()[0].offers().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_offer(mut self, country: Country, offer: Offer) -> Result<Self, OfferError> {
        let place = self
            .0
            .iter_mut()
            .find(|place| place.country == country)
            .ok_or(OfferError::CountryUnknown { country })?;
        if !place.has_currency(offer.currency) {
            return Err(OfferError::CurrencyUnknown { country, currency: offer.currency });
        }
        if offer.min < Amount::SMALLEST || offer.max > Amount::LARGEST || offer.min > offer.max {
            return Err(OfferError::Limits);
        }
        let same = |old: &&mut Offer| {
            (old.method, &old.network, old.currency)
                == (offer.method, &offer.network, offer.currency)
        };
        match place.offers.iter_mut().find(same) {
            Some(old) => *old = offer,
            None => place.offers.push(offer),
        }
        Ok(self)
    }

    /// Every country, in catalogue order.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// assert_eq!(catalogue.countries().len(), 14);
    /// assert_eq!(catalogue.countries()[0].country().code(), "CI");
    /// ```
    #[must_use]
    pub fn countries(&self) -> &[CountryOffer] {
        &self.0
    }

    /// One country.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// assert!(catalogue.country("CI".parse()?).is_some());
    /// assert!(catalogue.country("FR".parse()?).is_none());
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub fn country(&self, country: Country) -> Option<&CountryOffer> {
        self.0.iter().find(|place| place.country == country)
    }

    /// The country whose calling code the number begins with; of several, the longest code.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// let found = catalogue.country_of(&"+2250500009999".parse()?);
    /// assert_eq!(found.map(|place| place.country().to_string()), Some("CI".into()));
    /// assert_eq!(catalogue.country_of(&"+33600000000".parse()?), None);
    /// # Ok::<(), cauri_core::PhoneError>(())
    /// ```
    #[must_use]
    pub fn country_of(&self, phone: &Phone) -> Option<&CountryOffer> {
        // The last maximum is taken, so the first of two with the same code wins from the back.
        self.0
            .iter()
            .rev()
            .filter(|place| place.national(phone).is_some())
            .max_by_key(|place| place.dial().len())
    }

    /// Does the number have as many digits after the calling code as a country of that code wants?
    /// False when no country has it.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// assert!(catalogue.national_length_ok(&"+2250500009999".parse()?));
    /// assert!(!catalogue.national_length_ok(&"+22505000099".parse()?));
    /// # Ok::<(), cauri_core::PhoneError>(())
    /// ```
    #[must_use]
    pub fn national_length_ok(&self, phone: &Phone) -> bool {
        let dial = self.country_of(phone).map(CountryOffer::dial);
        let of_code = |place: &&CountryOffer| Some(place.dial()) == dial;
        self.0.iter().filter(of_code).any(|place| place.is_national_length(phone))
    }

    /// The offer that a payment or payout would use, or the first reason why there is none.
    ///
    /// Checked in this order (API §9.2, §10): country, payment method, network, currency,
    /// capability, least and most. A payout by a card is refused as such before its network is
    /// looked at.
    ///
    /// # Errors
    /// [`CatalogueError`], with what is at fault.
    ///
    /// ```
    /// use cauri_core::{Amount, Ask, Catalogue, CatalogueError, Network, PaymentMethod, Purpose};
    /// let catalogue = Catalogue::sandbox();
    /// let mtn: Network = "mtn".parse()?;
    /// let ask = Ask {
    ///     country: "CI".parse()?,
    ///     method: PaymentMethod::MobileMoney,
    ///     network: Some(&mtn),
    ///     currency: "XOF".parse()?,
    ///     amount: Amount::new(5_000),
    ///     purpose: Purpose::Payin,
    /// };
    /// assert_eq!(catalogue.offer(ask).map(|offer| offer.connection.as_str()), Ok("sim_mtn_ci"));
    ///
    /// let too_little = catalogue.offer(Ask { amount: Amount::new(99), ..ask });
    /// assert_eq!(
    ///     too_little.map_err(|error| error.to_string()),
    ///     Err("amount must be at least 100 XOF on network mtn in CI.".into()),
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn offer(&self, ask: Ask<'_>) -> Result<&Offer, CatalogueError> {
        let Ask { country, method, network, currency, amount, purpose } = ask;
        let place = self.country(country).ok_or(CatalogueError::CountryNotSupported { country })?;
        let of_method = || place.offers.iter().filter(move |offer| offer.method == method);
        if purpose == Purpose::Payout
            && method == PaymentMethod::Card
            && !of_method().any(|offer| offer.capabilities.payout)
        {
            return Err(CatalogueError::PayoutNotSupported { method, network: None, country });
        }
        if of_method().next().is_none() {
            return Err(CatalogueError::PaymentMethodNotSupported { method, country });
        }
        let of_network =
            || of_method().filter(move |offer| network.is_none_or(|only| offer.network == *only));
        if let Some(network) = network
            && of_network().next().is_none()
        {
            let network = network.clone();
            return Err(CatalogueError::NetworkNotSupported { network, method, country });
        }
        let in_currency = || of_network().filter(move |offer| offer.currency == currency);
        if in_currency().next().is_none() {
            return Err(CatalogueError::CurrencyNotSupported {
                currency,
                method: Some(method),
                network: network.cloned(),
                country,
            });
        }
        let offer =
            in_currency().find(|offer| offer.capabilities.allow(purpose)).ok_or_else(|| {
                let network = network.cloned();
                match purpose {
                    Purpose::Payin => {
                        CatalogueError::PayinNotSupported { method, network, country }
                    }
                    Purpose::Payout => {
                        CatalogueError::PayoutNotSupported { method, network, country }
                    }
                }
            })?;
        let network = || offer.network.clone();
        if amount < offer.min {
            let minimum = offer.min;
            let network = network();
            return Err(CatalogueError::AmountBelowMinimum { minimum, currency, network, country });
        }
        if amount > offer.max {
            let maximum = offer.max;
            let network = network();
            return Err(CatalogueError::AmountAboveMaximum { maximum, currency, network, country });
        }
        Ok(offer)
    }

    /// The offer that an existing payment or payout uses, whatever its amount and though it may have
    /// been taken back since.
    ///
    /// A card's network may not be known yet, or be one that its gateway named and the catalogue does
    /// not list: then it uses the first of the currency that is for this purpose, as when it was
    /// made.
    ///
    /// ```
    /// use cauri_core::{Catalogue, PaymentMethod, Purpose};
    /// let catalogue = Catalogue::sandbox();
    /// let wave = catalogue.find(
    ///     "CI".parse()?,
    ///     PaymentMethod::MobileMoney,
    ///     Some(&"wave".parse()?),
    ///     "XOF".parse()?,
    ///     Purpose::Payin,
    /// );
    /// assert_eq!(wave.map(|offer| offer.capabilities.partial_refund), Some(false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn find(
        &self,
        country: Country,
        method: PaymentMethod,
        network: Option<&Network>,
        currency: Currency,
        purpose: Purpose,
    ) -> Option<&Offer> {
        let place = self.country(country)?;
        let offers = || {
            let of_method = place.offers.iter().filter(move |offer| offer.method == method);
            of_method.filter(move |offer| offer.currency == currency)
        };
        let named = network.and_then(|network| offers().find(|offer| offer.network == *network));
        if named.is_some() || (network.is_some() && method != PaymentMethod::Card) {
            return named;
        }
        offers().find(|offer| offer.capabilities.allow(purpose)).or_else(|| offers().next())
    }

    /// The currency (the country's first if none is named) and the networks of each payment
    /// method in it: mobile money, then card; a method without networks is left out.
    ///
    /// # Errors
    /// [`CatalogueError::CountryNotSupported`]; [`CatalogueError::CurrencyNotSupported`] when the
    /// country does not have the currency.
    ///
    /// ```
    /// use cauri_core::{Catalogue, PaymentMethod};
    /// let catalogue = Catalogue::sandbox();
    /// let (currency, methods) = catalogue.methods("KW".parse()?, None)?;
    /// assert_eq!(currency.code(), "KWD");
    /// assert_eq!(methods.len(), 1);
    /// assert_eq!(methods[0].method, PaymentMethod::Card);
    /// assert_eq!(methods[0].offers[0].network.as_str(), "visa");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn methods(
        &self,
        country: Country,
        currency: Option<Currency>,
    ) -> Result<(Currency, Vec<MethodOffers<'_>>), CatalogueError> {
        let place = self.country(country).ok_or(CatalogueError::CountryNotSupported { country })?;
        let currency = currency.unwrap_or(place.currency);
        if !place.has_currency(currency) {
            return Err(CatalogueError::CurrencyNotSupported {
                currency,
                method: None,
                network: None,
                country,
            });
        }
        let methods = PaymentMethod::ALL
            .iter()
            .map(|method| MethodOffers {
                method: *method,
                offers: place
                    .offers
                    .iter()
                    .filter(|offer| offer.method == *method && offer.currency == currency)
                    .collect(),
            })
            .filter(|method| !method.offers.is_empty())
            .collect();
        Ok((currency, methods))
    }
}
