//! When to ask again.

use std::time::Duration;

/// What an attempt is left at the least, so that a server has the time to answer it. One that has
/// none would make no answer, which may mean anything, of a refusal that is known. Of totals under
/// four seconds it is a quarter.
const ATTEMPT: Duration = Duration::from_secs(1);

/// How often and for how long a call is tried.
///
/// Tried again is what may turn out better: no connection, no answer or half of one, 429 and every
/// 5xx. What was answered 4xx is answered so again. All attempts of a call carry the same
/// `Idempotency-Key`, so that an attempt whose answer was lost does nothing twice (API §5).
///
/// Between attempts the client waits as long as `Retry-After` says, or else twice as long as
/// before; how long exactly is left to chance, so that many clients do not come back at once.
///
/// ```
/// use std::time::Duration;
///
/// use cauri_client::Retry;
///
/// let patient = Retry::default().attempts_max(10).total(Duration::from_secs(300));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Retry {
    attempts_max: u32,
    total: Duration,
    pause: Duration,
    pause_max: Duration,
}

impl Retry {
    /// Asks once.
    pub const fn never() -> Self {
        Self {
            attempts_max: 1,
            total: Duration::from_secs(60),
            pause: Duration::from_millis(250),
            pause_max: Duration::from_secs(8),
        }
    }

    /// How many attempts there may be, the first included; 5 unless told.
    pub const fn attempts_max(mut self, attempts: u32) -> Self {
        self.attempts_max = if attempts == 0 { 1 } else { attempts };
        self
    }

    /// How long a call may take with all its attempts and the pauses between them; a minute unless
    /// told. A pause that would leave the next attempt less than a second of it, less than a quarter
    /// where all of it is under four, is not begun: the call ends with what it knows.
    pub const fn total(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// The first pause, 250 ms unless told, and the longest, 8 s.
    pub const fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.pause = first;
        self.pause_max = longest;
        self
    }

    /// How long is left of a call that has taken `elapsed`.
    pub(crate) const fn left(&self, elapsed: Duration) -> Duration {
        self.total.saturating_sub(elapsed)
    }

    /// How long to wait after so many attempts in so much time; `None` when that was all. `chance`
    /// is any number.
    pub(crate) fn wait(
        &self,
        attempts: u32,
        elapsed: Duration,
        retry_after: Option<Duration>,
        chance: u16,
    ) -> Option<Duration> {
        if attempts >= self.attempts_max {
            return None;
        }
        let (least, most_more) = match retry_after {
            // Never sooner than the server wants, and not all at the same moment.
            Some(after) => (after, after / 2),
            None => {
                let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1));
                let half = self.pause.saturating_mul(doubled).min(self.pause_max) / 2;
                (half, half)
            }
        };
        let left = self.left(elapsed).checked_sub(least)?;
        let attempt = ATTEMPT.min(self.total / 4);
        // Chance spends up to half of what time there is, and never decides that there is none.
        let spare = left.checked_sub(attempt)?.min(left / 2);
        Some(least.saturating_add(share(most_more, chance).min(spare)))
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::never().attempts_max(5)
    }
}

/// As much of a duration as `chance` is of the largest number it can be.
fn share(of: Duration, chance: u16) -> Duration {
    of.saturating_mul(chance.into()) / u32::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::{option, prelude::*};

    use super::*;

    const NOW: Duration = Duration::ZERO;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_chance_takes_up_to_half() {
        let retry = Retry::default().attempts_max(9);
        let pauses = |chance| [1, 2, 3, 6, 8].map(|made| retry.wait(made, NOW, None, chance));
        assert_eq!(pauses(u16::MAX), [250, 500, 1_000, 8_000, 8_000].map(|it| Some(ms(it))));
        assert_eq!(pauses(0), [125, 250, 500, 4_000, 4_000].map(|it| Some(ms(it))));
    }

    #[test]
    fn nobody_comes_back_before_the_server_wants() {
        let retry = Retry::default();
        let wait = |chance| retry.wait(1, NOW, Some(ms(3_000)), chance);
        assert_eq!(wait(0), Some(ms(3_000)));
        assert_eq!(wait(u16::MAX), Some(ms(4_500)));
        let at_once = Retry::default().pauses(ms(60_000), ms(60_000));
        let wait = at_once.wait(1, NOW, Some(NOW), u16::MAX);
        assert_eq!(wait, Some(NOW), "the server knows better");
    }

    #[test]
    fn attempts_and_time_are_bounded() {
        let retry = Retry::default().attempts_max(3).total(ms(1_000));
        assert!(retry.wait(2, NOW, None, 0).is_some());
        assert_eq!(retry.wait(3, NOW, None, 0), None);
        for chance in [0, u16::MAX] {
            // 250 ms of the second are the attempt's.
            assert_eq!(retry.wait(1, ms(625), None, chance), Some(ms(125)), "{chance}");
            assert_eq!(retry.wait(1, ms(626), None, chance), None, "{chance}");
            assert_eq!(retry.wait(1, NOW, Some(ms(750)), chance), Some(ms(750)), "{chance}");
            assert_eq!(retry.wait(1, NOW, Some(ms(751)), chance), None, "{chance}");
        }
        assert_eq!(retry.wait(1, NOW, Some(Duration::MAX), 0), None, "for ever");
        assert_eq!(Retry::never().wait(1, NOW, Some(NOW), 0), None);
        let endless = Retry::default().attempts_max(u32::MAX).total(Duration::MAX);
        assert_eq!(endless.wait(u32::MAX - 1, NOW, None, u16::MAX), Some(ms(8_000)));
        assert_eq!(endless.wait(1, NOW, Some(Duration::MAX), u16::MAX), None, "for ever");
    }

    #[test]
    fn chance_leaves_the_attempt_half_of_what_is_left_and_never_less_than_a_second() {
        let retry = Retry::default().total(ms(60_000));
        let wait = |after, chance| retry.wait(1, NOW, Some(ms(after)), chance);
        assert_eq!(wait(50_000, u16::MAX), Some(ms(55_000)), "half of ten seconds");
        assert_eq!(wait(58_500, u16::MAX), Some(ms(59_000)), "all but a second");
        assert_eq!(wait(59_000, u16::MAX), Some(ms(59_000)));
        assert_eq!(wait(59_001, 0), None, "the refusal is known: none is risked for no answer");
    }

    proptest! {
        #[test]
        fn whatever_is_waited_for_an_attempt_has_some_time(
            total in 1_u64..100_000,
            elapsed in 0_u64..100_000,
            after in option::of(0_u64..100_000),
            attempts in 1_u32..5,
            chance: u16,
        ) {
            let retry = Retry::default().total(ms(total));
            let wait = retry.wait(attempts, ms(elapsed), after.map(ms), chance);
            if let Some(wait) = wait {
                prop_assert!(retry.left(ms(elapsed) + wait) >= ms(1_000).min(ms(total) / 4));
                prop_assert!(wait >= after.map(ms).unwrap_or_default());
            }
            // Chance has no say in whether there is another attempt.
            prop_assert_eq!(wait.is_some(), retry.wait(attempts, ms(elapsed), after.map(ms), 0).is_some());
        }
    }
}
