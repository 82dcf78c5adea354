//! The real clock, watched from outside.

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How much later than it should something may be seen, on a machine that is busy with other
/// stories and on a disk that stalls. Too early is never forgiven.
pub(crate) const SLACK: Duration = Duration::from_secs(20);

/// How long "soon" may take.
pub(crate) const SOON: Duration = SLACK;

const PAUSE: Duration = Duration::from_millis(40);

#[expect(clippy::disallowed_methods, reason = "a black-box test watches the machine's clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a black-box test watches the machine's clock")]
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Asks until the answer is there. `Err` is what was seen instead; the last one is reported.
pub(crate) fn soon<T>(probe: impl FnMut() -> Result<T, String>) -> T {
    within(SOON, probe)
}

pub(crate) fn within<T>(limit: Duration, mut probe: impl FnMut() -> Result<T, String>) -> T {
    let deadline = now() + limit;
    loop {
        match probe() {
            Ok(found) => return found,
            Err(seen) if now() >= deadline => panic!("not within {limit:?}; last seen: {seen}"),
            Err(_) => sleep(PAUSE),
        }
    }
}

/// Did something take as long as it should, in milliseconds?
#[track_caller]
pub(crate) fn took(millis: i64, expected: i64) {
    let slack = i64::try_from(SLACK.as_millis()).unwrap();
    let near = expected - 100..expected + slack;
    assert!(near.contains(&millis), "{expected} ms, not {millis}");
}

/// Checks again and again that something stays as it is.
pub(crate) fn stays(span: Duration, mut probe: impl FnMut()) {
    let deadline = now() + span;
    while now() < deadline {
        probe();
        sleep(PAUSE * 4);
    }
}

/// Milliseconds since 1970 of a date in the one form the contract knows.
pub(crate) fn millis(date: &serde_json::Value) -> i64 {
    let text = date.as_str().unwrap_or_else(|| panic!("not a date: {date}"));
    assert!(is_date(text), "not a date: {text}");
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().unwrap();
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let (hour, minute, second) = (number(11, 13), number(14, 16), number(17, 19));
    let days = days_since_1970(year, month, day);
    (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(20, 23)
}

/// `YYYY-MM-DDTHH:MM:SS.sssZ`, always three decimals.
pub(crate) fn is_date(text: &str) -> bool {
    text.len() == 24
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            10 => byte == b'T',
            13 | 16 => byte == b':',
            19 => byte == b'.',
            23 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        })
}

/// The other way round, for query dates.
pub(crate) fn date(millis: i64) -> String {
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    let mut year = 1970 + days / 366;
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && days_since_1970(year, month + 1, 1) <= days {
        month += 1;
    }
    let day = days - days_since_1970(year, month, 1) + 1;
    let (seconds, ms) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
