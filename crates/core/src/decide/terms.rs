//! What the embedder decided once: the catalogue, the prices, the delays (API §20).

use crate::{
    arithmetic::fee::FeeSchedule,
    model::{catalogue::Catalogue, route::Routes},
    value::{
        choice::choice, method::PaymentMethod, scope::Environment, time::Timestamp, web_url::WebUrl,
    },
};

choice! {
    /// What of a payment's fee a refund gives back (API §7.2).
    #[non_exhaustive]
    RefundFeePolicy {
        /// Its share.
        Proportional = "proportional",
        /// Nothing.
        Keep = "keep",
    }
}

/// What one environment offers, and at which price.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "embedders write it as a literal")]
pub struct Offers {
    /// Countries, methods, networks and their limits.
    pub catalogue: Catalogue,
    /// Fees.
    pub fees: FeeSchedule,
}

/// The terms of an installation. [`Terms::default`] are those of API §20: the built-in sandbox
/// catalogue and prices, and no network at all in live.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Terms {
    /// What the sandbox offers.
    pub sandbox: Offers,
    /// What live offers.
    pub live: Offers,
    /// Which connections carry what the offers of live name; without a route, the one named.
    pub routes: Routes,
    /// Seconds after which a payment expires unless the request says otherwise; default 900.
    pub payment_expiry_s: u32,
    /// Milliseconds from success to availability for mobile money; default 0.
    pub mobile_money_settlement_ms: i64,
    /// Milliseconds from success to availability for cards; default two days.
    pub card_settlement_ms: i64,
    /// What of the fee a refund gives back; default its share.
    pub refund_fee_policy: RefundFeePolicy,
    /// Where the embedder's checkout pages are; a link's or payment's id is put behind it.
    pub checkout_base_url: String,
    /// Milliseconds for which the sandbox's simulated network leaves a payment or payout as
    /// `created`, so that what is done right after creation finds it there; default 300.
    pub sandbox_submit_ms: i64,
}

impl Terms {
    /// What an environment offers.
    ///
    /// ```
    /// use cauri_core::{Environment, decide::Terms};
    /// let terms = Terms::default();
    /// let countries = |environment| terms.offers(environment).catalogue.countries();
    /// assert!(countries(Environment::Sandbox).iter().any(|country| !country.offers().is_empty()));
    /// // No network is there in live before the embedder brings one.
    /// assert!(countries(Environment::Live).iter().all(|country| country.offers().is_empty()));
    /// ```
    #[must_use]
    pub const fn offers(&self, environment: Environment) -> &Offers {
        match environment {
            Environment::Sandbox => &self.sandbox,
            Environment::Live => &self.live,
        }
    }

    /// Milliseconds from a payment's success to its money's availability.
    ///
    /// ```
    /// use cauri_core::{PaymentMethod, decide::Terms};
    /// let terms = Terms::default();
    /// assert_eq!(terms.settlement_ms(PaymentMethod::MobileMoney), 0);
    /// assert_eq!(terms.settlement_ms(PaymentMethod::Card), 2 * 24 * 60 * 60 * 1_000);
    /// ```
    #[must_use]
    pub const fn settlement_ms(&self, method: PaymentMethod) -> i64 {
        match method {
            PaymentMethod::MobileMoney => self.mobile_money_settlement_ms,
            PaymentMethod::Card => self.card_settlement_ms,
        }
    }
}

impl Terms {
    /// The first of these terms that nothing could be done by: a delay below zero, a payment that
    /// expires as it is made, pages for payers that are nowhere.
    ///
    /// ```
    /// use cauri_core::decide::Terms;
    /// let mut terms = Terms::default();
    /// assert_eq!(terms.unusable(), None);
    /// terms.payment_expiry_s = 0;
    /// assert_eq!(terms.unusable(), Some("payment_expiry_s"));
    /// ```
    #[must_use]
    pub fn unusable(&self) -> Option<&'static str> {
        [
            ("payment_expiry_s", self.payment_expiry_s == 0),
            ("mobile_money_settlement_ms", self.mobile_money_settlement_ms < 0),
            ("card_settlement_ms", self.card_settlement_ms < 0),
            ("sandbox_submit_ms", self.sandbox_submit_ms < 0),
            ("checkout_base_url", self.checkout_base_url.parse::<WebUrl>().is_err()),
        ]
        .into_iter()
        .find_map(|(name, is_unusable)| is_unusable.then_some(name))
    }

    /// When a new order goes to its network: `None` at once.
    pub(super) fn submit_at(&self, environment: Environment, now: Timestamp) -> Option<Timestamp> {
        match environment {
            Environment::Sandbox if self.sandbox_submit_ms > 0 => {
                Some(now.plus_millis(self.sandbox_submit_ms))
            }
            Environment::Sandbox | Environment::Live => None,
        }
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            sandbox: Offers { catalogue: Catalogue::sandbox(), fees: FeeSchedule::sandbox() },
            live: Offers {
                catalogue: Catalogue::sandbox().without_offers(),
                fees: FeeSchedule::empty(),
            },
            routes: Routes::default(),
            payment_expiry_s: 900,
            mobile_money_settlement_ms: 0,
            card_settlement_ms: 172_800_000,
            refund_fee_policy: RefundFeePolicy::Proportional,
            checkout_base_url: "https://pay.example.com".to_owned(),
            sandbox_submit_ms: 300,
        }
    }
}
