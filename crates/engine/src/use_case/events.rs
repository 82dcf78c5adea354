//! Events (API §15, §22.1, §22.3).

use cauri_core::{
    EndpointId, Entity as _, Error as Refused, Event, EventId, Fault, Faults, Field, FieldValue,
    Key, List as Listing, Listed, OrderId, Page, PaymentId, PaymentLink, Payout, Problem, Query,
    Record, Refund, ResourceId, Scope, TimelineEntry, Timestamp, Told, Versioned, WebhookEndpoint,
    decide::webhook_endpoint,
    wire::{self, EventBody, List, ReplayEvents, WebhookReplay, event_is_about, query::Events},
};

use super::only;
use crate::{
    call::{Call, Caller, Reply},
    engine::Engine,
    error::Error,
    run::Shape,
    store_ext::StoreExt,
};

/// How many records are asked for by name at once.
const NAMED_MAX: usize = 100;

impl Engine {
    /// `GET /v1/events`. The query is one of `wire::query::events`.
    ///
    /// # Errors
    /// [`crate::PermissionError::SecretKeyRequired`], [`Error::OtherList`], or [`Error::Store`].
    pub async fn events(&self, caller: &Caller, asked: &Events) -> Result<List<EventBody>, Error> {
        caller.may_write()?;
        let query = &asked.query;
        self.case("events", caller.scope, None, async {
            only(Listing::Events(caller.scope), query)?;
            let listed = match asked.resource {
                None => {
                    let Listed { items, total } = self.0.store.list(query).await?;
                    Listed { items: items.into_iter().filter_map(event_of).collect(), total }
                }
                Some(resource) => {
                    let all = self.events_of(caller.scope, resource).await?;
                    page_of(query, all)
                }
            };
            let Listed { items, total } = listed;
            let items = items.iter().map(EventBody::of).collect::<Result<Vec<_>, Refused>>()?;
            Ok(List::of(Listed { items, total }, query.page).map_err(Refused::from)?)
        })
        .await
    }

    /// `GET /v1/events/:id`.
    ///
    /// # Errors
    /// [`crate::PermissionError::SecretKeyRequired`], [`Refused::NotFound`], or [`Error::Store`].
    pub async fn event(&self, caller: &Caller, id: EventId) -> Result<EventBody, Error> {
        caller.may_write()?;
        self.case("event", caller.scope, None, async {
            let found = self.0.store.find::<Event>(Key::Event(caller.scope, id)).await?;
            let found = found.ok_or(Refused::NotFound("event"))?;
            Ok(EventBody::of(&found.value)?)
        })
        .await
    }

    /// `POST /v1/webhooks/:id/replay`: sends events once more to one endpoint.
    ///
    /// # Errors
    /// [`Refused::NotFound`], what API §22.3 names, or [`Error::Store`].
    pub async fn replay_webhooks(
        &self,
        call: &Call,
        id: EndpointId,
        ask: ReplayEvents,
    ) -> Result<Reply<WebhookReplay>, Error> {
        call.caller.may_write()?;
        // Nothing is looked for on behalf of an endpoint that is not there.
        self.webhook_endpoint(&call.caller, id).await?;
        let (events, page) = self.replayed_events(call.caller.scope, &ask).await?;
        let keys = vec![Key::WebhookEndpoint(call.caller.scope, id)];
        let shape =
            Shape { success: cauri_core::Success::Accepted, ..Shape::done("replay_webhooks") };
        self.run(call, shape, keys, |mut loaded, cx| {
            let endpoint = loaded.take::<WebhookEndpoint>(0).map(|it| it.value);
            let endpoint = endpoint.filter(|it| it.deleted_at.is_none());
            let endpoint = endpoint.ok_or(Refused::NotFound("webhook endpoint"))?;
            webhook_endpoint::replay(&events, &endpoint, &page, cx)
        })
        .await
    }

    /// The page of events that a replay is about, oldest first, without those of tests.
    async fn replayed_events(
        &self,
        scope: Scope,
        ask: &ReplayEvents,
    ) -> Result<(Vec<Event>, wire::ReplayPage), Error> {
        let now = self.now();
        let mut page = ask.page(now, false);
        let mut from = ask.since;
        let mut past = None;
        if let Some(after) = ask.after {
            let found = self.0.store.find::<Event>(Key::Event(scope, after)).await?;
            let unrelated = || Refused::from(Faults::from(Fault::at("after", Problem::Unrelated)));
            let created = found.ok_or_else(unrelated)?.value.created;
            from = from.max(created);
            past = Some((created, after));
        }
        let limit = usize::from(ask.limit);
        let mut events = Vec::new();
        let all = Query::all(cauri_core::List::Events(scope));
        self.walk(&all, from, page.until, |event| {
            if !event.test && past.is_none_or(|past| (event.created, event.id) > past) {
                if events.len() == limit {
                    page.has_more = true;
                    return Walk::End;
                }
                events.push(event);
            }
            Walk::On
        })
        .await?;
        Ok((events, page))
    }

    /// Every event about an object. The object itself, or its timeline, knows which there are, so
    /// that no event has to be written into one more index for this.
    async fn events_of(&self, scope: Scope, of: ResourceId) -> Result<Vec<Event>, Error> {
        let store = &self.0.store;
        let told = match of {
            ResourceId::Order(OrderId::Payment(id)) => {
                return self.events_of_payment(scope, id).await;
            }
            ResourceId::Order(OrderId::Payout(id)) => {
                store.find::<Payout>(Key::Payout(scope, id)).await?.map(|it| it.value.told())
            }
            ResourceId::Order(OrderId::Refund(id)) => {
                store.find::<Refund>(Key::Refund(scope, id)).await?.map(|it| it.value.told())
            }
            ResourceId::PaymentLink(id) => {
                let key = Key::PaymentLink(scope, id);
                store.find::<PaymentLink>(key).await?.map(|it| it.value.told())
            }
        };
        let mut events = Vec::new();
        for Told { kind, from, to } in told.unwrap_or_default() {
            let kind = FieldValue::Text(kind.to_string());
            let query = Query::all(cauri_core::List::Events(scope)).with(Field::EventKind, kind);
            self.walk(&query, from, to, |event| {
                if event_is_about(&event, of) {
                    events.push(event);
                    return Walk::End;
                }
                Walk::On
            })
            .await?;
        }
        Ok(events)
    }

    async fn events_of_payment(&self, scope: Scope, id: PaymentId) -> Result<Vec<Event>, Error> {
        let timeline = Query::all(cauri_core::List::Timeline(scope, id));
        let lines: Vec<TimelineEntry> = self.0.store.all(timeline).await?;
        let keys: Vec<Key> =
            lines.iter().filter_map(|line| line.event.map(|id| Key::Event(scope, id))).collect();
        let mut events = Vec::new();
        for keys in keys.chunks(NAMED_MAX) {
            let found = self.0.store.get(keys).await?.into_iter().flatten().filter_map(event_of);
            // The lines of its refunds name events about those.
            let own = ResourceId::Order(OrderId::Payment(id));
            events.extend(found.filter(|event| event_is_about(event, own)));
        }
        Ok(events)
    }

    /// Goes through a list of events from a moment to another, oldest first, in steps that are as
    /// long as there is little to be found: each costs about a page, however long the list is.
    async fn walk(
        &self,
        list: &Query,
        from: Timestamp,
        to: Timestamp,
        mut visit: impl FnMut(Event) -> Walk,
    ) -> Result<(), Error> {
        let page = Page::new(Page::LIMIT_MAX, 0).unwrap_or_default();
        let few = i64::from(page.limit());
        let (mut start, mut span) = (from, 1_i64);
        while start < to {
            let end = start.plus_millis(span).min(to);
            let query =
                Query { created_from: Some(start), created_to: Some(end), page, ..list.clone() };
            let Listed { items, total } = self.0.store.list(&query).await?;
            if total > few && span > 1 {
                span = (span / 4).max(1);
                continue;
            }
            let mut events: Vec<Event> = if total > few {
                self.0.store.all(query).await?
            } else {
                items.into_iter().filter_map(event_of).collect()
            };
            events.sort_by_key(|event| (event.created, event.id));
            events.dedup_by_key(|event| event.id);
            for event in events {
                if visit(event) == Walk::End {
                    return Ok(());
                }
            }
            if total < few / 4 {
                span = span.saturating_mul(4);
            }
            start = end;
        }
        Ok(())
    }
}

/// Is there more to be seen?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    On,
    End,
}

fn event_of(found: Versioned<Record>) -> Option<Event> {
    Event::from_record(found.value)
}

/// The page of these events that a query asks for, newest first.
fn page_of(query: &Query, mut events: Vec<Event>) -> Listed<Event> {
    // Of one object, each event was told later than the one before.
    events.sort_by_key(|event| std::cmp::Reverse((event.created, event.id)));
    events.retain(|event| query.admits(&Record::from(event.clone())));
    let total = i64::try_from(events.len()).unwrap_or(i64::MAX);
    let offset = usize::try_from(query.page.offset()).unwrap_or(usize::MAX);
    let limit = usize::from(query.page.limit());
    Listed { items: events.into_iter().skip(offset).take(limit).collect(), total }
}
