//! Text that must not be seen.

use std::fmt;

/// A secret: whoever needs it says so with [`Secret::reveal`]; it shows in no log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Keeps a text as a secret.
    ///
    /// ```
    /// use cauri_core::Secret;
    /// let secret = Secret::new("whsec_1234");
    /// assert_eq!(format!("{secret:?}"), "Secret(…)");
    /// ```
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    ///
    /// ```
    /// use cauri_core::Secret;
    /// assert_eq!(Secret::new("whsec_1234").reveal(), "whsec_1234");
    /// ```
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
