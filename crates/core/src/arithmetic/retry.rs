//! When a delivery that failed is tried again.
//!
//! The schedule is fixed and without jitter: receivers are promised it.
//!
//! | After attempt | Next in |
//! |---|---|
//! | 1 | 5 s |
//! | 2 | 30 s |
//! | 3 | 300 s |
//! | 4 | 1,800 s |
//! | 5 | 7,200 s |
//! | 6 | never: the delivery has failed |

/// How often a delivery is tried at most by itself, the first attempt included.
///
/// ```
/// use cauri_core::retry;
///
/// assert!(retry::delay_after(retry::ATTEMPTS_MAX - 1).is_some());
/// assert!(retry::delay_after(retry::ATTEMPTS_MAX).is_none());
/// ```
pub const ATTEMPTS_MAX: u8 = 6;

/// How many attempts one delivery may have in all, those that were asked for beyond the schedule
/// included (API §22.2).
///
/// ```
/// use cauri_core::retry;
///
/// assert!(retry::ATTEMPTS_KEPT_MAX > retry::ATTEMPTS_MAX);
/// assert!(retry::delay_after(retry::ATTEMPTS_KEPT_MAX).is_none());
/// ```
pub const ATTEMPTS_KEPT_MAX: u8 = 100;

/// How long to wait after the end of failed attempt `attempt` (the first is 1), in milliseconds.
///
/// `None` when it was the last, and for what is no attempt of the schedule.
///
/// ```
/// use cauri_core::retry;
///
/// assert_eq!(retry::delay_after(1), Some(5_000));
/// assert_eq!(retry::delay_after(6), None);
/// ```
#[must_use]
pub const fn delay_after(attempt: u8) -> Option<i64> {
    match attempt {
        1 => Some(5_000),
        2 => Some(30_000),
        3 => Some(300_000),
        4 => Some(1_800_000),
        5 => Some(7_200_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_is_the_promised_one() {
        let waits: Vec<_> = (0..=7).map(delay_after).collect();
        let seconds = |s: i64| Some(s.saturating_mul(1_000));
        assert_eq!(
            waits,
            [
                None,
                seconds(5),
                seconds(30),
                seconds(300),
                seconds(1_800),
                seconds(7_200),
                None,
                None
            ],
        );
    }

    #[test]
    fn every_attempt_but_the_last_has_a_next_and_nothing_beyond_has() {
        for attempt in 0..=u8::MAX {
            assert_eq!(delay_after(attempt).is_some(), (1..ATTEMPTS_MAX).contains(&attempt));
        }
    }
}
