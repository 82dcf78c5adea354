//! Text with a measured length and no control characters (API §2, "Strings").

use std::{fmt, str::FromStr};

/// A text of 1 to `MAX` code points without control characters, kept as it came.
///
/// ```
/// use cauri_core::{Text, TextError};
/// assert_eq!("ORDER-1".parse::<Text<100>>().map(|text| text.to_string()), Ok("ORDER-1".into()));
/// assert_eq!("".parse::<Text<100>>(), Err(TextError::Empty));
/// assert_eq!("toolong".parse::<Text<6>>(), Err(TextError::TooLong { max: 6 }));
/// assert_eq!("a\nb".parse::<Text<100>>(), Err(TextError::Control));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Text<const MAX: usize>(Box<str>);

/// Why a text is not acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// It has no characters.
    #[error("must not be empty")]
    Empty,
    /// It has too many.
    #[error("must have at most {max} characters")]
    TooLong {
        /// How many it may have.
        max: usize,
    },
    /// It holds a control character.
    #[error("must not hold control characters")]
    Control,
}

impl<const MAX: usize> Text<MAX> {
    /// The text itself.
    ///
    /// ```
    /// use cauri_core::Text;
    /// let reference: Text<100> = "ORDER-1".parse()?;
    /// assert_eq!(reference.as_str(), "ORDER-1");
    /// # Ok::<(), cauri_core::TextError>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(crate) fn check(text: &str, max: usize) -> Result<(), TextError> {
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    if text.chars().any(char::is_control) {
        return Err(TextError::Control);
    }
    if text.len() > max && text.chars().count() > max {
        return Err(TextError::TooLong { max });
    }
    Ok(())
}

impl<const MAX: usize> FromStr for Text<MAX> {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        check(text, MAX).map(|()| Self(text.into()))
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const MAX: usize> fmt::Debug for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It may be a payer's name: personal data stays out of logs.
        f.write_str("Text(…)")
    }
}

impl<'de, const MAX: usize> serde::Deserialize<'de> for Text<MAX> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_code_points() {
        assert!("éééé".parse::<Text<4>>().is_ok());
        assert_eq!("ééééé".parse::<Text<4>>(), Err(TextError::TooLong { max: 4 }));
        assert!(" spaces are kept ".parse::<Text<17>>().is_ok());
        assert_eq!("a\u{85}".parse::<Text<4>>(), Err(TextError::Control));
    }
}
