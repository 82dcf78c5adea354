//! Whether a connection is worth asking, from how it has answered lately.

use cauri_core::Timestamp;

/// When a connection counts as down, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerOptions {
    /// After how many submissions in a row that were not answered; default 5.
    pub failures_max: u32,
    /// For how long it is then spared, in milliseconds; default 10,000. After that one order at a
    /// time tries it.
    pub open_ms: i64,
}

impl Default for BreakerOptions {
    fn default() -> Self {
        Self { failures_max: 5, open_ms: 10_000 }
    }
}

impl BreakerOptions {
    /// The same with another number of failures.
    #[must_use]
    pub const fn failures_max(mut self, failures_max: u32) -> Self {
        self.failures_max = failures_max;
        self
    }

    /// The same with another time of rest, in milliseconds.
    #[must_use]
    pub const fn open_ms(mut self, open_ms: i64) -> Self {
        self.open_ms = open_ms;
        self
    }
}

/// What a breaker thinks of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a breaker is one of these")]
pub enum BreakerState {
    /// It answers: orders go there.
    Closed,
    /// It does not answer: orders go elsewhere, where there is an elsewhere.
    Open,
    /// An order tries whether it answers again.
    HalfOpen,
}

/// The breaker of one connection, as one process sees it. It knows the time from whoever asks.
#[derive(Debug)]
pub(super) struct Breaker {
    options: BreakerOptions,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Closed {
        failures: u32,
    },
    Open {
        until: Timestamp,
    },
    /// Somebody tries; who has not answered for it by `until` is not waited for.
    HalfOpen {
        until: Timestamp,
    },
}

impl Breaker {
    pub(super) const fn new(options: BreakerOptions) -> Self {
        Self { options, state: State::Closed { failures: 0 } }
    }

    pub(super) const fn state(&self) -> BreakerState {
        match self.state {
            State::Closed { .. } => BreakerState::Closed,
            State::Open { .. } => BreakerState::Open,
            State::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    /// Would an order be let through now?
    fn is_passable(&self, now: Timestamp) -> bool {
        match self.state {
            State::Closed { .. } => true,
            // A clock that was set back does not prolong the rest.
            State::Open { until } | State::HalfOpen { until } => {
                now >= until || until.since(now) > self.options.open_ms
            }
        }
    }

    /// Lets an order through, or not. The first one after the rest is a trial.
    pub(super) fn pass(&mut self, now: Timestamp) -> bool {
        let passes = self.is_passable(now);
        if passes && !matches!(self.state, State::Closed { .. }) {
            self.state = State::HalfOpen { until: now.plus_millis(self.options.open_ms) };
        }
        passes
    }

    /// The network answered an order, whatever it said. Once open, only a trial's answer counts:
    /// others were sent before.
    pub(super) const fn answered(&mut self) {
        match self.state {
            State::Closed { .. } | State::HalfOpen { .. } => {
                self.state = State::Closed { failures: 0 };
            }
            State::Open { .. } => {}
        }
    }

    /// The network did not answer an order. `true` when that opens the breaker.
    pub(super) fn failed(&mut self, now: Timestamp) -> bool {
        let opens = match &mut self.state {
            State::Closed { failures } => {
                *failures = failures.saturating_add(1);
                *failures >= self.options.failures_max
            }
            State::HalfOpen { .. } => true,
            State::Open { .. } => false,
        };
        if opens {
            self.state = State::Open { until: now.plus_millis(self.options.open_ms) };
        }
        opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn opened() -> Breaker {
        let mut breaker = Breaker::new(BreakerOptions::default().failures_max(3).open_ms(10_000));
        assert_eq!([0, 0, 0].map(|_| breaker.failed(at(0))), [false, false, true]);
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it() {
        let mut breaker = Breaker::new(BreakerOptions::default().failures_max(3));
        for _ in 0..10 {
            assert!(!breaker.failed(at(0)) && !breaker.failed(at(0)));
            breaker.answered();
        }
        assert!(breaker.pass(at(0)));
        assert_eq!(opened().state(), BreakerState::Open);
    }

    #[test]
    fn while_it_is_open_nobody_passes_and_afterwards_one_at_a_time() {
        let mut breaker = opened();
        assert!(!breaker.pass(at(9)));
        assert!(breaker.is_passable(at(10)));
        assert!(breaker.pass(at(10)));
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
        assert!(!breaker.is_passable(at(19)) && !breaker.pass(at(19)));
        assert!(breaker.pass(at(20)), "who never came back is not waited for");
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_prolong_the_rest() {
        let mut breaker = Breaker::new(BreakerOptions::default().failures_max(1).open_ms(10_000));
        assert!(breaker.failed(at(3_600)));
        assert!(!breaker.pass(at(3_600)) && !breaker.pass(at(3_609)));
        assert!(breaker.pass(at(0)), "an hour earlier");
        assert!(!breaker.pass(at(9)) && breaker.pass(at(10)));
    }

    #[test]
    fn a_trial_closes_or_opens_it() {
        let mut breaker = opened();
        assert!(breaker.pass(at(10)));
        assert!(breaker.failed(at(11)));
        assert!(!breaker.pass(at(20)) && breaker.pass(at(21)));
        breaker.answered();
        assert_eq!(breaker.state(), BreakerState::Closed);
        assert!(breaker.pass(at(22)) && breaker.pass(at(22)));
    }

    #[test]
    fn what_was_sent_before_it_opened_changes_nothing() {
        let mut breaker = opened();
        breaker.answered();
        assert!(!breaker.failed(at(9)), "nor is the rest prolonged");
        assert!(!breaker.pass(at(9)) && breaker.pass(at(10)));
    }
}
