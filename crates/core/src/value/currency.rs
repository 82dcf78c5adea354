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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency(iso_currency::Currency);

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
    /// assert_eq!("XOF".parse::<Currency>().map(Currency::code), Ok("XOF"));
    /// ```
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.code()
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
        self.0.exponent().unwrap_or(0)
    }
}

impl PartialOrd for Currency {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Currency {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.code().cmp(other.code())
    }
}

impl FromStr for Currency {
    type Err = CurrencyError;

    fn from_str(text: &str) -> Result<Self, CurrencyError> {
        if text.len() != 3 || !text.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(CurrencyError::Form);
        }
        iso_currency::Currency::from_code(text).map(Self).ok_or(CurrencyError::Unknown)
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
    }
}
