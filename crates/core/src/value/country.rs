//! Countries: ISO 3166-1 alpha-2, two upper-case letters.

use std::{fmt, str::FromStr};

/// A country, as two upper-case letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country([u8; 2]);

/// The text is not two upper-case letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not two upper-case letters")]
#[non_exhaustive]
pub struct CountryError;

impl Country {
    /// The two letters.
    ///
    /// ```
    /// use cauri_core::Country;
    /// let country: Country = "CI".parse()?;
    /// assert_eq!(country.code(), "CI");
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Does ISO 3166-1 list it?
    ///
    /// ```
    /// use cauri_core::Country;
    /// assert_eq!("CI".parse::<Country>().map(|country| country.is_known()), Ok(true));
    /// assert_eq!("ZZ".parse::<Country>().map(|country| country.is_known()), Ok(false));
    /// ```
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.code().parse::<iso_currency::Country>().is_ok_and(|country| {
            // The list has a member for "no country at all", which is not a place to pay in.
            country != iso_currency::Country::Unspecified
        })
    }
}

impl FromStr for Country {
    type Err = CountryError;

    fn from_str(text: &str) -> Result<Self, CountryError> {
        match text.as_bytes() {
            &[a, b] if a.is_ascii_uppercase() && b.is_ascii_uppercase() => Ok(Self([a, b])),
            _ => Err(CountryError),
        }
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl serde::Serialize for Country {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> serde::Deserialize<'de> for Country {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
