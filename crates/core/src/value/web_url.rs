//! Addresses on the web.

use std::{fmt, str::FromStr};

use url::{Host, Url};

/// An absolute `http` or `https` URL of at most 2,048 characters, kept as it came.
#[derive(Clone, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct WebUrl(Box<str>);

/// The text is no absolute `http(s)` URL of at most 2,048 characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an absolute http or https URL of at most 2048 characters")]
#[non_exhaustive]
pub struct WebUrlError;

impl WebUrl {
    /// How many characters it may have.
    pub const CHARS_MAX: usize = 2_048;

    /// The URL as it came.
    ///
    /// ```
    /// use cauri_core::WebUrl;
    /// let url: WebUrl = "https://shop.example.com/a/../b".parse()?;
    /// assert_eq!(url.as_str(), "https://shop.example.com/a/../b"); // nothing is rewritten
    /// # Ok::<(), cauri_core::WebUrlError>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Is it encrypted on the way?
    ///
    /// ```
    /// use cauri_core::WebUrl;
    /// let encrypted = |text: &str| text.parse::<WebUrl>().map(|url| url.is_https());
    /// assert_eq!(encrypted("HTTPS://shop.example.com/"), Ok(true));
    /// assert_eq!(encrypted("http://shop.example.com/"), Ok(false));
    /// ```
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("https:"))
    }

    /// Has it neither user info nor a fragment, as a webhook's address must (API §16.1)?
    ///
    /// ```
    /// use cauri_core::WebUrl;
    /// let plain = |text: &str| text.parse::<WebUrl>().map(|url| url.is_plain());
    /// assert_eq!(plain("https://shop.example.com/hooks?a=1"), Ok(true));
    /// assert_eq!(plain("https://user@shop.example.com/hooks"), Ok(false));
    /// assert_eq!(plain("https://:@shop.example.com/hooks"), Ok(false)); // empty, but there
    /// assert_eq!(plain("https://shop.example.com/hooks#top"), Ok(false));
    /// ```
    #[must_use]
    pub fn is_plain(&self) -> bool {
        // The standard drops user info that is empty, so the text is asked.
        let authority = self.0.split_once("//").map(|(_, rest)| rest).unwrap_or_default();
        let authority = authority.split(['/', '\\', '?', '#']).next().unwrap_or_default();
        !authority.contains('@') && !self.0.contains('#')
    }
}

impl FromStr for WebUrl {
    type Err = WebUrlError;

    fn from_str(text: &str) -> Result<Self, WebUrlError> {
        // The URL standard strips white space and control characters; we refuse them, so that
        // what is kept is what is used.
        if text.len() > Self::CHARS_MAX && text.chars().count() > Self::CHARS_MAX
            || text.chars().any(|c| c.is_control() || c.is_whitespace())
        {
            return Err(WebUrlError);
        }
        let url = Url::parse(text).map_err(|_| WebUrlError)?;
        // The URL standard fills in slashes that are missing; a browser that is on such a page already
        // takes the same text for a path of it.
        let rest = text.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
        let absolute = rest.is_some_and(|rest| !rest.starts_with(['/', '\\']));
        let web = matches!(url.scheme(), "http" | "https")
            && absolute
            && url.host().is_some_and(|host| host != Host::Domain(""));
        web.then(|| Self(text.into())).ok_or(WebUrlError)
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A payer's page, or a receiver's address, may hold a token: it stays out of logs.
        f.write_str("WebUrl(…)")
    }
}

impl<'de> serde::Deserialize<'de> for WebUrl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_url_says_so_in_every_browser() {
        let is_url = |text: &str| text.parse::<WebUrl>().is_ok();
        for good in ["https://shop.example.com", "HTTP://shop.example.com:8080/a?b=c://d"] {
            assert!(is_url(good), "{good}");
        }
        for relative in ["https:shop.example.com", "https:/a.example", "https:///a.example"] {
            assert!(!is_url(relative), "{relative}");
        }
        for bent in [r"https:\\a.example", r"https://\a.example", "https:a://b.example"] {
            assert!(!is_url(bent), "{bent}");
        }
    }
}
