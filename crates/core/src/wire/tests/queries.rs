//! Query parameters: what is understood, and what is refused and how (API §2.1).

use super::{at, records::parsed, scope, verdict};
use crate::{
    commit::query::{Field, FieldValue, List, Query},
    error::Faults,
    model::scenario::ScenarioKind,
    value::id::{Id, PaymentId, PaymentLinkId},
    wire::query,
};

pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |text: &str| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        (name.to_owned(), value.to_owned())
    };
    if text.is_empty() { Vec::new() } else { text.split('&').map(pair).collect() }
}

fn link() -> PaymentLinkId {
    parsed("plink_01jd3w8k4f7q2m9x5r6t0v1b3c")
}

fn payment() -> PaymentId {
    parsed("pay_01jd3w8k4f7q2m9x5r6t0v1b3c")
}

type Ask = fn(&[(String, String)]) -> Result<Query, Faults>;

const LISTS: [(Ask, &str); 10] = [
    (
        |pairs| query::payments(scope(), pairs),
        "status currency country payment_method network customer payment_link reference",
    ),
    (|pairs| query::payment_links(scope(), pairs), "status active reference currency"),
    (|pairs| query::link_payments(scope(), link(), pairs), "status"),
    (|pairs| query::payouts(scope(), pairs), "status currency country network customer reference"),
    (|pairs| query::refunds(scope(), pairs), "status payment currency reference"),
    (|pairs| query::customers(scope(), pairs), "email phone reference"),
    (|pairs| query::webhook_endpoints(scope(), pairs), ""),
    (|pairs| query::deliveries(scope(), pairs), "webhook_endpoint event event_type status"),
    (|pairs| query::ledger(scope(), pairs), "currency account direction type source transaction"),
    (|pairs| query::timeline(scope(), payment(), pairs), ""),
];

#[test]
fn every_list_has_its_filters_and_no_others() {
    let names = "status currency country payment_method network customer payment_link reference \
                 active payment email phone webhook_endpoint event event_type account direction \
                 type source transaction created_from created_to limit offset applies_to id \
                 statut Status";
    for (ask, filters) in LISTS {
        for name in names.split_whitespace() {
            // No filter takes a tab, so one that is there is invalid.
            let said = verdict(&ask(&pairs(&format!("{name}=\t"))));
            let known = filters.split(' ').any(|filter| filter == name)
                || ["created_from", "created_to", "limit", "offset"].contains(&name);
            let code = if known { "parameter_invalid" } else { "parameter_unknown" };
            assert_eq!(said, format!("{code} {name}"), "{filters}");
        }
    }
}

#[test]
fn pages_and_dates_are_the_same_everywhere() {
    for (ask, filters) in LISTS {
        let page = ask(&[]).expect(filters).page;
        assert_eq!((page.limit(), page.offset()), (25, 0));
        let asked = pairs(
            "limit=100&offset=9223372036854775807&created_from=2024-11-19T00:00:00Z&created_to=2024-11-19T00:00:00.5Z",
        );
        let asked = ask(&asked).expect(filters);
        assert_eq!((asked.page.limit(), asked.page.offset()), (100, i64::MAX));
        assert_eq!(asked.created_from, Some(at("2024-11-19T00:00:00.000Z")));
        assert_eq!(asked.created_to, Some(at("2024-11-19T00:00:00.500Z")));
        for bad in [
            "limit=0",
            "limit=101",
            "limit=x",
            "limit=",
            "limit=+5",
            "limit=05",
            "limit=1.0",
            "limit=-1",
            "limit=1e1",
            "limit= 5",
            "limit=256",
            "offset=-1",
            "offset=",
            "offset=9223372036854775808",
            "offset=00",
            "offset=+1",
            "created_from=2024-11-19",
            "created_from=",
            "created_to=1731974400",
            "created_to=2024-11-19T00:00:00.1234Z",
            "limit=1&limit=1",
            "offset=0&offset=0",
            "created_to=x&created_to=y",
        ] {
            let (name, _) = bad.split_once('=').expect("a pair");
            assert_eq!(verdict(&ask(&pairs(bad))), format!("parameter_invalid {name}"), "{bad}");
        }
        let said = verdict(&ask(&pairs("zebra=1&offset=-1&limit=0&created_to=x&ant=1&zebra=2")));
        let expected = "parameter_invalid created_to, parameter_invalid limit, \
                        parameter_invalid offset, parameter_unknown ant, parameter_unknown zebra";
        assert_eq!(said, expected);
    }
}

#[test]
fn filters_become_conditions() {
    let text = |text: &str| FieldValue::Text(text.to_owned());
    let id = FieldValue::Id(payment().uuid());
    let id = || id.clone();
    for (asked, field, value) in [
        (
            query::payments(scope(), &pairs("status=partially_refunded")),
            Field::Status,
            text("partially_refunded"),
        ),
        (query::payments(scope(), &pairs("currency=XOF")), Field::Currency, text("XOF")),
        (query::payments(scope(), &pairs("country=CI")), Field::Country, text("CI")),
        (
            query::payments(scope(), &pairs("payment_method=card")),
            Field::PaymentMethod,
            text("card"),
        ),
        (query::payments(scope(), &pairs("network=mtn")), Field::Network, text("mtn")),
        (
            query::payments(scope(), &pairs("customer=cus_01jd3w8k4f7q2m9x5r6t0v1b3c")),
            Field::Customer,
            id(),
        ),
        (
            query::payments(scope(), &pairs("payment_link=plink_01jd3w8k4f7q2m9x5r6t0v1b3c")),
            Field::PaymentLink,
            id(),
        ),
        (query::payments(scope(), &pairs("reference=ORDER 1")), Field::Reference, text("ORDER 1")),
        (
            query::payment_links(scope(), &pairs("active=false")),
            Field::Active,
            FieldValue::Flag(false),
        ),
        (query::payment_links(scope(), &pairs("status=paid")), Field::Status, text("paid")),
        (query::payouts(scope(), &pairs("status=processing")), Field::Status, text("processing")),
        (
            query::refunds(scope(), &pairs("payment=pay_01jd3w8k4f7q2m9x5r6t0v1b3c")),
            Field::Payment,
            id(),
        ),
        (
            query::customers(scope(), &pairs("email=Awa@Example.com")),
            Field::Email,
            text("awa@example.com"),
        ),
        (
            query::customers(scope(), &pairs("phone=+2250500000000")),
            Field::Phone,
            text("+2250500000000"),
        ),
        (
            query::deliveries(scope(), &pairs("event_type=payment.created")),
            Field::EventKind,
            text("payment.created"),
        ),
        (
            query::deliveries(scope(), &pairs("event=evt_01jd3w8k4f7q2m9x5r6t0v1b3c")),
            Field::Event,
            id(),
        ),
        (
            query::deliveries(scope(), &pairs("webhook_endpoint=whe_01jd3w8k4f7q2m9x5r6t0v1b3c")),
            Field::Endpoint,
            id(),
        ),
        (query::deliveries(scope(), &pairs("status=pending")), Field::Status, text("pending")),
        (query::ledger(scope(), &pairs("account=fees")), Field::LedgerAccount, text("fees")),
        (query::ledger(scope(), &pairs("direction=credit")), Field::Direction, text("credit")),
        (query::ledger(scope(), &pairs("type=payment_fee")), Field::EntryKind, text("payment_fee")),
        (
            query::ledger(scope(), &pairs("source=ref_01jd3w8k4f7q2m9x5r6t0v1b3c")),
            Field::Source,
            id(),
        ),
        (
            query::ledger(scope(), &pairs("transaction=ltx_01jd3w8k4f7q2m9x5r6t0v1b3c")),
            Field::Transaction,
            id(),
        ),
        (query::link_payments(scope(), link(), &[]), Field::PaymentLink, id()),
        (query::webhook_endpoints(scope(), &[]), Field::Deleted, FieldValue::Flag(false)),
    ] {
        let asked = asked.expect("a query");
        let list = asked.list;
        assert_eq!(asked, Query::all(list).with(field, value));
    }
    let both = query::link_payments(scope(), link(), &pairs("status=failed")).expect("a query");
    assert_eq!((both.list, both.filters.len()), (List::Payments(scope()), 2));
    let timeline = query::timeline(scope(), payment(), &[]).expect("a query");
    assert_eq!(timeline, Query::all(List::Timeline(scope(), payment())));
}

#[test]
fn a_filter_with_a_wrong_form_is_invalid_whatever_it_is() {
    for (list, bad) in [
        (0, "status=done"),
        (0, "status="),
        (0, "currency=xof"),
        (0, "currency=ZZZ"),
        (0, "country=ci"),
        (0, "country=ZZ"),
        (0, "payment_method=cash"),
        (0, "network=MTN"),
        (0, "customer=pay_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        (0, "customer=x"),
        (0, "reference="),
        (0, "status=failed&status=failed"),
        (1, "active=yes"),
        (1, "active=TRUE"),
        (1, "active=1"),
        (3, "status=cancelled"),
        (4, "status=processing"),
        (4, "payment=ref_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        (5, "email=nope"),
        (5, "phone=0500"),
        (5, "phone= 2250500000000"),
        (7, "event_type=payment.nope"),
        (7, "event_type=*"),
        (7, "status=done"),
        (8, "account=x"),
        (8, "source=cus_01jd3w8k4f7q2m9x5r6t0v1b3c"),
        (8, "type=x"),
        (8, "direction=left"),
        (8, "transaction=x"),
    ] {
        let (name, _) = bad.split_once('=').expect("a pair");
        let said = verdict(&LISTS[list].0(&pairs(bad)));
        assert_eq!(said, format!("parameter_invalid {name}"), "{bad}");
    }
}

#[test]
fn the_other_questions_have_their_own_parameters() {
    let asked = query::scenarios(&pairs("applies_to=payout&limit=5&offset=20")).expect("scenarios");
    assert_eq!(asked.applies_to, Some(ScenarioKind::Payout));
    assert_eq!((asked.page.limit(), asked.page.offset()), (5, 20));
    assert_eq!(query::scenarios(&[]).expect("scenarios"), query::Scenarios::default());
    for (bad, expected) in [
        ("applies_to=customer", "parameter_invalid applies_to"),
        ("created_from=2024-11-19T00:00:00Z", "parameter_unknown created_from"),
    ] {
        assert_eq!(verdict(&query::scenarios(&pairs(bad))), expected);
    }
    for (asked, expected) in [
        ("country=CI", "ok"),
        ("country=CI&currency=XOF", "ok"),
        ("country=FR&currency=EUR", "ok"),
        ("", "parameter_missing country"),
        ("currency=xof", "parameter_missing country, parameter_invalid currency"),
        ("country=ci", "parameter_invalid country"),
        ("country=", "parameter_invalid country"),
        ("country=ZZ&currency=ZZZ", "ok"),
        ("country=CI&country=CI", "parameter_invalid country"),
        ("country=CI&limit=5&offset=0", "parameter_unknown limit, parameter_unknown offset"),
    ] {
        assert_eq!(verdict(&query::payment_methods(&pairs(asked))), expected, "{asked}");
    }
    for (asked, expected) in [
        ("", "ok"),
        ("currency=KWD", "ok"),
        ("currency=ZZZ", "parameter_invalid currency"),
        ("currency=kwd", "parameter_invalid currency"),
        ("limit=5", "parameter_unknown limit"),
    ] {
        assert_eq!(verdict(&query::balance(&pairs(asked))), expected, "{asked}");
    }
}
