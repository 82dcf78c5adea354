//! Moments: milliseconds since 1970, UTC, written with three decimals and a `Z` (API §2).

use std::{fmt, str::FromStr};

use chrono::{DateTime, Datelike, Months, NaiveDate, Timelike};

use super::short::Short;

/// A moment, in milliseconds since the Unix epoch, between the years 0000 and 9999.
///
/// ```
/// use cauri_core::Timestamp;
/// let at: Timestamp = "2024-11-19T00:00:00.250Z".parse()?;
/// assert_eq!(at.millis(), 1_731_974_400_250);
/// assert_eq!(at.to_string(), "2024-11-19T00:00:00.250Z");
/// assert_eq!(at.plus_seconds(1).to_string(), "2024-11-19T00:00:01.250Z");
/// # Ok::<(), cauri_core::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// The moment of the next change of an object last changed at `before` (API §19.5).
pub(crate) fn touched(before: Timestamp, now: Timestamp) -> Timestamp {
    now.max(before.plus_millis(1))
}

/// The text is not a date of the contract's form, or names no moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a date of the form YYYY-MM-DDTHH:MM:SS.sssZ")]
#[non_exhaustive]
pub struct TimestampError;

impl Timestamp {
    /// 1970-01-01T00:00:00.000Z.
    pub const EPOCH: Self = Self(0);
    /// The last moment that can be written, in the year 9999.
    pub const MAX: Self = Self(253_402_300_799_999);
    /// The first moment that can be written, in the year 0000.
    pub const MIN: Self = Self(-62_167_219_200_000);

    /// The moment `millis` milliseconds after the epoch, brought into the writable range.
    ///
    /// ```
    /// use cauri_core::Timestamp;
    /// assert_eq!(Timestamp::from_millis(1_500).to_string(), "1970-01-01T00:00:01.500Z");
    /// assert_eq!(Timestamp::from_millis(i64::MAX), Timestamp::MAX);
    /// ```
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// Milliseconds since the epoch.
    ///
    /// ```
    /// use cauri_core::Timestamp;
    /// let at: Timestamp = "1970-01-01T00:00:01.5Z".parse()?;
    /// assert_eq!(at.millis(), 1_500);
    /// # Ok::<(), cauri_core::TimestampError>(())
    /// ```
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down: the `t` of a signature.
    ///
    /// ```
    /// use cauri_core::Timestamp;
    /// assert_eq!(Timestamp::from_millis(1_999).seconds(), 1);
    /// assert_eq!(Timestamp::from_millis(-1).seconds(), -1);
    /// ```
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// This many milliseconds later, at most [`Timestamp::MAX`].
    ///
    /// ```
    /// use cauri_core::Timestamp;
    /// assert_eq!(Timestamp::EPOCH.plus_millis(250).millis(), 250);
    /// assert_eq!(Timestamp::MAX.plus_millis(1), Timestamp::MAX);
    /// ```
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// This many seconds later, at most [`Timestamp::MAX`].
    ///
    /// ```
    /// use cauri_core::Timestamp;
    /// assert_eq!(Timestamp::EPOCH.plus_seconds(90).to_string(), "1970-01-01T00:01:30.000Z");
    /// assert_eq!(Timestamp::EPOCH.plus_seconds(i64::MAX), Timestamp::MAX);
    /// ```
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        self.plus_millis(seconds.saturating_mul(1_000))
    }

    /// The same moment a year later, of a 29th of February the 28th; at most [`Timestamp::MAX`].
    pub(crate) fn plus_year(self) -> Self {
        let later = DateTime::from_timestamp_millis(self.0)
            .and_then(|now| now.checked_add_months(Months::new(12)));
        later.map_or(Self::MAX, |later| Self::from_millis(later.timestamp_millis()))
    }

    fn written(self) -> Option<Short> {
        let at = DateTime::from_timestamp_millis(self.0)?.naive_utc();
        let year = u32::try_from(at.year()).ok()?;
        let millis = u32::try_from(self.0.rem_euclid(1_000)).ok()?;
        let mut text = Short::default();
        for (number, digits, after) in [
            (year, 4, b'-'),
            (at.month(), 2, b'-'),
            (at.day(), 2, b'T'),
            (at.hour(), 2, b':'),
            (at.minute(), 2, b':'),
            (at.second(), 2, b'.'),
            (millis, 3, b'Z'),
        ] {
            text.push_number(number, digits);
            text.push(after);
        }
        Some(text)
    }

    /// Milliseconds from `earlier` to here; negative when `earlier` is later.
    ///
    /// ```
    /// use cauri_core::Timestamp;
    /// let (earlier, later) = (Timestamp::EPOCH, Timestamp::from_millis(250));
    /// assert_eq!(later.since(earlier), 250);
    /// assert_eq!(earlier.since(later), -250);
    /// ```
    #[must_use]
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written().ok_or(fmt::Error)?)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    /// Accepts the written form with none to three decimals.
    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let bytes = text.strip_suffix('Z').ok_or(TimestampError)?.as_bytes();
        let (whole, decimals) = match bytes {
            [whole @ .., b'.', a] if whole.len() == 19 => (whole, [*a, b'0', b'0']),
            [whole @ .., b'.', a, b] if whole.len() == 19 => (whole, [*a, *b, b'0']),
            [whole @ .., b'.', a, b, c] if whole.len() == 19 => (whole, [*a, *b, *c]),
            whole if whole.len() == 19 => (whole, *b"000"),
            _ => return Err(TimestampError),
        };
        let shape = whole.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            10 => *byte == b'T',
            13 | 16 => *byte == b':',
            _ => byte.is_ascii_digit(),
        });
        if !shape {
            return Err(TimestampError);
        }
        let number = |range: std::ops::Range<usize>| {
            whole.get(range).and_then(decimal).ok_or(TimestampError)
        };
        let millis = decimal(&decimals).ok_or(TimestampError)?;
        let year = i32::try_from(number(0..4)?).map_err(|_| TimestampError)?;
        NaiveDate::from_ymd_opt(year, number(5..7)?, number(8..10)?)
            .and_then(|day| {
                day.and_hms_milli_opt(
                    number(11..13).ok()?,
                    number(14..16).ok()?,
                    number(17..19).ok()?,
                    millis,
                )
            })
            .map(|at| Self(at.and_utc().timestamp_millis()))
            .ok_or(TimestampError)
    }
}

fn decimal(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?
        .parse()
        .ok()
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.written().ok_or_else(|| serde::ser::Error::custom(TimestampError))?;
        serializer.serialize_str(&text)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_moment_survives_its_text(millis in Timestamp::MIN.0..=Timestamp::MAX.0) {
            let at = Timestamp(millis);
            prop_assert_eq!(at.to_string().parse(), Ok(at));
        }

        #[test]
        fn parsing_never_panics(text: String) {
            let _ = text.parse::<Timestamp>();
        }
    }

    #[test]
    fn decimals_may_be_fewer_but_never_more_than_three() {
        for (text, millis) in [
            ("1970-01-01T00:00:01Z", Some(1_000)),
            ("1970-01-01T00:00:01.5Z", Some(1_500)),
            ("1970-01-01T00:00:01.05Z", Some(1_050)),
            ("1970-01-01T00:00:01.005Z", Some(1_005)),
            ("1970-01-01T00:00:01.0005Z", None),
            ("1970-01-01T00:00:01.Z", None),
            ("1970-01-01T00:00:01", None),
            ("1970-01-01 00:00:01Z", None),
            ("1970-01-01T00:00:01+00:00", None),
            ("1970-02-30T00:00:01Z", None),
            ("1970-01-01T24:00:00Z", None),
            ("1970-01-01T00:00:60Z", None),
            ("+970-01-01T00:00:00Z", None),
            ("1970-01-01T00:00:01.+05Z", None),
        ] {
            assert_eq!(text.parse::<Timestamp>().ok().map(Timestamp::millis), millis, "{text}");
        }
    }
}
