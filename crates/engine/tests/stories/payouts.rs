//! Lives of payouts (API §10).

use cauri::{Amount, Error, PayoutStatus, Scenario, wire};
use serde_json::{Value, json};

use crate::support::{Story, code};

impl Story {
    pub(crate) async fn payout(&self, phone: &str, amount: i64) -> Result<wire::Payout, Error> {
        let body: Value =
            json!({"amount": amount, "currency": "XOF", "network": "orange", "phone": phone});
        let ask = self.read(body, wire::CreatePayout::read)?;
        Ok(self.engine.create_payout(&self.call(), ask).await?.object)
    }

    async fn payout_status(&self, id: cauri::PayoutId) -> PayoutStatus {
        self.engine.payout(&self.me, id).await.unwrap().status
    }
}

#[tokio::test]
async fn a_payout_holds_its_money_until_it_ends() {
    let story = Story::begin().await;
    story.fund(100_000, "XOF").await;
    let payout = story.payout("+221770000002", 10_000).await.unwrap();
    assert_eq!((payout.fee_amount, payout.total_amount), (Amount::new(100), Amount::new(10_100)));
    assert_eq!(story.balance("XOF").await, (89_900, 0, 10_100));
    story.wait(10_000).await;
    assert_eq!(story.payout_status(payout.id).await, PayoutStatus::Processing);
    story.simulate(&payout.id.to_string(), Scenario::Success).await.unwrap();
    assert_eq!(story.balance("XOF").await, (89_900, 0, 0));
    story.sound().await;
}

#[tokio::test]
async fn every_scenario_number_ends_as_the_table_says() {
    let story = Story::begin().await;
    story.fund(1_000_000, "XOF").await;
    let mut spent = 0;
    for (suffix, status) in [
        ("0000", PayoutStatus::Succeeded),
        ("9999", PayoutStatus::Succeeded),
        ("0001", PayoutStatus::Succeeded),
        ("0201", PayoutStatus::Failed),
        ("0202", PayoutStatus::Failed),
        ("0301", PayoutStatus::Succeeded),
        ("0501", PayoutStatus::Failed),
        ("0502", PayoutStatus::Failed),
        ("0503", PayoutStatus::Failed),
        ("0101", PayoutStatus::Succeeded),
    ] {
        let payout = story.payout(&format!("+22177000{suffix}"), 10_000).await.unwrap();
        story.wait(31_000).await;
        assert_eq!(story.payout_status(payout.id).await, status, "{suffix}");
        if status == PayoutStatus::Succeeded {
            spent += 10_100;
        }
        assert_eq!(story.balance("XOF").await, (1_000_000 - spent, 0, 0), "{suffix}");
    }
    story.sound().await;
}

#[tokio::test]
async fn money_is_spent_once() {
    let story = Story::begin().await;
    story.fund(100_000, "XOF").await;
    assert_eq!(code(story.payout("+221770000002", 100_000).await), "balance_insufficient");
    assert_eq!(story.balance("XOF").await, (100_000, 0, 0));
    let tries = (0..20).map(|_| story.payout("+221770000002", 10_000));
    let outcomes = futures_util::future::join_all(tries).await;
    assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 9);
    assert_eq!(story.balance("XOF").await, (9_100, 0, 90_900));
    story.sound().await;
}
