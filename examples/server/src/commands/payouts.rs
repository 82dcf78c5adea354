//! `payouts`: payouts of a running server.

use std::process::ExitCode;

use cauri_client::{
    Amount, Currency, IdempotencyKey, Metadata, Network, PaymentMethod, PayoutId, PayoutStatus,
    Phone, Text, filter,
    wire::{CreatePayout, Payout},
};
use clap::{Args, Subcommand};

use crate::{
    error::Done,
    output::{Output, status},
    remote::{PageOptions, RemoteOptions, make, say_whole},
    words::words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum PayoutsCommand {
    /// Creates a payout
    Create(Box<CreateOptions>),
    /// Shows a payout
    Get {
        #[command(flatten)]
        remote: RemoteOptions,
        /// Its id
        id: PayoutId,
    },
    /// Lists payouts, newest first
    List {
        #[command(flatten)]
        remote: RemoteOptions,
        /// Where they stand
        #[arg(long, value_parser = words(PayoutStatus::ALL, PayoutStatus::as_str))]
        status: Option<PayoutStatus>,
        /// Your own name for them
        #[arg(long)]
        reference: Option<Text<100>>,
        #[command(flatten)]
        page: PageOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateOptions {
    #[command(flatten)]
    remote: RemoteOptions,
    /// What the recipient gets, in the smallest unit of the currency
    #[arg(long, allow_negative_numbers = true)]
    amount: i64,
    /// In which currency, such as XOF
    #[arg(long)]
    currency: Currency,
    /// Over which network, such as mtn
    #[arg(long)]
    network: Network,
    /// The recipient's phone
    #[arg(long)]
    phone: Phone,
    /// The recipient's name
    #[arg(long)]
    recipient_name: Option<Text<100>>,
    /// Your own name for it
    #[arg(long)]
    reference: Option<Text<100>>,
    /// What it is for
    #[arg(long)]
    description: Option<Text<255>>,
    /// Under which it is made once, however often it is asked for
    #[arg(long)]
    idempotency_key: Option<IdempotencyKey>,
}

pub(crate) async fn run(command: PayoutsCommand, output: Output) -> Done {
    match command {
        PayoutsCommand::Create(options) => {
            let CreateOptions { remote, amount, currency, network, phone, .. } = *options;
            let ask = CreatePayout {
                amount: Amount::new(amount),
                currency,
                method: PaymentMethod::MobileMoney,
                network,
                phone,
                country: None,
                recipient_name: options.recipient_name,
                customer: None,
                reference: options.reference,
                description: options.description,
                metadata: Metadata::default(),
            };
            let call = remote.client()?.payouts().create(&ask);
            make(output, call, options.idempotency_key, line).await?;
        }
        PayoutsCommand::Get { remote, id } => {
            say_whole(output, &remote.client()?.payouts().retrieve(id).raw().await?)?;
        }
        PayoutsCommand::List { remote, status, reference, page } => {
            let filter = filter::Payouts { status, reference, ..filter::Payouts::default() };
            page.say(output, remote.client()?.payouts().list(&filter).raw(), line).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(payout: &Payout) -> String {
    let Payout { id, amount, currency, network, created_at, .. } = payout;
    let reference = payout.reference.as_ref().map_or("", Text::as_str);
    let why = payout.failure_code.as_ref().map_or_else(String::new, ToString::to_string);
    let status = status(payout.status.as_str(), 10);
    let line = format!(
        "{id}  {status}  {amount:>9} {currency}  {network:8}  {created_at}  {reference}  {why}"
    );
    line.trim_end().to_owned()
}
