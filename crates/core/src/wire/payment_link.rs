//! Payment links as they travel (API §12).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    field::{self, string},
    form::{Form, set},
    params::{Params, without_repeats},
    private::Mask,
    report::Report,
    tag,
};
use crate::{
    error::{Fault, Faults, Problem},
    model::payment_link as model,
    value::{
        country::Country,
        currency::Currency,
        id::PaymentLinkId,
        metadata::{Metadata, MetadataPatch},
        method::PaymentMethod,
        money::{Amount, Overflow},
        patch::Patch,
        scope::Environment,
        text::Text,
        time::Timestamp,
        web_url::WebUrl,
    },
};

/// `POST /v1/payment-links` (API §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreatePaymentLink {
    /// For the payer.
    pub title: Text<100>,
    /// In which currency.
    pub currency: Currency,
    /// Where the payer is.
    pub country: Country,
    /// What is to be paid; `None` when the payer chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// For the payer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<255>>,
    /// By which methods; `None` means by all. Never empty, without repeats.
    #[serde(rename = "payment_methods", skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<PaymentMethod>>,
    /// May it be paid more than once?
    pub reusable: bool,
    /// Until when; in the future, at most a year ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Where the payer is sent afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_url: Option<WebUrl>,
    /// The merchant's own name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Text<100>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// May payments be made through it from the start?
    pub active: bool,
}

/// `POST /v1/payment-links/:id` (API §12).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct ModifyPaymentLink {
    /// For the payer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<100>>,
    /// For the payer.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub description: Patch<Text<255>>,
    /// May payments be made through it?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// What is to be paid.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub amount: Patch<Amount>,
    /// Until when.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub expires_at: Patch<Timestamp>,
    /// Where the payer is sent afterwards.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub return_url: Patch<WebUrl>,
    /// The merchant's own name for it.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub reference: Patch<Text<100>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "MetadataPatch::is_keep")]
    pub metadata: MetadataPatch,
}

impl CreatePaymentLink {
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
    /// let body = br#"{"title":"Invoice 42","currency":"XOF","country":"CI"}"#;
    /// let body = wire::parse_object(body)?;
    /// let read = wire::CreatePaymentLink::read(&body, &form).unwrap();
    /// assert_eq!(read.active, true);
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let title = params.required("title", string(field::text));
        let currency = params.required("currency", string(field::currency));
        let country = params.required("country", string(field::country));
        let amount = params.optional("amount", field::amount);
        let description = params.optional("description", string(field::text));
        let methods = params.list("payment_methods", field::word(PaymentMethod::ALL));
        let reusable = params.optional("reusable", field::boolean);
        let expires_at = params.optional("expires_at", string(|text| form.expiry(text)));
        let return_url = params.optional("return_url", string(|text| form.return_url(text)));
        let reference = params.optional("reference", string(field::text));
        let metadata = params.metadata();
        let active = params.optional("active", field::boolean);
        let link = || {
            Some(Self {
                title: title?,
                currency: currency?,
                country: country?,
                amount,
                description,
                methods: methods.map(without_repeats),
                reusable: reusable.unwrap_or(false),
                expires_at,
                return_url,
                reference,
                metadata,
                active: active.unwrap_or(true),
            })
        };
        params.finish(link())
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::wire::CreatePaymentLink;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let past = Some(shop.now());
    /// let ask = CreatePaymentLink { expires_at: past, ..Shop::ask_link(5_000) };
    /// let fault = &ask.faults(&shop.form())[0];
    /// assert_eq!(fault.to_string(), "expires_at must be in the future, at most one year ahead.");
    /// ```
    #[must_use]
    pub fn faults(&self, form: &Form<'_>) -> Vec<Fault> {
        let mut report = Report::default();
        report.check("amount", self.amount, field::in_range);
        report.check("payment_methods", self.methods.as_deref(), check_methods);
        report.check("expires_at", self.expires_at, |at| form.check_expiry(at));
        report.check("return_url", self.return_url.as_ref(), |url| form.check_return_url(url));
        report.metadata(&self.metadata);
        report.into_faults()
    }
}

fn check_methods(methods: &[PaymentMethod]) -> Result<(), Problem> {
    if methods.is_empty() || without_repeats(methods.to_vec()).len() < methods.len() {
        return Err(Problem::invalid("must have at least one item and none twice"));
    }
    Ok(())
}

impl ModifyPaymentLink {
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
    /// let body = wire::parse_object(br#"{"currency":"XAF"}"#)?;
    /// let faults = wire::ModifyPaymentLink::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "currency cannot be changed.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::modification(body);
        let link = Self {
            title: params.optional("title", string(field::text)),
            description: params.patch("description", string(field::text)),
            active: params.optional("active", field::boolean),
            expires_at: params.patch("expires_at", string(|text| form.expiry(text))),
            return_url: params.patch("return_url", string(|text| form.return_url(text))),
            reference: params.patch("reference", string(field::text)),
            metadata: params.metadata_patch(),
            amount: params.patch("amount", field::amount),
        };
        for field in ["currency", "country", "reusable", "payment_methods"] {
            params.immutable(field);
        }
        params.finish(Some(link))
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::{Amount, Patch, wire::ModifyPaymentLink};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let ask = ModifyPaymentLink { amount: Patch::Set(Amount::new(-1)), ..Default::default() };
    /// assert_eq!(ask.faults(&shop.form())[0].param.as_deref(), Some("amount"));
    /// ```
    #[must_use]
    pub fn faults(&self, form: &Form<'_>) -> Vec<Fault> {
        let mut report = Report::default();
        report.check("expires_at", set(&self.expires_at), |at| form.check_expiry(*at));
        report.check("return_url", set(&self.return_url), |url| form.check_return_url(url));
        report.metadata_patch(&self.metadata);
        report.check("amount", set(&self.amount), |amount| field::in_range(*amount));
        report.into_faults()
    }
}

/// A payment link (API §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentLink {
    /// Its id.
    pub id: PaymentLinkId,
    /// `payment_link`.
    pub object: tag::PaymentLink,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where it stands.
    pub status: model::PaymentLinkStatus,
    /// May payments be made through it?
    pub active: bool,
    /// Where the payer goes.
    pub url: String,
    /// For the payer.
    pub title: Text<100>,
    /// For the payer.
    pub description: Option<Text<255>>,
    /// What is to be paid.
    pub amount: Option<Amount>,
    /// In which currency.
    pub currency: Currency,
    /// Where the payer is.
    pub country: Country,
    /// By which methods; null means by all.
    pub payment_methods: Option<Vec<PaymentMethod>>,
    /// May it be paid more than once?
    pub reusable: bool,
    /// Until when payments may be made through it.
    pub expires_at: Option<Timestamp>,
    /// Where the payer is sent afterwards.
    pub return_url: Option<WebUrl>,
    /// The merchant's own name for it.
    pub reference: Option<Text<100>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// How many payments were made through it.
    pub payments_count: i64,
    /// How many of them ever succeeded.
    pub succeeded_payments_count: i64,
    /// The sum of those that ever succeeded.
    pub collected_amount: Amount,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl PaymentLink {
    /// What is shown of a payment link.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::wire::PaymentLink;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let link = Shop::open().link(5_000).value;
    /// let shown = PaymentLink::of(&link)?;
    /// assert_eq!((shown.url, shown.payments_count), (link.url, 0));
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub fn of(link: &model::PaymentLink) -> Result<Self, Overflow> {
        let model::PaymentLink {
            id,
            scope,
            status,
            active,
            url,
            title,
            description,
            amount,
            currency,
            country,
            methods,
            reusable,
            expires_at,
            return_url,
            reference,
            metadata,
            payments_count,
            open_payments_count: _,
            succeeded_payments_count,
            collected_amount,
            paid_at,
            created_at,
            updated_at,
        } = link;
        Ok(Self {
            id: *id,
            object: tag::PaymentLink,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            status: *status,
            active: *active,
            url: url.clone(),
            title: title.clone(),
            description: description.clone(),
            amount: *amount,
            currency: *currency,
            country: *country,
            payment_methods: methods.clone(),
            reusable: *reusable,
            expires_at: *expires_at,
            return_url: return_url.clone(),
            reference: reference.clone(),
            metadata: metadata.clone(),
            payments_count: *payments_count,
            succeeded_payments_count: *succeeded_payments_count,
            collected_amount: *collected_amount,
            paid_at: *paid_at,
            created_at: *created_at,
            updated_at: *updated_at,
        })
    }
}

impl Mask for PaymentLink {
    fn masked(self) -> Self {
        Self { metadata: Metadata::default(), ..self }
    }
}
