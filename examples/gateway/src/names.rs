//! How the aggregator names what we name otherwise.

use cauri::{Amount, Country, Currency, Network, OrderId};
use ring::digest::{SHA256, digest};
use uuid::{Builder, Uuid};

/// What kind of order it is, and where it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Deposit,
    Payout,
    Refund,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Deposit, Self::Payout, Self::Refund];

    pub(crate) const fn of(id: OrderId) -> Self {
        match id {
            OrderId::Payment(_) => Self::Deposit,
            OrderId::Payout(_) => Self::Payout,
            OrderId::Refund(_) => Self::Refund,
        }
    }

    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Deposit => "/v2/deposits",
            Self::Payout => "/v2/payouts",
            Self::Refund => "/v2/refunds",
        }
    }
}

/// The id by which the aggregator knows an order: it follows from ours, so that it is the same after
/// a restart and on every node, and needs to be kept nowhere. The aggregator wants version 4.
#[must_use]
pub fn name(id: OrderId) -> Uuid {
    let digest = digest(&SHA256, id.to_string().as_bytes());
    let mut bytes = [0; 16];
    for (byte, from) in bytes.iter_mut().zip(digest.as_ref()) {
        *byte = *from;
    }
    Builder::from_random_bytes(bytes).into_uuid()
}

/// The aggregator's word for a network in a country; `None` when it does not serve it.
pub(crate) fn provider(country: Country, network: &Network) -> Option<&'static str> {
    let providers: &[(&str, &str, &str)] = &[
        ("CI", "mtn", "MTN_MOMO_CIV"),
        ("CI", "orange", "ORANGE_CIV"),
        ("BJ", "mtn", "MTN_MOMO_BEN"),
        ("BJ", "moov", "MOOV_BEN"),
        ("CM", "mtn", "MTN_MOMO_CMR"),
        ("CM", "orange", "ORANGE_CMR"),
        ("GH", "mtn", "MTN_MOMO_GHA"),
        ("ZM", "mtn", "MTN_MOMO_ZMB"),
        ("ZM", "airtel", "AIRTEL_OAPI_ZMB"),
    ];
    let serves =
        |(of, named, _): &&(&str, &str, &str)| *of == country.code() && *named == network.as_str();
    providers.iter().find(serves).map(|(_, _, provider)| *provider)
}

/// An amount as a decimal number without zeros at its end: 1,550 with two digits is `15.5`.
pub(crate) fn decimal(amount: Amount, currency: Currency) -> String {
    let digits = usize::from(currency.exponent());
    let units = format!("{:0>width$}", amount.units(), width = digits + 1);
    let (whole, part) = units.split_at(units.len() - digits);
    match part.trim_end_matches('0') {
        "" => whole.to_owned(),
        part => format!("{whole}.{part}"),
    }
}

/// The amount of a decimal number; `None` when it is none, or not one of the currency.
pub(crate) fn amount(decimal: &str, currency: Currency) -> Option<Amount> {
    let (whole, part) = decimal.split_once('.').unwrap_or((decimal, ""));
    let digits = usize::from(currency.exponent());
    let part = part.trim_end_matches('0');
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > digits {
        return None;
    }
    format!("{whole}{part:0<digits$}").parse().ok().map(Amount::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_follows_from_the_order_and_is_of_version_4() {
        let (one, other) = ("pay_01jd3w8k4f7q2m9x5r6t0v1b3c", "pout_01jd3w8k4f7q2m9x5r6t0v1b3c");
        let (one, other) = (one.parse().unwrap(), other.parse().unwrap());
        assert_eq!(name(one), name(one));
        assert_ne!(name(one), name(other));
        assert_eq!(name(one).get_version_num(), 4);
        assert_eq!(name(one).to_string(), "16f232a4-75b5-42d4-891d-4200ee13ca90");
    }

    #[test]
    fn amounts_are_decimal_numbers_and_back() {
        for (units, currency, text) in [
            (5_000, "XOF", "5000"),
            (1, "XOF", "1"),
            (1_500, "ZMW", "15"),
            (1_550, "ZMW", "15.5"),
            (1_505, "ZMW", "15.05"),
            (5, "ZMW", "0.05"),
            (1_234, "KWD", "1.234"),
        ] {
            let currency = currency.parse().unwrap();
            assert_eq!(decimal(Amount::new(units), currency), text);
            assert_eq!(amount(text, currency), Some(Amount::new(units)));
        }
    }

    #[test]
    fn what_is_no_amount_of_the_currency_is_none() {
        let (franc, kwacha): (Currency, Currency) =
            ("XOF".parse().unwrap(), "ZMW".parse().unwrap());
        for text in ["", ".", ".5", "-5", "+5", "5,0", "1e3", " 5", "5.5", "99999999999999999999"] {
            assert_eq!(amount(text, franc), None, "{text:?}");
        }
        assert_eq!(amount("5.00", franc), Some(Amount::new(5)));
        assert_eq!(amount("5.005", kwacha), None);
        assert_eq!(amount("15.00", kwacha), Some(Amount::new(1_500)));
    }
}
