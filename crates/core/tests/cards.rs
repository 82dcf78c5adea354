//! Over which network a card was paid, and what that network can do (API §1, R13; §11).

use cauri_core::{
    Amount, Capabilities, Catalogue, Connection, CountryOffer, Flow, Network, NextQuestion, Offer,
    Payment, PaymentMethod, PaymentStatus, Report, decide,
    wire::{self, CreatePayment, CreateRefund},
};

#[expect(dead_code, reason = "shared with the other tests and examples")]
mod shop;
use shop::Shop;

fn card(network: &str, capabilities: Capabilities) -> Offer {
    Offer {
        method: PaymentMethod::Card,
        network: network.parse().expect("well formed"),
        currency: shop::xof(),
        min: Amount::SMALLEST,
        max: Amount::LARGEST,
        capabilities,
        flow: Flow::Redirect,
        connection: Connection::new(network),
    }
}

/// A shop in Côte d'Ivoire with these cards and nothing else.
fn shop_with(offers: impl IntoIterator<Item = Offer>) -> Shop {
    let ci = "CI".parse().expect("well formed");
    let mut catalogue =
        Catalogue::empty().with_country(CountryOffer::new(ci, 225, 10..=10, shop::xof()));
    for offer in offers {
        catalogue = catalogue.with_offer(ci, offer).expect("well formed");
    }
    let mut shop = Shop::open();
    shop.terms.sandbox.catalogue = catalogue;
    shop
}

fn created(shop: &mut Shop) -> Payment {
    let ask = CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some(shop::xof()),
        country: Some("CI".parse().expect("well formed")),
        ..CreatePayment::by(PaymentMethod::Card)
    };
    let decision = decide::payment::create(ask, Default::default(), &mut shop.context());
    shop.done(decision);
    shop.last::<Payment>().value
}

fn over(network: &str) -> Report {
    Report::Accepted { network: Some(network.parse().expect("well formed")), redirect_url: None }
}

fn refund(shop: &mut Shop) -> Result<wire::Refund, cauri_core::Error> {
    let payment = shop.last::<Payment>();
    let ask = CreateRefund {
        payment: payment.value.id,
        amount: None,
        reason: None,
        description: None,
        reference: None,
        metadata: Default::default(),
    };
    decide::refund::create(ask, Some(payment), &mut shop.context()).map(|it| it.value)
}

fn network(payment: &Payment) -> Option<&str> {
    payment.network.as_ref().map(Network::as_str)
}

#[test]
fn a_card_of_a_network_that_the_catalogue_does_not_list_can_be_refunded() {
    let mut shop = shop_with([card("visa", Capabilities::ALL)]);
    created(&mut shop);
    let paid = shop.hear(&[over("amex"), Report::Paid]).value;
    assert_eq!(network(&paid), Some("amex"));
    assert!(refund(&mut shop).is_ok());
}

#[test]
fn a_card_that_nobody_named_is_of_the_network_by_whose_offer_it_was_made() {
    let no_payin = Capabilities { payin: false, refund: false, ..Capabilities::ALL };
    let mut shop = shop_with([card("visa", no_payin), card("mastercard", Capabilities::ALL)]);
    let payment = created(&mut shop);
    assert_eq!(payment.connection, Connection::new("mastercard"));
    let paid = shop.hear(&[Report::accepted(), Report::Paid]).value;
    assert_eq!(network(&paid), Some("mastercard"));
    assert!(refund(&mut shop).is_ok(), "mastercard can");
}

#[test]
fn a_network_that_is_taken_back_can_still_refund_what_was_paid_over_it() {
    let mut shop = shop_with([card("visa", Capabilities::ALL)]);
    created(&mut shop);
    shop.hear(&[Report::accepted(), Report::Paid]);
    let (ci, closed) = ("CI".parse().unwrap(), Capabilities { payin: false, ..Capabilities::ALL });
    let catalogue = std::mem::take(&mut shop.terms.sandbox.catalogue);
    shop.terms.sandbox.catalogue = catalogue.with_offer(ci, card("visa", closed)).unwrap();
    assert!(refund(&mut shop).is_ok());
}

#[test]
fn a_card_that_is_paid_late_has_a_network() {
    let expired = |shop: &mut Shop| {
        created(shop);
        shop.wait(86_400);
        let expired = shop.hear(&[Report::Unknown]).value;
        assert_eq!((expired.status, network(&expired)), (PaymentStatus::Expired, None));
        expired
    };
    let offers = || [card("visa", Capabilities::ALL), card("mastercard", Capabilities::ALL)];
    let mut shop = shop_with(offers());
    let before = expired(&mut shop);
    let named = shop.hear(&[over("mastercard")]).value;
    assert_eq!((named.status, network(&named)), (PaymentStatus::Expired, Some("mastercard")));
    assert!(named.updated_at > before.updated_at, "a visible field has changed");
    let paid = shop.hear(&[over("visa"), Report::Paid]).value;
    assert_eq!((paid.status, network(&paid)), (PaymentStatus::Succeeded, Some("mastercard")));

    let mut shop = shop_with(offers());
    expired(&mut shop);
    assert_eq!(network(&shop.hear(&[Report::Paid]).value), Some("visa"));
}

#[test]
fn what_was_returned_before_it_was_settled_is_not_said_to_have_become_available() {
    let mut shop = shop_with([card("visa", Capabilities::ALL)]);
    created(&mut shop);
    shop.hear(&[Report::accepted(), Report::Paid]);
    let payment = shop.last::<Payment>();
    let ask = |payment| CreateRefund {
        payment,
        amount: None,
        reason: None,
        description: None,
        reference: None,
        metadata: Default::default(),
    };
    let id = payment.value.id;
    let decision = decide::refund::create(ask(id), Some(payment), &mut shop.context());
    shop.done(decision);
    let case = decide::refund::Case { refund: shop.last(), payment: shop.last() };
    let (never, actor) = (NextQuestion::Never, cauri_core::Actor::Network);
    let decision = decide::refund::report(case, &[Report::Paid], never, actor, &mut shop.context());
    shop.done(decision);
    let before = shop.last::<Payment>().value;
    shop.wait(10 * 86_400);
    let case = decide::payment::Case { payment: shop.last(), link: None };
    let decision = decide::payment::settle(case, &mut shop.context());
    shop.done(decision);
    let settled = shop.last::<Payment>().value;
    assert!(settled.settled_at.is_some());
    assert_eq!(settled.timeline_count, before.timeline_count, "nothing is told");
}
