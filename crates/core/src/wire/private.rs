//! What a client may see and a log may not, and what of it a public key is shown (API §3.4).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A text of a response that stays out of logs: a name, an address, a secret.
///
/// ```
/// use cauri_core::wire::Private;
/// let name = Private::from("Awa Diop");
/// assert_eq!(name.as_str(), "Awa Diop");
/// assert_eq!(format!("{name:?}"), "Private(…)");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Private(Box<str>);

impl Private {
    /// The text.
    ///
    /// ```
    /// use cauri_core::wire::Private;
    /// assert_eq!(Private::from("+2250500000000").as_str(), "+2250500000000");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first letter and three asterisks.
    pub(crate) fn masked_name(&self) -> Self {
        let first = self.0.chars().next();
        Self(first.into_iter().chain("***".chars()).collect())
    }

    /// The first letter and the host.
    pub(crate) fn masked_email(&self) -> Self {
        let Some((local, host)) = self.0.rsplit_once('@') else { return Self("***".into()) };
        let first = local.chars().next();
        Self(first.into_iter().chain("***@".chars()).chain(host.chars()).collect())
    }

    /// The first four and the last two characters; none of a number too short to hide the rest.
    pub(crate) fn masked_phone(&self) -> Self {
        let hidden_to = self.0.chars().count().saturating_sub(2);
        let shown_to = if hidden_to > 4 { 4 } else { 0 };
        let mask = |(at, digit)| {
            let shown = at < shown_to || (shown_to > 0 && at >= hidden_to);
            if shown { digit } else { '*' }
        };
        Self(self.0.chars().enumerate().map(mask).collect())
    }
}

impl From<&str> for Private {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Private(…)")
    }
}

/// What a public key is shown of a response: personal data is masked (API §3.4).
pub trait Mask: Sized {
    /// The same with personal data masked.
    ///
    /// ```
    /// use cauri_core::wire::{Customer, Mask};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let customer = Shop::open().customer("Awa Diop").value;
    /// let masked = Customer::of(&customer, None)?.masked();
    /// assert_eq!(masked.name.as_ref().map(|name| name.as_str()), Some("A***"));
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    #[must_use]
    fn masked(self) -> Self;
}
