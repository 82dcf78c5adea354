//! How often a caller may call (API §6).

use std::{
    num::NonZeroU32,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use cauri::{ApiKeyId, Caller, Scope};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DashMapStateStore,
};
use http::HeaderValue;

/// After how many requests keys that have their whole quota are forgotten.
const FORGET_EVERY: u32 = 16_384;

/// How often each API key may call: so many requests at once, which come back evenly over a
/// window.
///
/// ```
/// use std::num::NonZeroU32;
/// use cauri_http::RateLimit;
/// let limit = RateLimit::new(NonZeroU32::MIN, NonZeroU32::MIN);
/// assert_ne!(limit, RateLimit::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    requests: NonZeroU32,
    seconds: NonZeroU32,
}

impl RateLimit {
    /// So many requests within so many seconds.
    #[must_use]
    pub const fn new(requests: NonZeroU32, seconds: NonZeroU32) -> Self {
        Self { requests, seconds }
    }

    fn period(self) -> Duration {
        Duration::from_secs(self.seconds.get().into()) / self.requests.get()
    }
}

impl Default for RateLimit {
    /// 6000 requests within 60 seconds.
    fn default() -> Self {
        const REQUESTS: NonZeroU32 = NonZeroU32::new(6_000).expect("not zero");
        const SECONDS: NonZeroU32 = NonZeroU32::new(60).expect("not zero");
        Self::new(REQUESTS, SECONDS)
    }
}

/// Who is limited: a key, or a whole scope where the embedder knows its callers otherwise.
type Whom = (Scope, Option<ApiKeyId>);

/// Counts. Of this process only: several nodes allow that many each.
#[derive(Debug)]
pub(crate) struct Limiter<C: Clock = DefaultClock> {
    limit: RateLimit,
    policy: HeaderValue,
    counts: RateLimiter<Whom, DashMapStateStore<Whom>, C, StateInformationMiddleware>,
    clock: C,
    checked: AtomicU32,
}

/// What a limiter says about one request.
#[derive(Debug, Clone)]
pub(crate) struct Rate {
    /// `RateLimit-Policy`.
    pub(crate) policy: HeaderValue,
    /// `RateLimit`.
    pub(crate) left: HeaderValue,
    /// In how many seconds a refused request may be sent again.
    pub(crate) retry_after_s: Option<u64>,
}

impl Limiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self::with_clock(limit, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Limiter<C> {
    fn with_clock(limit: RateLimit, clock: C) -> Self {
        // A window so short that its quota is unlimited counts in nanoseconds.
        let period = limit.period().max(Duration::from_nanos(1));
        let quota = Quota::with_period(period)
            .unwrap_or(Quota::per_second(limit.requests))
            .allow_burst(limit.requests);
        let policy = format!("\"default\";q={};w={}", limit.requests, limit.seconds);
        Self {
            limit,
            policy: header(policy),
            counts: RateLimiter::dashmap_with_clock(quota, clock.clone()).with_middleware(),
            clock,
            checked: AtomicU32::new(0),
        }
    }

    /// Counts a request, unless it is one too many.
    pub(crate) fn check(&self, caller: &Caller) -> Rate {
        if self.checked.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            self.counts.retain_recent();
        }
        let period = self.limit.period();
        match self.counts.check_key(&(caller.scope, caller.key)) {
            Ok(state) => {
                let left = state.remaining_burst_capacity();
                let full = period * self.limit.requests.get().saturating_sub(left);
                self.say(left, full, None)
            }
            Err(until) => {
                let wait = until.wait_time_from(self.clock.now());
                let full = wait + period * self.limit.requests.get().saturating_sub(1);
                self.say(0, full, Some(rounded_up(wait).max(1)))
            }
        }
    }

    fn say(&self, left: u32, full: Duration, retry_after_s: Option<u64>) -> Rate {
        let left = format!("\"default\";r={left};t={}", rounded_up(full));
        Rate { policy: self.policy.clone(), left: header(left), retry_after_s }
    }
}

fn rounded_up(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

fn header(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use cauri::Environment;
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn caller(environment: Environment) -> Caller {
        let account = "acct_01jd3w8k4f7q2m9x5r6t0v1b3c".parse().unwrap();
        Caller::secret(Scope { account, environment })
    }

    fn five_a_minute(clock: &FakeRelativeClock) -> Limiter<FakeRelativeClock> {
        let limit = RateLimit::new(NonZeroU32::new(5).unwrap(), NonZeroU32::new(60).unwrap());
        Limiter::with_clock(limit, clock.clone())
    }

    fn said(rate: &Rate) -> (&str, Option<u64>) {
        (rate.left.to_str().unwrap(), rate.retry_after_s)
    }

    #[test]
    fn a_quota_is_spent_and_comes_back_evenly() {
        let clock = FakeRelativeClock::default();
        let limiter = five_a_minute(&clock);
        let me = caller(Environment::Sandbox);
        for (left, full) in [(4, 12), (3, 24), (2, 36), (1, 48), (0, 60)] {
            let rate = limiter.check(&me);
            assert_eq!(rate.policy, "\"default\";q=5;w=60");
            assert_eq!(said(&rate), (&*format!("\"default\";r={left};t={full}"), None));
        }
        clock.advance(Duration::from_millis(500));
        for _ in 0..3 {
            // What is refused does not count.
            assert_eq!(said(&limiter.check(&me)), ("\"default\";r=0;t=60", Some(12)));
        }
        clock.advance(Duration::from_millis(11_499));
        assert_eq!(limiter.check(&me).retry_after_s, Some(1));
        clock.advance(Duration::from_millis(1));
        assert_eq!(said(&limiter.check(&me)), ("\"default\";r=0;t=60", None));
        clock.advance(Duration::from_secs(60));
        assert_eq!(said(&limiter.check(&me)), ("\"default\";r=4;t=12", None));
    }

    #[test]
    fn each_has_a_quota_of_its_own() {
        let clock = FakeRelativeClock::default();
        let limiter = five_a_minute(&clock);
        for _ in 0..6 {
            limiter.check(&caller(Environment::Sandbox));
        }
        let key = "key_01jd3w8k4f7q2m9x5r6t0v1b3c".parse().unwrap();
        for other in [caller(Environment::Live), caller(Environment::Sandbox).with_key(key)] {
            assert_eq!(limiter.check(&other).retry_after_s, None);
        }
        assert!(limiter.check(&caller(Environment::Sandbox)).retry_after_s.is_some());
    }

    #[test]
    fn who_has_a_whole_quota_is_forgotten() {
        let clock = FakeRelativeClock::default();
        let limiter = five_a_minute(&clock);
        limiter.check(&caller(Environment::Live));
        clock.advance(Duration::from_secs(120));
        for _ in 0..FORGET_EVERY {
            limiter.check(&caller(Environment::Sandbox));
        }
        assert_eq!(limiter.counts.len(), 1);
    }

    #[test]
    fn limits_of_any_size_are_limits() {
        for (requests, seconds) in [(1, 1), (u32::MAX, 1), (1, u32::MAX), (u32::MAX, u32::MAX)] {
            let limit = RateLimit::new(requests.try_into().unwrap(), seconds.try_into().unwrap());
            let limiter = Limiter::with_clock(limit, FakeRelativeClock::default());
            assert_eq!(limiter.check(&caller(Environment::Live)).retry_after_s, None);
        }
    }
}
