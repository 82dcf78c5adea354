//! Lives of payment links (API §12).

use cauri::{Amount, Error, PaymentLinkStatus, PaymentStatus, wire};
use serde_json::{Value, json};

use crate::support::{Story, code};

impl Story {
    pub(crate) async fn link(&self, changes: Value) -> Result<wire::PaymentLink, Error> {
        let mut body =
            json!({"title": "Invoice 42", "amount": 15000, "currency": "XOF", "country": "CI"});
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        let ask = self.read(body, wire::CreatePaymentLink::read)?;
        Ok(self.engine.create_payment_link(&self.call(), ask).await?.object)
    }

    async fn modify(
        &self,
        id: cauri::PaymentLinkId,
        body: Value,
    ) -> Result<wire::PaymentLink, Error> {
        let ask = self.read(body, wire::ModifyPaymentLink::read)?;
        Ok(self.engine.modify_payment_link(&self.call(), id, ask).await?.object)
    }

    async fn via(&self, id: cauri::PaymentLinkId, phone: &str) -> Result<wire::Payment, Error> {
        let body = json!({
            "payment_link": id, "payment_method": "mobile_money", "network": "mtn", "phone": phone,
        });
        let ask = self.read(body, wire::CreatePayment::read)?;
        Ok(self.engine.create_payment(&self.call(), ask).await?.object)
    }

    async fn shown(&self, id: cauri::PaymentLinkId) -> wire::PaymentLink {
        self.engine.payment_link(&self.me, id).await.unwrap()
    }
}

#[tokio::test]
async fn a_link_is_paid_once() {
    let story = Story::begin().await;
    story.listen(json!(["*"])).await;
    let link = story.link(json!({})).await.unwrap();
    let payment = story.via(link.id, "+2250500000000").await.unwrap();
    assert_eq!((payment.amount, payment.fee_amount), (Amount::new(15_000), Amount::new(300)));
    assert_eq!(code(story.via(link.id, "+2250500000000").await), "payment_link_in_use");
    assert_eq!(code(story.modify(link.id, json!({"amount": 1000})).await), "payment_link_locked");
    story.wait(2_750).await;
    let paid = story.shown(link.id).await;
    assert_eq!(paid.status, PaymentLinkStatus::Paid);
    assert_eq!((paid.payments_count, paid.succeeded_payments_count), (1, 1));
    assert_eq!(paid.collected_amount, Amount::new(15_000));
    assert_eq!(code(story.via(link.id, "+2250500000000").await), "payment_link_already_paid");
    assert_eq!(
        code(story.modify(link.id, json!({"active": false})).await),
        "payment_link_already_paid"
    );
    assert_eq!(
        story.modify(link.id, json!({"title": "Paid"})).await.unwrap().title.to_string(),
        "Paid"
    );
    assert_eq!(
        story.kinds(),
        [
            "payment_link.created",
            "payment.created",
            "payment.processing",
            "payment.succeeded",
            "payment_link.paid"
        ]
    );
    story.sound().await;
}

#[tokio::test]
async fn a_failed_payment_frees_the_link() {
    let story = Story::begin().await;
    let link = story.link(json!({})).await.unwrap();
    let failed = story.via(link.id, "+2250500000101").await.unwrap();
    story.wait(2_750).await;
    assert_eq!(story.payment(failed.id).await.status, PaymentStatus::Failed);
    story.modify(link.id, json!({"amount": 1000})).await.unwrap();
    let second = story.via(link.id, "+2250500000000").await.unwrap();
    assert_eq!(second.amount, Amount::new(1000));
    story.wait(2_750).await;
    let paid = story.shown(link.id).await;
    assert_eq!((paid.payments_count, paid.succeeded_payments_count), (2, 1));
    story.sound().await;
}

#[tokio::test]
async fn links_that_take_no_payment_say_why() {
    let story = Story::begin().await;
    let off = story.link(json!({"active": false})).await.unwrap();
    assert_eq!(code(story.via(off.id, "+2250500000000").await), "payment_link_inactive");
    let ends = story.clock.advance_millis(0).plus_seconds(60);
    let soon = story.link(json!({"expires_at": ends})).await.unwrap();
    story.clock.advance_millis(60_000);
    assert_eq!(code(story.via(soon.id, "+2250500000000").await), "payment_link_expired");
    let other = story.link(json!({})).await.unwrap();
    let ask = json!({
        "payment_link": other.id, "payment_method": "mobile_money", "network": "mtn",
        "phone": "+2250500000000", "amount": 1000,
    });
    let ask = story.read(ask, wire::CreatePayment::read).unwrap();
    let outcome = story.engine.create_payment(&story.call(), ask).await;
    assert_eq!(code(outcome), "payment_link_amount_mismatch");
}

#[tokio::test]
async fn a_reusable_link_collects_and_stays() {
    let story = Story::begin().await;
    let link = story.link(json!({"reusable": true, "amount": null})).await.unwrap();
    for amount in [1000, 2000, 3000] {
        let body = json!({
            "payment_link": link.id, "payment_method": "mobile_money", "network": "mtn",
            "phone": "+2250500000000", "amount": amount,
        });
        let ask = story.read(body, wire::CreatePayment::read).unwrap();
        story.engine.create_payment(&story.call(), ask).await.unwrap();
    }
    story.wait(2_750).await;
    let shown = story.shown(link.id).await;
    assert_eq!(shown.status, PaymentLinkStatus::Created);
    assert_eq!((shown.succeeded_payments_count, shown.collected_amount), (3, Amount::new(6000)));
    story.sound().await;
}
