//! What the sandbox plays: one word per story, and how a request picks one (API §17.1).

use crate::{
    model::failure::FailureCode,
    value::{choice::choice, method::PaymentMethod, money::Amount, phone::Phone},
};

choice! {
    /// What a scenario is played on.
    ///
    /// ```
    /// use cauri_core::ScenarioKind;
    /// assert_eq!("payout".parse(), Ok(ScenarioKind::Payout));
    /// ```
    #[expect(clippy::exhaustive_enums, reason = "a new kind must stop every match")]
    ScenarioKind {
        /// A payment.
        Payment = "payment",
        /// A payout.
        Payout = "payout",
        /// A refund.
        Refund = "refund",
    }
}

choice! {
    /// A story the simulated network plays. Delays run from `processing`.
    ///
    /// ```
    /// use cauri_core::Scenario;
    /// assert_eq!("slow_success".parse(), Ok(Scenario::SlowSuccess));
    /// assert_eq!(Scenario::ALL.len(), 21);
    /// ```
    #[non_exhaustive]
    Scenario {
        /// Succeeds after 2 s.
        Success = "success",
        /// Succeeds after 30 s.
        SlowSuccess = "slow_success",
        /// Waits for another scenario (a payment: or its expiry).
        Pending = "pending",
        /// Fails: too little money.
        InsufficientFunds = "insufficient_funds",
        /// Fails: the payer says no.
        UserRejected = "user_rejected",
        /// Fails: the payer is unknown.
        PayerNotFound = "payer_not_found",
        /// Fails: a limit of the payer.
        PayerLimitReached = "payer_limit_reached",
        /// Fails: a wrong PIN or the like.
        AuthenticationFailed = "authentication_failed",
        /// Expires after 2 s.
        Timeout = "timeout",
        /// Fails: the issuer says no.
        CardDeclined = "card_declined",
        /// Fails: the card is too old.
        CardExpired = "card_expired",
        /// Fails at once, from `created`.
        NetworkDown = "network_down",
        /// Fails: the network's fault.
        NetworkError = "network_error",
        /// Success is reported twice.
        DuplicateCallback = "duplicate_callback",
        /// Success is reported, then failure.
        ConflictingCallback = "conflicting_callback",
        /// Expires after 2 s and succeeds 2 s later.
        LateSuccessAfterExpiry = "late_success_after_expiry",
        /// The payment succeeds; its refunds fail.
        RefundFailure = "refund_failure",
        /// The payment succeeds; its refunds wait.
        RefundPending = "refund_pending",
        /// Fails: the recipient is unknown.
        RecipientNotFound = "recipient_not_found",
        /// Fails: a limit of the recipient.
        RecipientLimitReached = "recipient_limit_reached",
        /// Fails: the recipient may not receive.
        RecipientRejected = "recipient_rejected",
    }
}

/// A row of the contract's table.
struct Row {
    description: &'static str,
    applies_to: &'static [ScenarioKind],
    end: End,
    phone: Option<&'static str>,
    card: Option<u16>,
}

/// Where a scenario leads.
enum End {
    Waits,
    Reaches(&'static str),
    Fails(FailureCode),
}

const PAYMENT: &[ScenarioKind] = &[ScenarioKind::Payment];
const PAYOUT: &[ScenarioKind] = &[ScenarioKind::Payout];
const SENDS: &[ScenarioKind] = &[ScenarioKind::Payment, ScenarioKind::Payout];
const PAYS_IN: &[ScenarioKind] = &[ScenarioKind::Payment, ScenarioKind::Refund];
const ALL: &[ScenarioKind] = ScenarioKind::ALL;

const fn row(
    description: &'static str,
    applies_to: &'static [ScenarioKind],
    end: End,
    phone: Option<&'static str>,
    card: Option<u16>,
) -> Row {
    Row { description, applies_to, end, phone, card }
}

impl Scenario {
    #[rustfmt::skip] // The table of the contract, one scenario a paragraph.
    const fn row(self) -> Row {
        use End::{Fails, Reaches, Waits};
        use FailureCode as F;
        const SUCCEEDED: End = Reaches("succeeded");
        const EXPIRED: End = Reaches("expired");
        match self {
            Self::Success =>
                row("It succeeds.", ALL, SUCCEEDED, Some("0000"), Some(900)),
            Self::SlowSuccess =>
                row("It succeeds, but takes its time.", SENDS, SUCCEEDED, Some("0001"), Some(901)),
            Self::Pending =>
                row("It waits until a scenario is simulated.", ALL, Waits, Some("0002"), None),
            Self::InsufficientFunds =>
                row("The payer has not enough money.",
                    PAYMENT, Fails(F::InsufficientFunds), Some("0101"), Some(911)),
            Self::UserRejected =>
                row("The payer rejects the payment.",
                    PAYMENT, Fails(F::UserRejected), Some("0102"), None),
            Self::PayerNotFound =>
                row("The network does not know the payer.",
                    PAYMENT, Fails(F::PayerNotFound), Some("0103"), None),
            Self::PayerLimitReached =>
                row("The payer has reached a limit of the network.",
                    PAYMENT, Fails(F::PayerLimitReached), Some("0104"), None),
            Self::AuthenticationFailed =>
                row("The payer enters a wrong PIN or fails 3-D Secure.",
                    PAYMENT, Fails(F::AuthenticationFailed), Some("0105"), Some(914)),
            Self::Timeout =>
                row("The payer never answers.", PAYMENT, EXPIRED, Some("0106"), Some(916)),
            Self::CardDeclined =>
                row("The issuer declines the card.",
                    PAYMENT, Fails(F::CardDeclined), None, Some(912)),
            Self::CardExpired =>
                row("The card has expired.", PAYMENT, Fails(F::CardExpired), None, Some(913)),
            Self::NetworkDown =>
                row("The network cannot be reached; nothing is sent.",
                    SENDS, Fails(F::NetworkUnavailable), Some("0201"), Some(921)),
            Self::NetworkError =>
                row("The network fails to process the request.",
                    SENDS, Fails(F::NetworkError), Some("0202"), Some(922)),
            Self::DuplicateCallback =>
                row("The network reports the success twice.",
                    SENDS, SUCCEEDED, Some("0301"), Some(931)),
            Self::ConflictingCallback =>
                row("The network reports a success, then a failure.",
                    PAYMENT, SUCCEEDED, Some("0302"), Some(932)),
            Self::LateSuccessAfterExpiry =>
                row("The payment expires, then the network reports a success.",
                    PAYMENT, SUCCEEDED, Some("0303"), Some(933)),
            Self::RefundFailure =>
                row("The payment succeeds; the network rejects its refunds.",
                    PAYS_IN, Fails(F::RefundRejected), Some("0401"), Some(941)),
            Self::RefundPending =>
                row("The payment succeeds; its refunds wait until a scenario is simulated.",
                    PAYMENT, SUCCEEDED, Some("0402"), Some(942)),
            Self::RecipientNotFound =>
                row("The network does not know the recipient.",
                    PAYOUT, Fails(F::RecipientNotFound), Some("0501"), None),
            Self::RecipientLimitReached =>
                row("The recipient has reached a limit of the network.",
                    PAYOUT, Fails(F::RecipientLimitReached), Some("0502"), None),
            Self::RecipientRejected =>
                row("The recipient is not allowed to receive money.",
                    PAYOUT, Fails(F::RecipientRejected), Some("0503"), None),
        }
    }

    /// One sentence for people.
    ///
    /// ```
    /// use cauri_core::Scenario;
    /// assert_eq!(Scenario::CardExpired.description(), "The card has expired.");
    /// ```
    #[must_use]
    pub const fn description(self) -> &'static str {
        self.row().description
    }

    /// What it may be played on; see [`Scenario::is_applicable`] for the method.
    ///
    /// ```
    /// use cauri_core::{Scenario, ScenarioKind};
    /// assert_eq!(Scenario::Timeout.applies_to(), [ScenarioKind::Payment]);
    /// ```
    #[must_use]
    pub const fn applies_to(self) -> &'static [ScenarioKind] {
        self.row().applies_to
    }

    /// May it be played on this kind of object, paid by this method (a refund: the payment's)?
    ///
    /// ```
    /// use cauri_core::{PaymentMethod, Scenario, ScenarioKind};
    /// let declined = |kind, method| Scenario::CardDeclined.is_applicable(kind, method);
    /// assert!(declined(ScenarioKind::Payment, PaymentMethod::Card));
    /// assert!(!declined(ScenarioKind::Payment, PaymentMethod::MobileMoney));
    /// assert!(!declined(ScenarioKind::Refund, PaymentMethod::Card));
    /// ```
    #[must_use]
    pub fn is_applicable(self, kind: ScenarioKind, method: PaymentMethod) -> bool {
        self.applies_to().contains(&kind) && (method == PaymentMethod::Card || !self.is_card_only())
    }

    /// Can it happen to cards only?
    ///
    /// ```
    /// use cauri_core::Scenario;
    /// assert!(Scenario::CardExpired.is_card_only());
    /// assert!(!Scenario::UserRejected.is_card_only());
    /// ```
    #[must_use]
    pub const fn is_card_only(self) -> bool {
        matches!(self, Self::CardDeclined | Self::CardExpired)
    }

    /// The status it leads to; None when it waits. Of [`Scenario::RefundFailure`], the refund's.
    ///
    /// ```
    /// use cauri_core::Scenario;
    /// assert_eq!(Scenario::Timeout.outcome(), Some("expired"));
    /// assert_eq!(Scenario::LateSuccessAfterExpiry.outcome(), Some("succeeded"));
    /// assert_eq!(Scenario::RefundFailure.outcome(), Some("failed"));
    /// assert_eq!(Scenario::Pending.outcome(), None);
    /// ```
    #[must_use]
    pub const fn outcome(self) -> Option<&'static str> {
        match self.row().end {
            End::Waits => None,
            End::Reaches(status) => Some(status),
            End::Fails(_) => Some("failed"),
        }
    }

    /// Why it fails, if it does.
    ///
    /// ```
    /// use cauri_core::{FailureCode, Scenario};
    /// assert_eq!(Scenario::NetworkDown.failure_code(), Some(FailureCode::NetworkUnavailable));
    /// assert_eq!(Scenario::Success.failure_code(), None);
    /// ```
    #[must_use]
    pub const fn failure_code(self) -> Option<FailureCode> {
        match self.row().end {
            End::Waits | End::Reaches(_) => None,
            End::Fails(code) => Some(code),
        }
    }

    /// The last four digits of a phone number that choose it.
    ///
    /// ```
    /// use cauri_core::Scenario;
    /// assert_eq!(Scenario::InsufficientFunds.phone_suffix(), Some("0101"));
    /// assert_eq!(Scenario::CardDeclined.phone_suffix(), None);
    /// ```
    #[must_use]
    pub const fn phone_suffix(self) -> Option<&'static str> {
        self.row().phone
    }

    /// What is left of a card payment's amount, in smallest units, modulo 1,000, to choose it.
    ///
    /// ```
    /// use cauri_core::Scenario;
    /// assert_eq!(Scenario::CardDeclined.card_amount_suffix(), Some(912));
    /// assert_eq!(Scenario::UserRejected.card_amount_suffix(), None);
    /// ```
    #[must_use]
    pub const fn card_amount_suffix(self) -> Option<u16> {
        self.row().card
    }

    /// How many seconds after `processing` the network reports; None when it waits to be told.
    ///
    /// ```
    /// use cauri_core::Scenario;
    /// assert_eq!(Scenario::SlowSuccess.delay_seconds(), Some(30));
    /// assert_eq!(Scenario::Pending.delay_seconds(), None);
    /// ```
    #[must_use]
    pub const fn delay_seconds(self) -> Option<u32> {
        match self {
            Self::Pending => None,
            Self::NetworkDown => Some(0),
            Self::SlowSuccess => Some(30),
            _ => Some(2),
        }
    }

    /// What is played on a new payment: by the phone's last digits, else for a card by the amount,
    /// else it waits for its person.
    ///
    /// ```
    /// use cauri_core::{Amount, PaymentMethod, Phone, Scenario};
    /// let phone: Phone = "+2250500000101".parse()?;
    /// let by_phone =
    ///     Scenario::for_payment(PaymentMethod::MobileMoney, Some(&phone), Amount::new(5_912));
    /// assert_eq!(by_phone, Scenario::InsufficientFunds);
    /// let by_amount = Scenario::for_payment(PaymentMethod::Card, None, Amount::new(10_912));
    /// assert_eq!(by_amount, Scenario::CardDeclined);
    /// let neither = Scenario::for_payment(PaymentMethod::Card, None, Amount::new(10_000));
    /// assert_eq!(neither, Scenario::Pending);
    /// # Ok::<(), cauri_core::PhoneError>(())
    /// ```
    #[must_use]
    pub fn for_payment(method: PaymentMethod, phone: Option<&Phone>, amount: Amount) -> Self {
        let card = (method == PaymentMethod::Card).then_some(amount);
        let payments =
            || Self::ALL.iter().filter(|it| it.applies_to().contains(&ScenarioKind::Payment));
        phone
            .and_then(|phone| payments().find(|it| it.is_of_phone(phone)))
            .or_else(|| card.and_then(|amount| payments().find(|it| it.is_of_card(amount))))
            .copied()
            .unwrap_or(Self::Pending)
    }

    /// What is played on a new payout: by the phone's last digits, else it succeeds.
    ///
    /// ```
    /// use cauri_core::{Phone, Scenario};
    /// let of = |text: &str| text.parse::<Phone>().map(|phone| Scenario::for_payout(&phone));
    /// assert_eq!(of("+221770000501"), Ok(Scenario::RecipientNotFound));
    /// assert_eq!(of("+221770000101"), Ok(Scenario::Success)); // only payments lack funds
    /// ```
    #[must_use]
    pub fn for_payout(phone: &Phone) -> Self {
        Self::ALL
            .iter()
            .filter(|it| it.applies_to().contains(&ScenarioKind::Payout))
            .find(|it| it.is_of_phone(phone))
            .copied()
            .unwrap_or(Self::Success)
    }

    /// What is played on a new refund, by the payer's phone, or by the amount of a card payment:
    /// [`Scenario::RefundFailure`], [`Scenario::RefundPending`], else [`Scenario::Success`].
    ///
    /// ```
    /// use cauri_core::{Amount, Phone, Scenario};
    /// let phone: Phone = "+2250500000401".parse()?;
    /// assert_eq!(Scenario::for_refund(Some(&phone), None), Scenario::RefundFailure);
    /// let of_card = |units| Scenario::for_refund(None, Some(Amount::new(units)));
    /// assert_eq!(of_card(10_942), Scenario::RefundPending);
    /// assert_eq!(of_card(10_000), Scenario::Success);
    /// # Ok::<(), cauri_core::PhoneError>(())
    /// ```
    #[must_use]
    pub fn for_refund(phone: Option<&Phone>, card_amount: Option<Amount>) -> Self {
        [Self::RefundFailure, Self::RefundPending]
            .into_iter()
            .find(|it| {
                phone.is_some_and(|phone| it.is_of_phone(phone))
                    || card_amount.is_some_and(|amount| it.is_of_card(amount))
            })
            .unwrap_or(Self::Success)
    }

    fn is_of_phone(self, phone: &Phone) -> bool {
        self.phone_suffix() == Some(phone.suffix())
    }

    fn is_of_card(self, amount: Amount) -> bool {
        self.card_amount_suffix().map(i64::from) == Some(amount.units().rem_euclid(1_000))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn phone(suffix: &str) -> Phone {
        format!("+225050000{suffix}").parse().expect("a phone")
    }

    fn payment(suffix: &str) -> Scenario {
        Scenario::for_payment(PaymentMethod::MobileMoney, Some(&phone(suffix)), Amount::new(5_911))
    }

    /// Code, kinds, phone, card, outcome, failure and delay, as the contract's table has them.
    const TABLE: &str = "
        success                   payment,payout,refund 0000 900 succeeded -                       2
        slow_success              payment,payout        0001 901 succeeded -                       30
        pending                   payment,payout,refund 0002 -   -         -                       -
        insufficient_funds        payment               0101 911 failed    insufficient_funds      2
        user_rejected             payment               0102 -   failed    user_rejected           2
        payer_not_found           payment               0103 -   failed    payer_not_found         2
        payer_limit_reached       payment               0104 -   failed    payer_limit_reached     2
        authentication_failed     payment               0105 914 failed    authentication_failed   2
        timeout                   payment               0106 916 expired   -                       2
        card_declined             payment               -    912 failed    card_declined           2
        card_expired              payment               -    913 failed    card_expired            2
        network_down              payment,payout        0201 921 failed    network_unavailable     0
        network_error             payment,payout        0202 922 failed    network_error           2
        duplicate_callback        payment,payout        0301 931 succeeded -                       2
        conflicting_callback      payment               0302 932 succeeded -                       2
        late_success_after_expiry payment               0303 933 succeeded -                       2
        refund_failure            payment,refund        0401 941 failed    refund_rejected         2
        refund_pending            payment               0402 942 succeeded -                       2
        recipient_not_found       payout                0501 -   failed    recipient_not_found     2
        recipient_limit_reached   payout                0502 -   failed    recipient_limit_reached 2
        recipient_rejected        payout                0503 -   failed    recipient_rejected      2
    ";

    #[test]
    fn every_scenario_is_as_the_contract_has_it() {
        let text = |value: Option<String>| value.unwrap_or_else(|| "-".into());
        let ours: Vec<Vec<String>> = Scenario::ALL
            .iter()
            .map(|it| {
                let kinds: Vec<_> = it.applies_to().iter().map(|kind| kind.as_str()).collect();
                vec![
                    it.to_string(),
                    kinds.join(","),
                    text(it.phone_suffix().map(Into::into)),
                    text(it.card_amount_suffix().map(|suffix| suffix.to_string())),
                    text(it.outcome().map(Into::into)),
                    text(it.failure_code().map(|code| code.to_string())),
                    text(it.delay_seconds().map(|delay| delay.to_string())),
                ]
            })
            .collect();
        let theirs: Vec<Vec<_>> = TABLE
            .lines()
            .map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .filter(|row| !row.is_empty())
            .collect();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn every_description_is_a_sentence() {
        for scenario in Scenario::ALL {
            let text = scenario.description();
            assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{text}");
        }
    }

    #[test]
    fn the_phone_chooses_only_what_applies() {
        for scenario in Scenario::ALL {
            let Some(suffix) = scenario.phone_suffix() else { continue };
            let of = |kind| scenario.applies_to().contains(&kind);
            let expected = if of(ScenarioKind::Payment) { *scenario } else { Scenario::Pending };
            assert_eq!(payment(suffix), expected, "payment {suffix}");
            let expected = if of(ScenarioKind::Payout) { *scenario } else { Scenario::Success };
            assert_eq!(Scenario::for_payout(&phone(suffix)), expected, "payout {suffix}");
        }
        assert_eq!(payment("9999"), Scenario::Pending);
        assert_eq!(Scenario::for_payout(&phone("9999")), Scenario::Success);
        assert_eq!(Scenario::for_payout(&phone("0002")), Scenario::Pending);
    }

    #[test]
    fn the_amount_chooses_for_cards_only() {
        for scenario in Scenario::ALL {
            let Some(suffix) = scenario.card_amount_suffix() else { continue };
            let amount = Amount::new(10_000_i64.strict_add(suffix.into()));
            let by = |method| Scenario::for_payment(method, None, amount);
            assert_eq!(by(PaymentMethod::Card), *scenario);
            assert_eq!(by(PaymentMethod::MobileMoney), Scenario::Pending);
        }
        let card = |units| Scenario::for_payment(PaymentMethod::Card, None, Amount::new(units));
        assert_eq!(card(912), Scenario::CardDeclined);
        assert_eq!(card(915), Scenario::Pending);
        assert_eq!(card(9_120), Scenario::Pending);
    }

    #[test]
    fn refunds_fail_or_wait_only_when_the_payment_said_so() {
        for scenario in Scenario::ALL {
            let expected = match scenario {
                Scenario::RefundFailure | Scenario::RefundPending => *scenario,
                _ => Scenario::Success,
            };
            if let Some(suffix) = scenario.phone_suffix() {
                assert_eq!(Scenario::for_refund(Some(&phone(suffix)), None), expected);
            }
            if let Some(suffix) = scenario.card_amount_suffix() {
                let amount = Amount::new(suffix.into());
                assert_eq!(Scenario::for_refund(None, Some(amount)), expected);
            }
        }
        assert_eq!(Scenario::for_refund(None, None), Scenario::Success);
    }

    #[test]
    fn only_a_card_meets_the_fate_of_cards() {
        use PaymentMethod::{Card, MobileMoney};
        use ScenarioKind::{Payment, Payout, Refund};
        for (scenario, kind, method, good) in [
            (Scenario::CardDeclined, Payment, Card, true),
            (Scenario::CardDeclined, Payment, MobileMoney, false),
            (Scenario::UserRejected, Payment, Card, true),
            (Scenario::UserRejected, Payout, MobileMoney, false),
            (Scenario::RecipientRejected, Payout, MobileMoney, true),
            (Scenario::RecipientRejected, Payment, MobileMoney, false),
            (Scenario::RefundFailure, Refund, Card, true),
            (Scenario::RefundPending, Refund, Card, false),
            (Scenario::Pending, Refund, MobileMoney, true),
            (Scenario::SlowSuccess, Refund, MobileMoney, false),
        ] {
            assert_eq!(scenario.is_applicable(kind, method), good, "{scenario} {kind} {method}");
        }
    }

    proptest! {
        #[test]
        fn what_is_chosen_applies(units: i64, suffix in "[0-9]{4}", card: bool) {
            let method = if card { PaymentMethod::Card } else { PaymentMethod::MobileMoney };
            let phone = phone(&suffix);
            let with_phone = Scenario::for_payment(method, Some(&phone), Amount::new(units));
            prop_assert!(with_phone.is_applicable(ScenarioKind::Payment, method));
            let without = Scenario::for_payment(method, None, Amount::new(units));
            prop_assert!(without.is_applicable(ScenarioKind::Payment, method));
            let payout = Scenario::for_payout(&phone);
            prop_assert!(payout.applies_to().contains(&ScenarioKind::Payout));
        }
    }
}
