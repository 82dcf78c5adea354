//! Lives of payments (API §9, §17).

use cauri::{Amount, PaymentStatus, Refused, Scenario};
use serde_json::json;

use crate::support::{Story, code};

#[tokio::test]
async fn a_payment_waits_for_its_payer_and_then_counts() {
    let story = Story::begin().await;
    story.listen(json!(["*"])).await;
    let payment = story.pay(json!({})).await.unwrap();
    assert_eq!(payment.status, PaymentStatus::Created);
    assert_eq!((payment.fee_amount, payment.net_amount), (Amount::new(100), Amount::new(4900)));
    story.wait(10_000).await;
    let waiting = story.payment(payment.id).await;
    assert_eq!(waiting.status, PaymentStatus::Processing);
    assert!(waiting.next_action.is_some());
    assert_eq!(story.balance("XOF").await, (0, 0, 0));

    let shown = story.simulate(&payment.id.to_string(), Scenario::Success).await.unwrap();
    assert_eq!(shown["status"], "succeeded");
    assert_eq!(shown["refundable_amount"], 5000);
    assert_eq!(shown["next_action"], json!(null));
    assert_eq!(story.balance("XOF").await, (4900, 0, 0));
    story.settle().await;
    assert_eq!(story.kinds(), ["payment.created", "payment.processing", "payment.succeeded"]);
    let told: Vec<(String, String)> = story.timeline(payment.id).await;
    let told: Vec<(&str, &str)> = told.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(
        told,
        [
            ("created", "api"),
            ("processing", "network"),
            ("succeeded", "sandbox"),
            ("settled", "system")
        ]
    );
    story.sound().await;
}

#[tokio::test]
async fn every_scenario_number_ends_as_the_table_says() {
    let story = Story::begin().await;
    for (suffix, status, failure) in [
        ("0000", PaymentStatus::Succeeded, None),
        ("0001", PaymentStatus::Succeeded, None),
        ("0002", PaymentStatus::Processing, None),
        ("0101", PaymentStatus::Failed, Some("insufficient_funds")),
        ("0102", PaymentStatus::Failed, Some("user_rejected")),
        ("0103", PaymentStatus::Failed, Some("payer_not_found")),
        ("0104", PaymentStatus::Failed, Some("payer_limit_reached")),
        ("0105", PaymentStatus::Failed, Some("authentication_failed")),
        ("0106", PaymentStatus::Expired, None),
        ("0201", PaymentStatus::Failed, Some("network_unavailable")),
        ("0202", PaymentStatus::Failed, Some("network_error")),
        ("0301", PaymentStatus::Succeeded, None),
        ("0302", PaymentStatus::Succeeded, None),
        ("0303", PaymentStatus::Succeeded, None),
        ("0401", PaymentStatus::Succeeded, None),
        ("0402", PaymentStatus::Succeeded, None),
        ("0501", PaymentStatus::Processing, None),
    ] {
        let phone = format!("+225050000{suffix}");
        let payment = story.pay(json!({ "phone": phone })).await.unwrap();
        story.wait(31_000).await;
        let ended = story.payment(payment.id).await;
        assert_eq!(ended.status, status, "{suffix}");
        assert_eq!(ended.failure_code.map(|it| it.to_string()).as_deref(), failure, "{suffix}");
        assert_eq!(ended.failure_message.is_some(), failure.is_some(), "{suffix}");
    }
    story.sound().await;
}

#[tokio::test]
async fn reports_that_repeat_or_contradict_leave_one_success_and_a_line() {
    for suffix in ["0301", "0302"] {
        let story = Story::begin().await;
        let payment = story.paid(suffix).await;
        assert_eq!(payment.status, PaymentStatus::Succeeded);
        assert_eq!(story.balance("XOF").await, (4900, 0, 0));
        let lines = story.timeline(payment.id).await;
        let count = |kind: &str| lines.iter().filter(|(it, _)| it == kind).count();
        assert_eq!((count("succeeded"), count("network_report_ignored")), (1, 1));
        story.sound().await;
    }
}

#[tokio::test]
async fn late_money_is_booked_and_announced() {
    let story = Story::begin().await;
    story.listen(json!(["*"])).await;
    let payment = story.pay(json!({"phone": "+2250500000303"})).await.unwrap();
    story.wait(3_000).await;
    let expired = story.payment(payment.id).await;
    assert_eq!(expired.status, PaymentStatus::Expired);
    story.wait(2_000).await;
    let paid = story.payment(payment.id).await;
    assert_eq!(paid.status, PaymentStatus::Succeeded);
    assert_eq!(paid.expired_at, expired.expired_at);
    assert!(paid.updated_at > expired.updated_at);
    assert_eq!(
        story.kinds(),
        ["payment.created", "payment.processing", "payment.expired", "payment.succeeded"]
    );
    let lines = story.timeline(payment.id).await;
    assert!(lines.iter().any(|(kind, _)| kind == "late_success"));
    assert!(!lines.iter().any(|(kind, _)| kind == "succeeded"));
    story.sound().await;
}

#[tokio::test]
async fn a_payment_nobody_makes_expires_in_time() {
    let story = Story::begin().await;
    let payment = story.pay(json!({"expires_in": 60})).await.unwrap();
    story.wait(59_750).await;
    assert_eq!(story.payment(payment.id).await.status, PaymentStatus::Processing);
    story.wait(500).await;
    let expired = story.payment(payment.id).await;
    assert_eq!(expired.status, PaymentStatus::Expired);
    assert_eq!(expired.failure_code, None);
    let late = story.simulate(&payment.id.to_string(), Scenario::Success).await.unwrap();
    assert_eq!(late["status"], "succeeded");
    story.sound().await;
}

#[tokio::test]
async fn cancelling_depends_on_the_state_and_the_network() {
    let story = Story::begin().await;
    let cancel = async |id| {
        let ask = cauri::wire::CancelPayment::default();
        story.engine.cancel_payment(&story.call(), id, ask).await
    };
    let fresh = story.pay(json!({})).await.unwrap();
    assert_eq!(cancel(fresh.id).await.unwrap().object.status, PaymentStatus::Cancelled);
    assert_eq!(code(cancel(fresh.id).await), "payment_not_cancellable");

    let mtn = story.pay(json!({})).await.unwrap();
    let wave = json!({"network": "wave", "phone": "+2250700009999"});
    let wave = story.pay(wave).await.unwrap();
    story.wait(500).await;
    assert_eq!(code(cancel(mtn.id).await), "payment_not_cancellable");
    assert_eq!(cancel(wave.id).await.unwrap().object.status, PaymentStatus::Cancelled);
    story.wait(1_000).await;
    assert_eq!(story.payment(wave.id).await.status, PaymentStatus::Cancelled);
    story.sound().await;
}

#[tokio::test]
async fn a_card_settles_two_days_later() {
    let story = Story::begin().await;
    let card = json!({"amount": 10900, "payment_method": "card", "network": null, "phone": null, "country": "CI"});
    let payment = story.pay(card).await.unwrap();
    story.wait(2_750).await;
    let paid = story.payment(payment.id).await;
    assert_eq!(paid.status, PaymentStatus::Succeeded);
    assert_eq!(paid.network.as_ref().map(|it| it.as_str()), Some("visa"));
    assert_eq!(story.balance("XOF").await, (0, 10518, 0));
    story.clock.advance_millis(172_800_000 - 1_000);
    story.settle().await;
    assert_eq!(story.balance("XOF").await, (0, 10518, 0));
    story.wait(1_250).await;
    assert_eq!(story.balance("XOF").await, (10518, 0, 0));
    assert_eq!(story.payment(payment.id).await.updated_at, paid.updated_at);
    story.sound().await;
}

#[tokio::test]
async fn the_catalogue_and_the_form_are_checked_in_order() {
    let story = Story::begin().await;
    for (changes, expected) in [
        (json!({"amount": 99}), "amount_below_minimum"),
        (json!({"amount": 2_000_001}), "amount_above_maximum"),
        (json!({"currency": "xof"}), "parameter_invalid"),
        (json!({"currency": "USD"}), "currency_not_supported"),
        (json!({"network": "airtel"}), "network_not_supported"),
        (json!({"phone": null}), "parameter_missing"),
        (json!({"phone": "+22505000099"}), "phone_invalid"),
        (json!({"country": "SN"}), "phone_country_mismatch"),
        (json!({"phone": "+33600000000"}), "parameter_missing"),
        (json!({"customer": "cus_01jd3w8k4f7q2m9x5r6t0v1b3c"}), "related_resource_not_found"),
        (json!({"payment_link": "plink_01jd3w8k4f7q2m9x5r6t0v1b3c"}), "related_resource_not_found"),
        (json!({"colour": "red"}), "parameter_unknown"),
    ] {
        assert_eq!(code(story.pay(changes.clone()).await), expected, "{changes}");
    }
    let all = cauri::Query::all(cauri::List::Payments(story.me.scope));
    assert_eq!(story.engine.payments(&story.me, &all).await.unwrap().total, 0);
}

#[tokio::test]
async fn what_is_simulated_has_to_fit() {
    let story = Story::begin().await;
    let payment = story.pay(json!({})).await.unwrap();
    let id = payment.id.to_string();
    for (scenario, expected) in [
        (Scenario::CardDeclined, "scenario_not_applicable"),
        (Scenario::RecipientNotFound, "scenario_not_applicable"),
    ] {
        assert_eq!(code(story.simulate(&id, scenario).await), expected);
    }
    let slow = story.simulate(&id, Scenario::SlowSuccess).await.unwrap();
    assert_eq!(slow["status"], "processing");
    story.simulate(&id, Scenario::Pending).await.unwrap();
    story.wait(40_000).await;
    assert_eq!(story.payment(payment.id).await.status, PaymentStatus::Processing);
    assert_eq!(code(story.simulate(&id, Scenario::NetworkDown).await), "simulation_not_allowed");
    let failed = story.simulate(&id, Scenario::InsufficientFunds).await.unwrap();
    assert_eq!(failed["failure_code"], "insufficient_funds");
    assert_eq!(code(story.simulate(&id, Scenario::Success).await), "simulation_not_allowed");

    let late = story.pay(json!({})).await.unwrap().id;
    let shown = story.simulate(&late.to_string(), Scenario::LateSuccessAfterExpiry).await.unwrap();
    assert_eq!(shown["status"], "expired");
    story.wait(1_750).await;
    assert_eq!(story.payment(late).await.status, PaymentStatus::Expired);
    story.wait(500).await;
    assert_eq!(story.payment(late).await.status, PaymentStatus::Succeeded);
    story.sound().await;
}

#[tokio::test]
async fn another_environment_does_not_see_it() {
    let story = Story::begin().await;
    let payment = story.pay(json!({})).await.unwrap();
    let mut live = story.me;
    live.scope.environment = cauri::Environment::Live;
    let hidden = story.engine.payment(&live, payment.id).await.unwrap_err();
    assert_eq!(crate::support::refused(&hidden), &Refused::NotFound("payment"));
}
