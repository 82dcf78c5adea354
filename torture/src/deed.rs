//! What the client did and was told: all that it believes.

use std::time::Instant;

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::http::Answer;

/// What a request is meant to bring about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Payment,
    /// Through a link that only one payment may pay.
    LinkPayment,
    Cancel,
    Payout,
    Refund,
    Link,
    Customer,
    Fund,
}

impl Kind {
    /// The list that what it creates is in.
    pub(crate) fn list(self) -> Option<&'static str> {
        match self {
            Self::Payment | Self::LinkPayment => Some("/v1/payments"),
            Self::Payout => Some("/v1/payouts"),
            Self::Refund => Some("/v1/refunds"),
            Self::Link => Some("/v1/payment-links"),
            Self::Customer => Some("/v1/customers"),
            Self::Cancel | Self::Fund => None,
        }
    }

    /// Whether it may be refused in the end, because of what was done before it.
    pub(crate) fn may_be_refused(self) -> bool {
        matches!(self, Self::Refund | Self::LinkPayment)
    }
}

/// What came back, and when; nothing, when the connection broke or the client lost its patience.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
    pub(crate) answer: Option<Answer>,
}

/// One thing that the client wants once, under one key, however often it has to ask.
#[derive(Debug, Clone)]
pub(crate) struct Deed {
    pub(crate) kind: Kind,
    pub(crate) key: String,
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) told: Vec<Told>,
}

impl Deed {
    pub(crate) fn new(kind: Kind, key: String, path: &str, body: &Value) -> Self {
        Self { kind, key, path: path.to_owned(), body: body.to_string(), told: Vec::new() }
    }

    /// The first good answer, which is the one for ever.
    pub(crate) fn good(&self) -> Option<&Answer> {
        self.told.iter().filter_map(|told| told.answer.as_ref()).find(|answer| answer.is_good())
    }

    pub(crate) fn object(&self) -> Option<Value> {
        self.good()?.json().ok()
    }

    /// What of the answers contradicts another.
    pub(crate) fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut good: Option<(&Answer, Instant)> = None;
        for told in &self.told {
            let Some(answer) = &told.answer else { continue };
            if let Some((first, ended)) = good {
                let same = (first.status, &first.location, &first.body)
                    == (answer.status, &answer.location, &answer.body);
                if answer.is_good() && !same {
                    let (a, b) = (first.text(), answer.text());
                    found.push(format!("{}: two answers for one key: {a} and {b}", self.key));
                } else if told.began >= ended && answer.is_good() && !answer.replayed {
                    found.push(format!("{}: done again: {}", self.key, answer.text()));
                } else if told.began >= ended && answer.is_refusal() {
                    let text = answer.text();
                    found.push(format!("{}: refused after it was done: {text}", self.key));
                }
            }
            if answer.is_good() && good.is_none_or(|(_, ended)| told.ended < ended) {
                good = Some((answer, told.ended));
            }
        }
        found
    }
}

/// Payers whose phone decides what becomes of the payment (the sandbox's scenarios).
const PAYERS: [&str; 12] = [
    "0000", "0000", "0000", "0000", "0301", "0302", "0303", "0101", "0102", "0106", "0201", "0202",
];
const RECIPIENTS: [&str; 7] = ["0000", "0000", "0000", "0301", "0501", "0201", "0202"];

/// The amount of a card payment decides by its last three digits.
const CARDS: [i64; 3] = [900, 900, 912];

const LINK_AMOUNT: i64 = 15_000;

/// Thinks of the next thing to do, by the dice and by what was told before.
pub(crate) fn next(dice: &mut Dice, key: String, before: &[Deed]) -> Deed {
    let number = |below: u64, dice: &mut Dice| i64::try_from(dice.below(below)).unwrap_or(0);
    match dice.below(100) {
        0..40 => payment(key, 100 + number(100_000, dice), dice.pick::<&str>(&PAYERS)),
        40..50 => {
            let amount = 1_000 * (1 + number(100, dice)) + dice.pick(&CARDS);
            let body = json!({
                "amount": amount, "currency": "XOF", "payment_method": "card", "country": "CI"
            });
            Deed::new(Kind::Payment, key, "/v1/payments", &body)
        }
        50..65 => payout(key, 100 + number(500_000, dice), dice.pick::<&str>(&RECIPIENTS)),
        65..80 => refund(dice, &key, before)
            .unwrap_or_else(|| payment(key, 100 + number(9_000, dice), "0000")),
        80..86 => customer(key),
        86..90 => link(key),
        90..94 => through_a_link(dice, &key, before).unwrap_or_else(|| link(key)),
        94..97 => patient(key),
        97..99 => cancel(dice, &key, before).unwrap_or_else(|| patient(key)),
        _ => fund(key, 1 + number(1_000, dice)),
    }
}

fn payment(key: String, amount: i64, suffix: &str) -> Deed {
    let body = json!({
        "amount": amount, "currency": "XOF", "payment_method": "mobile_money", "network": "mtn",
        "phone": format!("+225050000{suffix}"), "reference": key, "metadata": {"key": key}
    });
    Deed::new(Kind::Payment, key, "/v1/payments", &body)
}

/// One that waits, on a network that lets it be cancelled.
fn patient(key: String) -> Deed {
    let body = json!({
        "amount": 700, "currency": "XOF", "payment_method": "mobile_money", "network": "wave",
        "phone": "+2250500009999", "expires_in": 86_400
    });
    Deed::new(Kind::Payment, key, "/v1/payments", &body)
}

fn payout(key: String, amount: i64, suffix: &str) -> Deed {
    let body = json!({
        "amount": amount, "currency": "XOF", "network": "orange",
        "phone": format!("+22177000{suffix}"), "reference": key
    });
    Deed::new(Kind::Payout, key, "/v1/payouts", &body)
}

fn customer(key: String) -> Deed {
    let body = json!({"name": "Awa Diop", "reference": key});
    Deed::new(Kind::Customer, key, "/v1/customers", &body)
}

fn link(key: String) -> Deed {
    let body =
        json!({"title": "Invoice", "amount": LINK_AMOUNT, "currency": "XOF", "country": "CI"});
    Deed::new(Kind::Link, key, "/v1/payment-links", &body)
}

pub(crate) fn fund(key: String, amount: i64) -> Deed {
    let body = json!({"amount": amount, "currency": "XOF"});
    Deed::new(Kind::Fund, key, "/v1/sandbox/fund", &body)
}

fn refund(dice: &mut Dice, key: &str, before: &[Deed]) -> Option<Deed> {
    let payment = known(dice, before, Kind::Payment, |body| {
        matches!(fate_of_payment(body), Some(Fate { status: "succeeded", .. }))
    })?;
    let amount = payment["amount"].as_u64()?;
    let mut body = json!({"payment": payment["id"]});
    if !dice.one_in(3) {
        body["amount"] = (1 + dice.below(amount)).into();
    }
    Some(Deed::new(Kind::Refund, key.to_owned(), "/v1/refunds", &body))
}

fn through_a_link(dice: &mut Dice, key: &str, before: &[Deed]) -> Option<Deed> {
    let link = known(dice, before, Kind::Link, |_| true)?;
    let body = json!({
        "payment_link": link["id"], "payment_method": "mobile_money", "network": "mtn",
        "phone": "+2250500000000"
    });
    Some(Deed::new(Kind::LinkPayment, key.to_owned(), "/v1/payments", &body))
}

fn cancel(dice: &mut Dice, key: &str, before: &[Deed]) -> Option<Deed> {
    let cancelled = |id: &str| before.iter().any(|deed| deed.path.contains(id));
    let payment = known(dice, before, Kind::Payment, |payment| {
        payment["network"] == "wave" && payment["id"].as_str().is_some_and(|id| !cancelled(id))
    })?;
    let path = format!("/v1/payments/{}/cancel", payment["id"].as_str()?);
    Some(Deed::new(Kind::Cancel, key.to_owned(), &path, &json!({"reason": "changed my mind"})))
}

/// An object that the client was told of.
fn known(
    dice: &mut Dice,
    before: &[Deed],
    kind: Kind,
    suits: impl Fn(&Value) -> bool,
) -> Option<Value> {
    let recent = before.iter().rev().take(60).filter(|deed| deed.kind == kind);
    let mut found: Vec<Value> = recent.filter_map(Deed::object).filter(|it| suits(it)).collect();
    if found.is_empty() { None } else { Some(found.swap_remove(dice.place(found.len()))) }
}

/// How something ends that nobody interferes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) status: &'static str,
    pub(crate) failure: Option<&'static str>,
}

const fn ends(status: &'static str, failure: Option<&'static str>) -> Option<Fate> {
    Some(Fate { status, failure })
}

/// `None`: it waits for somebody.
pub(crate) fn fate_of_payment(payment: &Value) -> Option<Fate> {
    let Some(phone) = payment["phone"].as_str() else {
        return match payment["amount"].as_i64().map(|amount| amount % 1000) {
            Some(900) => ends("succeeded", None),
            Some(912) => ends("failed", Some("card_declined")),
            _ => None,
        };
    };
    match suffix(phone) {
        "0000" | "0301" | "0302" | "0303" => ends("succeeded", None),
        "0101" => ends("failed", Some("insufficient_funds")),
        "0102" => ends("failed", Some("user_rejected")),
        "0106" => ends("expired", None),
        "0201" => ends("failed", Some("network_unavailable")),
        "0202" => ends("failed", Some("network_error")),
        _ => None,
    }
}

pub(crate) fn fate_of_payout(payout: &Value) -> Option<Fate> {
    match suffix(payout["phone"].as_str()?) {
        "0000" | "0301" => ends("succeeded", None),
        "0501" => ends("failed", Some("recipient_not_found")),
        "0201" => ends("failed", Some("network_unavailable")),
        "0202" => ends("failed", Some("network_error")),
        _ => None,
    }
}

fn suffix(phone: &str) -> &str {
    phone.get(phone.len().saturating_sub(4)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::time::now;

    fn answer(status: u16, replayed: bool, body: &str) -> Answer {
        Answer { status, location: None, replayed, body: body.as_bytes().to_vec() }
    }

    /// One answer after another.
    fn told(answers: &[Option<Answer>]) -> Vec<String> {
        let mut deed = customer("key".to_owned());
        let mut moment = now();
        for answer in answers {
            let ended = moment + Duration::from_millis(1);
            deed.told.push(Told { began: moment, ended, answer: answer.clone() });
            moment = ended;
        }
        deed.contradictions()
    }

    #[test]
    fn an_answer_that_is_kept_contradicts_nothing() {
        let made = answer(201, false, "a");
        let again = answer(201, true, "a");
        let busy = answer(503, false, "busy");
        assert_eq!(told(&[None, Some(busy.clone()), Some(made), None]), [""; 0]);
        assert_eq!(told(&[None, Some(again.clone()), Some(busy), Some(again)]), [""; 0]);
        assert_eq!(
            told(&[Some(answer(409, false, "not yet")), Some(answer(201, false, "a"))]),
            [""; 0]
        );
    }

    #[test]
    fn what_is_done_again_lost_or_changed_is_told() {
        let made = Some(answer(201, false, "a"));
        for after in [answer(201, true, "b"), answer(201, false, "a"), answer(409, false, "no")] {
            assert_eq!(told(&[made.clone(), None, Some(after.clone())]).len(), 1, "{after:?}");
        }
    }
}
