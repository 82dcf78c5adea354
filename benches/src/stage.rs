//! Accounts with what they need to be measured.

use std::{error::Error, sync::Arc};

use cauri::{
    Amount, Call, Caller, Engine, Environment, IdempotencyKey, Scope, Store,
    decide::idempotency::Idempotency,
    wire::{CreatePayment, CreatePaymentLink, CreatePayout, CreateWebhookEndpoint, Fund},
};

/// An engine over a store, and accounts in it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Stage {
    /// The engine.
    pub engine: Engine,
    /// One caller for each account.
    pub callers: Vec<Caller>,
}

impl Stage {
    /// Makes accounts, each with money and, where wanted, an endpoint that listens to everything.
    ///
    /// # Errors
    /// What the engine says.
    pub async fn set(
        engine: Engine,
        accounts: usize,
        listening: bool,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let mut callers = Vec::with_capacity(accounts);
        for _ in 0..accounts {
            let account = engine.create_account().await?;
            let scope = Scope { account: account.id, environment: Environment::Sandbox };
            let caller = Caller::secret(scope);
            let money = Fund { amount: Amount::new(900_000_000_000), currency: "XOF".parse()? };
            engine.fund(&Call::by(caller), money).await?;
            if listening {
                let ask = CreateWebhookEndpoint {
                    url: "http://127.0.0.1:9/hooks".parse()?,
                    events: cauri::Subscription::All,
                    active: true,
                    description: None,
                    metadata: cauri::Metadata::default(),
                };
                engine.create_webhook_endpoint(&Call::by(caller), ask).await?;
            }
            callers.push(caller);
        }
        Ok(Self { engine, callers })
    }
}

/// An engine over a store with everything at its default.
///
/// # Errors
/// What the engine says.
pub fn engine(store: Arc<dyn Store>) -> Result<Engine, Box<dyn Error + Send + Sync>> {
    Ok(Engine::builder(store).build()?)
}

/// The payment that is measured: mobile money, with a reference.
///
/// # Errors
/// None, unless the built-in catalogue changes.
pub fn payment(reference: &str) -> Result<CreatePayment, Box<dyn Error + Send + Sync>> {
    Ok(CreatePayment {
        amount: Some(Amount::new(5_000)),
        currency: Some("XOF".parse()?),
        method: cauri::PaymentMethod::MobileMoney,
        network: Some("mtn".parse()?),
        phone: Some("+2250500009999".parse()?),
        country: None,
        otp: None,
        customer: None,
        payment_link: None,
        reference: Some(reference.parse()?),
        description: None,
        metadata: cauri::Metadata::default(),
        return_url: None,
        expires_in: None,
    })
}

/// The payout that is measured.
///
/// # Errors
/// None, unless the built-in catalogue changes.
pub fn payout(reference: &str) -> Result<CreatePayout, Box<dyn Error + Send + Sync>> {
    Ok(CreatePayout {
        amount: Amount::new(1_000),
        currency: "XOF".parse()?,
        method: cauri::PaymentMethod::MobileMoney,
        network: "orange".parse()?,
        phone: "+221770000002".parse()?,
        country: None,
        recipient_name: None,
        customer: None,
        reference: Some(reference.parse()?),
        description: None,
        metadata: cauri::Metadata::default(),
    })
}

/// A payment link that anybody may pay again and again.
///
/// # Errors
/// None, unless the built-in catalogue changes.
pub fn payment_link() -> Result<CreatePaymentLink, Box<dyn Error + Send + Sync>> {
    Ok(CreatePaymentLink {
        title: "Bench".parse()?,
        currency: "XOF".parse()?,
        country: "CI".parse()?,
        amount: None,
        description: None,
        methods: None,
        reusable: true,
        expires_at: None,
        return_url: None,
        reference: None,
        metadata: cauri::Metadata::default(),
        active: true,
    })
}

/// A command under a key of its own.
///
/// # Errors
/// A key that is none.
pub fn keyed(caller: Caller, key: &str) -> Result<Call, Box<dyn Error + Send + Sync>> {
    let key: IdempotencyKey = key.parse()?;
    Ok(Call::by(caller).idempotent(Some(Idempotency { key, fingerprint: [1; 32] })))
}

/// The body of the same payment, as a caller sends it.
#[must_use]
pub fn payment_body(reference: &str) -> String {
    format!(
        r#"{{"amount":5000,"currency":"XOF","payment_method":"mobile_money","network":"mtn","phone":"+2250500009999","reference":"{reference}"}}"#
    )
}

/// The body of the same payout.
#[must_use]
pub fn payout_body(reference: &str) -> String {
    format!(
        r#"{{"amount":1000,"currency":"XOF","payment_method":"mobile_money","network":"orange","phone":"+221770000002","reference":"{reference}"}}"#
    )
}
