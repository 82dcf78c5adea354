//! Refunds as they travel (API §11).

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
    error::{Fault, Faults},
    model::{
        failure::FailureCode,
        refund::{self as model, RefundReason},
    },
    value::{
        currency::Currency,
        id::{PaymentId, RefundId},
        metadata::Metadata,
        money::{Amount, Overflow},
        open::Open,
        scope::Environment,
        text::Text,
        time::Timestamp,
    },
};

/// `POST /v1/refunds` (API §11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreateRefund {
    /// The payment whose money goes back.
    pub payment: PaymentId,
    /// How much; `None` means all that can still be refunded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<RefundReason>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<255>>,
    /// The merchant's own name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Text<100>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

impl CreateRefund {
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
    /// let body = wire::parse_object(br#"{"payment":"cus_01jd3w8k4f7q2m9x5r6t0v1b3c"}"#)?;
    /// let faults = wire::CreateRefund::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "payment names nothing that exists.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, _form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let payment = params.required("payment", string(field::id));
        let amount = params.optional("amount", field::amount);
        let reason = params.optional("reason", string(field::word(RefundReason::ALL)));
        let description = params.optional("description", string(field::text));
        let reference = params.optional("reference", string(field::text));
        let metadata = params.metadata();
        params.finish(payment.map(|payment| Self {
            payment,
            amount,
            reason,
            description,
            reference,
            metadata,
        }))
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::{Amount, wire::CreateRefund};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let ask = CreateRefund {
    ///     payment: "pay_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?,
    ///     amount: Some(Amount::ZERO),
    ///     reason: None,
    ///     description: None,
    ///     reference: None,
    ///     metadata: Default::default(),
    /// };
    /// assert_eq!(ask.faults(&shop.form())[0].param.as_deref(), Some("amount"));
    /// # Ok::<(), cauri_core::IdError>(())
    /// ```
    #[must_use]
    pub fn faults(&self, _form: &Form<'_>) -> Vec<Fault> {
        let mut report = Report::default();
        report.check("amount", self.amount, field::in_range);
        report.metadata(&self.metadata);
        report.into_faults()
    }
}

/// A refund (API §11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refund {
    /// Its id.
    pub id: RefundId,
    /// `refund`.
    pub object: tag::Refund,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where it stands.
    pub status: model::RefundStatus,
    /// The payment whose money it returns.
    pub payment: PaymentId,
    /// What the payer gets back.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// The share of the fee that the merchant gets back.
    pub fee_returned_amount: Amount,
    /// What is taken from the balance.
    pub net_amount: Amount,
    /// Why.
    pub reason: Option<RefundReason>,
    /// For people.
    pub description: Option<Text<255>>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// Why it failed.
    pub failure_code: Option<Open<FailureCode>>,
    /// Why it failed, for people.
    pub failure_message: Option<String>,
    /// When it was accepted by us.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When the payer got the money.
    pub succeeded_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
}

impl Refund {
    /// What is shown of a refund.
    ///
    /// # Errors
    /// [`Overflow`], for a refund that this crate did not build.
    ///
    /// ```
    /// use cauri_core::{Amount, wire::Refund};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.settled(5_000);
    /// let shown = Refund::of(&shop.refund(2_000).value)?;
    /// assert_eq!((shown.amount, shown.net_amount), (Amount::new(2_000), Amount::new(1_960)));
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub fn of(refund: &model::Refund) -> Result<Self, Overflow> {
        let model::Refund {
            id,
            scope,
            status,
            payment,
            amount,
            currency,
            fee_returned_amount,
            reason,
            description,
            reference,
            metadata,
            failure,
            created_at,
            updated_at,
            accepted_at: _,
            succeeded_at,
            failed_at,
            connection: _,
            poll_at: _,
            simulation: _,
        } = refund;
        Ok(Self {
            id: *id,
            object: tag::Refund,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            status: *status,
            payment: *payment,
            amount: *amount,
            currency: *currency,
            fee_returned_amount: *fee_returned_amount,
            net_amount: refund.net_amount()?,
            reason: *reason,
            description: description.clone(),
            reference: reference.clone(),
            metadata: metadata.clone(),
            failure_code: failure.map(Open::Known),
            failure_message: failure.map(|code| code.message().to_owned()),
            created_at: *created_at,
            updated_at: *updated_at,
            succeeded_at: *succeeded_at,
            failed_at: *failed_at,
        })
    }
}

impl Mask for Refund {
    fn masked(self) -> Self {
        Self { metadata: Metadata::default(), ..self }
    }
}
