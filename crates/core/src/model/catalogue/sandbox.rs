//! The countries and networks of the sandbox (API §14).

use crate::{
    model::offer::{Capabilities, Connection, CountryOffer, Offer},
    value::{
        method::{Flow, PaymentMethod},
        money::Amount,
    },
};

/// In the order of the table.
pub(super) fn countries() -> Vec<CountryOffer> {
    SANDBOX.iter().filter_map(Row::read).collect()
}

/// A row of the sandbox's table.
struct Row {
    country: &'static str,
    dial: u16,
    national_digits: u8,
    currencies: &'static str,
    /// Currency, networks, least, most.
    mobile: &'static [(&'static str, &'static str, i64, i64)],
    /// Currency, networks.
    cards: (&'static str, &'static str),
}

const CARDS: &str = "visa mastercard";

#[rustfmt::skip] // The table of API §14, row by row.
const SANDBOX: [Row; 14] = [
    Row { country: "CI", dial: 225, national_digits: 10, currencies: "XOF", cards: ("XOF", CARDS),
        mobile: &[("XOF", "mtn orange moov wave", 100, 2_000_000)] },
    Row { country: "SN", dial: 221, national_digits: 9, currencies: "XOF", cards: ("XOF", CARDS),
        mobile: &[("XOF", "orange wave free", 100, 2_000_000)] },
    Row { country: "BJ", dial: 229, national_digits: 10, currencies: "XOF", cards: ("XOF", CARDS),
        mobile: &[("XOF", "mtn moov", 100, 2_000_000)] },
    Row { country: "BF", dial: 226, national_digits: 8, currencies: "XOF", cards: ("XOF", CARDS),
        mobile: &[("XOF", "orange moov", 100, 2_000_000)] },
    Row { country: "CM", dial: 237, national_digits: 9, currencies: "XAF", cards: ("XAF", CARDS),
        mobile: &[("XAF", "mtn", 100, 1_000_000), ("XAF", "orange", 100, 500_000)] },
    Row { country: "CD", dial: 243, national_digits: 9, currencies: "CDF USD", cards: ("USD", CARDS),
        mobile: &[
            ("CDF", "mpesa", 50_000, 100_000_000),
            ("CDF", "orange", 1_000, 100_000_000),
            ("CDF", "airtel", 10_000, 625_000_000),
            ("USD", "mpesa orange airtel", 100, 250_000),
        ] },
    Row { country: "GH", dial: 233, national_digits: 9, currencies: "GHS", cards: ("GHS", CARDS),
        mobile: &[("GHS", "mtn telecel", 100, 1_500_000), ("GHS", "airteltigo", 100, 1_000_000)] },
    Row { country: "KE", dial: 254, national_digits: 9, currencies: "KES", cards: ("KES", CARDS),
        mobile: &[("KES", "mpesa", 100, 25_000_000), ("KES", "airtel", 100, 15_000_000)] },
    Row { country: "UG", dial: 256, national_digits: 9, currencies: "UGX", cards: ("UGX", CARDS),
        mobile: &[("UGX", "mtn airtel", 500, 5_000_000)] },
    Row { country: "TZ", dial: 255, national_digits: 9, currencies: "TZS", cards: ("TZS", CARDS),
        mobile: &[
            ("TZS", "mpesa tigo halotel", 10_000, 500_000_000),
            ("TZS", "airtel", 10_000, 300_000_000),
        ] },
    Row { country: "RW", dial: 250, national_digits: 9, currencies: "RWF", cards: ("RWF", CARDS),
        mobile: &[("RWF", "mtn", 100, 2_000_000), ("RWF", "airtel", 100, 1_500_000)] },
    Row { country: "ZM", dial: 260, national_digits: 9, currencies: "ZMW", cards: ("ZMW", CARDS),
        mobile: &[("ZMW", "mtn airtel zamtel", 100, 2_000_000)] },
    Row { country: "NG", dial: 234, national_digits: 10, currencies: "NGN",
        cards: ("NGN", "visa mastercard verve"),
        mobile: &[("NGN", "mtn airtel", 10_000, 50_000_000)] },
    Row { country: "KW", dial: 965, national_digits: 8, currencies: "KWD", cards: ("KWD", CARDS),
        mobile: &[] },
];

/// What the sandbox's networks can do (API §14).
fn sandbox_capabilities(method: PaymentMethod, network: &str) -> Capabilities {
    let all = Capabilities {
        payin: true,
        payout: true,
        refund: true,
        partial_refund: true,
        cancel: false,
    };
    match (method, network) {
        (PaymentMethod::Card, _) => Capabilities { payout: false, cancel: true, ..all },
        (PaymentMethod::MobileMoney, "wave") => {
            Capabilities { partial_refund: false, cancel: true, ..all }
        }
        (PaymentMethod::MobileMoney, "orange" | "free") => {
            Capabilities { refund: false, partial_refund: false, ..all }
        }
        (PaymentMethod::MobileMoney, "airtel" | "airteltigo" | "halotel") => {
            Capabilities { partial_refund: false, ..all }
        }
        (PaymentMethod::MobileMoney, _) => all,
    }
}

impl Row {
    /// None if the row is misspelt; that none is, is tested below.
    fn read(&self) -> Option<CountryOffer> {
        let mut currencies = self.currencies.split(' ').map(str::parse);
        let first = currencies.next()?.ok()?;
        let digits = self.national_digits..=self.national_digits;
        let mut row = CountryOffer::new(self.country.parse().ok()?, self.dial, digits, first);
        for currency in currencies {
            row = row.with_currency(currency.ok()?);
        }
        let (card_currency, cards) = self.cards;
        let mobile = self.mobile.iter().map(|line| (PaymentMethod::MobileMoney, *line));
        let largest = Amount::LARGEST.units();
        let cards = [(PaymentMethod::Card, (card_currency, cards, 1, largest))];
        for (method, (currency, networks, min, max)) in mobile.chain(cards) {
            for network in networks.split(' ') {
                let redirect = method == PaymentMethod::Card || network == "wave";
                let place = self.country.to_ascii_lowercase();
                row.offers.push(Offer {
                    method,
                    network: network.parse().ok()?,
                    currency: currency.parse().ok()?,
                    min: Amount::new(min),
                    max: Amount::new(max),
                    capabilities: sandbox_capabilities(method, network),
                    flow: if redirect { Flow::Redirect } else { Flow::Push },
                    connection: Connection::new(format!("sim_{network}_{place}")),
                });
            }
        }
        Some(row)
    }
}
