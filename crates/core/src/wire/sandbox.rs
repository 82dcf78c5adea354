//! The sandbox's tools as they travel (API §17).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    field::{self, string},
    form::Form,
    params::Params,
    private::Mask,
    report::Report,
    tag,
};
use crate::{
    error::{Fault, Faults, Problem},
    model::{
        failure::FailureCode,
        ledger::Entry,
        scenario::{Scenario, ScenarioKind},
    },
    value::{
        currency::Currency,
        id::{OrderId, TransactionId},
        money::{Amount, Overflow},
        open::Open,
        scope::Environment,
        time::Timestamp,
    },
};

/// `POST /v1/sandbox/fund` (API §17.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct Fund {
    /// How much test money.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
}

/// `POST /v1/sandbox/simulate` (API §17.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct Simulate {
    /// On which object.
    pub id: OrderId,
    /// What.
    pub scenario: Scenario,
}

impl Fund {
    /// Reads it from a JSON object.
    ///
    /// # Errors
    /// Everything that is wrong with it, in field order.
    ///
    /// ```
    /// # use cauri_core::{Catalogue, Environment, Timestamp};
    /// use cauri_core::wire;
    /// # let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
    /// # let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH };
    /// let body = wire::parse_object(br#"{"amount":5,"currency":"xof"}"#)?;
    /// let faults = wire::Fund::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "currency must be three upper-case letters.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, _form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let amount = params.required("amount", field::amount);
        let currency = params.required("currency", string(field::known_currency));
        let fund = || Some(Self { amount: amount?, currency: currency? });
        params.finish(fund())
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::{Amount, wire::Fund};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let ask = Fund { amount: Amount::ZERO, currency: "XOF".parse()? };
    /// assert_eq!(ask.faults(&shop.form())[0].param.as_deref(), Some("amount"));
    /// # Ok::<(), cauri_core::CurrencyError>(())
    /// ```
    #[must_use]
    pub fn faults(&self, _form: &Form<'_>) -> Vec<Fault> {
        let mut report = Report::default();
        report.check("amount", Some(self.amount), field::in_range);
        report.into_faults()
    }
}

impl Simulate {
    /// Reads it from a JSON object.
    ///
    /// # Errors
    /// Everything that is wrong with it, in field order.
    ///
    /// ```
    /// # use cauri_core::{Catalogue, Environment, Timestamp};
    /// use cauri_core::wire;
    /// # let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
    /// # let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH };
    /// let body = br#"{"id":"pay_01jd3w8k4f7q2m9x5r6t0v1b3c","scenario":"miracle"}"#;
    /// let body = wire::parse_object(body)?;
    /// let faults = wire::Simulate::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "scenario is not a scenario.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, _form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let id = params.required("id", string(field::order_id));
        let word = |word: &str| word.parse().map_err(|_| Problem::ScenarioUnknown);
        let scenario = params.required("scenario", string(word));
        let simulate = || Some(Self { id: id?, scenario: scenario? });
        params.finish(simulate())
    }
}

/// The answer to `POST /v1/sandbox/fund` (API §17.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SandboxFunding {
    /// `sandbox_funding`.
    pub object: tag::SandboxFunding,
    /// `sandbox`.
    pub environment: Environment,
    /// False.
    pub livemode: bool,
    /// How much test money.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// The posting that booked it.
    pub transaction: TransactionId,
    /// What is available now.
    pub available_amount: Amount,
    /// When.
    pub created_at: Timestamp,
}

impl SandboxFunding {
    /// What is shown of the line that raised `merchant_available`.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::{Amount, decide, wire::{Fund, SandboxFunding}};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let ask = Fund { amount: Amount::new(10_000), currency: "XOF".parse()? };
    /// let decision = decide::sandbox::fund(ask, Amount::ZERO, &mut shop.context());
    /// shop.done(decision);
    /// let credit = shop.entries.last().expect("the line that raised what is available");
    /// assert_eq!(SandboxFunding::of(credit)?.available_amount, Amount::new(10_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn of(entry: &Entry) -> Result<Self, Overflow> {
        let Entry {
            id: _,
            scope,
            transaction,
            account: _,
            direction: _,
            amount,
            currency,
            kind: _,
            source: _,
            balance_after,
            created_at,
        } = *entry;
        Ok(Self {
            object: tag::SandboxFunding,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            amount,
            currency,
            transaction,
            available_amount: balance_after,
            created_at,
        })
    }
}

/// A scenario of the sandbox (API §17.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SandboxScenario {
    /// `sandbox_scenario`.
    pub object: tag::SandboxScenario,
    /// `sandbox`.
    pub environment: Environment,
    /// False.
    pub livemode: bool,
    /// Its word.
    pub code: Open<Scenario>,
    /// A sentence for people.
    pub description: String,
    /// What it can be played on.
    pub applies_to: Vec<ScenarioKind>,
    /// The status it leads to; null when it waits.
    pub outcome: Option<String>,
    /// Why it fails, if it does.
    pub failure_code: Option<Open<FailureCode>>,
    /// The last digits of a phone number that choose it.
    pub phone_suffix: Option<String>,
    /// What is left of a card payment's amount modulo 1,000 to choose it.
    pub card_amount_suffix: Option<u16>,
    /// How many seconds it takes; null when it waits.
    pub delay_seconds: Option<u32>,
}

impl SandboxScenario {
    /// What is shown of a scenario.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::{Overflow, Scenario, wire::SandboxScenario};
    /// assert_eq!(SandboxScenario::of(Scenario::Timeout)?.outcome.as_deref(), Some("expired"));
    /// # Ok::<(), Overflow>(())
    /// ```
    pub fn of(scenario: Scenario) -> Result<Self, Overflow> {
        Ok(Self {
            object: tag::SandboxScenario,
            environment: Environment::Sandbox,
            livemode: false,
            code: Open::Known(scenario),
            description: scenario.description().to_owned(),
            applies_to: scenario.applies_to().to_vec(),
            outcome: scenario.outcome().map(str::to_owned),
            failure_code: scenario.failure_code().map(Open::Known),
            phone_suffix: scenario.phone_suffix().map(str::to_owned),
            card_amount_suffix: scenario.card_amount_suffix(),
            delay_seconds: scenario.delay_seconds(),
        })
    }
}

impl Mask for SandboxScenario {
    fn masked(self) -> Self {
        self
    }
}
