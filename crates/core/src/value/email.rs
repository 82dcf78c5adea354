//! E-mail addresses, kept as they came and compared in lower case (API §13).

use std::{fmt, str::FromStr};

/// An e-mail address of at most 254 characters.
#[derive(Clone, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Email(Box<str>);

/// The text is no e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an e-mail address")]
#[non_exhaustive]
pub struct EmailError;

impl Email {
    /// The address as it came.
    ///
    /// ```
    /// use cauri_core::Email;
    /// let email: Email = "Awa@Example.com".parse()?;
    /// assert_eq!(email.as_str(), "Awa@Example.com");
    /// # Ok::<(), cauri_core::EmailError>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form in which addresses are compared.
    ///
    /// ```
    /// use cauri_core::Email;
    /// assert_eq!("Awa@Example.com".parse::<Email>().map(|e| e.folded()), Ok("awa@example.com".into()));
    /// ```
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }
}

impl FromStr for Email {
    type Err = EmailError;

    fn from_str(text: &str) -> Result<Self, EmailError> {
        let options =
            email_address::Options::default().without_display_text().without_domain_literal();
        email_address::EmailAddress::parse_with_options(text, options)
            .ok()
            // A quoted part may hold a tab; no text of ours does.
            .filter(|_| text.chars().count() <= 254 && !text.chars().any(char::is_control))
            .map(|_| Self(text.into()))
            .ok_or(EmailError)
    }
}

impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Personal data stays out of logs.
        f.write_str("Email(…)")
    }
}

impl<'de> serde::Deserialize<'de> for Email {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_no_control_characters_and_at_most_254_characters() {
        let is_address = |text: &str| text.parse::<Email>().is_ok();
        assert!(is_address("awa@example.com") && is_address("\"awa diop\"@example.com"));
        assert!(!is_address("\"awa\tdiop\"@example.com") && !is_address("awa\0@example.com"));
        let host = ["a".repeat(60), "b".repeat(60), "c".repeat(60), "example.com".into()].join(".");
        let long = |count: usize| format!("{}@{host}", "x".repeat(count));
        let room = 254 - host.len() - 1;
        assert!(is_address(&long(room)) && !is_address(&long(room + 1)));
    }
}
