//! Where a payer is sent (API §9.3).

use cauri_core::{Amount, NextAction, PaymentMethod, PaymentStatus, Report, decide, wire};

#[expect(dead_code, reason = "shared with the other tests and examples")]
mod shop;
use shop::Shop;

#[test]
fn the_payer_is_sent_to_the_page_that_the_network_names_whenever_it_names_it() {
    let mut shop = Shop::open();
    let ask = wire::CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some("XOF".parse().unwrap()),
        network: Some("wave".parse().unwrap()),
        phone: Some("+2250500000000".parse().unwrap()),
        ..wire::CreatePayment::by(PaymentMethod::MobileMoney)
    };
    let decision = decide::payment::create(ask, Default::default(), &mut shop.context());
    shop.done(decision);
    let accepted = |page: Option<&str>| Report::Accepted {
        network: None,
        redirect_url: page.map(|page| page.parse().unwrap()),
    };
    // A callback knows of no page; the answer to the sending does, and comes later.
    let processing = shop.hear(&[accepted(None)]).value;
    let told = shop.hear(&[accepted(Some("https://pay.wave.test/1"))]).value;
    let page = NextAction::Redirect { url: "https://pay.wave.test/1".to_owned() };
    assert_eq!((told.status, told.next_action), (PaymentStatus::Processing, Some(page)));
    assert!(told.updated_at > processing.updated_at);
    let again = shop.hear(&[accepted(Some("https://pay.wave.test/1"))]).value;
    assert_eq!(again.updated_at, told.updated_at);
    assert_eq!(shop.hear(&[Report::Paid]).value.next_action, None);
}
