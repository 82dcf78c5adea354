//! Currencies: ISO 4217, from the `iso_currency` crate rather than a list typed by hand.

use std::{fmt, str::FromStr};

/// An ISO 4217 currency, written as three upper-case letters.
///
/// # Currencies without minor units
/// ```
/// use cauri_core::Currency;
/// let exponent = |code: &str| code.parse::<Currency>().map(Currency::exponent);
/// assert_eq!(exponent("XOF"), Ok(0));
/// assert_eq!(exponent("GHS"), Ok(2));
/// assert_eq!(exponent("KWD"), Ok(3));
/// assert_eq!(exponent("UGX"), Ok(0)); // as ISO has it
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// Why a text is no currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CurrencyError {
    /// Not three upper-case letters.
    #[error("not three upper-case letters")]
    Form,
    /// ISO 4217 lists no such currency.
    #[error("not a currency of ISO 4217")]
    Unknown,
}

impl Currency {
    /// The three letters.
    ///
    /// ```
    /// use cauri_core::Currency;
    /// let currency: Currency = "XOF".parse()?;
    /// assert_eq!(currency.code(), "XOF");
    /// # Ok::<(), cauri_core::CurrencyError>(())
    /// ```
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// How many decimals people write; for display only, never for arithmetic.
    ///
    /// ```
    /// use cauri_core::Currency;
    /// // An amount of 5 000 is 5 000 XOF, but 50.00 EUR.
    /// assert_eq!("XOF".parse::<Currency>().map(Currency::exponent), Ok(0));
    /// assert_eq!("EUR".parse::<Currency>().map(Currency::exponent), Ok(2));
    /// ```
    #[must_use]
    pub fn exponent(self) -> u16 {
        self.listed().and_then(iso_currency::Currency::exponent).unwrap_or(0)
    }

    /// A code of a currency's form, which ISO 4217 need not list: whether a request may name it is for
    /// the catalogue to say, in its turn.
    pub(crate) fn of_form(text: &str) -> Result<Self, CurrencyError> {
        match text.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Ok(Self([a, b, c])),
            _ => Err(CurrencyError::Form),
        }
    }

    fn listed(self) -> Option<iso_currency::Currency> {
        iso_currency::Currency::from_code(self.code())
    }
}

impl FromStr for Currency {
    type Err = CurrencyError;

    fn from_str(text: &str) -> Result<Self, CurrencyError> {
        let currency = Self::of_form(text)?;
        currency.listed().map(|_| currency).ok_or(CurrencyError::Unknown)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl serde::Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> serde::Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_the_contract() {
        for (exponent, codes) in [
            (0, "XOF XAF GNF RWF UGX BIF DJF KMF JPY KRW CLP VND"),
            (2, "GHS KES TZS ZMW NGN CDF USD EUR GBP ZAR MAD EGP MWK"),
            (3, "KWD BHD JOD OMR TND LYD IQD"),
        ] {
            for code in codes.split(' ') {
                let currency: Currency = code.parse().expect(code);
                assert_eq!(currency.exponent(), exponent, "{code}");
                assert_eq!(currency.to_string(), code);
            }
        }
        assert_eq!("xof".parse::<Currency>(), Err(CurrencyError::Form));
        assert_eq!("ZZZ".parse::<Currency>(), Err(CurrencyError::Unknown));
        assert_eq!(Currency::of_form("ZZZ").map(|it| it.to_string()), Ok("ZZZ".to_owned()));
        assert_eq!(Currency::of_form("ZzZ"), Err(CurrencyError::Form));
    }
}
