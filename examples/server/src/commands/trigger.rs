//! `trigger`: makes events happen in the sandbox, by what really makes them happen.

use std::process::ExitCode;

use cauri_client::{
    Amount, Client, Environment, Error, EventKind, Metadata, OrderId, PaymentId, PaymentLinkId,
    PaymentMethod, ResourceId, Scenario, filter,
    wire::{
        CancelPayment, CreatePayment, CreatePaymentLink, CreatePayout, CreateRefund, EventBody,
        Fund, Simulate,
    },
};
use clap::Args;

use super::events::Told;
use crate::{
    error::{Done, Failure},
    output::Output,
    remote::RemoteOptions,
    words::words,
};

#[derive(Debug, Args)]
pub(crate) struct TriggerOptions {
    #[command(flatten)]
    remote: RemoteOptions,
    /// What is to happen
    #[arg(value_name = "EVENT", value_parser = words(EventKind::ALL, EventKind::as_str))]
    kind: EventKind,
}

/// Nothing is made to happen where money is real.
#[derive(Debug, thiserror::Error)]
#[error("nothing was done: trigger is for the sandbox, and the key is for {0}")]
struct NoSandbox(Environment);

/// The event did not come of what makes it come.
#[derive(Debug, thiserror::Error)]
#[error("{kind} did not happen to {resource}: is its network the sandbox's own?")]
struct DidNotHappen {
    kind: EventKind,
    resource: ResourceId,
}

pub(crate) async fn run(options: TriggerOptions, output: Output) -> Done {
    let TriggerOptions { remote, kind } = options;
    let client = remote.client()?;
    // What makes an event happen would happen to real people before the sandbox's tools refuse.
    let environment = client.balance(None).await?.environment;
    if environment != Environment::Sandbox {
        return Err(NoSandbox(environment).into());
    }
    let resource = make(&client, kind).await.map_err(without_key)?;
    let event = told(&client, kind, resource).await?;
    output.say(&event, &Told::read(&event)?.line())?;
    Ok(ExitCode::SUCCESS)
}

/// There is nothing to repeat with the key of one of several calls, and no harm in test money that
/// is moved twice.
fn without_key(failure: Failure) -> Failure {
    match failure.downcast::<Error>() {
        Ok(error) => match *error {
            Error::Refused(mut refused) => {
                refused.key = None;
                Error::Refused(refused).into()
            }
            Error::NoAnswer { attempts, key: _, source } => {
                Error::NoAnswer { attempts, key: None, source }.into()
            }
            Error::Unreadable { status, request_id, key: _, source } => {
                Error::Unreadable { status, request_id, key: None, source }.into()
            }
            error => error.into(),
        },
        Err(failure) => failure,
    }
}

/// Does what this kind of event tells of; what it is about.
async fn make(client: &Client, kind: EventKind) -> Result<ResourceId, Failure> {
    let full = Amount::new(AMOUNT);
    let order = match kind {
        EventKind::PaymentCreated => OrderId::Payment(pay(client, MTN, None).await?),
        EventKind::PaymentProcessing | EventKind::PaymentSucceeded => {
            OrderId::Payment(paid(client, None).await?)
        }
        EventKind::PaymentFailed => {
            let payment = OrderId::Payment(pay(client, MTN, None).await?);
            play(client, payment, Scenario::InsufficientFunds).await?
        }
        EventKind::PaymentExpired => {
            let payment = OrderId::Payment(pay(client, MTN, None).await?);
            play(client, payment, Scenario::Timeout).await?
        }
        EventKind::PaymentCancelled => {
            let payment = pay(client, WAVE, None).await?;
            let reason = "triggered".parse().ok();
            client.payments().cancel(payment, &CancelPayment { reason }).await?;
            OrderId::Payment(payment)
        }
        EventKind::PaymentRefunded => refund(client, full, Scenario::Success).await?.of,
        EventKind::PaymentPartiallyRefunded => {
            refund(client, Amount::new(AMOUNT_IN_PART), Scenario::Success).await?.of
        }
        EventKind::RefundCreated | EventKind::RefundSucceeded => {
            refund(client, full, Scenario::Success).await?.refund
        }
        EventKind::RefundFailed => refund(client, full, Scenario::RefundFailure).await?.refund,
        EventKind::PayoutCreated | EventKind::PayoutProcessing | EventKind::PayoutSucceeded => {
            pay_out(client, Scenario::Success).await?
        }
        EventKind::PayoutFailed => pay_out(client, Scenario::RecipientNotFound).await?,
        EventKind::PaymentLinkCreated => return Ok(ResourceId::PaymentLink(link(client).await?)),
        EventKind::PaymentLinkPaid => {
            let link = link(client).await?;
            paid(client, Some(link)).await?;
            return Ok(ResourceId::PaymentLink(link));
        }
        // A kind that this version does not know is none that it offers.
        kind => return Err(format!("it is not known how {kind} comes about").into()),
    };
    Ok(ResourceId::Order(order))
}

/// A payment that waits to be told what becomes of it.
async fn pay(
    client: &Client,
    network: &str,
    payment_link: Option<PaymentLinkId>,
) -> Result<PaymentId, Failure> {
    let ask = CreatePayment {
        amount: Some(Amount::new(AMOUNT)),
        currency: Some("XOF".parse()?),
        network: Some(network.parse()?),
        phone: Some(PHONE.parse()?),
        payment_link,
        ..CreatePayment::by(PaymentMethod::MobileMoney)
    };
    Ok(client.payments().create(&ask).await?.id)
}

async fn paid(client: &Client, link: Option<PaymentLinkId>) -> Result<PaymentId, Failure> {
    let payment = pay(client, MTN, link).await?;
    play(client, OrderId::Payment(payment), Scenario::Success).await?;
    Ok(payment)
}

async fn play(client: &Client, id: OrderId, scenario: Scenario) -> Result<OrderId, Failure> {
    client.sandbox().simulate(&Simulate { id, scenario }).await?;
    Ok(id)
}

/// What was given back, and of which payment.
struct GivenBack {
    refund: OrderId,
    of: OrderId,
}

async fn refund(client: &Client, amount: Amount, scenario: Scenario) -> Result<GivenBack, Failure> {
    let payment = paid(client, None).await?;
    // A fee that the platform keeps is not paid out of what the payment brought.
    fund(client).await?;
    let ask = CreateRefund {
        payment,
        amount: Some(amount),
        reason: None,
        description: None,
        reference: None,
        metadata: Metadata::default(),
    };
    let refund = OrderId::Refund(client.refunds().create(&ask).await?.id);
    play(client, refund, scenario).await?;
    Ok(GivenBack { refund, of: OrderId::Payment(payment) })
}

async fn pay_out(client: &Client, scenario: Scenario) -> Result<OrderId, Failure> {
    let ask = CreatePayout {
        amount: Amount::new(AMOUNT),
        currency: "XOF".parse()?,
        method: PaymentMethod::MobileMoney,
        network: MTN.parse()?,
        phone: PHONE.parse()?,
        country: None,
        recipient_name: None,
        customer: None,
        reference: None,
        description: None,
        metadata: Metadata::default(),
    };
    fund(client).await?;
    let payout = OrderId::Payout(client.payouts().create(&ask).await?.id);
    play(client, payout, scenario).await
}

/// Test money: enough for whatever fee the platform takes.
async fn fund(client: &Client) -> Result<(), Failure> {
    let (amount, currency) = (Amount::new(AMOUNT.saturating_mul(2)), "XOF".parse()?);
    client.sandbox().fund(&Fund { amount, currency }).await?;
    Ok(())
}

async fn link(client: &Client) -> Result<PaymentLinkId, Failure> {
    let ask = CreatePaymentLink {
        title: "Triggered".parse()?,
        currency: "XOF".parse()?,
        country: "CI".parse()?,
        amount: Some(Amount::new(AMOUNT)),
        description: None,
        methods: None,
        reusable: false,
        expires_at: None,
        return_url: None,
        reference: None,
        metadata: Metadata::default(),
        active: true,
    };
    Ok(client.payment_links().create(&ask).await?.id)
}

/// The event that was told of it.
async fn told(
    client: &Client,
    kind: EventKind,
    resource: ResourceId,
) -> Result<EventBody, Failure> {
    let filter =
        filter::Events { kind: Some(kind), resource: Some(resource), ..filter::Events::default() };
    let found = client.events().list(&filter).await?.data;
    Ok(found.into_iter().next().ok_or(DidNotHappen { kind, resource })?)
}

/// What is paid, in XOF, and how much of it is given back in part.
const AMOUNT: i64 = 5_000;
const AMOUNT_IN_PART: i64 = 2_000;

/// Somebody who does nothing by themselves: everything waits for what is played.
const PHONE: &str = "+2250500000002";

/// Gives back in part, and never cancels what was asked for.
const MTN: &str = "mtn";

/// Cancels.
const WAVE: &str = "wave";
