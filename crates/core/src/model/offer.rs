//! What a network moves, within which limits, and which connection carries it (API §14).

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
    ///
    /// ```
    /// use cauri_core::Connection;
    /// assert_eq!(Connection::new("orange_sn_2").to_string(), "orange_sn_2");
    /// ```
    #[must_use]
    pub fn new(key: impl Into<Arc<str>>) -> Self {
        Self(key.into())
    }

    /// The text.
    ///
    /// ```
    /// use cauri_core::Connection;
    /// assert_eq!(Connection::new("orange_sn_2").as_str(), "orange_sn_2");
    /// ```
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
    /// All of it.
    pub const ALL: Self =
        Self { payin: true, payout: true, refund: true, partial_refund: true, cancel: true };

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

    /// Can it do all of this?
    ///
    /// ```
    /// use cauri_core::Capabilities;
    /// let payin = Capabilities { payin: true, ..Capabilities::default() };
    /// let both = Capabilities { payout: true, ..payin };
    /// assert!(both.cover(payin) && !payin.cover(both));
    /// ```
    #[must_use]
    pub const fn cover(self, promised: Self) -> bool {
        let Self { payin, payout, refund, partial_refund, cancel } = promised;
        (self.payin || !payin)
            && (self.payout || !payout)
            && (self.refund || !refund)
            && (self.partial_refund || !partial_refund)
            && (self.cancel || !cancel)
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
    pub(super) country: Country,
    dial: Box<str>,
    national_digits: RangeInclusive<u8>,
    pub(super) currency: Currency,
    more_currencies: Vec<Currency>,
    pub(super) offers: Vec<Offer>,
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
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// let offer = catalogue.country("CI".parse()?).expect("the sandbox knows Côte d'Ivoire");
    /// assert_eq!(offer.country().code(), "CI");
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub const fn country(&self) -> Country {
        self.country
    }

    /// Its calling code with the plus sign.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// let dial = catalogue.country("CI".parse()?).map(|offer| offer.dial());
    /// assert_eq!(dial, Some("+225"));
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub fn dial(&self) -> &str {
        &self.dial
    }

    /// How many digits follow the calling code.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// let digits = catalogue.country("CI".parse()?).map(|offer| offer.national_digits());
    /// assert_eq!(digits, Some(&(10..=10)));
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub const fn national_digits(&self) -> &RangeInclusive<u8> {
        &self.national_digits
    }

    /// Has the number this country's calling code, and as many digits after it as it wants?
    pub(crate) fn is_national_length(&self, phone: &Phone) -> bool {
        let digits = self.national(phone).and_then(|digits| u8::try_from(digits.len()).ok());
        digits.is_some_and(|digits| self.national_digits.contains(&digits))
    }

    /// The first of its currencies.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// let currency = catalogue.country("CI".parse()?).map(|offer| offer.default_currency());
    /// assert_eq!(currency.as_ref().map(|currency| currency.code()), Some("XOF"));
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub const fn default_currency(&self) -> Currency {
        self.currency
    }

    /// Its currencies, in catalogue order.
    ///
    /// ```
    /// use cauri_core::Catalogue;
    /// let catalogue = Catalogue::sandbox();
    /// let congo = catalogue.country("CD".parse()?).expect("the sandbox knows the DR Congo");
    /// let codes: Vec<String> = congo.currencies().map(|it| it.to_string()).collect();
    /// assert_eq!(codes, ["CDF", "USD"]);
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    pub fn currencies(&self) -> impl Iterator<Item = Currency> {
        std::iter::once(self.currency).chain(self.more_currencies.iter().copied())
    }

    /// Its networks, in catalogue order.
    ///
    /// ```
    /// use cauri_core::{Catalogue, PaymentMethod};
    /// let catalogue = Catalogue::sandbox();
    /// let offers = catalogue.country("CI".parse()?).expect("a country of the sandbox").offers();
    /// assert!(offers.iter().any(|offer| offer.network.as_str() == "mtn"));
    /// assert!(offers.iter().any(|offer| offer.method == PaymentMethod::Card));
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    pub(super) fn has_currency(&self, currency: Currency) -> bool {
        self.currencies().any(|own| own == currency)
    }

    /// The digits after the calling code, if the number has it.
    pub(super) fn national<'a>(&self, phone: &'a Phone) -> Option<&'a str> {
        phone.as_str().strip_prefix(&*self.dial)
    }
}
