//! What a public key is shown (API §3.4), and what shows in logs.

use super::{records, records::parsed};
use crate::{
    commit::query::Listed,
    decide::idempotency::Answered,
    model::{
        event::{Event, EventKind},
        idempotency::{StoredBody, Success},
    },
    value::page::Page,
    wire::{self, Mask, Private},
};

#[test]
fn masks_keep_what_the_contract_says_and_survive_short_texts() {
    let mask = |text: &str| {
        let text = Private::from(text);
        [text.masked_name(), text.masked_email(), text.masked_phone()]
            .map(|masked| masked.as_str().to_owned())
    };
    for (text, name, email, phone) in [
        ("Awa Diop", "A***", "***", "Awa **op"),
        ("A", "A***", "***", "*"),
        ("", "***", "***", ""),
        ("Ñandú", "Ñ***", "***", "*****"),
        ("💸", "💸***", "***", "*"),
        ("a@b.co", "a***", "a***@b.co", "******"),
        ("awa@example.com", "a***", "a***@example.com", "awa@*********om"),
        ("@example.com", "@***", "***@example.com", "@exa******om"),
        ("\"a@b\"@c.de", "\"***", "\"***@c.de", "\"a@b****de"),
        ("+2250500000000", "+***", "***", "+225********00"),
        ("+12345678", "+***", "***", "+123***78"),
        ("123456", "1***", "***", "******"),
        ("1234567", "1***", "***", "1234*67"),
    ] {
        assert_eq!(mask(text), [name, email, phone], "{text}");
    }
}

#[test]
fn nothing_but_personal_data_is_masked() {
    let payment = wire::Payment::of(&records::payment()).expect("a payment");
    let masked = payment.clone().masked();
    assert_eq!(masked.phone, Some(Private::from("+225********00")));
    assert!(masked.metadata.is_empty());
    let restored = wire::Payment {
        phone: payment.phone.clone(),
        metadata: payment.metadata.clone(),
        ..masked
    };
    assert_eq!(restored, payment);

    let payout = wire::Payout::of(&records::payout()).expect("a payout");
    let masked = payout.clone().masked();
    assert_eq!(masked.phone, Private::from("+221*******00"));
    assert_eq!(masked.recipient_name, Some(Private::from("A***")));
    let restored = wire::Payout {
        phone: payout.phone.clone(),
        recipient_name: payout.recipient_name.clone(),
        ..masked
    };
    assert_eq!(restored, payout);

    let metadata = records::metadata(&[("order", "1")]);
    let refund = crate::Refund { metadata: metadata.clone(), ..records::refund() };
    let refund = wire::Refund::of(&refund).expect("a refund");
    assert_eq!(wire::Refund { metadata: metadata.clone(), ..refund.clone().masked() }, refund);
    assert!(refund.masked().metadata.is_empty());
    let link = crate::PaymentLink { metadata: metadata.clone(), ..records::payment_link() };
    let link = wire::PaymentLink::of(&link).expect("a link");
    assert_eq!(wire::PaymentLink { metadata, ..link.clone().masked() }, link);
    assert!(link.masked().metadata.is_empty());
}

#[test]
fn a_masked_customer_keeps_its_statistics() {
    let of = |customer: &crate::Customer| {
        wire::Customer::of(customer, Some(&records::statistics())).expect("a customer").masked()
    };
    let masked = of(&records::customer());
    assert_eq!(masked.name, Some(Private::from("A***")));
    assert_eq!(masked.email, Some(Private::from("a***@example.com")));
    assert_eq!(masked.phone, Some(Private::from("+225********00")));
    assert_eq!(masked.reference, Some(parsed("U-9")));
    assert!(masked.statistics.is_some());
    let bare = crate::Customer { email: None, phone: None, ..records::customer() };
    assert_eq!((of(&bare).email, of(&bare).phone), (None, None));
}

#[test]
fn a_list_is_masked_item_by_item() {
    let payment = wire::Payment::of(&records::payment()).expect("a payment");
    let listed = Listed { items: vec![payment.clone(), payment.clone()], total: 9 };
    let list = wire::List::of(listed, Page::default()).expect("a list").masked();
    assert_eq!(list.data, [payment.clone().masked(), payment.masked()]);
    assert_eq!((list.total, list.has_more), (9, true));
}

#[test]
fn personal_data_and_secrets_stay_out_of_logs() {
    let secret = crate::Secret::new("whsec_x");
    let event = Event {
        id: parsed("evt_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        scope: records::payment().scope,
        kind: EventKind::PaymentCreated,
        created: records::payment().created_at,
        payload: r#"{"phone":"+2250500000000"}"#.into(),
        test: false,
    };
    let shown = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        wire::Payment::of(&records::payment()),
        wire::Payout::of(&records::payout()),
        wire::Customer::of(&records::customer(), None),
        wire::WebhookEndpoint::of(&records::endpoint(), Some(&secret)),
        // And what is stored of them.
        records::payment(),
        records::payout(),
        records::customer(),
        records::metadata(&[("name", "Awa Diop")]),
        event,
        StoredBody::Plain("whsec_x".into()),
        Answered {
            success: Success::Created,
            location: None,
            body: "whsec_x".into(),
            secret: true
        },
    );
    for private in ["+225", "+221", "Awa", "awa@", "whsec_"] {
        assert!(!shown.contains(private), "{private} in {shown}");
    }
}
