//! Phone numbers in E.164 form.

use std::{fmt, str::FromStr};

/// A phone number: `+`, a digit other than 0, then 7 to 14 digits. Whether its national part has
/// the right length is the catalogue's knowledge.
#[derive(Clone, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Phone(Box<str>);

/// The text is not of the form of E.164.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a phone number in E.164 form")]
#[non_exhaustive]
pub struct PhoneError;

impl Phone {
    /// The number with its `+`.
    ///
    /// ```
    /// use cauri_core::Phone;
    /// let phone: Phone = "+2250500000000".parse()?;
    /// assert_eq!(phone.as_str(), "+2250500000000");
    /// assert_eq!(format!("{phone:?}"), "Phone(…)"); // it stays out of logs
    /// # Ok::<(), cauri_core::PhoneError>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last four digits, by which the sandbox chooses a scenario (API §17.1).
    ///
    /// ```
    /// use cauri_core::Phone;
    /// assert_eq!("+2250500000101".parse::<Phone>().map(|p| p.suffix().to_owned()), Ok("0101".into()));
    /// ```
    #[must_use]
    pub fn suffix(&self) -> &str {
        self.0.get(self.0.len().saturating_sub(4)..).unwrap_or_default()
    }
}

impl FromStr for Phone {
    type Err = PhoneError;

    fn from_str(text: &str) -> Result<Self, PhoneError> {
        let digits = text.strip_prefix('+').ok_or(PhoneError)?.as_bytes();
        let form = (8..=15).contains(&digits.len())
            && digits.iter().all(u8::is_ascii_digit)
            && digits.first() != Some(&b'0');
        form.then(|| Self(text.into())).ok_or(PhoneError)
    }
}

impl fmt::Debug for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Personal data stays out of logs.
        f.write_str("Phone(…)")
    }
}

impl<'de> serde::Deserialize<'de> for Phone {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_every_limit() {
        for (text, good) in [
            ("+12345678", true),
            ("+1234567", false),
            ("+123456789012345", true),
            ("+1234567890123456", false),
            ("+02345678", false),
            ("12345678", false),
            ("+1234 5678", false),
            ("+１２３４５６７８", false),
            ("", false),
        ] {
            assert_eq!(text.parse::<Phone>().is_ok(), good, "{text}");
        }
    }
}
