//! A live shop over an aggregator that is as unreliable as real ones are; then the shop stays open.
//!
//! ```text
//! cargo run -p cauri-example-gateway
//! ```

use std::time::Duration;

use cauri::{
    Call, List, Page, PaymentId, PaymentStatus, PayoutStatus, Query, RefundStatus,
    wire::{CreatePayout, CreateRefund},
};
use cauri_example_gateway::{
    demo::{Failure, Shop},
    fake::Mood,
};
use serde_json::json;
use tokio::time::sleep;

const PAYS: &str = "+2250500000000";
const HAS_TOO_LITTLE: &str = "+2250500000001";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).init();
    let shop = Shop::open(Some(Duration::from_secs(1))).await?;
    tour(&shop).await?;
    println!(
        "\nThe shop stays open until Ctrl-C; phones that end in 0000 pay, 0001 and 0002 do not:"
    );
    println!(
        "  curl -s {}/pay/v1/payments -H 'Authorization: Bearer {}' \\",
        shop.url,
        shop.key.reveal()
    );
    println!("    -H 'Content-Type: application/json' \\");
    println!(
        "    -d '{{\"amount\":5000,\"currency\":\"XOF\",\"payment_method\":\"mobile_money\",\
         \"network\":\"mtn\",\"phone\":\"{PAYS}\"}}'"
    );
    tokio::signal::ctrl_c().await?;
    shop.close().await
}

/// How many reports of a payment changed nothing, once there are so many; it waits half a minute at
/// most.
async fn ignored(shop: &Shop, id: PaymentId, expected: usize) -> Result<usize, Failure> {
    let lines =
        Query::all(List::Timeline(shop.me.scope, id)).page(Page::new(100, 0).unwrap_or_default());
    for _ in 0..600 {
        let lines = shop.engine.payment_timeline(&shop.me, id, &lines).await?.data;
        let count = lines.iter().filter(|line| line.kind.as_str() == "network_report_ignored");
        let count = count.count();
        if count >= expected {
            return Ok(count);
        }
        sleep(Duration::from_millis(50)).await;
    }
    Err(format!("{id} has fewer than {expected} lines of what was ignored").into())
}

/// What goes well, and what goes wrong.
async fn tour(shop: &Shop) -> Result<(), Failure> {
    let [main, _] = &shop.fakes;
    let is = |status| move |payment: &cauri::Payment| payment.status == status;

    let paid = shop.collect(PAYS).await?.id;
    let found = shop.until(paid, is(PaymentStatus::Succeeded)).await?;
    println!("{paid} is paid over {}: a callback said so.", found.connection);

    // The aggregator is chatty: it says so twice, and then the opposite.
    let ignored = ignored(shop, paid, 2).await?;
    println!("  What it said after that is on the timeline and changed nothing: {ignored} lines.");

    let failed = shop.collect(HAS_TOO_LITTLE).await?.id;
    let found = shop.until(failed, is(PaymentStatus::Failed)).await?;
    println!("{failed} has failed: {}.", found.failure.map_or("?", |code| code.as_str()));

    main.behave(Mood::HangsUpAfterwards).await?;
    let lost = shop.collect(PAYS).await?.id;
    shop.until(lost, |payment| payment.poll_at.is_some()).await?;
    main.behave(Mood::Works).await?;
    let found = shop.until(lost, is(PaymentStatus::Succeeded)).await?;
    println!(
        "{lost} is paid over {}: the answer to it was lost, and it was not sent again.",
        found.connection
    );

    main.behave(Mood::Down).await?;
    let moved = shop.collect(PAYS).await?.id;
    let found = shop.until(moved, is(PaymentStatus::Succeeded)).await?;
    println!("{moved} is paid over {}: nobody could connect to the first.", found.connection);
    main.behave(Mood::Works).await?;

    let refund = json!({"payment": paid, "amount": 2_000});
    let refund = shop.read(refund, CreateRefund::read)?;
    let refund = shop.engine.create_refund(&Call::by(shop.me), refund).await?.object.id;
    while shop.engine.refund(&shop.me, refund).await?.status != RefundStatus::Succeeded {
        sleep(Duration::from_millis(100)).await;
    }
    println!("{refund} has given 2000 of the first one back.");

    let payout = json!({"amount": 1_000, "currency": "XOF", "network": "mtn", "phone": PAYS});
    let payout = shop.read(payout, CreatePayout::read)?;
    let payout = shop.engine.create_payout(&Call::by(shop.me), payout).await?.object.id;
    while shop.engine.payout(&shop.me, payout).await?.status != PayoutStatus::Succeeded {
        sleep(Duration::from_millis(100)).await;
    }
    println!("{payout} has paid 1000 out.");

    let moved: i64 = shop.fakes.iter().map(|fake| fake.collected() - fake.paid_out()).sum();
    println!("By its own books the aggregator holds {moved} XOF of ours.");
    for sum in shop.engine.balance(&shop.me, None).await?.available {
        println!(
            "By ours, {} {} are the shop's; the rest are fees.",
            sum.amount.units(),
            sum.currency.code()
        );
    }
    let audit = shop.engine.audit().await?;
    println!("The audit finds {} things wrong.", audit.violations.len());
    Ok(())
}
