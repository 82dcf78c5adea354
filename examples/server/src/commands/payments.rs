//! `payments`: payments of a running server.

use std::process::ExitCode;

use cauri_client::{
    Amount, Country, Currency, CustomerId, IdempotencyKey, Metadata, Network, PaymentId,
    PaymentLinkId, PaymentMethod, PaymentStatus, Phone, Text, WebUrl, filter,
    wire::{CancelPayment, CreatePayment, Payment},
};
use clap::{Args, Subcommand};

use crate::{
    error::Done,
    output::{Output, status},
    remote::{PageOptions, RemoteOptions, make, say_whole},
    words::words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum PaymentsCommand {
    /// Creates a payment
    Create(Box<CreateOptions>),
    /// Shows a payment
    Get {
        #[command(flatten)]
        remote: RemoteOptions,
        /// Its id
        id: PaymentId,
    },
    /// Lists payments, newest first
    List(Box<ListOptions>),
    /// Cancels a payment
    Cancel {
        #[command(flatten)]
        remote: RemoteOptions,
        /// Its id
        id: PaymentId,
        /// Why
        #[arg(long)]
        reason: Option<Text<255>>,
        /// Under which it is done once, however often it is asked for
        #[arg(long)]
        idempotency_key: Option<IdempotencyKey>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateOptions {
    #[command(flatten)]
    remote: RemoteOptions,
    /// What the payer pays, in the smallest unit of the currency
    #[arg(long, allow_negative_numbers = true)]
    amount: Option<i64>,
    /// In which currency, such as XOF
    #[arg(long)]
    currency: Option<Currency>,
    /// By which method
    #[arg(long, default_value = "mobile_money", value_parser = words(PaymentMethod::ALL, PaymentMethod::as_str))]
    method: PaymentMethod,
    /// Over which network, such as mtn
    #[arg(long)]
    network: Option<Network>,
    /// The payer's phone
    #[arg(long)]
    phone: Option<Phone>,
    /// Where the payer is, such as CI
    #[arg(long)]
    country: Option<Country>,
    /// Who pays
    #[arg(long)]
    customer: Option<CustomerId>,
    /// Through which link
    #[arg(long)]
    payment_link: Option<PaymentLinkId>,
    /// Your own name for it
    #[arg(long)]
    reference: Option<Text<100>>,
    /// What it is for
    #[arg(long)]
    description: Option<Text<255>>,
    /// What you want to find again with it; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    metadata: Vec<(String, String)>,
    /// Where the payer is sent afterwards
    #[arg(long)]
    return_url: Option<WebUrl>,
    /// Seconds until it expires
    #[arg(long)]
    expires_in: Option<u32>,
    /// Under which it is made once, however often it is asked for
    #[arg(long)]
    idempotency_key: Option<IdempotencyKey>,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    remote: RemoteOptions,
    /// Where they stand
    #[arg(long, value_parser = words(PaymentStatus::ALL, PaymentStatus::as_str))]
    status: Option<PaymentStatus>,
    /// In which currency
    #[arg(long)]
    currency: Option<Currency>,
    /// Over which network
    #[arg(long)]
    network: Option<Network>,
    /// Of whom
    #[arg(long)]
    customer: Option<CustomerId>,
    /// Through which link
    #[arg(long)]
    payment_link: Option<PaymentLinkId>,
    /// Your own name for them
    #[arg(long)]
    reference: Option<Text<100>>,
    #[command(flatten)]
    page: PageOptions,
}

/// `key=value`.
fn pair(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("not of the form KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

pub(crate) async fn run(command: PaymentsCommand, output: Output) -> Done {
    match command {
        PaymentsCommand::Create(options) => create(*options, output).await?,
        PaymentsCommand::Get { remote, id } => {
            say_whole(output, &remote.client()?.payments().retrieve(id).raw().await?)?;
        }
        PaymentsCommand::List(options) => {
            let ListOptions {
                remote,
                status,
                currency,
                network,
                customer,
                payment_link,
                reference,
                page,
            } = *options;
            let filter = filter::Payments {
                status,
                currency,
                network,
                customer,
                payment_link,
                reference,
                ..filter::Payments::default()
            };
            page.say(output, remote.client()?.payments().list(&filter).raw(), line).await?;
        }
        PaymentsCommand::Cancel { remote, id, reason, idempotency_key } => {
            let client = remote.client()?;
            let call = client.payments().cancel(id, &CancelPayment { reason });
            make(output, call, idempotency_key, line).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn create(options: CreateOptions, output: Output) -> Result<(), crate::error::Failure> {
    let CreateOptions {
        remote,
        amount,
        currency,
        method,
        network,
        phone,
        country,
        customer,
        payment_link,
        reference,
        description,
        metadata,
        return_url,
        expires_in,
        idempotency_key,
    } = options;
    let ask = CreatePayment {
        amount: amount.map(Amount::new),
        currency,
        method,
        network,
        phone,
        country,
        // A code that is good for money does not belong into the list of processes.
        otp: None,
        customer,
        payment_link,
        reference,
        description,
        metadata: Metadata::of(metadata)?,
        return_url,
        expires_in,
    };
    let call = remote.client()?.payments().create(&ask);
    make(output, call, idempotency_key, line).await
}

fn line(payment: &Payment) -> String {
    let Payment { id, amount, currency, created_at, .. } = payment;
    let over = payment.network.as_ref().map_or(payment.payment_method.as_str(), Network::as_str);
    let reference = payment.reference.as_ref().map_or("", Text::as_str);
    let why = payment.failure_code.as_ref().map_or_else(String::new, ToString::to_string);
    let status = status(payment.status.as_str(), 18);
    let line = format!(
        "{id}  {status}  {amount:>9} {currency}  {over:8}  {created_at}  {reference}  {why}"
    );
    line.trim_end().to_owned()
}
