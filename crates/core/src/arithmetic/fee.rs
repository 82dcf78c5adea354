//! What a payment and a payout cost, and how much of it a refund gives back (API §7.1, §7.2).

use crate::value::{
    choice::choice,
    currency::Currency,
    method::{Network, PaymentMethod},
    money::{Amount, Overflow},
};

choice! {
    /// What a fee is charged for. Refunds are free.
    ///
    /// ```
    /// use cauri_core::FeeKind;
    /// assert_eq!(FeeKind::ALL, [FeeKind::Payment, FeeKind::Payout]);
    /// ```
    #[expect(clippy::exhaustive_enums, reason = "a new kind must stop every match")]
    FeeKind {
        /// Taken out of what the payer pays, so never more than that.
        Payment = "payment",
        /// Added to what the recipient gets.
        Payout = "payout",
    }
}

/// One price: a share of the amount and a fixed part, within bounds.
///
/// All amounts are in the smallest unit of the currency of what is charged for.
///
/// # Rounding
/// The share is rounded to the nearest whole unit, halves up:
///
/// ```
/// use cauri_core::{Amount, FeeRule};
/// let two_percent = FeeRule { bps: 200, ..FeeRule::default() };
/// assert_eq!(two_percent.apply(Amount::new(125)), Ok(Amount::new(3))); // 2.5
/// assert_eq!(two_percent.apply(Amount::new(124)), Ok(Amount::new(2))); // 2.48
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a price has these parts; it is written as a literal"
)]
pub struct FeeRule {
    /// Share of the amount, in hundredths of a percent.
    pub bps: u32,
    /// Added to the share.
    pub fixed: Amount,
    /// The least that is charged.
    pub min: Amount,
    /// The most that is charged; it wins over `min`. None: no cap.
    pub max: Option<Amount>,
}

impl FeeRule {
    /// The fee for `amount`: never negative, and nothing for an amount that is not positive.
    ///
    /// # Errors
    /// [`Overflow`] when the fee does not fit into 64 bits.
    ///
    /// ```
    /// use cauri_core::{Amount, FeeRule, Overflow};
    /// let rule = FeeRule {
    ///     bps: 100,
    ///     min: Amount::new(100),
    ///     max: Some(Amount::new(5_000)),
    ///     ..FeeRule::default()
    /// };
    /// assert_eq!(rule.apply(Amount::new(2_000)), Ok(Amount::new(100)));
    /// assert_eq!(rule.apply(Amount::new(20_000)), Ok(Amount::new(200)));
    /// assert_eq!(rule.apply(Amount::new(600_000)), Ok(Amount::new(5_000)));
    ///
    /// let absurd = FeeRule { bps: 20_000, ..FeeRule::default() };
    /// assert_eq!(absurd.apply(Amount::new(i64::MAX)), Err(Overflow));
    /// ```
    pub fn apply(&self, amount: Amount) -> Result<Amount, Overflow> {
        if !amount.is_positive() {
            return Ok(Amount::ZERO);
        }
        let share = i128::from(amount.units())
            .checked_mul(i128::from(self.bps))
            .and_then(|product| product.checked_add(5_000))
            .and_then(|product| product.checked_div(10_000))
            .ok_or(Overflow)?;
        let fee = share
            .checked_add(i128::from(self.fixed.units()))
            .ok_or(Overflow)?
            .max(i128::from(self.min.units()));
        let fee = self.max.map_or(fee, |max| fee.min(i128::from(max.units())));
        narrow(fee.max(0))
    }
}

/// What a rule is for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it is written as a literal")]
pub struct FeeKey {
    /// Payments or payouts.
    pub kind: FeeKind,
    /// By which method.
    pub payment_method: PaymentMethod,
    /// On this network only; None: on all.
    pub network: Option<Network>,
    /// In this currency only; None: in all.
    pub currency: Option<Currency>,
}

impl FeeKey {
    /// For every network and currency.
    ///
    /// ```
    /// use cauri_core::{FeeKey, FeeKind, PaymentMethod};
    /// let key = FeeKey::any(FeeKind::Payment, PaymentMethod::Card);
    /// assert_eq!((key.network, key.currency), (None, None));
    /// ```
    #[must_use]
    pub const fn any(kind: FeeKind, payment_method: PaymentMethod) -> Self {
        Self { kind, payment_method, network: None, currency: None }
    }

    /// How specific it is; `None` when it is not for this.
    fn rank(
        &self,
        kind: FeeKind,
        method: PaymentMethod,
        network: Option<&Network>,
        currency: Currency,
    ) -> Option<(bool, bool)> {
        let fits = self.kind == kind
            && self.payment_method == method
            && (self.network.is_none() || self.network.as_ref() == network)
            && self.currency.is_none_or(|only| only == currency);
        fits.then_some((self.network.is_some(), self.currency.is_some()))
    }
}

/// The price list: at most one rule per [`FeeKey`].
///
/// # Which rule wins
/// The most specific: network and currency, then network, then currency, then neither. What no rule
/// is for is free.
///
/// ```
/// use cauri_core::{Amount, Currency, FeeKey, FeeKind, FeeRule, FeeSchedule, Network, PaymentMethod};
/// let (wave, xof): (Network, Currency) = ("wave".parse()?, "XOF".parse()?);
/// let all = FeeKey::any(FeeKind::Payment, PaymentMethod::MobileMoney);
/// let schedule = FeeSchedule::empty()
///     .with(all.clone(), FeeRule { bps: 300, ..FeeRule::default() })
///     .with(
///         FeeKey { network: Some(wave.clone()), ..all },
///         FeeRule { bps: 100, ..FeeRule::default() },
///     );
/// let fee = |network| {
///     schedule.fee(
///         FeeKind::Payment,
///         PaymentMethod::MobileMoney,
///         network,
///         xof,
///         Amount::new(1_000),
///     )
/// };
/// assert_eq!(fee(Some(&wave)), Ok(Amount::new(10)));
/// assert_eq!(fee(None), Ok(Amount::new(30)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeeSchedule(Vec<(FeeKey, FeeRule)>);

/// Currency, least and most of a payout's fee in the sandbox (API §7.1).
const SANDBOX_PAYOUTS: [(&str, i64, i64); 11] = [
    ("XOF", 100, 5_000),
    ("XAF", 100, 5_000),
    ("RWF", 100, 5_000),
    ("GHS", 50, 2_000),
    ("KES", 1_000, 20_000),
    ("UGX", 500, 20_000),
    ("TZS", 30_000, 1_000_000),
    ("ZMW", 100, 5_000),
    ("NGN", 1_000, 50_000),
    ("CDF", 20_000, 2_000_000),
    ("USD", 10, 500),
];

impl FeeSchedule {
    /// Everything is free.
    ///
    /// ```
    /// use cauri_core::FeeSchedule;
    /// assert_eq!(FeeSchedule::empty(), FeeSchedule::default());
    /// ```
    #[must_use]
    pub const fn empty() -> Self {
        Self(Vec::new())
    }

    /// The built-in prices of the sandbox (API §7.1).
    ///
    /// ```
    /// use cauri_core::{Amount, FeeKind, FeeSchedule, PaymentMethod};
    /// let schedule = FeeSchedule::sandbox();
    /// let fee = schedule.fee(
    ///     FeeKind::Payment,
    ///     PaymentMethod::Card,
    ///     None,
    ///     "KWD".parse()?,
    ///     Amount::new(10_005),
    /// );
    /// assert_eq!(fee, Ok(Amount::new(350)));
    /// # Ok::<(), cauri_core::CurrencyError>(())
    /// ```
    #[must_use]
    pub fn sandbox() -> Self {
        let share = |bps| FeeRule { bps, ..FeeRule::default() };
        let payouts = FeeKey::any(FeeKind::Payout, PaymentMethod::MobileMoney);
        let schedule = Self::empty()
            .with(FeeKey::any(FeeKind::Payment, PaymentMethod::MobileMoney), share(200))
            .with(FeeKey::any(FeeKind::Payment, PaymentMethod::Card), share(350))
            .with(payouts.clone(), share(100));
        SANDBOX_PAYOUTS.into_iter().fold(schedule, |schedule, (code, min, max)| {
            // That every code of the table is a currency is tested below.
            let Ok(currency) = code.parse() else { return schedule };
            schedule.with(
                FeeKey { currency: Some(currency), ..payouts.clone() },
                FeeRule { min: Amount::new(min), max: Some(Amount::new(max)), ..share(100) },
            )
        })
    }

    /// The same with this rule, in place of the one with the same key.
    ///
    /// ```
    /// use cauri_core::{Amount, FeeKey, FeeKind, FeeRule, FeeSchedule, PaymentMethod};
    /// // 1.5 % of a payment by card, and nothing else costs anything.
    /// let card = FeeKey::any(FeeKind::Payment, PaymentMethod::Card);
    /// let schedule =
    ///     FeeSchedule::empty().with(card, FeeRule { bps: 150, ..FeeRule::default() });
    /// let fee = |kind| {
    ///     let usd = "USD".parse().expect("a currency");
    ///     schedule.fee(kind, PaymentMethod::Card, None, usd, Amount::new(10_000))
    /// };
    /// assert_eq!(fee(FeeKind::Payment), Ok(Amount::new(150)));
    /// assert_eq!(fee(FeeKind::Payout), Ok(Amount::ZERO));
    /// ```
    #[must_use]
    pub fn with(mut self, key: FeeKey, rule: FeeRule) -> Self {
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, rule));
        self
    }

    /// The fee for `amount`, in the same unit; for a payment never more than the amount.
    ///
    /// `network` is None when it is not known yet, as with a card: then only rules for all
    /// networks count.
    ///
    /// # Errors
    /// [`Overflow`] when the fee does not fit into 64 bits.
    ///
    /// ```
    /// use cauri_core::{Amount, FeeKind, FeeSchedule, PaymentMethod};
    /// let fee = FeeSchedule::sandbox().fee(
    ///     FeeKind::Payout,
    ///     PaymentMethod::MobileMoney,
    ///     Some(&"mtn".parse()?),
    ///     "XOF".parse()?,
    ///     Amount::new(600_000),
    /// );
    /// assert_eq!(fee, Ok(Amount::new(5_000)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fee(
        &self,
        kind: FeeKind,
        payment_method: PaymentMethod,
        network: Option<&Network>,
        currency: Currency,
        amount: Amount,
    ) -> Result<Amount, Overflow> {
        let rule = self
            .0
            .iter()
            .filter_map(|(key, rule)| {
                key.rank(kind, payment_method, network, currency).map(|rank| (rank, rule))
            })
            .max_by_key(|(rank, _)| *rank);
        let Some((_, rule)) = rule else { return Ok(Amount::ZERO) };
        let fee = rule.apply(amount)?;
        Ok(match kind {
            FeeKind::Payment => fee.min(amount.max(Amount::ZERO)),
            FeeKind::Payout => fee,
        })
    }
}

/// The part of a payment's fee that a refund gives back, in proportion (API §7.2).
///
/// `amount` and `fee` are the payment's; `refunded_before` is the sum of its refunds that have not
/// failed and `returned_before` the fee given back on them; `refund` is the sum now refunded. All
/// are in the smallest unit of the payment's currency.
///
/// # Rounding
/// The share is the difference of two rounded-down totals, so a payment refunded in any number of
/// parts gives back exactly its fee:
///
/// ```
/// use cauri_core::{Amount, refund_share};
/// let share = |before, returned, refund| {
///     refund_share(
///         Amount::new(100),
///         Amount::new(3),
///         Amount::new(before),
///         Amount::new(returned),
///         Amount::new(refund),
///     )
/// };
/// assert_eq!(share(0, 0, 50), Ok(Amount::new(1)));
/// assert_eq!(share(50, 1, 50), Ok(Amount::new(2)));
/// assert_eq!(share(0, 0, 100), Ok(Amount::new(3)));
/// ```
///
/// # Refunds that failed
/// When refunds fail out of turn, what was given back may lag behind. The share is then kept
/// between two bounds: at most the refund, so that it costs the merchant no less than nothing; and
/// at least so much that the same holds for what can still be refunded.
///
/// # Errors
/// [`Overflow`] when a sum does not fit into 64 bits.
pub fn refund_share(
    amount: Amount,
    fee: Amount,
    refunded_before: Amount,
    returned_before: Amount,
    refund: Amount,
) -> Result<Amount, Overflow> {
    let (total, now) = (wide(amount), wide(refund));
    let before = wide(refunded_before);
    let left = sub(wide(fee), wide(returned_before))?;
    let after = before.checked_add(now).ok_or(Overflow)?;
    // What can be refunded, less the fee left to give back: the merchant's part of it.
    let slack = sub(sub(total, before)?, left)?;
    let share = if after == total {
        left
    } else {
        let up_to = |refunded: i128| {
            let product = wide(fee).checked_mul(refunded).ok_or(Overflow)?;
            // Of a payment of nothing there is nothing to share.
            Ok(product.checked_div(total).unwrap_or(0))
        };
        sub(up_to(after)?, up_to(before)?)?
    };
    narrow(share.max(sub(now, slack)?).min(now).min(left).max(0))
}

fn wide(amount: Amount) -> i128 {
    i128::from(amount.units())
}

fn sub(from: i128, what: i128) -> Result<i128, Overflow> {
    from.checked_sub(what).ok_or(Overflow)
}

fn narrow(units: i128) -> Result<Amount, Overflow> {
    i64::try_from(units).map(Amount::new).map_err(|_| Overflow)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sandbox(kind: FeeKind, method: PaymentMethod, code: &str, amount: i64) -> i64 {
        let currency = code.parse().expect(code);
        let fee = FeeSchedule::sandbox().fee(kind, method, None, currency, Amount::new(amount));
        fee.expect("fits").units()
    }

    #[test]
    fn the_sandbox_charges_what_the_contract_says() {
        use FeeKind::{Payment, Payout};
        use PaymentMethod::{Card, MobileMoney};
        for (kind, method, currency, amount, fee) in [
            (Payment, MobileMoney, "XOF", 5_000, 100),
            (Payment, MobileMoney, "XOF", 9_999, 200),
            (Payment, MobileMoney, "XOF", 15_000, 300),
            (Payment, MobileMoney, "GHS", 125, 3),
            (Payment, Card, "XOF", 10_000, 350),
            (Payment, Card, "KWD", 10_005, 350),
            (Payment, Card, "USD", 1, 0),
            (Payment, Card, "NGN", 999_999_999_999, 35_000_000_000),
            (Payout, MobileMoney, "XOF", 1, 100),
            (Payout, MobileMoney, "XOF", 2_000, 100),
            (Payout, MobileMoney, "XOF", 10_000, 100),
            (Payout, MobileMoney, "XOF", 10_049, 100),
            (Payout, MobileMoney, "XOF", 10_050, 101),
            (Payout, MobileMoney, "XOF", 20_000, 200),
            (Payout, MobileMoney, "XOF", 600_000, 5_000),
            (Payout, MobileMoney, "CDF", 1_000, 20_000),
            (Payout, MobileMoney, "USD", 250_000, 500),
            // No row of its own: the plain share.
            (Payout, MobileMoney, "KWD", 1_000, 10),
        ] {
            assert_eq!(sandbox(kind, method, currency, amount), fee, "{kind} {currency} {amount}");
        }
    }

    #[test]
    fn every_row_of_the_payout_table_is_in_force() {
        for (code, min, max) in SANDBOX_PAYOUTS {
            let fee = |amount| sandbox(FeeKind::Payout, PaymentMethod::MobileMoney, code, amount);
            assert_eq!((fee(1), fee(999_999_999_999)), (min, max), "{code}");
        }
    }

    #[test]
    fn the_most_specific_rule_wins_whatever_the_order() {
        let mtn: Network = "mtn".parse().expect("a name");
        let xof: Currency = "XOF".parse().expect("a currency");
        let all = FeeKey::any(FeeKind::Payout, PaymentMethod::MobileMoney);
        let rules = [
            (all.clone(), 1),
            (FeeKey { currency: Some(xof), ..all.clone() }, 2),
            (FeeKey { network: Some(mtn.clone()), ..all.clone() }, 3),
            (FeeKey { network: Some(mtn.clone()), currency: Some(xof), ..all.clone() }, 4),
        ];
        let flat = |fixed| FeeRule { fixed: Amount::new(fixed), ..FeeRule::default() };
        let up = rules
            .iter()
            .fold(FeeSchedule::empty(), |all, (key, fee)| all.with(key.clone(), flat(*fee)));
        let down = rules
            .iter()
            .rev()
            .fold(FeeSchedule::empty(), |all, (key, fee)| all.with(key.clone(), flat(*fee)));
        let wave: Network = "wave".parse().expect("a name");
        let ghs: Currency = "GHS".parse().expect("a currency");
        for schedule in [up, down] {
            let fee = |method, network, currency| {
                schedule.fee(FeeKind::Payout, method, network, currency, Amount::new(7))
            };
            let mobile = PaymentMethod::MobileMoney;
            assert_eq!(fee(mobile, Some(&mtn), xof), Ok(Amount::new(4)));
            assert_eq!(fee(mobile, Some(&mtn), ghs), Ok(Amount::new(3)));
            assert_eq!(fee(mobile, Some(&wave), xof), Ok(Amount::new(2)));
            assert_eq!(fee(mobile, None, xof), Ok(Amount::new(2)));
            assert_eq!(fee(mobile, Some(&wave), ghs), Ok(Amount::new(1)));
            assert_eq!(fee(PaymentMethod::Card, Some(&mtn), xof), Ok(Amount::ZERO));
        }
    }

    #[test]
    fn a_rule_takes_the_place_of_the_one_with_the_same_key() {
        let key = FeeKey::any(FeeKind::Payment, PaymentMethod::Card);
        let flat = |fixed| FeeRule { fixed: Amount::new(fixed), ..FeeRule::default() };
        let twice = FeeSchedule::empty().with(key.clone(), flat(1)).with(key.clone(), flat(2));
        assert_eq!(twice, FeeSchedule::empty().with(key, flat(2)));
    }

    #[test]
    fn a_payment_never_costs_more_than_it_brings() {
        let key = |kind| FeeKey::any(kind, PaymentMethod::Card);
        let dear = FeeRule { fixed: Amount::new(50), ..FeeRule::default() };
        let schedule =
            FeeSchedule::empty().with(key(FeeKind::Payment), dear).with(key(FeeKind::Payout), dear);
        let fee = |kind, amount| {
            let xof = "XOF".parse().expect("a currency");
            schedule.fee(kind, PaymentMethod::Card, None, xof, Amount::new(amount))
        };
        assert_eq!(fee(FeeKind::Payment, 49), Ok(Amount::new(49)));
        assert_eq!(fee(FeeKind::Payment, 50), Ok(Amount::new(50)));
        assert_eq!(fee(FeeKind::Payment, 51), Ok(Amount::new(50)));
        assert_eq!(fee(FeeKind::Payout, 49), Ok(Amount::new(50)));
        assert_eq!(fee(FeeKind::Payment, 0), Ok(Amount::ZERO));
        assert_eq!(fee(FeeKind::Payment, -1), Ok(Amount::ZERO));
    }

    #[test]
    fn shares_are_those_of_the_contract() {
        for (amount, fee, before, returned, refund, share) in [
            (5_000, 100, 0, 0, 2_000, 40),
            (5_000, 100, 2_000, 40, 3_000, 60),
            (5_000, 100, 0, 0, 5_000, 100),
            (5_000, 100, 0, 0, 1, 0),
            (5_000, 100, 49, 0, 1, 1),
            (5_000, 0, 0, 0, 2_000, 0),
            (1, 1, 0, 0, 1, 1),
        ] {
            let given = refund_share(
                Amount::new(amount),
                Amount::new(fee),
                Amount::new(before),
                Amount::new(returned),
                Amount::new(refund),
            );
            assert_eq!(given, Ok(Amount::new(share)), "{refund} after {before} of {amount}");
        }
    }

    #[test]
    fn a_refund_never_costs_less_than_nothing_when_many_before_it_failed() {
        // A hundred refunds of 1 are open; those that gave back 1 fail, those that gave 0 do not.
        let give = |before, returned, refund| {
            let share = refund_share(
                Amount::new(100),
                Amount::new(50),
                Amount::new(before),
                Amount::new(returned),
                Amount::new(refund),
            );
            share.expect("fits").units()
        };
        assert_eq!((give(0, 0, 1), give(1, 0, 1)), (0, 1));
        // 50 of 100 are refunded and nothing of the fee is given back: all else must.
        assert_eq!(give(50, 0, 1), 1);
        assert_eq!(give(51, 1, 49), 49);
    }

    #[derive(Debug, Clone)]
    struct Try {
        part: i64,
        fails: bool,
    }

    fn payment() -> impl Strategy<Value = (i64, i64)> {
        prop_oneof![1..200_i64, 1..=999_999_999_999_i64]
            .prop_flat_map(|amount| (Just(amount), 0..=amount))
    }

    fn tries() -> impl Strategy<Value = Vec<Try>> {
        let of = |part: std::ops::RangeInclusive<i64>| {
            let one = (part, any::<bool>()).prop_map(|(part, fails)| Try { part, fails });
            proptest::collection::vec(one, 0..150)
        };
        prop_oneof![of(1..=2), of(1..=999_999_999_999)]
    }

    proptest! {
        /// Refunds of any size, of which some fail later (those that gave back something, at worst),
        /// then a last one for the rest.
        #[test]
        fn any_split_gives_back_exactly_the_fee(
            (amount, fee) in payment(),
            tries in tries(),
            fail_late: bool,
            fail_generous: bool,
        ) {
            let mut open: Vec<(i64, i64, bool)> = Vec::new();
            let rest = Try { part: i64::MAX, fails: false };
            for Try { part, fails } in tries.into_iter().chain([rest]) {
                let last = part == i64::MAX;
                if last || !fail_late {
                    open.retain(|(_, _, fails)| !fails);
                }
                let refunded: i64 = open.iter().map(|(refund, ..)| refund).sum();
                let returned: i64 = open.iter().map(|(_, share, _)| share).sum();
                let refund = part.min(amount.strict_sub(refunded));
                if refund == 0 {
                    continue;
                }
                let share = refund_share(
                    Amount::new(amount),
                    Amount::new(fee),
                    Amount::new(refunded),
                    Amount::new(returned),
                    Amount::new(refund),
                )?.units();
                prop_assert!(share >= 0, "never negative");
                prop_assert!(share <= fee.strict_sub(returned), "never more than is left");
                prop_assert!(share <= refund, "never more than is refunded");
                open.push((refund, share, fails || fail_generous && share > 0 && !last));
            }
            prop_assert_eq!(open.iter().map(|(refund, ..)| refund).sum::<i64>(), amount);
            prop_assert_eq!(open.iter().map(|(_, share, _)| share).sum::<i64>(), fee);
        }

        /// Without failures the bounds never bite: the formula of the contract, to the letter.
        #[test]
        fn without_failures_the_share_is_the_difference_of_two_totals(
            (amount, fee) in payment(),
            cuts in (any::<u64>(), any::<u64>()),
        ) {
            let [a, b] = [cuts.0, cuts.1]
                .map(|cut| i128::from(cut).strict_rem(i128::from(amount).strict_add(1)));
            let (before, after) = (a.min(b), a.max(b));
            let up_to = |part: i128| i128::from(fee).strict_mul(part).strict_div(i128::from(amount));
            let small = |wide: i128| i64::try_from(wide).map(Amount::new);
            let share = refund_share(
                Amount::new(amount),
                Amount::new(fee),
                small(before)?,
                small(up_to(before))?,
                small(after.strict_sub(before))?,
            )?;
            prop_assert_eq!(share, small(up_to(after).strict_sub(up_to(before)))?);
        }

        #[test]
        fn a_fee_stays_within_its_bounds(
            amount in 1..=999_999_999_999_i64,
            bps in 0..=20_000_u32,
            min in 0..1_000_000_i64,
            span in 0..1_000_000_i64,
        ) {
            let max = Amount::new(min.strict_add(span));
            let rule = FeeRule { bps, fixed: Amount::ZERO, min: Amount::new(min), max: Some(max) };
            let fee = rule.apply(Amount::new(amount))?;
            prop_assert!(fee >= rule.min && fee <= max);
            let free = FeeRule { bps, ..FeeRule::default() }.apply(Amount::new(amount))?.units();
            // Nearest whole unit: off by at most one half, upwards when it is exactly half.
            let exact = i128::from(amount).strict_mul(i128::from(bps));
            let off = i128::from(free).strict_mul(10_000).strict_sub(exact);
            prop_assert!((-4_999..=5_000).contains(&off), "{off}");
        }

        #[test]
        fn nothing_panics(
            numbers: (i64, i64, i64, i64, i64),
            rule: (u32, i64, i64, Option<i64>),
        ) {
            let (a, b, c, d, e) = numbers;
            let (bps, fixed, min, max) = rule;
            let _ = refund_share(
                Amount::new(a),
                Amount::new(b),
                Amount::new(c),
                Amount::new(d),
                Amount::new(e),
            );
            let rule = FeeRule {
                bps,
                fixed: Amount::new(fixed),
                min: Amount::new(min),
                max: max.map(Amount::new),
            };
            if let Ok(fee) = rule.apply(Amount::new(a)) {
                prop_assert!(fee >= Amount::ZERO);
            }
        }
    }
}
