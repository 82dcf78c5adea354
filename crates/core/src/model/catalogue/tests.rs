use proptest::prelude::*;

use super::*;
use crate::{
    model::offer::{Capabilities, Connection},
    value::method::Flow,
};

fn country(code: &str) -> Country {
    code.parse().expect(code)
}

fn currency(code: &str) -> Currency {
    code.parse().expect(code)
}

fn network(name: &str) -> Network {
    name.parse().expect(name)
}

/// Asks in words: the connection, or the parameter at fault and the message.
fn ask(
    catalogue: &Catalogue,
    purpose: Purpose,
    (place, method, on, money, amount): (&str, &str, &str, &str, i64),
) -> Result<String, (&'static str, String)> {
    let on = (on != "-").then(|| network(on));
    let ask = Ask {
        country: country(place),
        method: method.parse().expect(method),
        network: on.as_ref(),
        currency: currency(money),
        amount: Amount::new(amount),
        purpose,
    };
    match catalogue.offer(ask) {
        Ok(offer) => Ok(offer.connection.to_string()),
        Err(error) => Err((error.param(), error.to_string())),
    }
}

#[test]
fn the_sandbox_is_the_table_of_the_contract() {
    let catalogue = Catalogue::sandbox();
    let lines: Vec<String> = catalogue
        .countries()
        .iter()
        .map(|place| {
            let offers: Vec<String> = place
                .offers()
                .iter()
                .filter(|offer| offer.method == PaymentMethod::MobileMoney)
                .map(|it| format!("{} {} {}–{}", it.currency, it.network, it.min, it.max))
                .collect();
            let digits = place.national_digits().start();
            assert_eq!(place.national_digits().end(), digits);
            format!("{} {},{digits} {}", place.country(), place.dial(), offers.join(", "))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "CI +225,10 XOF mtn 100–2000000, XOF orange 100–2000000, XOF moov 100–2000000, \
             XOF wave 100–2000000",
            "SN +221,9 XOF orange 100–2000000, XOF wave 100–2000000, XOF free 100–2000000",
            "BJ +229,10 XOF mtn 100–2000000, XOF moov 100–2000000",
            "BF +226,8 XOF orange 100–2000000, XOF moov 100–2000000",
            "CM +237,9 XAF mtn 100–1000000, XAF orange 100–500000",
            "CD +243,9 CDF mpesa 50000–100000000, CDF orange 1000–100000000, \
             CDF airtel 10000–625000000, USD mpesa 100–250000, USD orange 100–250000, \
             USD airtel 100–250000",
            "GH +233,9 GHS mtn 100–1500000, GHS telecel 100–1500000, \
             GHS airteltigo 100–1000000",
            "KE +254,9 KES mpesa 100–25000000, KES airtel 100–15000000",
            "UG +256,9 UGX mtn 500–5000000, UGX airtel 500–5000000",
            "TZ +255,9 TZS mpesa 10000–500000000, TZS tigo 10000–500000000, \
             TZS halotel 10000–500000000, TZS airtel 10000–300000000",
            "RW +250,9 RWF mtn 100–2000000, RWF airtel 100–1500000",
            "ZM +260,9 ZMW mtn 100–2000000, ZMW airtel 100–2000000, ZMW zamtel 100–2000000",
            "NG +234,10 NGN mtn 10000–50000000, NGN airtel 10000–50000000",
            "KW +965,8 ",
        ]
    );
}

#[test]
fn every_country_has_cards_in_its_currency() {
    for place in Catalogue::sandbox().countries() {
        let cards: Vec<_> =
            place.offers().iter().filter(|it| it.method == PaymentMethod::Card).collect();
        let names: Vec<_> = cards.iter().map(|card| card.network.as_str()).collect();
        if place.country() == country("NG") {
            assert_eq!(names, ["visa", "mastercard", "verve"]);
        } else {
            assert_eq!(names, ["visa", "mastercard"]);
        }
        for card in cards {
            let expected = if place.country() == country("CD") {
                currency("USD")
            } else {
                place.default_currency()
            };
            assert_eq!(card.currency, expected);
            assert_eq!((card.min, card.max), (Amount::SMALLEST, Amount::LARGEST));
            assert_eq!(card.flow, Flow::Redirect);
        }
    }
}

#[test]
fn networks_can_what_the_contract_says() {
    let table = [
        ("mtn moov mpesa telecel tigo zamtel", [true, true, true, true, false]),
        ("airtel airteltigo halotel", [true, true, true, false, false]),
        ("orange free", [true, true, false, false, false]),
        ("wave", [true, true, true, false, true]),
        ("visa mastercard verve", [true, false, true, true, true]),
    ];
    let catalogue = Catalogue::sandbox();
    for offer in catalogue.countries().iter().flat_map(CountryOffer::offers) {
        let name = offer.network.as_str();
        let rows: Vec<_> =
            table.iter().filter(|(names, _)| names.split(' ').any(|it| it == name)).collect();
        let Capabilities { payin, payout, refund, partial_refund, cancel } = offer.capabilities;
        let own = [payin, payout, refund, partial_refund, cancel];
        assert!(matches!(rows[..], [(_, row)] if *row == own), "{name}");
        let redirect = name == "wave" || offer.method == PaymentMethod::Card;
        assert_eq!(offer.flow == Flow::Redirect, redirect, "{name}");
    }
}

#[test]
fn each_check_answers_before_those_after_it() {
    let catalogue = Catalogue::sandbox();
    let payin = |words| ask(&catalogue, Purpose::Payin, words);
    let fault = |param, message: &str| Err((param, message.to_owned()));
    let mobile = "mobile_money";
    assert_eq!(
        payin(("FR", "card", "nix", "USD", 0)),
        fault("country", "country FR is not supported.")
    );
    assert_eq!(
        payin(("KW", mobile, "nix", "USD", 0)),
        fault("payment_method", "payment_method mobile_money is not supported in KW.")
    );
    assert_eq!(
        payin(("CI", mobile, "airtel", "USD", 0)),
        fault("network", "network airtel is not supported for mobile_money in CI.")
    );
    assert_eq!(
        payin(("CI", "card", "mtn", "USD", 0)),
        fault("network", "network mtn is not supported for card in CI.")
    );
    assert_eq!(
        payin(("CI", mobile, "mtn", "USD", 0)),
        fault("currency", "currency USD is not supported on network mtn in CI.")
    );
    assert_eq!(
        payin(("CD", "card", "-", "CDF", 0)),
        fault("currency", "currency CDF is not supported for card in CD.")
    );
    assert_eq!(
        payin(("CI", mobile, "mtn", "XOF", 99)),
        fault("amount", "amount must be at least 100 XOF on network mtn in CI.")
    );
    assert_eq!(
        payin(("CI", mobile, "mtn", "XOF", 2_000_001)),
        fault("amount", "amount must be at most 2000000 XOF on network mtn in CI.")
    );
    assert_eq!(payin(("CI", mobile, "mtn", "XOF", 100)), Ok("sim_mtn_ci".into()));
    assert_eq!(payin(("CI", mobile, "mtn", "XOF", 2_000_000)), Ok("sim_mtn_ci".into()));
    assert_eq!(payin(("CD", mobile, "mpesa", "USD", 250_000)), Ok("sim_mpesa_cd".into()));
    assert_eq!(payin(("CD", "card", "-", "USD", 1)), Ok("sim_visa_cd".into()));
    assert_eq!(payin(("KW", "card", "mastercard", "KWD", 1)), Ok("sim_mastercard_kw".into()));
    assert_eq!(
        payin(("CI", "card", "-", "XOF", 0)),
        fault("amount", "amount must be at least 1 XOF on network visa in CI.")
    );
}

#[test]
fn a_payout_by_card_is_refused_as_such() {
    let catalogue = Catalogue::sandbox();
    let payout = |words| ask(&catalogue, Purpose::Payout, words);
    let refused = |place: &str| {
        Err(("payment_method", format!("payouts are not supported for card in {place}.")))
    };
    assert_eq!(payout(("SN", "card", "orange", "XOF", 10_000)), refused("SN"));
    assert_eq!(payout(("SN", "card", "visa", "XOF", 10_000)), refused("SN"));
    assert_eq!(payout(("SN", "card", "-", "USD", 0)), refused("SN"));
    assert_eq!(payout(("FR", "card", "-", "USD", 0)).map_err(|(param, _)| param), Err("country"));
    assert_eq!(payout(("SN", "mobile_money", "orange", "XOF", 100)), Ok("sim_orange_sn".into()));
    assert_eq!(
        payout(("KW", "mobile_money", "mtn", "KWD", 1)).map_err(|(param, _)| param),
        Err("payment_method")
    );
}

fn offer(on: &str, money: &str, min: i64, max: i64) -> Offer {
    Offer {
        method: PaymentMethod::MobileMoney,
        network: network(on),
        currency: currency(money),
        min: Amount::new(min),
        max: Amount::new(max),
        capabilities: Capabilities::default(),
        flow: Flow::Push,
        connection: Connection::new(format!("{on}_live")),
    }
}

#[test]
fn a_network_that_cannot_is_refused_before_its_limits() {
    let catalogue = Catalogue::sandbox()
        .without_offers()
        .with_offer(country("CI"), offer("mtn", "XOF", 10, 20))
        .expect("good");
    for (purpose, what) in [(Purpose::Payin, "payments"), (Purpose::Payout, "payouts")] {
        assert_eq!(
            ask(&catalogue, purpose, ("CI", "mobile_money", "mtn", "XOF", 1)),
            Err(("network", format!("{what} are not supported on network mtn in CI.")))
        );
        assert_eq!(
            ask(&catalogue, purpose, ("CI", "mobile_money", "-", "XOF", 1)),
            Err(("payment_method", format!("{what} are not supported for mobile_money in CI.")))
        );
    }
}

#[test]
fn an_offer_takes_the_place_of_the_same_one_and_must_make_sense() {
    let bare = Catalogue::sandbox().without_offers();
    let ci = country("CI");
    let with = |offer| bare.clone().with_offer(ci, offer).map(|_| ());
    assert_eq!(with(offer("mtn", "XOF", 1, 1)), Ok(()));
    assert_eq!(with(offer("mtn", "XOF", 0, 1)), Err(OfferError::Limits));
    assert_eq!(with(offer("mtn", "XOF", 2, 1)), Err(OfferError::Limits));
    assert_eq!(with(offer("mtn", "XOF", 1, 999_999_999_999)), Ok(()));
    assert_eq!(with(offer("mtn", "XOF", 1, 1_000_000_000_000)), Err(OfferError::Limits));
    assert_eq!(
        with(offer("mtn", "USD", 1, 1)),
        Err(OfferError::CurrencyUnknown { country: ci, currency: currency("USD") })
    );
    let france = country("FR");
    assert_eq!(
        bare.clone().with_offer(france, offer("mtn", "XOF", 1, 1)),
        Err(OfferError::CountryUnknown { country: france })
    );
    let twice = [offer("mtn", "XOF", 1, 1), offer("wave", "XOF", 1, 1), offer("mtn", "XOF", 2, 2)]
        .into_iter()
        .try_fold(bare, |catalogue, offer| catalogue.with_offer(ci, offer))
        .expect("good");
    let offers = twice.country(ci).expect("known").offers();
    assert_eq!(offers, [offer("mtn", "XOF", 2, 2), offer("wave", "XOF", 1, 1)]);
}

#[test]
fn a_country_takes_the_place_it_had() {
    let mali = |digits| CountryOffer::new(country("ML"), 223, digits, currency("XOF"));
    let catalogue = Catalogue::empty()
        .with_country(mali(8..=8))
        .with_country(CountryOffer::new(country("TG"), 228, 8..=8, currency("XOF")))
        .with_country(mali(8..=9));
    let codes: Vec<_> = catalogue.countries().iter().map(CountryOffer::country).collect();
    assert_eq!(codes, [country("ML"), country("TG")]);
    assert_eq!(catalogue.countries()[0].national_digits(), &(8..=9));
}

#[test]
fn the_longest_calling_code_wins_and_of_equals_the_first() {
    let place = |code, dial| CountryOffer::new(country(code), dial, 7..=10, currency("USD"));
    let catalogue = Catalogue::empty()
        .with_country(place("US", 1))
        .with_country(place("CA", 1))
        .with_country(place("TT", 1868));
    let of = |phone: &str| {
        let phone = phone.parse().expect("a phone");
        catalogue.country_of(&phone).map(|place| place.country().to_string())
    };
    assert_eq!(of("+12025550100").as_deref(), Some("US"));
    assert_eq!(of("+18685550100").as_deref(), Some("TT"));
    assert_eq!(of("+33600000000"), None);
}

#[test]
fn numbers_have_the_length_of_their_country() {
    let catalogue = Catalogue::sandbox();
    for place in catalogue.countries() {
        let digits = usize::from(*place.national_digits().start());
        for (length, good) in
            [(digits.strict_sub(1), false), (digits, true), (digits.strict_add(1), false)]
        {
            let text = format!("{}{}", place.dial(), "5".repeat(length));
            let phone = text.parse().expect("a phone");
            assert_eq!(catalogue.country_of(&phone), Some(place));
            assert_eq!(catalogue.national_length_ok(&phone), good, "{text}");
        }
    }
    assert!(!catalogue.national_length_ok(&"+33600000000".parse().expect("a phone")));
}

#[test]
fn methods_are_listed_in_catalogue_order() {
    let catalogue = Catalogue::sandbox();
    let list = |place, money: Option<&str>| {
        let (used, methods) = catalogue.methods(country(place), money.map(currency))?;
        let methods: Vec<_> = methods
            .iter()
            .map(|it| {
                let names: Vec<_> = it.offers.iter().map(|it| it.network.as_str()).collect();
                format!("{}: {}", it.method, names.join(" "))
            })
            .collect();
        Ok::<_, CatalogueError>(format!("{used} {}", methods.join(", ")))
    };
    assert_eq!(
        list("CI", None).as_deref(),
        Ok("XOF mobile_money: mtn orange moov wave, card: visa mastercard")
    );
    assert_eq!(list("CD", None).as_deref(), Ok("CDF mobile_money: mpesa orange airtel"));
    assert_eq!(
        list("CD", Some("USD")).as_deref(),
        Ok("USD mobile_money: mpesa orange airtel, card: visa mastercard")
    );
    assert_eq!(list("KW", Some("KWD")).as_deref(), Ok("KWD card: visa mastercard"));
    let refused = list("CI", Some("USD")).map_err(|error| (error.param(), error.to_string()));
    assert_eq!(refused, Err(("currency", "currency USD is not supported in CI.".into())));
    assert_eq!(list("FR", None).map_err(|error| error.param()), Err("country"));
    let bare = Catalogue::sandbox().without_offers();
    assert_eq!(bare.methods(country("CI"), None), Ok((currency("XOF"), Vec::new())));
}

proptest! {
    #[test]
    fn an_offer_is_found_exactly_within_its_limits(
        at in any::<proptest::sample::Index>(),
        amount in prop_oneof![0..3_000_000_i64, 0..=1_000_000_000_000_i64],
    ) {
        let catalogue = Catalogue::sandbox();
        let all: Vec<_> = catalogue
            .countries()
            .iter()
            .flat_map(|place| place.offers().iter().map(|offer| (place.country(), offer)))
            .collect();
        let (country, offer) = all[at.index(all.len())];
        let amount = Amount::new(amount);
        let ask = Ask {
            country,
            method: offer.method,
            network: Some(&offer.network),
            currency: offer.currency,
            amount,
            purpose: Purpose::Payin,
        };
        let found = catalogue.find(country, offer.method, ask.network, offer.currency, ask.purpose);
        prop_assert_eq!(found, Some(offer));
        match catalogue.offer(ask) {
            Ok(found) => {
                prop_assert_eq!(found, offer);
                prop_assert!((offer.min..=offer.max).contains(&amount));
            }
            Err(CatalogueError::AmountBelowMinimum { minimum, .. }) => {
                prop_assert!(amount < minimum && minimum == offer.min);
            }
            Err(CatalogueError::AmountAboveMaximum { maximum, .. }) => {
                prop_assert!(amount > maximum && maximum == offer.max);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
