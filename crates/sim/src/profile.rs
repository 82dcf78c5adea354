//! What kind of world a seed is: each seed is bad in its own way, so that no fault hides another.

use cauri_conformance::fixtures::Random;

use crate::dice::mix;

/// The bounds of a world. Rates are per ten thousand calls.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    /// Nothing fails at all; what is allowed for the sake of faults is then forbidden.
    pub(crate) calm: bool,
    pub(crate) nodes: usize,
    pub(crate) operations: usize,
    /// Operations begin within this time.
    pub(crate) span_ms: u64,
    pub(crate) period_ms: u64,
    /// Clocks are within this of the true time. Two of them differ by less than a lease (20 s).
    pub(crate) drift_ms: i64,
    pub(crate) clock_steps: bool,
    pub(crate) store_faults: usize,
    pub(crate) store_late: usize,
    pub(crate) store_slow: usize,
    pub(crate) deaths_at_calls: usize,
    /// How many lives of a hundred end by a crash at some moment.
    pub(crate) crashes: usize,
    pub(crate) network_faults: usize,
    pub(crate) network_slow: usize,
    pub(crate) network_lies: usize,
    pub(crate) receiver_faults: usize,
    pub(crate) client_faults: usize,
    pub(crate) card_settlement_ms: i64,
}

impl Profile {
    pub(crate) fn of(seed: u64) -> Self {
        let mut random = Random::new(mix(seed, &[1]));
        let calm = random.below(12) == 0;
        let mut rate = |rates: &[usize]| if calm { 0 } else { *random.pick(rates) };
        Self {
            calm,
            store_faults: rate(&[0, 20, 100, 400, 1_000]),
            store_late: rate(&[0, 0, 20, 200]),
            store_slow: rate(&[0, 0, 50, 300]),
            deaths_at_calls: rate(&[0, 0, 20, 100]),
            crashes: rate(&[0, 30, 100]),
            network_faults: rate(&[0, 300, 1_500, 3_000]),
            network_slow: rate(&[0, 200, 2_000]),
            network_lies: rate(&[0, 1_000, 4_000]),
            receiver_faults: rate(&[0, 500, 3_000]),
            client_faults: rate(&[0, 500, 3_000]),
            drift_ms: i64::try_from(rate(&[0, 200, 3_000, 9_900])).unwrap_or(0),
            clock_steps: rate(&[0, 1]) == 1,
            nodes: random.below(4) + 1,
            operations: *random.pick(&[6, 12, 20, 40]),
            span_ms: *random.pick(&[500, 5_000, 30_000, 90_000]),
            period_ms: *random.pick(&[250, 500, 1_000]),
            card_settlement_ms: random.within(0..=300_000),
        }
    }
}
