//! `refunds`: refunds of a running server.

use std::process::ExitCode;

use cauri_client::{
    Amount, IdempotencyKey, Metadata, PaymentId, RefundId, RefundReason, RefundStatus, Text,
    filter,
    wire::{CreateRefund, Refund},
};
use clap::{Args, Subcommand};

use crate::{
    error::Done,
    output::{Output, status},
    remote::{PageOptions, RemoteOptions, make, say_whole},
    words::words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum RefundsCommand {
    /// Gives a payment back, or a part of it
    Create(Box<CreateOptions>),
    /// Shows a refund
    Get {
        #[command(flatten)]
        remote: RemoteOptions,
        /// Its id
        id: RefundId,
    },
    /// Lists refunds, newest first
    List {
        #[command(flatten)]
        remote: RemoteOptions,
        /// Where they stand
        #[arg(long, value_parser = words(RefundStatus::ALL, RefundStatus::as_str))]
        status: Option<RefundStatus>,
        /// Of which payment
        #[arg(long)]
        payment: Option<PaymentId>,
        #[command(flatten)]
        page: PageOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateOptions {
    #[command(flatten)]
    remote: RemoteOptions,
    /// Of which payment
    #[arg(long)]
    payment: PaymentId,
    /// How much, in the smallest unit of its currency; all that is left unless told
    #[arg(long, allow_negative_numbers = true)]
    amount: Option<i64>,
    /// Why
    #[arg(long, value_parser = words(RefundReason::ALL, RefundReason::as_str))]
    reason: Option<RefundReason>,
    /// Your own name for it
    #[arg(long)]
    reference: Option<Text<100>>,
    /// Under which it is made once, however often it is asked for
    #[arg(long)]
    idempotency_key: Option<IdempotencyKey>,
}

pub(crate) async fn run(command: RefundsCommand, output: Output) -> Done {
    match command {
        RefundsCommand::Create(options) => {
            let CreateOptions { remote, payment, amount, reason, reference, idempotency_key } =
                *options;
            let ask = CreateRefund {
                payment,
                amount: amount.map(Amount::new),
                reason,
                description: None,
                reference,
                metadata: Metadata::default(),
            };
            let call = remote.client()?.refunds().create(&ask);
            make(output, call, idempotency_key, line).await?;
        }
        RefundsCommand::Get { remote, id } => {
            say_whole(output, &remote.client()?.refunds().retrieve(id).raw().await?)?;
        }
        RefundsCommand::List { remote, status, payment, page } => {
            let filter = filter::Refunds { status, payment, ..filter::Refunds::default() };
            page.say(output, remote.client()?.refunds().list(&filter).raw(), line).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(refund: &Refund) -> String {
    let Refund { id, amount, currency, payment, created_at, .. } = refund;
    let reference = refund.reference.as_ref().map_or("", Text::as_str);
    let why = refund.failure_code.as_ref().map_or_else(String::new, ToString::to_string);
    let status = status(refund.status.as_str(), 9);
    let line = format!(
        "{id}  {status}  {amount:>9} {currency}  {payment}  {created_at}  {reference}  {why}"
    );
    line.trim_end().to_owned()
}
