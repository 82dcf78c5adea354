//! The built-in catalogue, copied from the table of the contract (API §14).

/// A country's offer in one currency.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) country: &'static str,
    pub(crate) currency: &'static str,
    /// A number of the right length that is no scenario.
    pub(crate) phone: &'static str,
    pub(crate) networks: &'static [Network],
    pub(crate) cards: &'static [&'static str],
}

/// Name, smallest and largest amount.
pub(crate) type Network = (&'static str, i64, i64);

const CARDS: &[&str] = &["visa", "mastercard"];
const CARDS_NG: &[&str] = &["visa", "mastercard", "verve"];

/// The first offer of a country is its default currency.
pub(crate) const OFFERS: &[Offer] = &[
    offer(
        "CI",
        "XOF",
        "+2250500009999",
        &[
            ("mtn", 100, 2_000_000),
            ("orange", 100, 2_000_000),
            ("moov", 100, 2_000_000),
            ("wave", 100, 2_000_000),
        ],
        CARDS,
    ),
    offer(
        "SN",
        "XOF",
        "+221770009999",
        &[("orange", 100, 2_000_000), ("wave", 100, 2_000_000), ("free", 100, 2_000_000)],
        CARDS,
    ),
    offer(
        "BJ",
        "XOF",
        "+2290170009999",
        &[("mtn", 100, 2_000_000), ("moov", 100, 2_000_000)],
        CARDS,
    ),
    offer(
        "BF",
        "XOF",
        "+22670009999",
        &[("orange", 100, 2_000_000), ("moov", 100, 2_000_000)],
        CARDS,
    ),
    offer(
        "CM",
        "XAF",
        "+237670009999",
        &[("mtn", 100, 1_000_000), ("orange", 100, 500_000)],
        CARDS,
    ),
    offer(
        "CD",
        "CDF",
        "+243970009999",
        &[
            ("mpesa", 50_000, 100_000_000),
            ("orange", 1_000, 100_000_000),
            ("airtel", 10_000, 625_000_000),
        ],
        &[],
    ),
    offer(
        "CD",
        "USD",
        "+243970009999",
        &[("mpesa", 100, 250_000), ("orange", 100, 250_000), ("airtel", 100, 250_000)],
        CARDS,
    ),
    offer(
        "GH",
        "GHS",
        "+233540009999",
        &[("mtn", 100, 1_500_000), ("telecel", 100, 1_500_000), ("airteltigo", 100, 1_000_000)],
        CARDS,
    ),
    offer(
        "KE",
        "KES",
        "+254710009999",
        &[("mpesa", 100, 25_000_000), ("airtel", 100, 15_000_000)],
        CARDS,
    ),
    offer(
        "UG",
        "UGX",
        "+256770009999",
        &[("mtn", 500, 5_000_000), ("airtel", 500, 5_000_000)],
        CARDS,
    ),
    offer(
        "TZ",
        "TZS",
        "+255740009999",
        &[
            ("mpesa", 10_000, 500_000_000),
            ("tigo", 10_000, 500_000_000),
            ("halotel", 10_000, 500_000_000),
            ("airtel", 10_000, 300_000_000),
        ],
        CARDS,
    ),
    offer(
        "RW",
        "RWF",
        "+250780009999",
        &[("mtn", 100, 2_000_000), ("airtel", 100, 1_500_000)],
        CARDS,
    ),
    offer(
        "ZM",
        "ZMW",
        "+260960009999",
        &[("mtn", 100, 2_000_000), ("airtel", 100, 2_000_000), ("zamtel", 100, 2_000_000)],
        CARDS,
    ),
    offer(
        "NG",
        "NGN",
        "+2348030009999",
        &[("mtn", 10_000, 50_000_000), ("airtel", 10_000, 50_000_000)],
        CARDS_NG,
    ),
    offer("KW", "KWD", "+96550009999", &[], CARDS),
];

const fn offer(
    country: &'static str,
    currency: &'static str,
    phone: &'static str,
    networks: &'static [Network],
    cards: &'static [&'static str],
) -> Offer {
    Offer { country, currency, phone, networks, cards }
}

/// payin, payout, refund, partial_refund, cancel.
pub(crate) fn capabilities(network: &str) -> [bool; 5] {
    match network {
        "mtn" | "moov" | "mpesa" | "telecel" | "tigo" | "zamtel" => [true, true, true, true, false],
        "airtel" | "airteltigo" | "halotel" => [true, true, true, false, false],
        "orange" | "free" => [true, true, false, false, false],
        "wave" => [true, true, true, false, true],
        other => panic!("not in the catalogue: {other}"),
    }
}

/// The smallest and the largest fee of a payout.
pub(crate) fn payout_fee_limits(currency: &str) -> (i64, i64) {
    match currency {
        "XOF" | "XAF" | "RWF" | "ZMW" => (100, 5_000),
        "GHS" => (50, 2_000),
        "KES" => (1_000, 20_000),
        "UGX" => (500, 20_000),
        "TZS" => (30_000, 1_000_000),
        "NGN" => (1_000, 50_000),
        "CDF" => (20_000, 2_000_000),
        "USD" => (10, 500),
        other => panic!("not in the schedule: {other}"),
    }
}

/// Half-up, in integers only (API §7.1).
pub(crate) fn share(amount: i64, basis_points: i64) -> i64 {
    (amount * basis_points + 5000) / 10_000
}
