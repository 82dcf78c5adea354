//! How money travels: the payment method, the network, and what the payer is asked to do.

use std::{fmt, str::FromStr, sync::Arc};

use super::choice::choice;

choice! {
    /// The kind of money a payment is made with (API §9.1).
    ///
    /// ```
    /// use cauri_core::PaymentMethod;
    /// assert_eq!("mobile_money".parse(), Ok(PaymentMethod::MobileMoney));
    /// assert_eq!(PaymentMethod::Card.as_str(), "card");
    /// ```
    #[expect(clippy::exhaustive_enums, reason = "a new method must stop every match")]
    PaymentMethod {
        /// A wallet held with a phone number.
        MobileMoney = "mobile_money",
        /// A bank card.
        Card = "card",
    }
}

choice! {
    /// What the payer has to do once a payment is created (API §9.3).
    ///
    /// ```
    /// use cauri_core::Flow;
    /// assert_eq!(Flow::ALL, [Flow::Push, Flow::Redirect]);
    /// assert_eq!(Flow::Push.as_str(), "approve_on_phone");
    /// ```
    #[expect(clippy::exhaustive_enums, reason = "a new flow must stop every match")]
    Flow {
        /// Approve on the phone, where the network asks.
        Push = "approve_on_phone",
        /// Visit a page of the network.
        Redirect = "redirect",
    }
}

/// The name of a network (`mtn`, `visa`): 1 to 40 of `a`–`z`, `0`–`9` and `_`. Clones are cheap.
///
/// Which networks there are is the catalogue's knowledge.
///
/// ```
/// use cauri_core::Network;
/// assert_eq!("mtn".parse::<Network>().map(|network| network.to_string()), Ok("mtn".into()));
/// assert!("MTN".parse::<Network>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(Arc<str>);

/// The text is no name of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not 1 to 40 lower-case letters, digits and underscores")]
#[non_exhaustive]
pub struct NetworkError;

impl Network {
    /// How many characters a name may have.
    pub const CHARS_MAX: usize = 40;

    /// The name.
    ///
    /// ```
    /// use cauri_core::Network;
    /// assert_eq!("wave".parse::<Network>().as_ref().map(Network::as_str), Ok("wave"));
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let form = (1..=Self::CHARS_MAX).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        form.then(|| Self(text.into())).ok_or(NetworkError)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for Network {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Network {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_sides_of_every_limit() {
        let (longest, too_long) = ("a".repeat(40), "a".repeat(41));
        for (text, good) in [
            ("a", true),
            ("", false),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("airtel_money_2", true),
            ("Mtn", false),
            ("m-pesa", false),
            ("mtn ", false),
            ("mtné", false),
        ] {
            assert_eq!(text.parse::<Network>().is_ok(), good, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_name_survives_json(name in "[a-z0-9_]{1,40}") {
            let network: Network = name.parse()?;
            let json = serde_json::to_string(&network)?;
            prop_assert_eq!(&json, &format!("\"{name}\""));
            prop_assert_eq!(serde_json::from_str::<Network>(&json)?, network);
        }

        #[test]
        fn parsing_never_panics(text: String) {
            let _ = text.parse::<Network>();
        }
    }
}
