//! Ids, money, dates and all other texts: what is read is written back as it was, and sums are those
//! of wider integers.
//!
//! Input: which kind, then numbers or a text.

#![no_main]

use std::{
    fmt::{Debug, Display},
    str::FromStr,
};

use cauri_core::{
    AccountId, Amount, Country, Currency, Email, EndpointId, EventId, FeeRule, IdempotencyKey,
    KeyHash, Keyring, Network, Page, PaymentId, PaymentLinkId, Phone, Sealed, Text, Timestamp,
    WebUrl, refund_share,
};
use cauri_fuzz::Choices;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    match choices.byte() % 6 {
        0 => texts(&String::from_utf8_lossy(choices.rest())),
        1 => money(choices.word(), choices.word()),
        2 => fees(&mut choices),
        3 => dates(choices.word(), choices.word()),
        4 => pages(choices.word(), choices.word(), choices.word()),
        _ => seals(choices.rest()),
    }
});

fn same<T: FromStr + Display>(text: &str) -> bool {
    text.parse::<T>().is_ok_and(|value| {
        assert_eq!(value.to_string(), text);
        true
    })
}

fn texts(text: &str) {
    let ids = [
        same::<PaymentId>(text),
        same::<PaymentLinkId>(text),
        same::<EventId>(text),
        same::<EndpointId>(text),
        same::<AccountId>(text),
    ];
    assert!(ids.iter().filter(|it| **it).count() <= 1, "{text} is an id of two kinds");
    let currency = same::<Currency>(text);
    let country = same::<Country>(text);
    assert!(!(currency && country));
    same::<Network>(text);
    if let Ok(phone) = text.parse::<Phone>() {
        again(phone.as_str(), &phone);
        assert!(text.starts_with('+') && (9..=16).contains(&text.len()), "{text}");
    }
    same::<IdempotencyKey>(text);
    if same::<WebUrl>(text) {
        assert!(text.chars().count() <= WebUrl::CHARS_MAX);
    }
    if let Ok(email) = text.parse::<Email>() {
        again(email.as_str(), &email);
    }
    if same::<Text<100>>(text) {
        assert!((1..=100).contains(&text.chars().count()) && !text.chars().any(char::is_control));
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        again(&at.to_string(), &at);
    }
    let form = |text: &str| {
        let rest = ["sk_test_", "pk_test_", "sk_live_", "pk_live_"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix));
        rest.is_some_and(|it| it.len() == 40 && it.bytes().all(|it| it.is_ascii_alphanumeric()))
    };
    assert_eq!(KeyHash::of(text).is_some(), form(text), "{text}");
}

fn again<T: FromStr + PartialEq + Debug>(text: &str, value: &T) {
    assert_eq!(text.parse::<T>().ok().as_ref(), Some(value), "{text}");
}

fn money(one: i64, other: i64) {
    let (a, b) = (Amount::new(one), Amount::new(other));
    let wide = |sum: i128| i64::try_from(sum).ok();
    assert_eq!(a.plus(b).ok().map(Amount::units), wide(i128::from(one) + i128::from(other)));
    assert_eq!(a.minus(b).ok().map(Amount::units), wide(i128::from(one) - i128::from(other)));
}

fn fees(choices: &mut Choices<'_>) {
    let amount = choices.word();
    let rule = FeeRule {
        bps: u32::from(choices.pair()),
        fixed: Amount::new(choices.word()),
        min: Amount::new(choices.word()),
        max: (choices.byte() % 2 == 0).then(|| Amount::new(choices.word())),
    };
    if let Ok(fee) = rule.apply(Amount::new(amount)) {
        assert!(fee.units() >= 0, "{rule:?} of {amount}: {fee:?}");
        if amount > 0 {
            let share = (i128::from(amount) * i128::from(rule.bps) + 5_000) / 10_000;
            let fee_wide =
                (share + i128::from(rule.fixed.units())).max(i128::from(rule.min.units()));
            let fee_wide = rule.max.map_or(fee_wide, |max| fee_wide.min(max.units().into()));
            assert_eq!(i128::from(fee.units()), fee_wide.max(0), "{rule:?} of {amount}");
        }
    }

    // A payment refunded in any number of parts returns exactly its fee.
    let amount = 1 + i64::from(choices.pair());
    let fee = i64::from(choices.pair()) % (amount + 1);
    let (mut refunded, mut returned) = (0, 0);
    while refunded < amount {
        let part = (1 + i64::from(choices.pair())).min(amount - refunded);
        let share = refund_share(
            Amount::new(amount),
            Amount::new(fee),
            Amount::new(refunded),
            Amount::new(returned),
            Amount::new(part),
        );
        let share = share.expect("it fits").units();
        assert!(share >= 0 && share <= part, "{share} of {part}");
        refunded += part;
        returned += share;
    }
    assert_eq!(returned, fee, "{amount}");
}

fn dates(millis: i64, more: i64) {
    let at = Timestamp::from_millis(millis);
    again(&at.to_string(), &at);
    assert_eq!(at.to_string().len(), 24, "{at}");
    let later = at.plus_millis(more);
    assert!(later == Timestamp::MAX || later == Timestamp::MIN || later.since(at) == more);
    let _ = at.plus_seconds(more);
    assert!(Timestamp::MIN <= at && at <= Timestamp::MAX);
}

fn pages(limit: i64, offset: i64, total: i64) {
    let Ok(limit) = u8::try_from(limit % 200) else { return };
    let Some(page) = Page::new(limit, offset) else { return };
    for oldest_first in [false, true] {
        if let Some((first, last)) = page.numbers(total, oldest_first) {
            assert!(1 <= first && first <= last && last <= total, "{page:?} of {total}");
            assert!(last - first < i64::from(limit), "{page:?} of {total}");
        }
    }
}

fn seals(bytes: &[u8]) {
    let keys = Keyring::new([(2, [2; 32]), (1, [1; 32])]).expect("two keys");
    assert!(keys.open(&Sealed::from_bytes(bytes.to_vec()), b"owner").is_err(), "forged");
    let sealed = keys.seal(bytes, b"owner", [7; 24]).expect("it is short");
    assert_eq!(keys.open(&sealed, b"owner").as_deref(), Ok(bytes));
    assert!(keys.open(&sealed, b"other").is_err());
}
