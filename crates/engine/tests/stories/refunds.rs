//! Lives of refunds (API §11).

use cauri::{
    Amount, PaymentStatus, RefundStatus, Scenario,
    decide::{RefundFeePolicy, Terms},
};
use serde_json::json;

use crate::support::{Story, code};

#[tokio::test]
async fn a_payment_refunded_in_parts_gives_back_its_whole_fee() {
    let story = Story::begin().await;
    story
        .listen(json!(["refund.succeeded", "payment.partially_refunded", "payment.refunded"]))
        .await;
    let payment = story.paid("0000").await;
    let first = story.refund(json!({"payment": payment.id, "amount": 2000})).await.unwrap();
    assert_eq!((first.fee_returned_amount, first.net_amount), (Amount::new(40), Amount::new(1960)));
    assert_eq!(story.payment(payment.id).await.refundable_amount, Amount::new(3000));
    assert_eq!(story.balance("XOF").await, (2940, 0, 1960));
    story.wait(2_750).await;
    let partly = story.payment(payment.id).await;
    assert_eq!(partly.status, PaymentStatus::PartiallyRefunded);
    assert_eq!(story.balance("XOF").await, (2940, 0, 0));

    let rest = story.refund(json!({"payment": payment.id})).await.unwrap();
    assert_eq!((rest.amount, rest.fee_returned_amount), (Amount::new(3000), Amount::new(60)));
    story.wait(2_750).await;
    let whole = story.payment(payment.id).await;
    assert_eq!(whole.status, PaymentStatus::Refunded);
    assert_eq!(whole.refunded_amount, Amount::new(5000));
    assert_eq!((whole.fee_amount, whole.net_amount), (payment.fee_amount, payment.net_amount));
    assert_eq!(story.balance("XOF").await, (0, 0, 0));
    assert_eq!(
        story.kinds(),
        ["refund.succeeded", "payment.partially_refunded", "refund.succeeded", "payment.refunded"]
    );
    let again = story.refund(json!({"payment": payment.id})).await;
    assert_eq!(code(again), "payment_already_refunded");
    story.sound().await;
}

#[tokio::test]
async fn a_refund_is_refused_in_the_order_of_the_contract() {
    let story = Story::begin().await;
    let open = story.pay(json!({})).await.unwrap();
    assert_eq!(code(story.refund(json!({"payment": open.id})).await), "payment_not_refundable");
    let unknown = json!({"payment": "pay_01jd3w8k4f7q2m9x5r6t0v1b3c"});
    assert_eq!(code(story.refund(unknown).await), "related_resource_not_found");

    let orange = story.pay(json!({"network": "orange", "phone": "+2250700000000"})).await.unwrap();
    let wave = story.pay(json!({"network": "wave", "phone": "+2250700000000"})).await.unwrap();
    story.wait(2_750).await;
    assert_eq!(code(story.refund(json!({"payment": orange.id})).await), "refund_not_supported");
    let part = story.refund(json!({"payment": wave.id, "amount": 1})).await;
    assert_eq!(code(part), "partial_refund_not_supported");
    let more = story.refund(json!({"payment": wave.id, "amount": 5001})).await;
    assert_eq!(code(more), "refund_amount_exceeds_refundable");
    story.refund(json!({"payment": wave.id})).await.unwrap();
    story.sound().await;
}

#[tokio::test]
async fn a_refund_needs_money_and_gives_it_back_when_it_fails() {
    let story = Story::begin().await;
    let payment = story.paid("0401").await;
    let refund = story.refund(json!({"payment": payment.id, "amount": 1000})).await.unwrap();
    assert_eq!(story.balance("XOF").await, (3920, 0, 980));
    story.wait(2_750).await;
    let failed = story.refunded(refund.id).await;
    assert_eq!(failed.status, RefundStatus::Failed);
    assert_eq!(story.balance("XOF").await, (4900, 0, 0));
    let after = story.payment(payment.id).await;
    assert_eq!(
        (after.status, after.refundable_amount),
        (PaymentStatus::Succeeded, Amount::new(5000))
    );

    story.payout("+221770000002", 4_000).await.unwrap();
    assert_eq!(code(story.refund(json!({"payment": payment.id})).await), "balance_insufficient");
    story.sound().await;
}

#[tokio::test]
async fn a_refund_can_wait_for_its_person() {
    let story = Story::begin().await;
    let payment = story.paid("0402").await;
    let refund = story.refund(json!({"payment": payment.id})).await.unwrap();
    story.wait(5_000).await;
    assert_eq!(story.refunded(refund.id).await.status, RefundStatus::Created);
    story.simulate(&refund.id.to_string(), Scenario::Success).await.unwrap();
    assert_eq!(story.payment(payment.id).await.status, PaymentStatus::Refunded);

    let told = story.pay(json!({})).await.unwrap();
    story.simulate(&told.id.to_string(), Scenario::RefundFailure).await.unwrap();
    let refund = story.refund(json!({"payment": told.id})).await.unwrap();
    story.wait(2_750).await;
    assert_eq!(story.refunded(refund.id).await.status, RefundStatus::Failed);
    story.sound().await;
}

#[tokio::test]
async fn an_unsettled_payment_is_refunded_from_its_own_money() {
    let story = Story::begin().await;
    let card = json!({"amount": 10900, "payment_method": "card", "network": null, "phone": null, "country": "CI"});
    let payment = story.pay(card).await.unwrap();
    story.wait(2_750).await;
    assert_eq!(story.balance("XOF").await, (0, 10518, 0));
    story.refund(json!({"payment": payment.id, "amount": 900})).await.unwrap();
    story.wait(2_750).await;
    let (_, pending, reserved) = story.balance("XOF").await;
    assert_eq!((pending, reserved), (10518 - 869, 0));
    story.clock.advance_millis(172_800_000);
    story.settle().await;
    assert_eq!(story.balance("XOF").await, (10518 - 869, 0, 0));
    story.sound().await;
}

#[tokio::test]
async fn money_released_after_settlement_is_available() {
    let story = Story::begin().await;
    let card = json!({"amount": 10942, "payment_method": "card", "network": null, "phone": null, "country": "CI"});
    let payment = story.pay(card).await.unwrap();
    story.wait(2_750).await;
    let refund = story.refund(json!({"payment": payment.id})).await.unwrap();
    assert_eq!(story.balance("XOF").await.1, 0);
    story.clock.advance_millis(172_800_000);
    story.settle().await;
    story.simulate(&refund.id.to_string(), Scenario::RefundFailure).await.unwrap();
    let net = payment.net_amount.units();
    assert_eq!(story.balance("XOF").await, (net, 0, 0));
    story.sound().await;
}

#[tokio::test]
async fn fees_can_be_kept() {
    let mut terms = Terms::default();
    terms.refund_fee_policy = RefundFeePolicy::Keep;
    let story = Story::with(terms).await;
    let payment = story.paid("0000").await;
    assert_eq!(code(story.refund(json!({"payment": payment.id})).await), "balance_insufficient");
    story.fund(100, "XOF").await;
    let refund = story.refund(json!({"payment": payment.id})).await.unwrap();
    assert_eq!((refund.fee_returned_amount, refund.net_amount), (Amount::ZERO, Amount::new(5000)));
    story.sound().await;
}
