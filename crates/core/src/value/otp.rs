//! One-time passwords (API §9): what a payer reads off a phone, good for one payment.

use std::{fmt, str::FromStr};

use super::text::{Text, TextError};

/// A one-time password, passed on to the network and then forgotten. Whoever has it in time can
/// pay with the phone it belongs to, so its `Debug` shows nothing of it.
///
/// ```
/// use cauri_core::Otp;
/// let otp: Otp = "123456".parse()?;
/// assert_eq!(otp.as_str(), "123456");
/// assert_eq!(format!("{otp:?}"), "Otp(…)");
/// # Ok::<(), cauri_core::TextError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Otp(Text<10>);

impl Otp {
    /// The password itself, for the network.
    ///
    /// ```
    /// let otp: cauri_core::Otp = "1234".parse()?;
    /// assert_eq!(otp.as_str().len(), 4);
    /// # Ok::<(), cauri_core::TextError>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for Otp {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        text.parse().map(Self)
    }
}

impl fmt::Debug for Otp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Otp(…)")
    }
}
