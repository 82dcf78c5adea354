//! Where money can be moved, by which network, within which limits (API §14).

use std::{fmt, ops::RangeInclusive, sync::Arc};

use crate::value::{
    country::Country,
    currency::Currency,
    method::{Flow, Network, PaymentMethod},
    money::Amount,
    phone::Phone,
};

/// The name by which the core and whoever runs the networks know one connection to a network
/// (`sim_mtn_ci`). Internal: the API shows it only for the simulator (API §1, R1).
///
/// ```
/// use cauri_core::Connection;
/// assert_eq!(Connection::new("mtn_ci_main").as_str(), "mtn_ci_main");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(Arc<str>);

impl Connection {
    /// Any text that its owner recognises.
    #[must_use]
    pub fn new(key: impl Into<Arc<str>>) -> Self {
        Self(key.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for Connection {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Connection {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer).map(Self::new)
    }
}

/// What a network can do. The default is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "the contract lists these five")]
pub struct Capabilities {
    /// Take a payment.
    pub payin: bool,
    /// Pay out.
    pub payout: bool,
    /// Give a payment back.
    pub refund: bool,
    /// Give back a part of a payment.
    pub partial_refund: bool,
    /// Call off a payment that the payer has not approved yet.
    pub cancel: bool,
}

/// Which way the money goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Purpose {
    /// In: a payment.
    Payin,
    /// Out: a payout.
    Payout,
}

impl Capabilities {
    /// Can it do this?
    ///
    /// ```
    /// use cauri_core::{Capabilities, Purpose};
    /// let capabilities = Capabilities { payin: true, ..Capabilities::default() };
    /// assert!(capabilities.allow(Purpose::Payin));
    /// assert!(!capabilities.allow(Purpose::Payout));
    /// ```
    #[must_use]
    pub const fn allow(self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Payin => self.payin,
            Purpose::Payout => self.payout,
        }
    }
}

/// One network of a country, in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "embedders write it as a literal")]
pub struct Offer {
    /// Mobile money or card.
    pub method: PaymentMethod,
    /// The network.
    pub network: Network,
    /// The currency.
    pub currency: Currency,
    /// The least it moves at once, in the currency's smallest unit.
    pub min: Amount,
    /// The most it moves at once, in the currency's smallest unit.
    pub max: Amount,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What the payer is asked to do.
    pub flow: Flow,
    /// Who is asked to move the money.
    pub connection: Connection,
}

/// A country, its phone numbers, its currencies and the networks offered there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountryOffer {
    country: Country,
    dial: Box<str>,
    national_digits: RangeInclusive<u8>,
    currency: Currency,
    more_currencies: Vec<Currency>,
    offers: Vec<Offer>,
}

impl CountryOffer {
    /// A country without networks. `dial` is its calling code (225), `national_digits` how many
    /// digits follow it, `currency` the one meant when a reader of the catalogue names none.
    ///
    /// ```
    /// use cauri_core::CountryOffer;
    /// let country = CountryOffer::new("CI".parse()?, 225, 10..=10, "XOF".parse()?);
    /// assert_eq!(country.dial(), "+225");
    /// assert!(country.offers().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(
        country: Country,
        dial: u16,
        national_digits: RangeInclusive<u8>,
        currency: Currency,
    ) -> Self {
        Self {
            country,
            dial: format!("+{dial}").into(),
            national_digits,
            currency,
            more_currencies: Vec::new(),
            offers: Vec::new(),
        }
    }

    /// The same with one more currency, after those it has.
    ///
    /// ```
    /// use cauri_core::{CountryOffer, Currency};
    /// let (cdf, usd): (Currency, Currency) = ("CDF".parse()?, "USD".parse()?);
    /// let country = CountryOffer::new("CD".parse()?, 243, 9..=9, cdf).with_currency(usd);
    /// assert_eq!(country.currencies().collect::<Vec<_>>(), [cdf, usd]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_currency(mut self, currency: Currency) -> Self {
        if !self.has_currency(currency) {
            self.more_currencies.push(currency);
        }
        self
    }

    /// The country.
    #[must_use]
    pub const fn country(&self) -> Country {
        self.country
    }

    /// Its calling code with the plus sign.
    #[must_use]
    pub fn dial(&self) -> &str {
        &self.dial
    }

    /// How many digits follow the calling code.
    #[must_use]
    pub const fn national_digits(&self) -> &RangeInclusive<u8> {
        &self.national_digits
    }

    /// The first of its currencies.
    #[must_use]
    pub const fn default_currency(&self) -> Currency {
        self.currency
    }

    /// Its currencies, in catalogue order.
    pub fn currencies(&self) -> impl Iterator<Item = Currency> {
        std::iter::once(self.currency).chain(self.more_currencies.iter().copied())
    }

    /// Its networks, in catalogue order.
    #[must_use]
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    fn has_currency(&self, currency: Currency) -> bool {
        self.currencies().any(|own| own == currency)
    }

    /// The digits after the calling code, if the number has it.
    fn national<'a>(&self, phone: &'a Phone) -> Option<&'a str> {
        phone.as_str().strip_prefix(&*self.dial)
    }
}

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

/// A row of the sandbox's table.
struct Row {
    country: &'static str,
    dial: u16,
    national_digits: u8,
    currencies: &'static str,
    /// Currency, networks, least, most.
    mobile: &'static [(&'static str, &'static str, i64, i64)],
    /// Currency, networks.
    cards: (&'static str, &'static str),
}

const CARDS: &str = "visa mastercard";

#[rustfmt::skip] // The table of API §14, row by row.
const SANDBOX: [Row; 14] = [
    Row { country: "CI", dial: 225, national_digits: 10, currencies: "XOF", cards: ("XOF", CARDS),
        mobile: &[("XOF", "mtn orange moov wave", 100, 2_000_000)] },
    Row { country: "SN", dial: 221, national_digits: 9, currencies: "XOF", cards: ("XOF", CARDS),
        mobile: &[("XOF", "orange wave free", 100, 2_000_000)] },
    Row { country: "BJ", dial: 229, national_digits: 10, currencies: "XOF", cards: ("XOF", CARDS),
        mobile: &[("XOF", "mtn moov", 100, 2_000_000)] },
    Row { country: "BF", dial: 226, national_digits: 8, currencies: "XOF", cards: ("XOF", CARDS),
        mobile: &[("XOF", "orange moov", 100, 2_000_000)] },
    Row { country: "CM", dial: 237, national_digits: 9, currencies: "XAF", cards: ("XAF", CARDS),
        mobile: &[("XAF", "mtn", 100, 1_000_000), ("XAF", "orange", 100, 500_000)] },
    Row { country: "CD", dial: 243, national_digits: 9, currencies: "CDF USD", cards: ("USD", CARDS),
        mobile: &[
            ("CDF", "mpesa", 50_000, 100_000_000),
            ("CDF", "orange", 1_000, 100_000_000),
            ("CDF", "airtel", 10_000, 625_000_000),
            ("USD", "mpesa orange airtel", 100, 250_000),
        ] },
    Row { country: "GH", dial: 233, national_digits: 9, currencies: "GHS", cards: ("GHS", CARDS),
        mobile: &[("GHS", "mtn telecel", 100, 1_500_000), ("GHS", "airteltigo", 100, 1_000_000)] },
    Row { country: "KE", dial: 254, national_digits: 9, currencies: "KES", cards: ("KES", CARDS),
        mobile: &[("KES", "mpesa", 100, 25_000_000), ("KES", "airtel", 100, 15_000_000)] },
    Row { country: "UG", dial: 256, national_digits: 9, currencies: "UGX", cards: ("UGX", CARDS),
        mobile: &[("UGX", "mtn airtel", 500, 5_000_000)] },
    Row { country: "TZ", dial: 255, national_digits: 9, currencies: "TZS", cards: ("TZS", CARDS),
        mobile: &[
            ("TZS", "mpesa tigo halotel", 10_000, 500_000_000),
            ("TZS", "airtel", 10_000, 300_000_000),
        ] },
    Row { country: "RW", dial: 250, national_digits: 9, currencies: "RWF", cards: ("RWF", CARDS),
        mobile: &[("RWF", "mtn", 100, 2_000_000), ("RWF", "airtel", 100, 1_500_000)] },
    Row { country: "ZM", dial: 260, national_digits: 9, currencies: "ZMW", cards: ("ZMW", CARDS),
        mobile: &[("ZMW", "mtn airtel zamtel", 100, 2_000_000)] },
    Row { country: "NG", dial: 234, national_digits: 10, currencies: "NGN",
        cards: ("NGN", "visa mastercard verve"),
        mobile: &[("NGN", "mtn airtel", 10_000, 50_000_000)] },
    Row { country: "KW", dial: 965, national_digits: 8, currencies: "KWD", cards: ("KWD", CARDS),
        mobile: &[] },
];

/// What the sandbox's networks can do (API §14).
fn sandbox_capabilities(method: PaymentMethod, network: &str) -> Capabilities {
    let all = Capabilities {
        payin: true,
        payout: true,
        refund: true,
        partial_refund: true,
        cancel: false,
    };
    match (method, network) {
        (PaymentMethod::Card, _) => Capabilities { payout: false, cancel: true, ..all },
        (PaymentMethod::MobileMoney, "wave") => {
            Capabilities { partial_refund: false, cancel: true, ..all }
        }
        (PaymentMethod::MobileMoney, "orange" | "free") => {
            Capabilities { refund: false, partial_refund: false, ..all }
        }
        (PaymentMethod::MobileMoney, "airtel" | "airteltigo" | "halotel") => {
            Capabilities { partial_refund: false, ..all }
        }
        (PaymentMethod::MobileMoney, _) => all,
    }
}

impl Row {
    /// None if the row is misspelt; that none is, is tested below.
    fn read(&self) -> Option<CountryOffer> {
        let mut currencies = self.currencies.split(' ').map(str::parse);
        let first = currencies.next()?.ok()?;
        let digits = self.national_digits..=self.national_digits;
        let mut row = CountryOffer::new(self.country.parse().ok()?, self.dial, digits, first);
        for currency in currencies {
            row = row.with_currency(currency.ok()?);
        }
        let (card_currency, cards) = self.cards;
        let mobile = self.mobile.iter().map(|line| (PaymentMethod::MobileMoney, *line));
        let largest = Amount::LARGEST.units();
        let cards = [(PaymentMethod::Card, (card_currency, cards, 1, largest))];
        for (method, (currency, networks, min, max)) in mobile.chain(cards) {
            for network in networks.split(' ') {
                let redirect = method == PaymentMethod::Card || network == "wave";
                let place = self.country.to_ascii_lowercase();
                row.offers.push(Offer {
                    method,
                    network: network.parse().ok()?,
                    currency: currency.parse().ok()?,
                    min: Amount::new(min),
                    max: Amount::new(max),
                    capabilities: sandbox_capabilities(method, network),
                    flow: if redirect { Flow::Redirect } else { Flow::Push },
                    connection: Connection::new(format!("sim_{network}_{place}")),
                });
            }
        }
        Some(row)
    }
}

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
        Self(SANDBOX.iter().filter_map(Row::read).collect())
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
            .max_by_key(|place| place.dial.len())
    }

    /// Does the number have as many digits after the calling code as its country wants? False when
    /// the country is unknown.
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
        self.country_of(phone).is_some_and(|place| {
            place
                .national(phone)
                .and_then(|digits| u8::try_from(digits.len()).ok())
                .is_some_and(|digits| place.national_digits.contains(&digits))
        })
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

    /// The offer that an existing payment or payout uses, whatever its amount. `network` is None
    /// for a card whose network is not known yet: then the first of the currency.
    ///
    /// ```
    /// use cauri_core::{Catalogue, PaymentMethod};
    /// let catalogue = Catalogue::sandbox();
    /// let wave = catalogue.find(
    ///     "CI".parse()?,
    ///     PaymentMethod::MobileMoney,
    ///     Some(&"wave".parse()?),
    ///     "XOF".parse()?,
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
    ) -> Option<&Offer> {
        self.country(country)?.offers.iter().find(|offer| {
            offer.method == method
                && offer.currency == currency
                && network.is_none_or(|only| offer.network == *only)
        })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn country(code: &str) -> Country {
        code.parse().expect(code)
    }

    fn currency(code: &str) -> Currency {
        code.parse().expect(code)
    }

    fn network(name: &str) -> Network {
        name.parse().expect(name)
    }

    /// Asks in words: the connection, or the parameter at fault and the message.
    fn ask(
        catalogue: &Catalogue,
        purpose: Purpose,
        (place, method, on, money, amount): (&str, &str, &str, &str, i64),
    ) -> Result<String, (&'static str, String)> {
        let on = (on != "-").then(|| network(on));
        let ask = Ask {
            country: country(place),
            method: method.parse().expect(method),
            network: on.as_ref(),
            currency: currency(money),
            amount: Amount::new(amount),
            purpose,
        };
        match catalogue.offer(ask) {
            Ok(offer) => Ok(offer.connection.to_string()),
            Err(error) => Err((error.param(), error.to_string())),
        }
    }

    #[test]
    fn the_sandbox_is_the_table_of_the_contract() {
        let catalogue = Catalogue::sandbox();
        let lines: Vec<String> = catalogue
            .countries()
            .iter()
            .map(|place| {
                let offers: Vec<String> = place
                    .offers()
                    .iter()
                    .filter(|offer| offer.method == PaymentMethod::MobileMoney)
                    .map(|it| format!("{} {} {}–{}", it.currency, it.network, it.min, it.max))
                    .collect();
                let digits = place.national_digits().start();
                assert_eq!(place.national_digits().end(), digits);
                format!("{} {},{digits} {}", place.country(), place.dial(), offers.join(", "))
            })
            .collect();
        assert_eq!(
            lines,
            [
                "CI +225,10 XOF mtn 100–2000000, XOF orange 100–2000000, XOF moov 100–2000000, \
                 XOF wave 100–2000000",
                "SN +221,9 XOF orange 100–2000000, XOF wave 100–2000000, XOF free 100–2000000",
                "BJ +229,10 XOF mtn 100–2000000, XOF moov 100–2000000",
                "BF +226,8 XOF orange 100–2000000, XOF moov 100–2000000",
                "CM +237,9 XAF mtn 100–1000000, XAF orange 100–500000",
                "CD +243,9 CDF mpesa 50000–100000000, CDF orange 1000–100000000, \
                 CDF airtel 10000–625000000, USD mpesa 100–250000, USD orange 100–250000, \
                 USD airtel 100–250000",
                "GH +233,9 GHS mtn 100–1500000, GHS telecel 100–1500000, \
                 GHS airteltigo 100–1000000",
                "KE +254,9 KES mpesa 100–25000000, KES airtel 100–15000000",
                "UG +256,9 UGX mtn 500–5000000, UGX airtel 500–5000000",
                "TZ +255,9 TZS mpesa 10000–500000000, TZS tigo 10000–500000000, \
                 TZS halotel 10000–500000000, TZS airtel 10000–300000000",
                "RW +250,9 RWF mtn 100–2000000, RWF airtel 100–1500000",
                "ZM +260,9 ZMW mtn 100–2000000, ZMW airtel 100–2000000, ZMW zamtel 100–2000000",
                "NG +234,10 NGN mtn 10000–50000000, NGN airtel 10000–50000000",
                "KW +965,8 ",
            ]
        );
    }

    #[test]
    fn every_country_has_cards_in_its_currency() {
        for place in Catalogue::sandbox().countries() {
            let cards: Vec<_> =
                place.offers().iter().filter(|it| it.method == PaymentMethod::Card).collect();
            let names: Vec<_> = cards.iter().map(|card| card.network.as_str()).collect();
            if place.country() == country("NG") {
                assert_eq!(names, ["visa", "mastercard", "verve"]);
            } else {
                assert_eq!(names, ["visa", "mastercard"]);
            }
            for card in cards {
                let expected = if place.country() == country("CD") {
                    currency("USD")
                } else {
                    place.default_currency()
                };
                assert_eq!(card.currency, expected);
                assert_eq!((card.min, card.max), (Amount::SMALLEST, Amount::LARGEST));
                assert_eq!(card.flow, Flow::Redirect);
            }
        }
    }

    #[test]
    fn networks_can_what_the_contract_says() {
        let table = [
            ("mtn moov mpesa telecel tigo zamtel", [true, true, true, true, false]),
            ("airtel airteltigo halotel", [true, true, true, false, false]),
            ("orange free", [true, true, false, false, false]),
            ("wave", [true, true, true, false, true]),
            ("visa mastercard verve", [true, false, true, true, true]),
        ];
        let catalogue = Catalogue::sandbox();
        for offer in catalogue.countries().iter().flat_map(CountryOffer::offers) {
            let name = offer.network.as_str();
            let rows: Vec<_> =
                table.iter().filter(|(names, _)| names.split(' ').any(|it| it == name)).collect();
            let Capabilities { payin, payout, refund, partial_refund, cancel } = offer.capabilities;
            let own = [payin, payout, refund, partial_refund, cancel];
            assert!(matches!(rows[..], [(_, row)] if *row == own), "{name}");
            let redirect = name == "wave" || offer.method == PaymentMethod::Card;
            assert_eq!(offer.flow == Flow::Redirect, redirect, "{name}");
        }
    }

    #[test]
    fn each_check_answers_before_those_after_it() {
        let catalogue = Catalogue::sandbox();
        let payin = |words| ask(&catalogue, Purpose::Payin, words);
        let fault = |param, message: &str| Err((param, message.to_owned()));
        let mobile = "mobile_money";
        assert_eq!(
            payin(("FR", "card", "nix", "USD", 0)),
            fault("country", "country FR is not supported.")
        );
        assert_eq!(
            payin(("KW", mobile, "nix", "USD", 0)),
            fault("payment_method", "payment_method mobile_money is not supported in KW.")
        );
        assert_eq!(
            payin(("CI", mobile, "airtel", "USD", 0)),
            fault("network", "network airtel is not supported for mobile_money in CI.")
        );
        assert_eq!(
            payin(("CI", "card", "mtn", "USD", 0)),
            fault("network", "network mtn is not supported for card in CI.")
        );
        assert_eq!(
            payin(("CI", mobile, "mtn", "USD", 0)),
            fault("currency", "currency USD is not supported on network mtn in CI.")
        );
        assert_eq!(
            payin(("CD", "card", "-", "CDF", 0)),
            fault("currency", "currency CDF is not supported for card in CD.")
        );
        assert_eq!(
            payin(("CI", mobile, "mtn", "XOF", 99)),
            fault("amount", "amount must be at least 100 XOF on network mtn in CI.")
        );
        assert_eq!(
            payin(("CI", mobile, "mtn", "XOF", 2_000_001)),
            fault("amount", "amount must be at most 2000000 XOF on network mtn in CI.")
        );
        assert_eq!(payin(("CI", mobile, "mtn", "XOF", 100)), Ok("sim_mtn_ci".into()));
        assert_eq!(payin(("CI", mobile, "mtn", "XOF", 2_000_000)), Ok("sim_mtn_ci".into()));
        assert_eq!(payin(("CD", mobile, "mpesa", "USD", 250_000)), Ok("sim_mpesa_cd".into()));
        assert_eq!(payin(("CD", "card", "-", "USD", 1)), Ok("sim_visa_cd".into()));
        assert_eq!(payin(("KW", "card", "mastercard", "KWD", 1)), Ok("sim_mastercard_kw".into()));
        assert_eq!(
            payin(("CI", "card", "-", "XOF", 0)),
            fault("amount", "amount must be at least 1 XOF on network visa in CI.")
        );
    }

    #[test]
    fn a_payout_by_card_is_refused_as_such() {
        let catalogue = Catalogue::sandbox();
        let payout = |words| ask(&catalogue, Purpose::Payout, words);
        let refused = |place: &str| {
            Err(("payment_method", format!("payouts are not supported for card in {place}.")))
        };
        assert_eq!(payout(("SN", "card", "orange", "XOF", 10_000)), refused("SN"));
        assert_eq!(payout(("SN", "card", "visa", "XOF", 10_000)), refused("SN"));
        assert_eq!(payout(("SN", "card", "-", "USD", 0)), refused("SN"));
        assert_eq!(
            payout(("FR", "card", "-", "USD", 0)).map_err(|(param, _)| param),
            Err("country")
        );
        assert_eq!(
            payout(("SN", "mobile_money", "orange", "XOF", 100)),
            Ok("sim_orange_sn".into())
        );
        assert_eq!(
            payout(("KW", "mobile_money", "mtn", "KWD", 1)).map_err(|(param, _)| param),
            Err("payment_method")
        );
    }

    fn offer(on: &str, money: &str, min: i64, max: i64) -> Offer {
        Offer {
            method: PaymentMethod::MobileMoney,
            network: network(on),
            currency: currency(money),
            min: Amount::new(min),
            max: Amount::new(max),
            capabilities: Capabilities::default(),
            flow: Flow::Push,
            connection: Connection::new(format!("{on}_live")),
        }
    }

    #[test]
    fn a_network_that_cannot_is_refused_before_its_limits() {
        let catalogue = Catalogue::sandbox()
            .without_offers()
            .with_offer(country("CI"), offer("mtn", "XOF", 10, 20))
            .expect("good");
        for (purpose, what) in [(Purpose::Payin, "payments"), (Purpose::Payout, "payouts")] {
            assert_eq!(
                ask(&catalogue, purpose, ("CI", "mobile_money", "mtn", "XOF", 1)),
                Err(("network", format!("{what} are not supported on network mtn in CI.")))
            );
            assert_eq!(
                ask(&catalogue, purpose, ("CI", "mobile_money", "-", "XOF", 1)),
                Err((
                    "payment_method",
                    format!("{what} are not supported for mobile_money in CI.")
                ))
            );
        }
    }

    #[test]
    fn an_offer_takes_the_place_of_the_same_one_and_must_make_sense() {
        let bare = Catalogue::sandbox().without_offers();
        let ci = country("CI");
        let with = |offer| bare.clone().with_offer(ci, offer).map(|_| ());
        assert_eq!(with(offer("mtn", "XOF", 1, 1)), Ok(()));
        assert_eq!(with(offer("mtn", "XOF", 0, 1)), Err(OfferError::Limits));
        assert_eq!(with(offer("mtn", "XOF", 2, 1)), Err(OfferError::Limits));
        assert_eq!(with(offer("mtn", "XOF", 1, 999_999_999_999)), Ok(()));
        assert_eq!(with(offer("mtn", "XOF", 1, 1_000_000_000_000)), Err(OfferError::Limits));
        assert_eq!(
            with(offer("mtn", "USD", 1, 1)),
            Err(OfferError::CurrencyUnknown { country: ci, currency: currency("USD") })
        );
        let france = country("FR");
        assert_eq!(
            bare.clone().with_offer(france, offer("mtn", "XOF", 1, 1)),
            Err(OfferError::CountryUnknown { country: france })
        );
        let twice =
            [offer("mtn", "XOF", 1, 1), offer("wave", "XOF", 1, 1), offer("mtn", "XOF", 2, 2)]
                .into_iter()
                .try_fold(bare, |catalogue, offer| catalogue.with_offer(ci, offer))
                .expect("good");
        let offers = twice.country(ci).expect("known").offers();
        assert_eq!(offers, [offer("mtn", "XOF", 2, 2), offer("wave", "XOF", 1, 1)]);
    }

    #[test]
    fn a_country_takes_the_place_it_had() {
        let mali = |digits| CountryOffer::new(country("ML"), 223, digits, currency("XOF"));
        let catalogue = Catalogue::empty()
            .with_country(mali(8..=8))
            .with_country(CountryOffer::new(country("TG"), 228, 8..=8, currency("XOF")))
            .with_country(mali(8..=9));
        let codes: Vec<_> = catalogue.countries().iter().map(CountryOffer::country).collect();
        assert_eq!(codes, [country("ML"), country("TG")]);
        assert_eq!(catalogue.countries()[0].national_digits(), &(8..=9));
    }

    #[test]
    fn the_longest_calling_code_wins_and_of_equals_the_first() {
        let place = |code, dial| CountryOffer::new(country(code), dial, 7..=10, currency("USD"));
        let catalogue = Catalogue::empty()
            .with_country(place("US", 1))
            .with_country(place("CA", 1))
            .with_country(place("TT", 1868));
        let of = |phone: &str| {
            let phone = phone.parse().expect("a phone");
            catalogue.country_of(&phone).map(|place| place.country().to_string())
        };
        assert_eq!(of("+12025550100").as_deref(), Some("US"));
        assert_eq!(of("+18685550100").as_deref(), Some("TT"));
        assert_eq!(of("+33600000000"), None);
    }

    #[test]
    fn numbers_have_the_length_of_their_country() {
        let catalogue = Catalogue::sandbox();
        for place in catalogue.countries() {
            let digits = usize::from(*place.national_digits().start());
            for (length, good) in
                [(digits.strict_sub(1), false), (digits, true), (digits.strict_add(1), false)]
            {
                let text = format!("{}{}", place.dial(), "5".repeat(length));
                let phone = text.parse().expect("a phone");
                assert_eq!(catalogue.country_of(&phone), Some(place));
                assert_eq!(catalogue.national_length_ok(&phone), good, "{text}");
            }
        }
        assert!(!catalogue.national_length_ok(&"+33600000000".parse().expect("a phone")));
    }

    #[test]
    fn methods_are_listed_in_catalogue_order() {
        let catalogue = Catalogue::sandbox();
        let list = |place, money: Option<&str>| {
            let (used, methods) = catalogue.methods(country(place), money.map(currency))?;
            let methods: Vec<_> = methods
                .iter()
                .map(|it| {
                    let names: Vec<_> = it.offers.iter().map(|it| it.network.as_str()).collect();
                    format!("{}: {}", it.method, names.join(" "))
                })
                .collect();
            Ok::<_, CatalogueError>(format!("{used} {}", methods.join(", ")))
        };
        assert_eq!(
            list("CI", None).as_deref(),
            Ok("XOF mobile_money: mtn orange moov wave, card: visa mastercard")
        );
        assert_eq!(list("CD", None).as_deref(), Ok("CDF mobile_money: mpesa orange airtel"));
        assert_eq!(
            list("CD", Some("USD")).as_deref(),
            Ok("USD mobile_money: mpesa orange airtel, card: visa mastercard")
        );
        assert_eq!(list("KW", Some("KWD")).as_deref(), Ok("KWD card: visa mastercard"));
        let refused = list("CI", Some("USD")).map_err(|error| (error.param(), error.to_string()));
        assert_eq!(refused, Err(("currency", "currency USD is not supported in CI.".into())));
        assert_eq!(list("FR", None).map_err(|error| error.param()), Err("country"));
        let bare = Catalogue::sandbox().without_offers();
        assert_eq!(bare.methods(country("CI"), None), Ok((currency("XOF"), Vec::new())));
    }

    proptest! {
        #[test]
        fn an_offer_is_found_exactly_within_its_limits(
            at in any::<proptest::sample::Index>(),
            amount in prop_oneof![0..3_000_000_i64, 0..=1_000_000_000_000_i64],
        ) {
            let catalogue = Catalogue::sandbox();
            let all: Vec<_> = catalogue
                .countries()
                .iter()
                .flat_map(|place| place.offers().iter().map(|offer| (place.country(), offer)))
                .collect();
            let (country, offer) = all[at.index(all.len())];
            let amount = Amount::new(amount);
            let ask = Ask {
                country,
                method: offer.method,
                network: Some(&offer.network),
                currency: offer.currency,
                amount,
                purpose: Purpose::Payin,
            };
            let found = catalogue.find(country, offer.method, ask.network, offer.currency);
            prop_assert_eq!(found, Some(offer));
            match catalogue.offer(ask) {
                Ok(found) => {
                    prop_assert_eq!(found, offer);
                    prop_assert!((offer.min..=offer.max).contains(&amount));
                }
                Err(CatalogueError::AmountBelowMinimum { minimum, .. }) => {
                    prop_assert!(amount < minimum && minimum == offer.min);
                }
                Err(CatalogueError::AmountAboveMaximum { maximum, .. }) => {
                    prop_assert!(amount > maximum && maximum == offer.max);
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}
