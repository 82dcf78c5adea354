//! No input panics, what is written is read back, and reading and building hold to one rule.

use proptest::{collection, prelude::*, sample::select};
use serde_json::{Map, Value};

use super::{form, records, scope};
use crate::{
    error::Fault,
    model::{catalogue::Catalogue, failure::FailureCode, payment::PaymentStatus},
    value::{
        id::{Id, PaymentId, PaymentLinkId},
        method::PaymentMethod,
        money::Amount,
        scope::Environment,
        time::Timestamp,
    },
    wire::{self, Form, Mask, query},
};

/// Values that are nearly right, so that a deeper rule is reached than the first.
fn value() -> impl Strategy<Value = Value> {
    let likely = select(vec![
        "XOF",
        "xof",
        "ZZZ",
        "CI",
        "SN",
        "ZZ",
        "mobile_money",
        "card",
        "mtn",
        "visa",
        "1234",
        "",
        "+2250500009999",
        "+221770000002",
        "+33600000000",
        "+22505",
        "a@example.com",
        "success",
        "https://a.example/",
        "http://a.example/#x",
        "2025-01-01T00:00:00Z",
        "payment.failed",
        "*",
        "pay_01jd3w8k4f7q2m9x5r6t0v1b3c",
        "cus_01jd3w8k4f7q2m9x5r6t0v1b3c",
        "other",
        "plink_01jd3w8k4f7q2m9x5r6t0v1b3c",
        "whe_01jd3w8k4f7q2m9x5r6t0v1b3c",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (1_i64..90_000).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        likely.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn body() -> impl Strategy<Value = Map<String, Value>> {
    let name = select(
        "amount currency payment_method network phone country otp customer payment_link reference \
         description metadata return_url expires_in recipient_name payment reason title \
         payment_methods reusable expires_at active name email url events rotate_secret \
         previous_secret_expires_in webhook_endpoint event_type id scenario"
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>(),
    );
    let name = prop_oneof![9 => name, 1 => any::<String>()];
    collection::vec((name, value()), 0..14).prop_map(|entries| entries.into_iter().collect())
}

/// Reads; what is accepted has nothing wrong, and what is refused says why, each field once.
fn holds<T>(
    read: Result<T, crate::Faults>,
    faults: impl Fn(&T) -> Vec<Fault>,
) -> Result<(), TestCaseError> {
    match read {
        Ok(request) => prop_assert_eq!(faults(&request), vec![]),
        Err(faults) => {
            let faults = faults.all();
            prop_assert!(!faults.is_empty());
            for fault in faults {
                prop_assert!(!fault.to_string().is_empty() && fault.param.is_some());
                let same = faults.iter().filter(|other| other.param == fault.param);
                prop_assert_eq!(same.count(), 1, "{}", fault);
            }
        }
    }
    Ok(())
}

fn every_request(body: &Map<String, Value>, form: &Form<'_>) -> Result<(), TestCaseError> {
    holds(wire::CreatePayment::read(body, form), |it| it.faults(form))?;
    holds(wire::CreatePayout::read(body, form), |it| it.faults(form))?;
    holds(wire::CreateRefund::read(body, form), |it| it.faults(form))?;
    holds(wire::CreatePaymentLink::read(body, form), |it| it.faults(form))?;
    holds(wire::ModifyPaymentLink::read(body, form), |it| it.faults(form))?;
    holds(wire::CreateCustomer::read(body, form), |it| it.faults(form))?;
    holds(wire::ModifyCustomer::read(body, form), |it| it.faults(form))?;
    holds(wire::CreateWebhookEndpoint::read(body, form), |it| it.faults(form))?;
    holds(wire::ModifyWebhookEndpoint::read(body, form), |it| it.faults(form))?;
    holds(wire::Fund::read(body, form), |it| it.faults(form))?;
    holds(wire::Simulate::read(body, form), |_| Vec::new())?;
    holds(wire::TestWebhook::read(body, form), |_| Vec::new())?;
    holds(wire::CancelPayment::read(body, form), |_| Vec::new())
}

fn payment() -> impl Strategy<Value = crate::Payment> {
    let choices = (
        select(PaymentStatus::ALL),
        select(PaymentMethod::ALL),
        proptest::option::of(select(FailureCode::ALL)),
    );
    let sums = (0..=Amount::LARGEST.units(), 0..=Amount::LARGEST.units());
    let times = (Timestamp::MIN.millis()..=Timestamp::MAX.millis(), any::<Option<i64>>());
    let texts = (
        proptest::option::of("[^\\p{Cc}]{1,100}"),
        proptest::option::of("\\+[1-9][0-9]{7,14}"),
        collection::btree_map("[^\\p{Cc}]{1,40}", "[^\\p{Cc}]{1,50}", 0..5),
    );
    (any::<u128>(), choices, sums, times, texts).prop_map(
        |(
            bits,
            (status, method, failure),
            (amount, fee),
            (made, paid),
            (text, phone, metadata),
        )| {
            let entries: Vec<(&str, &str)> =
                metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            crate::Payment {
                id: PaymentId::from_uuid(uuid::Uuid::from_u128(bits)),
                status,
                method,
                failure,
                amount: Amount::new(amount),
                fee_amount: Amount::new(fee),
                created_at: Timestamp::from_millis(made),
                succeeded_at: paid.map(Timestamp::from_millis),
                description: text.as_ref().and_then(|text| text.parse().ok()),
                reference: text.and_then(|text| text.parse().ok()),
                phone: phone.and_then(|phone| phone.parse().ok()),
                metadata: records::metadata(&entries),
                ..records::payment()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_body_panics_and_every_answer_is_sound(body in body(), live: bool) {
        let environment = if live { Environment::Live } else { Environment::Sandbox };
        let catalogue = Catalogue::sandbox();
        every_request(&body, &form(environment, &catalogue))?;
        let _ = wire::fingerprint("POST", "/v1/payments", &body);
    }

    #[test]
    fn no_query_panics(
        pairs in collection::vec(
            (
                prop_oneof![
                    select("status currency country limit offset created_from email phone active \
                            event_type source applies_to reference".split_whitespace()
                            .map(str::to_owned).collect::<Vec<_>>()),
                    any::<String>(),
                ],
                any::<String>(),
            ),
            0..6,
        ),
    ) {
        let id = uuid::Uuid::nil();
        let link = PaymentLinkId::from_uuid(id);
        for asked in [
            query::payments(scope(), &pairs),
            query::payment_links(scope(), &pairs),
            query::link_payments(scope(), link, &pairs),
            query::payouts(scope(), &pairs),
            query::refunds(scope(), &pairs),
            query::customers(scope(), &pairs),
            query::webhook_endpoints(scope(), &pairs),
            query::deliveries(scope(), &pairs),
            query::ledger(scope(), &pairs),
            query::timeline(scope(), PaymentId::from_uuid(id), &pairs),
        ] {
            prop_assert!(asked.is_ok() || asked.is_err_and(|faults| !faults.all().is_empty()));
        }
        let _ = (query::scenarios(&pairs), query::payment_methods(&pairs), query::balance(&pairs));
    }

    #[test]
    fn a_payment_survives_its_json_and_its_mask(payment in payment()) {
        let shown = wire::Payment::of(&payment)?;
        let json = serde_json::to_string(&shown)?;
        prop_assert_eq!(&serde_json::from_str::<wire::Payment>(&json)?, &shown);
        let masked = shown.masked();
        let json = serde_json::to_string(&masked)?;
        prop_assert_eq!(&serde_json::from_str::<wire::Payment>(&json)?, &masked);
        if let Some(phone) = payment.phone {
            prop_assert!(!json.contains(phone.as_str()));
        }
        prop_assert_eq!(masked.clone().masked(), masked);
    }
}
