//! Replays: events sent once more to one endpoint (API §22.3).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    field::{self, string},
    form::Form,
    params::Params,
    tag,
};
use crate::{
    error::{Fault, Faults, Problem},
    model::{event::Event, webhook_endpoint::WebhookEndpoint},
    value::{
        id::{EndpointId, EventId},
        money::Overflow,
        page::Page,
        scope::Environment,
        time::Timestamp,
    },
};

/// `POST /v1/webhooks/:id/replay` (API §22.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it; a new field is a new version")]
pub struct ReplayEvents {
    /// Events of this moment or later.
    pub since: Timestamp,
    /// Events before this moment; `None` for all up to now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Events after this one: where the page before ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<EventId>,
    /// How many events at most, 1 to 100.
    pub limit: u8,
}

impl ReplayEvents {
    /// Reads it from a JSON object.
    ///
    /// # Errors
    /// Everything that is wrong with it, in field order.
    ///
    /// ```
    /// # use cauri_core::{Catalogue, Environment, Timestamp};
    /// use cauri_core::wire;
    /// # let (environment, catalogue) = (Environment::Sandbox, &Catalogue::sandbox());
    /// # let form = wire::Form { environment, catalogue, now: Timestamp::EPOCH.plus_seconds(9) };
    /// let body = wire::parse_object(br#"{"since":"1970-01-01T00:00:05Z"}"#)?;
    /// let read = wire::ReplayEvents::read(&body, &form).unwrap();
    /// assert_eq!((read.since.millis(), read.limit), (5_000, 100));
    /// let body = wire::parse_object(br#"{"since":"1970-01-01T00:00:10Z"}"#)?;
    /// let faults = wire::ReplayEvents::read(&body, &form).unwrap_err();
    /// assert_eq!(faults.to_string(), "since must not be in the future.");
    /// # Ok::<(), wire::JsonError>(())
    /// ```
    pub fn read(body: &Map<String, Value>, form: &Form<'_>) -> Result<Self, Faults> {
        let mut params = Params::creation(body);
        let since = params.required("since", string(field::date));
        let until = params.optional("until", string(field::date));
        let after = params.optional("after", string(field::id));
        let limit = params.optional("limit", field::integer(1..=u32::from(Page::LIMIT_MAX)));
        params.agree(agreement(since, until, form.now));
        // What is out of its range was reported.
        let limit = limit.and_then(|limit| u8::try_from(limit).ok()).unwrap_or(Page::LIMIT_MAX);
        params.finish(since.map(|since| Self { since, until, after, limit }))
    }

    /// What is wrong with it, in field order: for whoever builds it instead of reading it.
    ///
    /// ```
    /// use cauri_core::wire::ReplayEvents;
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let shop = Shop::open();
    /// let ask = ReplayEvents { since: shop.now(), until: None, after: None, limit: 101 };
    /// let fault = &ask.faults(&shop.form())[0];
    /// assert_eq!(fault.to_string(), "limit must be an integer from 1 to 100.");
    /// ```
    #[must_use]
    pub fn faults(&self, form: &Form<'_>) -> Vec<Fault> {
        let mut faults = agreement(Some(self.since), self.until, form.now);
        if !(1..=Page::LIMIT_MAX).contains(&self.limit) {
            faults.push(Fault::at("limit", Problem::invalid("must be an integer from 1 to 100")));
        }
        faults
    }

    /// The part of the list of events that is replayed, at a moment.
    ///
    /// ```
    /// use cauri_core::{Timestamp, wire::ReplayEvents};
    /// let now = Timestamp::from_millis(1_731_974_400_000);
    /// let ask = ReplayEvents { since: Timestamp::EPOCH, until: None, after: None, limit: 100 };
    /// assert_eq!(ask.page(now, false).until, now.plus_millis(1)); // what is told now is among them
    /// ```
    #[must_use]
    pub fn page(&self, now: Timestamp, has_more: bool) -> ReplayPage {
        // An event may be told a moment ahead of the clock (API §19.5).
        let until = self.until.unwrap_or(now.plus_millis(1));
        ReplayPage { since: self.since, until, has_more }
    }
}

fn agreement(since: Option<Timestamp>, until: Option<Timestamp>, now: Timestamp) -> Vec<Fault> {
    let Some(since) = since else { return Vec::new() };
    if since > now {
        return vec![Fault::at("since", Problem::invalid("must not be in the future"))];
    }
    if until.is_some_and(|until| until <= since) {
        return vec![Fault::at("until", Problem::invalid("must be later than since"))];
    }
    Vec::new()
}

/// The part of the list of events that is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the engine and tests build it")]
pub struct ReplayPage {
    /// From then on.
    pub since: Timestamp,
    /// Up to then, exclusively.
    pub until: Timestamp,
    /// Are there events after this page?
    pub has_more: bool,
}

/// What a replay did (API §22.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebhookReplay {
    /// `webhook_replay`.
    pub object: tag::WebhookReplay,
    /// Sandbox or live.
    pub environment: Environment,
    /// Is it real?
    pub livemode: bool,
    /// Where to.
    pub webhook_endpoint: EndpointId,
    /// Events of then or later.
    pub since: Timestamp,
    /// Events before then.
    pub until: Timestamp,
    /// How many events were looked at.
    pub events_count: i64,
    /// For how many of them a delivery was made: those of kinds that the endpoint wants.
    pub deliveries_count: i64,
    /// The last of them, to go on after; null when there was none.
    pub last_event: Option<EventId>,
    /// Are there more after it?
    pub has_more: bool,
}

impl WebhookReplay {
    /// What is shown of a replay of these events.
    ///
    /// # Errors
    /// [`Overflow`] when there are more than can be counted.
    ///
    /// ```
    /// use cauri_core::{WebhookEndpoint, wire::{ReplayPage, WebhookReplay}};
    /// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
    /// # use shop::Shop;
    /// let mut shop = Shop::open();
    /// let (event, _) = shop.delivery();
    /// let endpoint = shop.last::<WebhookEndpoint>().value;
    /// let (since, until) = (shop.now(), shop.now().plus_seconds(1));
    /// let page = ReplayPage { since, until, has_more: true };
    /// let shown = WebhookReplay::of(&endpoint, &page, std::slice::from_ref(&event), 1)?;
    /// assert_eq!((shown.last_event, shown.has_more), (Some(event.id), true)); // where to go on
    /// # Ok::<(), cauri_core::Overflow>(())
    /// ```
    pub fn of(
        endpoint: &WebhookEndpoint,
        page: &ReplayPage,
        events: &[Event],
        deliveries: usize,
    ) -> Result<Self, Overflow> {
        let ReplayPage { since, until, has_more } = *page;
        let count = |number: usize| i64::try_from(number).map_err(|_| Overflow);
        Ok(Self {
            object: tag::WebhookReplay,
            environment: endpoint.scope.environment,
            livemode: endpoint.scope.environment.is_live(),
            webhook_endpoint: endpoint.id,
            since,
            until,
            events_count: count(events.len())?,
            deliveries_count: count(deliveries)?,
            last_event: events.last().map(|event| event.id),
            has_more,
        })
    }
}
