//! Payouts as they travel (API §10).

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
    model::{failure::FailureCode, payout as model},
    value::{
        country::Country,
        currency::Currency,
        id::{CustomerId, PayoutId},
        metadata::Metadata,
        method::{Network, PaymentMethod},
        money::{Amount, Overflow},
        open::Open,
        phone::Phone,
        scope::Environment,
        text::Text,
        time::Timestamp,
    },
};

/// `POST /v1/payouts` (API §10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreatePayout {
    /// What the recipient gets.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// By which method; mobile money unless said otherwise.
    #[serde(rename = "payment_method")]
    pub method: PaymentMethod,
    /// Over which network.
    pub network: Network,
    /// The recipient's phone.
    pub phone: Phone,
    /// Where the recipient is, unless the phone says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// The recipient's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient_name: Option<Text<100>>,
    /// Who gets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<CustomerId>,
    /// The merchant's own name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Text<100>>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<255>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

impl CreatePayout {
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
    /// let body = br#"{"amount":5,"currency":"XOF","network":"mtn","phone":"+22505"}"#;
    /// let body = wire::parse_object(body)?;
    /// let faults = wire::CreatePayout::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "phone is not a valid phone number.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let amount = params.required("amount", field::amount);
        let currency = params.required("currency", string(field::currency));
        let network = params.required("network", string(field::network));
        let phone = params.required("phone", string(|text| form.phone(text)));
        let method = params.optional("payment_method", string(field::word(PaymentMethod::ALL)));
        let country = params.optional("country", string(field::country));
        let recipient_name = params.optional("recipient_name", string(field::text));
        let customer = params.optional("customer", string(field::id));
        let reference = params.optional("reference", string(field::text));
        let description = params.optional("description", string(field::text));
        let metadata = params.metadata();
        params.agree(agreement(phone.as_ref(), country, form));
        let payout = || {
            Some(Self {
                amount: amount?,
                currency: currency?,
                method: method.unwrap_or(PaymentMethod::MobileMoney),
                network: network?,
                phone: phone?,
                country,
                recipient_name,
                customer,
                reference,
                description,
                metadata,
            })
        };
        params.finish(payout())
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let mut ask = Shop::ask_payout(1_000);
    /// ask.country = Some("SN".parse()?); // but the phone is one of Côte d'Ivoire
    /// assert_eq!(ask.faults(&shop.form())[0].problem.code(), "phone_country_mismatch");
    /// # Ok::<(), cauri_core::CountryError>(())
    /// ```
    #[must_use]
    pub fn faults(&self, form: &Form<'_>) -> Vec<Fault> {
        let mut report = Report::default();
        report.check("amount", Some(self.amount), field::in_range);
        report.check("phone", Some(&self.phone), |phone| form.check_phone(phone));
        report.declare("country");
        report.metadata(&self.metadata);
        report.agree(agreement(Some(&self.phone), self.country, form));
        report.into_faults()
    }
}

/// What a phone and a country say about one another.
fn agreement(phone: Option<&Phone>, country: Option<Country>, form: &Form<'_>) -> Vec<Fault> {
    let fault = match (phone, country) {
        (Some(phone), Some(country)) => {
            form.check_phone_of(phone, country).err().map(|problem| Fault::at("phone", problem))
        }
        (Some(phone), None) if form.catalogue.country_of(phone).is_none() => {
            Some(Fault::at("country", Problem::Missing))
        }
        _ => None,
    };
    fault.into_iter().collect()
}

/// A payout (API §10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Payout {
    /// Its id.
    pub id: PayoutId,
    /// `payout`.
    pub object: tag::Payout,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where it stands.
    pub status: model::PayoutStatus,
    /// What the recipient gets.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// What the merchant pays on top.
    pub fee_amount: Amount,
    /// What leaves the balance.
    pub total_amount: Amount,
    /// By which method.
    pub payment_method: PaymentMethod,
    /// Over which network.
    pub network: Network,
    /// Where the recipient is.
    pub country: Country,
    /// The recipient's phone.
    pub phone: Private,
    /// The recipient's name.
    pub recipient_name: Option<Private>,
    /// Who gets it.
    pub customer: Option<CustomerId>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For people.
    pub description: Option<Text<255>>,
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
    /// When the network accepted it.
    pub processing_at: Option<Timestamp>,
    /// When it was paid.
    pub succeeded_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
}

impl Payout {
    /// What is shown of a payout.
    ///
    /// # Errors
    /// [`Overflow`], for a payout that this crate did not build.
    ///
    /// ```
    /// use cauri_core::{Amount, wire::Payout};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// shop.settled(5_000);
    /// let shown = Payout::of(&shop.payout(1_000).value)?;
    /// assert_eq!((shown.fee_amount, shown.total_amount), (Amount::new(100), Amount::new(1_100)));
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub fn of(payout: &model::Payout) -> Result<Self, Overflow> {
        let model::Payout {
            id,
            scope,
            status,
            amount,
            currency,
            fee_amount,
            method,
            network,
            country,
            phone,
            recipient_name,
            customer,
            reference,
            description,
            metadata,
            failure,
            created_at,
            updated_at,
            processing_at,
            succeeded_at,
            failed_at,
            connection: _,
            poll_at: _,
            simulation: _,
        } = payout;
        Ok(Self {
            id: *id,
            object: tag::Payout,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            status: *status,
            amount: *amount,
            currency: *currency,
            fee_amount: *fee_amount,
            total_amount: payout.total_amount()?,
            payment_method: *method,
            network: network.clone(),
            country: *country,
            phone: phone.as_str().into(),
            recipient_name: recipient_name.as_ref().map(|name| name.as_str().into()),
            customer: *customer,
            reference: reference.clone(),
            description: description.clone(),
            metadata: metadata.clone(),
            failure_code: failure.map(Open::Known),
            failure_message: failure.map(|code| code.message().to_owned()),
            created_at: *created_at,
            updated_at: *updated_at,
            processing_at: *processing_at,
            succeeded_at: *succeeded_at,
            failed_at: *failed_at,
        })
    }
}

impl Mask for Payout {
    fn masked(self) -> Self {
        let phone = self.phone.masked_phone();
        let recipient_name = self.recipient_name.as_ref().map(Private::masked_name);
        Self { phone, recipient_name, metadata: Metadata::default(), ..self }
    }
}
