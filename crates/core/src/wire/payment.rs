//! Payments as they travel (API §9).

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    field::{self, string},
    form::Form,
    params::Params,
    private::{Mask, Private},
    report::Report,
    tag,
};
use crate::{
    error::{Fault, Faults, Problem},
    model::{failure::FailureCode, payment as model},
    value::{
        country::Country,
        currency::Currency,
        id::{CustomerId, PaymentId, PaymentLinkId},
        metadata::Metadata,
        method::{Network, PaymentMethod},
        money::{Amount, Overflow},
        open::Open,
        otp::Otp,
        phone::Phone,
        scope::Environment,
        text::Text,
        time::Timestamp,
        web_url::WebUrl,
    },
};

/// `POST /v1/payments` (API §9.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreatePayment {
    /// What the payer pays; may be left to the payment link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// In which currency; may be left to the payment link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// By which method.
    #[serde(rename = "payment_method")]
    pub method: PaymentMethod,
    /// Over which network; required for mobile money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The payer's phone; mobile money needs it here or in the customer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<Phone>,
    /// Where the payer is, unless the phone or the link says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// A pre-authorisation code for the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otp: Option<Otp>,
    /// Who pays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<CustomerId>,
    /// The link it comes through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_link: Option<PaymentLinkId>,
    /// The merchant's own name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Text<100>>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<255>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// Where the payer is sent afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_url: Option<WebUrl>,
    /// Seconds until it expires, 60 to 86,400; `None` takes the installation's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u32>,
}

/// `POST /v1/payments/:id/cancel` (API §9.5).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CancelPayment {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<255>>,
}

/// How many seconds it may take until a payment expires.
const EXPIRES_IN: RangeInclusive<u32> = 60..=86_400;

/// How many digits a pre-authorisation code has.
const OTP_DIGITS: RangeInclusive<usize> = 4..=10;

impl CreatePayment {
    /// A payment by this method, with everything else left open: for whoever builds it.
    ///
    /// ```
    /// use cauri_core::{Amount, PaymentMethod, wire::CreatePayment};
    /// let ask = CreatePayment {
    ///     amount: Some(Amount::new(5_000)),
    ///     currency: Some("XOF".parse()?),
    ///     network: Some("mtn".parse()?),
    ///     phone: Some("+2250500000000".parse()?),
    ///     ..CreatePayment::by(PaymentMethod::MobileMoney)
    /// };
    /// assert_eq!((ask.customer, ask.expires_in), (None, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn by(method: PaymentMethod) -> Self {
        Self {
            amount: None,
            currency: None,
            method,
            network: None,
            phone: None,
            country: None,
            otp: None,
            customer: None,
            payment_link: None,
            reference: None,
            description: None,
            metadata: Metadata::default(),
            return_url: None,
            expires_in: None,
        }
    }

    /// Reads it from a JSON object.
    ///
    /// # Errors
    /// Everything that is wrong with it, in field order.
    ///
    /// ```
    /// use cauri_core::{Catalogue, Environment, Timestamp, wire};
    /// let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
    /// let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH };
    /// let body = wire::parse_object(br#"{"payment_method":"mobile_money","amount":"5000"}"#)?;
    /// let faults = wire::CreatePayment::read(&body, &form).unwrap_err();
    /// let faults: Vec<String> = faults.all().iter().map(ToString::to_string).collect();
    /// assert_eq!(
    ///     faults,
    ///     [
    ///         "amount must be an integer from 1 to 999999999999.",
    ///         "currency is required.",
    ///         "network is required.",
    ///         "phone is required.",
    ///     ]
    /// );
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let amount = params.optional("amount", field::amount);
        let currency = params.optional("currency", string(field::currency));
        let method = params.required("payment_method", string(field::word(PaymentMethod::ALL)));
        let network = params.optional("network", string(field::network));
        let phone = params.optional("phone", string(|text| form.phone(text)));
        let country = params.optional("country", string(field::country));
        let otp = params.optional("otp", string(read_otp));
        let customer = params.optional("customer", string(field::id));
        let payment_link = params.optional("payment_link", string(field::id));
        let reference = params.optional("reference", string(field::text));
        let description = params.optional("description", string(field::text));
        let metadata = params.metadata();
        let return_url = params.optional("return_url", string(|text| form.return_url(text)));
        let expires_in = params.optional("expires_in", field::integer(EXPIRES_IN));
        let agreement = Agreement {
            method,
            has_amount: amount.is_some(),
            has_currency: currency.is_some(),
            has_network: network.is_some(),
            has_phone: params.has("phone"),
            phone: phone.as_ref(),
            country,
            has_customer: params.has("customer"),
            has_link: params.has("payment_link"),
        };
        params.agree(agreement.faults(form));
        params.finish(method.map(|method| Self {
            amount,
            currency,
            method,
            network,
            phone,
            country,
            otp,
            customer,
            payment_link,
            reference,
            description,
            metadata,
            return_url,
            expires_in,
        }))
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::{Amount, PaymentMethod, wire::CreatePayment};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let ask = CreatePayment {
    ///     amount: Some(Amount::ZERO),
    ///     currency: Some("XOF".parse()?),
    ///     ..CreatePayment::by(PaymentMethod::Card)
    /// };
    /// let faults: Vec<String> = ask.faults(&shop.form()).iter().map(ToString::to_string).collect();
    /// assert_eq!(
    ///     faults,
    ///     ["amount must be an integer from 1 to 999999999999.", "country is required."]
    /// );
    /// # Ok::<(), cauri_core::CurrencyError>(())
    /// ```
    #[must_use]
    pub fn faults(&self, form: &Form<'_>) -> Vec<Fault> {
        let agreement = Agreement {
            method: Some(self.method),
            has_amount: self.amount.is_some(),
            has_currency: self.currency.is_some(),
            has_network: self.network.is_some(),
            has_phone: self.phone.is_some(),
            phone: self.phone.as_ref(),
            country: self.country,
            has_customer: self.customer.is_some(),
            has_link: self.payment_link.is_some(),
        };
        let mut report = Report::default();
        report.check("amount", self.amount, field::in_range);
        report.declare("currency");
        report.declare("network");
        report.check("phone", self.phone.as_ref(), |phone| form.check_phone(phone));
        report.declare("country");
        report.check("otp", self.otp.as_ref(), check_otp);
        report.metadata(&self.metadata);
        report.check("return_url", self.return_url.as_ref(), |url| form.check_return_url(url));
        report.check("expires_in", self.expires_in, |it| field::within(&EXPIRES_IN, it));
        report.agree(agreement.faults(form));
        report.into_faults()
    }
}

fn read_otp(text: &str) -> Result<Otp, Problem> {
    let otp = text.parse().map_err(field::text_problem)?;
    check_otp(&otp).map(|()| otp)
}

fn check_otp(otp: &Otp) -> Result<(), Problem> {
    let digits = otp.as_str().bytes().all(|byte| byte.is_ascii_digit());
    if digits && OTP_DIGITS.contains(&otp.as_str().len()) {
        Ok(())
    } else {
        Err(Problem::invalid("must be 4 to 10 digits"))
    }
}

/// What the fields of a new payment say about one another. A field with a wrong form is absent
/// here, unless it is only asked whether it was given.
struct Agreement<'a> {
    method: Option<PaymentMethod>,
    has_amount: bool,
    has_currency: bool,
    has_network: bool,
    has_phone: bool,
    phone: Option<&'a Phone>,
    country: Option<Country>,
    has_customer: bool,
    has_link: bool,
}

impl Agreement<'_> {
    fn faults(&self, form: &Form<'_>) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut missing = |field, is_missing: bool| {
            faults.extend(is_missing.then(|| Fault::at(field, Problem::Missing)));
        };
        let is_card = self.method == Some(PaymentMethod::Card);
        let is_mobile = self.method == Some(PaymentMethod::MobileMoney);
        missing("amount", !self.has_amount && !self.has_link);
        missing("currency", !self.has_currency && !self.has_link);
        missing("network", is_mobile && !self.has_network);
        missing("phone", is_mobile && !self.has_phone && !self.has_customer);
        let nowhere = match self.phone {
            _ if is_card => true,
            Some(phone) => is_mobile && form.catalogue.country_of(phone).is_none(),
            // Either it is missing itself or it is the customer's, and may tell.
            None => false,
        };
        missing("country", nowhere && self.country.is_none() && !self.has_link);
        if is_card && self.has_phone {
            let problem = Problem::invalid("must be absent for a card");
            faults.push(Fault::at("phone", problem));
        } else if let (Some(phone), Some(country)) = (self.phone, self.country)
            && let Err(problem) = form.check_phone_of(phone, country)
        {
            faults.push(Fault::at("phone", problem));
        }
        faults
    }
}

impl CancelPayment {
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
    /// let body = wire::parse_object(br#"{"reason":""}"#)?;
    /// let faults = wire::CancelPayment::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "reason must not be empty.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, _form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let reason = params.optional("reason", string(field::text));
        params.finish(Some(Self { reason }))
    }
}

/// A payment (API §9.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// `payment`.
    pub object: tag::Payment,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where it stands.
    pub status: model::PaymentStatus,
    /// What the payer pays.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// What the merchant is charged.
    pub fee_amount: Amount,
    /// What the merchant keeps.
    pub net_amount: Amount,
    /// By which method.
    pub payment_method: PaymentMethod,
    /// Over which network.
    pub network: Option<Network>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// Where the payer is.
    pub country: Country,
    /// The payer's phone.
    pub phone: Option<Private>,
    /// Who pays.
    pub customer: Option<CustomerId>,
    /// The link it came through.
    pub payment_link: Option<PaymentLinkId>,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// The sum of its succeeded refunds.
    pub refunded_amount: Amount,
    /// What can still be refunded.
    pub refundable_amount: Amount,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// What the payer has to do.
    pub next_action: Option<model::NextAction>,
    /// Why it failed.
    pub failure_code: Option<Open<FailureCode>>,
    /// Why it failed, for people.
    pub failure_message: Option<String>,
    /// Why it was cancelled.
    pub cancellation_reason: Option<Text<255>>,
    /// When it expires unless paid.
    pub expires_at: Timestamp,
    /// When it was accepted by us.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When the network accepted it.
    pub processing_at: Option<Timestamp>,
    /// When it was paid.
    pub succeeded_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// When it expired.
    pub expired_at: Option<Timestamp>,
    /// When its money is (to be) available.
    pub available_at: Option<Timestamp>,
}

impl Payment {
    /// What is shown of a payment.
    ///
    /// # Errors
    /// [`Overflow`], for a payment that this crate did not build.
    ///
    /// ```
    /// use cauri_core::{Amount, wire::Payment};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let shown = Payment::of(&shop.paid(5_000).value)?;
    /// assert_eq!((shown.net_amount, shown.refundable_amount), (Amount::new(4_900), Amount::new(5_000)));
    /// assert_eq!(serde_json::to_value(&shown)?["livemode"], false);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(payment: &model::Payment) -> Result<Self, Overflow> {
        let model::Payment {
            id,
            scope,
            status,
            amount,
            currency,
            fee_amount,
            method,
            network,
            reference,
            country,
            phone,
            otp: _,
            customer,
            payment_link,
            description,
            metadata,
            return_url,
            next_action,
            failure,
            cancellation_reason,
            refunded_amount,
            refunding_amount: _,
            fee_returned_amount: _,
            refunds_count: _,
            pending_amount: _,
            settled_at: _,
            expires_at,
            created_at,
            updated_at,
            processing_at,
            succeeded_at,
            failed_at,
            cancelled_at,
            expired_at,
            available_at,
            timeline_count: _,
            connection: _,
            poll_at: _,
            simulation: _,
        } = payment;
        Ok(Self {
            id: *id,
            object: tag::Payment,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            status: *status,
            amount: *amount,
            currency: *currency,
            fee_amount: *fee_amount,
            net_amount: payment.net_amount()?,
            payment_method: *method,
            network: network.clone(),
            reference: reference.clone(),
            country: *country,
            phone: phone.as_ref().map(|phone| phone.as_str().into()),
            customer: *customer,
            payment_link: *payment_link,
            description: description.clone(),
            metadata: metadata.clone(),
            refunded_amount: *refunded_amount,
            refundable_amount: payment.refundable_amount(),
            return_url: return_url.clone(),
            next_action: next_action.clone(),
            failure_code: failure.map(Open::Known),
            failure_message: failure.map(|code| code.message().to_owned()),
            cancellation_reason: cancellation_reason.clone(),
            expires_at: *expires_at,
            created_at: *created_at,
            updated_at: *updated_at,
            processing_at: *processing_at,
            succeeded_at: *succeeded_at,
            failed_at: *failed_at,
            cancelled_at: *cancelled_at,
            expired_at: *expired_at,
            available_at: *available_at,
        })
    }
}

impl Mask for Payment {
    fn masked(self) -> Self {
        let phone = self.phone.as_ref().map(Private::masked_phone);
        Self { phone, metadata: Metadata::default(), ..self }
    }
}
