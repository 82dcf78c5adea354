//! Money: whole numbers of the smallest unit of a currency, and checked arithmetic (API §7).

use std::fmt;

/// A sum in the smallest unit of its currency (5 000 is 5 000 XOF, 50.00 GHS, 5.000 KWD).
///
/// # Overflow
/// Arithmetic is checked: it answers [`Overflow`] instead of wrapping or panicking.
///
/// ```
/// use cauri_core::{Amount, Overflow};
/// assert_eq!(Amount::new(40).plus(Amount::new(2)), Ok(Amount::new(42)));
/// assert_eq!(Amount::new(i64::MAX).plus(Amount::new(1)), Err(Overflow));
/// ```
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct Amount(i64);

/// A sum does not fit into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sum does not fit into 64 bits")]
#[expect(clippy::exhaustive_structs, reason = "there is one way to overflow")]
pub struct Overflow;

impl Amount {
    /// The largest amount a request may name: 999 999 999 999.
    pub const LARGEST: Self = Self(999_999_999_999);
    /// The smallest amount a request may name: 1.
    pub const SMALLEST: Self = Self(1);
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// `units` of the smallest unit of the currency.
    ///
    /// ```
    /// use cauri_core::Amount;
    /// assert_eq!(Amount::new(5_000).to_string(), "5000"); // 5 000 XOF, or 50.00 GHS
    /// ```
    #[must_use]
    pub const fn new(units: i64) -> Self {
        Self(units)
    }

    /// The number of smallest units.
    ///
    /// ```
    /// use cauri_core::Amount;
    /// assert_eq!(Amount::new(5_000).units(), 5_000);
    /// ```
    #[must_use]
    pub const fn units(self) -> i64 {
        self.0
    }

    /// More than nothing?
    ///
    /// ```
    /// use cauri_core::Amount;
    /// assert!(Amount::new(1).is_positive());
    /// assert!(!Amount::ZERO.is_positive());
    /// assert!(!Amount::new(-1).is_positive());
    /// ```
    #[must_use]
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Nothing?
    ///
    /// ```
    /// use cauri_core::Amount;
    /// assert!(Amount::default().is_zero());
    /// assert!(!Amount::SMALLEST.is_zero());
    /// ```
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum.
    ///
    /// # Errors
    /// [`Overflow`] when it does not fit.
    ///
    /// ```
    /// use cauri_core::{Amount, Overflow};
    /// assert_eq!(Amount::new(4_900).plus(Amount::new(100)), Ok(Amount::new(5_000)));
    /// assert_eq!(Amount::new(i64::MAX).plus(Amount::SMALLEST), Err(Overflow));
    /// ```
    pub fn plus(self, other: Self) -> Result<Self, Overflow> {
        self.0.checked_add(other.0).map(Self).ok_or(Overflow)
    }

    /// The difference; may be negative.
    ///
    /// # Errors
    /// [`Overflow`] when it does not fit.
    ///
    /// ```
    /// use cauri_core::{Amount, Overflow};
    /// assert_eq!(Amount::new(100).minus(Amount::new(5_000)), Ok(Amount::new(-4_900)));
    /// assert_eq!(Amount::new(i64::MIN).minus(Amount::SMALLEST), Err(Overflow));
    /// ```
    pub fn minus(self, other: Self) -> Result<Self, Overflow> {
        self.0.checked_sub(other.0).map(Self).ok_or(Overflow)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
