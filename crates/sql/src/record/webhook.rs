//! Webhook endpoints and the subscribers of a scope.

use std::borrow::Cow;

use cauri_core::{
    EndpointId, EventKind, Metadata, PreviousSecret, Scope, Sealed, Subscriber, Subscription,
    Subscriptions, Text, Timestamp, WebUrl, WebhookEndpoint,
};
use serde::{Deserialize, Serialize};

use super::mapped;
use crate::{
    cell::{Cell, Kind},
    codec::{Codec, Scalar, Shape, from_json, json},
    row::{Reader, RowError, RowReader, Wrong},
};

const ALL: &str = "*";

fn subscription(words: &[Cow<'_, str>]) -> Result<Subscription, Wrong> {
    match words {
        [] => Err("no kind of event".into()),
        [word] if word == ALL => Ok(Subscription::All),
        words => {
            let kinds: Result<Vec<EventKind>, _> = words.iter().map(|word| word.parse()).collect();
            Ok(Subscription::Kinds(kinds?))
        }
    }
}

impl Scalar for Subscription {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        json(&self.words())
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        subscription(&from_json::<Vec<Cow<'_, str>>>(&cell)?)
    }
}

impl Codec for Option<PreviousSecret> {
    const SHAPE: Shape = &[(Kind::Bytes, true), (Kind::Int, true)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend(match self {
            None => [Cell::Null, Cell::Null],
            Some(PreviousSecret { secret, expires_at }) => [secret.cell(), expires_at.cell()],
        });
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        let secret = reader.take::<Option<Sealed>>()?;
        let (expires_at, place) = reader.cell()?;
        match (secret, expires_at) {
            (None, Cell::Null) => Ok(None),
            (Some(secret), at) => Timestamp::read(at)
                .map(|expires_at| Some(PreviousSecret { secret, expires_at }))
                .map_err(|wrong| place.wrong(wrong)),
            (None, _) => Err(place.wrong("a moment without a secret")),
        }
    }
}

mapped! { WebhookEndpoint {
    scope: Scope => "account" "live";
    id: EndpointId => "id";
    url: WebUrl => "url";
    events: Subscription => "events";
    active: bool => "active";
    description: Option<Text<255>> => "description";
    metadata: Metadata => "metadata";
    secret: Sealed => "secret";
    previous_secret: Option<PreviousSecret> => "previous_secret" "previous_secret_expires_at";
    created_at: Timestamp => "created_at";
    updated_at: Timestamp => "updated_at";
    deleted_at: Option<Timestamp> => "deleted_at";
}}

/// A subscriber in the JSON of its scope.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    id: EndpointId,
    url: WebUrl,
    #[serde(borrow)]
    events: Vec<Cow<'a, str>>,
    active: bool,
}

impl Scalar for Vec<Subscriber> {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        let line = |it: &Subscriber| {
            let Subscriber { id, url, events, active } = it;
            let events = events.words().into_iter().map(Cow::Borrowed).collect();
            Line { id: *id, url: url.clone(), events, active: *active }
        };
        json(&self.iter().map(line).collect::<Vec<_>>())
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        let Cell::Text(text) = cell else { return Err("not a text".into()) };
        let lines: Vec<Line<'_>> =
            serde_json::from_str(&text).map_err(|_| "not a list of subscribers")?;
        lines
            .into_iter()
            .map(|Line { id, url, events, active }| {
                Ok(Subscriber { id, url, events: subscription(&events)?, active })
            })
            .collect()
    }
}

mapped! { Subscriptions {
    scope: Scope => "account" "live";
    endpoints: Vec<Subscriber> => "endpoints";
}}
