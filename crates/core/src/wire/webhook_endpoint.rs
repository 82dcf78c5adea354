//! Webhook endpoints as they travel (API §16.1).

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{
    field::{self, string},
    form::Form,
    params::{Params, without_repeats},
    private::Private,
    report::Report,
    tag,
};
use crate::{
    error::{Fault, Faults, Problem},
    model::{
        event::EventKind,
        webhook_endpoint::{self as model, Subscription},
    },
    value::{
        id::EndpointId,
        metadata::{Metadata, MetadataPatch},
        money::Overflow,
        patch::Patch,
        scope::Environment,
        secret::Secret,
        text::Text,
        time::Timestamp,
        web_url::WebUrl,
    },
};

/// `POST /v1/webhooks` (API §16.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct CreateWebhookEndpoint {
    /// Where events are sent; without user info and fragment.
    pub url: WebUrl,
    /// Which events.
    pub events: Subscription,
    /// Is anything sent from the start?
    pub active: bool,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<255>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

/// `POST /v1/webhooks/:id` (API §16.1).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct ModifyWebhookEndpoint {
    /// Where events are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<WebUrl>,
    /// Which events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Subscription>,
    /// Is anything sent?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// For people.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub description: Patch<Text<255>>,
    /// For the merchant.
    #[serde(skip_serializing_if = "MetadataPatch::is_keep")]
    pub metadata: MetadataPatch,
    /// Seconds for which the present secret still signs beside a new one, 0 to 86,400; `None`
    /// keeps the secret.
    #[serde(flatten, serialize_with = "write_rotation")]
    pub rotate_secret: Option<u32>,
}

/// For how many seconds a secret may sign beside the one that replaced it.
const OVERLAP: RangeInclusive<u32> = 0..=86_400;

impl CreateWebhookEndpoint {
    /// An active endpoint for every event, described by nothing: for whoever builds it.
    ///
    /// ```
    /// use cauri_core::{Subscription, wire::CreateWebhookEndpoint};
    /// let ask = CreateWebhookEndpoint::at("https://shop.example/hooks".parse()?);
    /// assert!(ask.active && ask.events == Subscription::All);
    /// # Ok::<(), cauri_core::WebUrlError>(())
    /// ```
    #[must_use]
    pub fn at(url: WebUrl) -> Self {
        Self {
            url,
            events: Subscription::All,
            active: true,
            description: None,
            metadata: Metadata::default(),
        }
    }

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
    /// let body = br#"{"url":"https://a.example/","events":["payment.*"]}"#;
    /// let body = wire::parse_object(body)?;
    /// let faults = wire::CreateWebhookEndpoint::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "events[0] is not a kind of event.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let url = params.required("url", string(|text| form.webhook_url(text)));
        let events = read_events(&mut params);
        let active = params.optional("active", field::boolean);
        let description = params.optional("description", string(field::text));
        let metadata = params.metadata();
        params.finish(url.map(|url| Self {
            url,
            events: events.unwrap_or(Subscription::All),
            active: active.unwrap_or(true),
            description,
            metadata,
        }))
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::wire::CreateWebhookEndpoint;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let ask = CreateWebhookEndpoint::at("https://user@shop.example.com/hooks".parse()?);
    /// let fault = &ask.faults(&shop.form())[0];
    /// assert_eq!(fault.to_string(), "url must have neither user info nor a fragment.");
    /// # Ok::<(), cauri_core::WebUrlError>(())
    /// ```
    #[must_use]
    pub fn faults(&self, form: &Form<'_>) -> Vec<Fault> {
        let mut report = Report::default();
        report.check("url", Some(&self.url), |url| form.check_webhook_url(url));
        report.check("events", Some(&self.events), check_events);
        report.metadata(&self.metadata);
        report.into_faults()
    }
}

fn read_events(params: &mut Params<'_>) -> Option<Subscription> {
    let kinds = params.list("events", |word| match word {
        "*" => Ok(None),
        word => word.parse().map(Some).map_err(|_| Problem::EventKindUnknown),
    })?;
    // One `*` among them is all of them.
    let kinds: Option<Vec<EventKind>> = kinds.into_iter().collect();
    Some(kinds.map(without_repeats).map_or(Subscription::All, Subscription::Kinds))
}

/// A rotation is two parameters, and nothing where there is none.
fn write_rotation<S: Serializer>(overlap: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Rotation {
        rotate_secret: bool,
        previous_secret_expires_in: u32,
    }
    overlap
        .map(|seconds| Rotation { rotate_secret: true, previous_secret_expires_in: seconds })
        .serialize(serializer)
}

fn check_events(events: &Subscription) -> Result<(), Problem> {
    match events {
        Subscription::Kinds(kinds)
            if kinds.is_empty() || without_repeats(kinds.clone()).len() < kinds.len() =>
        {
            Err(Problem::invalid("must be an array with at least one item and none twice"))
        }
        Subscription::Kinds(_) | Subscription::All => Ok(()),
    }
}

impl ModifyWebhookEndpoint {
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
    /// let body = wire::parse_object(br#"{"rotate_secret":true}"#)?;
    /// let read = wire::ModifyWebhookEndpoint::read(&body, &form).unwrap();
    /// assert_eq!(read.rotate_secret, Some(0));
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::modification(body);
        let url = params.optional("url", string(|text| form.webhook_url(text)));
        let events = read_events(&mut params);
        let active = params.optional("active", field::boolean);
        let description = params.patch("description", string(field::text));
        let metadata = params.metadata_patch();
        let rotate = params.optional("rotate_secret", field::boolean);
        let overlap = params.optional("previous_secret_expires_in", field::integer(OVERLAP));
        let kept = rotate != Some(true) && !params.is_faulty("rotate_secret");
        if kept && params.has("previous_secret_expires_in") {
            let problem = Problem::invalid("needs rotate_secret to be true");
            params.agree(vec![Fault::at("previous_secret_expires_in", problem)]);
        }
        let rotate_secret = (rotate == Some(true)).then(|| overlap.unwrap_or(0));
        let endpoint = Self { url, events, active, description, metadata, rotate_secret };
        params.finish(Some(endpoint))
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::{Subscription, wire::ModifyWebhookEndpoint};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let nothing = Some(Subscription::Kinds(Default::default()));
    /// let ask = ModifyWebhookEndpoint { events: nothing, ..Default::default() };
    /// let fault = &ask.faults(&shop.form())[0];
    /// let expected = "events must be an array with at least one item and none twice.";
    /// assert_eq!(fault.to_string(), expected);
    /// ```
    #[must_use]
    pub fn faults(&self, form: &Form<'_>) -> Vec<Fault> {
        let mut report = Report::default();
        report.check("url", self.url.as_ref(), |url| form.check_webhook_url(url));
        report.check("events", self.events.as_ref(), check_events);
        report.metadata_patch(&self.metadata);
        let overlap = |it| field::within(&OVERLAP, it);
        report.check("previous_secret_expires_in", self.rotate_secret, overlap);
        report.into_faults()
    }
}

/// A webhook endpoint (API §16.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebhookEndpoint {
    /// Its id.
    pub id: EndpointId,
    /// `webhook_endpoint`.
    pub object: tag::WebhookEndpoint,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where events are sent.
    pub url: WebUrl,
    /// Which events: kinds, or `*` alone.
    pub events: Vec<String>,
    /// Is anything sent?
    pub active: bool,
    /// For people.
    pub description: Option<Text<255>>,
    /// For the merchant.
    pub metadata: Metadata,
    /// What signs; only in the answer to a creation or a rotation, else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Private>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl WebhookEndpoint {
    /// What is shown of an endpoint, with its secret when it is new.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::wire::WebhookEndpoint;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let endpoint = Shop::open().endpoint().value;
    /// let shown = serde_json::to_value(WebhookEndpoint::of(&endpoint, None)?)?;
    /// assert_eq!(shown["events"], serde_json::json!(["*"]));
    /// assert!(shown.get("secret").is_none()); // only where it is new
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(
        endpoint: &model::WebhookEndpoint,
        secret: Option<&Secret>,
    ) -> Result<Self, Overflow> {
        let model::WebhookEndpoint {
            id,
            scope,
            url,
            events,
            active,
            description,
            metadata,
            secret: _,
            previous_secret: _,
            created_at,
            updated_at,
            deleted_at: _,
        } = endpoint;
        Ok(Self {
            id: *id,
            object: tag::WebhookEndpoint,
            environment: scope.environment,
            livemode: scope.environment.is_live(),
            url: url.clone(),
            events: events.words().into_iter().map(str::to_owned).collect(),
            active: *active,
            description: description.clone(),
            metadata: metadata.clone(),
            secret: secret.map(|secret| secret.reveal().into()),
            created_at: *created_at,
            updated_at: *updated_at,
        })
    }
}

/// The answer to the deletion of an endpoint (API §16.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeletedEndpoint {
    /// Its id.
    pub id: EndpointId,
    /// `webhook_endpoint`.
    pub object: tag::WebhookEndpoint,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// True.
    pub deleted: bool,
}

impl DeletedEndpoint {
    /// What is shown of an endpoint that was deleted.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::wire::DeletedEndpoint;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let endpoint = Shop::open().endpoint().value;
    /// assert!(DeletedEndpoint::of(&endpoint)?.deleted);
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub const fn of(endpoint: &model::WebhookEndpoint) -> Result<Self, Overflow> {
        Ok(Self {
            id: endpoint.id,
            object: tag::WebhookEndpoint,
            environment: endpoint.scope.environment,
            livemode: endpoint.scope.environment.is_live(),
            deleted: true,
        })
    }
}
