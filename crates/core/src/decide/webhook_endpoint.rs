//! Webhook endpoints: created, modified, deleted, tested (API §16).

use super::draft::{Context, Decision, Draft, touched};
use crate::{
    arithmetic::seal::{Keyring, SealError, Sealed},
    commit::{changeset::Changeset, record::Versioned},
    error::{Error, Fault, Faults, Problem},
    model::{
        delivery::Delivery,
        event::Event,
        webhook_endpoint::{ENDPOINTS_MAX, PreviousSecret, Subscriptions, WebhookEndpoint},
    },
    value::{env::Env, id::EndpointId, secret::Secret},
    wire::{
        self, CreateWebhookEndpoint, ModifyWebhookEndpoint, ReplayPage, TestWebhook,
        report::TOO_MANY_KEYS,
    },
};

/// The subscribers of a scope as they were read; `None` before the first endpoint.
pub type Listeners = Option<Versioned<Subscriptions>>;

/// Creates an endpoint with a fresh secret (API §16.1).
///
/// # Errors
/// [`Problem::EndpointLimitReached`] when there are 16 already.
///
/// ```
/// use cauri_core::{WebhookEndpoint, decide, wire::CreateWebhookEndpoint};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let keys = shop.keys.clone();
/// let ask = CreateWebhookEndpoint::at("https://shop.example.com/hooks".parse()?);
/// let decision = decide::webhook_endpoint::create(ask, None, &keys, &mut shop.context());
/// // The secret is shown once; what is kept of it is sealed.
/// let secret = shop.done(decision).secret.expect("a fresh secret");
/// let kept = shop.last::<WebhookEndpoint>().value;
/// let owner = decide::webhook_endpoint::secret_owner(kept.id);
/// assert_eq!(keys.open(&kept.secret, owner.as_bytes())?, secret.as_str().as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create(
    ask: CreateWebhookEndpoint,
    listeners: Listeners,
    keys: &Keyring,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::WebhookEndpoint>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    let count = listeners.as_ref().map_or(0, |listeners| listeners.value.endpoints.len());
    if count >= ENDPOINTS_MAX {
        let problem = Problem::EndpointLimitReached { max: ENDPOINTS_MAX };
        return Err(Fault::overall(problem).into());
    }
    let now = cx.env.now();
    let id = cx.env.id();
    let (secret, sealed) = fresh_secret(id, keys, cx)?;
    let endpoint = WebhookEndpoint {
        id,
        scope: cx.scope,
        url: ask.url,
        events: ask.events,
        active: ask.active,
        description: ask.description,
        metadata: ask.metadata,
        secret: sealed,
        previous_secret: None,
        created_at: now,
        updated_at: now,
        deleted_at: None,
    };
    let shown = wire::WebhookEndpoint::of(&endpoint, Some(&secret))?;
    let mut draft = Draft::new(cx);
    subscribe(&mut draft, listeners, &endpoint);
    draft.changes.insert(endpoint, None);
    Ok(draft.decided(shown))
}

/// Modifies an endpoint; a rotation answers the new secret (API §16.2).
///
/// # Errors
/// Wrong parameters; metadata of more than 50 keys.
///
/// ```
/// use cauri_core::{WebhookEndpoint, decide, wire::ModifyWebhookEndpoint};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (endpoint, keys) = (shop.endpoint(), shop.keys.clone());
/// let listeners = Some(shop.last());
/// // A new secret; the old one signs beside it for an hour.
/// let ask = ModifyWebhookEndpoint { rotate_secret: Some(3_600), ..Default::default() };
/// let decision =
///     decide::webhook_endpoint::modify(ask, endpoint, listeners, &keys, &mut shop.context());
/// assert!(shop.done(decision).secret.is_some());
/// let previous = shop.last::<WebhookEndpoint>().value.previous_secret;
/// assert_eq!(previous.map(|it| it.expires_at), Some(shop.now().plus_seconds(3_600)));
/// ```
pub fn modify(
    ask: ModifyWebhookEndpoint,
    endpoint: Versioned<WebhookEndpoint>,
    listeners: Listeners,
    keys: &Keyring,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::WebhookEndpoint>, Error> {
    Faults::none(ask.faults(&cx.form()))?;
    let Versioned { value: mut endpoint, version, .. } = endpoint;
    let ModifyWebhookEndpoint { url, events, active, description, metadata, rotate_secret } = ask;
    let now = cx.env.now();
    endpoint.metadata =
        endpoint.metadata.patched(&metadata).map_err(|_| Fault::at("metadata", TOO_MANY_KEYS))?;
    let mut shown_secret = None;
    if let Some(overlap_s) = rotate_secret {
        let (secret, sealed) = fresh_secret(endpoint.id, keys, cx)?;
        let former = std::mem::replace(&mut endpoint.secret, sealed);
        endpoint.previous_secret = (overlap_s > 0).then(|| PreviousSecret {
            secret: former,
            expires_at: now.plus_seconds(i64::from(overlap_s)),
        });
        shown_secret = Some(secret);
    }
    endpoint.url = url.unwrap_or(endpoint.url);
    endpoint.events = events.unwrap_or(endpoint.events);
    endpoint.active = active.unwrap_or(endpoint.active);
    endpoint.description = description.applied(&endpoint.description);
    endpoint.updated_at = touched(endpoint.updated_at, now);
    let shown = wire::WebhookEndpoint::of(&endpoint, shown_secret.as_ref())?;
    let mut draft = Draft::new(cx);
    subscribe(&mut draft, listeners, &endpoint);
    draft.changes.update(endpoint, version, None);
    Ok(draft.decided(shown))
}

/// Deletes an endpoint. Its deliveries that are still pending fail when they are due.
///
/// # Errors
/// [`Error::Overflow`] never, in practice.
///
/// ```
/// use cauri_core::{Subscriptions, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let endpoint = shop.endpoint();
/// let listeners = Some(shop.last());
/// let decision = decide::webhook_endpoint::delete(endpoint, listeners, &mut shop.context());
/// assert!(shop.done(decision).deleted);
/// assert!(shop.last::<Subscriptions>().value.endpoints.is_empty());
/// ```
pub fn delete(
    endpoint: Versioned<WebhookEndpoint>,
    listeners: Listeners,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::DeletedEndpoint>, Error> {
    let Versioned { value: mut endpoint, version, .. } = endpoint;
    let now = cx.env.now();
    endpoint.deleted_at = Some(now);
    endpoint.updated_at = touched(endpoint.updated_at, now);
    let shown = wire::DeletedEndpoint::of(&endpoint)?;
    let mut draft = Draft::new(cx);
    subscribe(&mut draft, listeners, &endpoint);
    draft.changes.update(endpoint, version, None);
    Ok(draft.decided(shown))
}

/// Sends a sample event to one endpoint, subscribed or not (API §16.4).
///
/// # Errors
/// An endpoint that does not exist, or [`Error::WebhookEndpointDisabled`].
///
/// ```
/// use cauri_core::{EventKind, decide, wire::TestWebhook};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let endpoint = shop.endpoint().value;
/// let ask = TestWebhook { endpoint: endpoint.id, event_kind: EventKind::PayoutFailed };
/// let shown = decide::webhook_endpoint::test(ask, Some(&endpoint), &mut shop.context())?.value;
/// assert!(shown.test && shown.event_type == EventKind::PayoutFailed);
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn test(
    ask: TestWebhook,
    endpoint: Option<&WebhookEndpoint>,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::WebhookDelivery>, Error> {
    let Some(endpoint) = endpoint.filter(|endpoint| endpoint.deleted_at.is_none()) else {
        return Err(Error::fault("webhook_endpoint", Problem::Unrelated));
    };
    if !endpoint.active {
        return Err(Error::WebhookEndpointDisabled);
    }
    let now = cx.env.now();
    let scope = cx.scope;
    let object = wire::sample(ask.event_kind, cx.env, scope);
    let id = cx.env.id();
    let payload = wire::event_payload(id, ask.event_kind, now, scope, true, &object);
    let event = Event { id, scope, kind: ask.event_kind, created: now, payload, test: true };
    let delivery = Delivery::new(cx.env.id(), &event, endpoint.id, endpoint.url.clone(), now);
    let shown = wire::WebhookDelivery::of(&delivery)?;
    let mut draft = Draft::new(cx);
    draft.changes.insert(event, None);
    draft.insert_due(delivery, Some(now));
    Ok(draft.decided(shown))
}

/// Sends events once more to one endpoint, as far as it wants their kinds (API §22.3): a new
/// delivery of each, in the order of the events.
///
/// # Errors
/// [`Error::WebhookEndpointDisabled`].
///
/// ```
/// use cauri_core::{WebhookEndpoint, decide, wire::ReplayPage};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (event, _) = shop.delivery();
/// let endpoint = shop.last::<WebhookEndpoint>().value;
/// let (since, until) = (shop.now(), shop.now().plus_seconds(1));
/// let page = ReplayPage { since, until, has_more: false };
/// let events = [event];
/// let shown = decide::webhook_endpoint::replay(&events, &endpoint, &page, &mut shop.context())?;
/// assert_eq!((shown.value.events_count, shown.value.deliveries_count), (1, 1));
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn replay(
    events: &[Event],
    endpoint: &WebhookEndpoint,
    page: &ReplayPage,
    cx: &mut Context<'_>,
) -> Result<Decision<wire::WebhookReplay>, Error> {
    if !endpoint.active {
        return Err(Error::WebhookEndpointDisabled);
    }
    let now = cx.env.now();
    let mut draft = Draft::new(cx);
    let mut deliveries: usize = 0;
    for event in events.iter().filter(|event| endpoint.events.wants(event.kind)) {
        let id = draft.cx.env.id();
        let delivery = Delivery::new(id, event, endpoint.id, endpoint.url.clone(), now);
        // Not held by this process: the events are not new, so that nobody has them at hand.
        draft.changes.insert(delivery, Some(now));
        deliveries = deliveries.saturating_add(1);
    }
    let shown = wire::WebhookReplay::of(endpoint, page, events, deliveries)?;
    Ok(draft.decided(shown))
}

/// Seals an endpoint's secrets with the key that seals today; nothing is to be changed when that
/// key sealed them already. Nothing that the API shows changes.
///
/// # Errors
/// [`SealError`] when a secret cannot be opened with any key of the ring; also one that names the key
/// of today, and was sealed with another of the same id.
///
/// ```
/// use cauri_core::{Keyring, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let endpoint = shop.endpoint();
/// // The key of today comes first; the one that sealed the secret can still open it.
/// let keys = Keyring::new([(2, [8; 32]), (1, [9; 32])])?;
/// let changes = decide::webhook_endpoint::reseal(endpoint, &keys, &mut shop.env)?;
/// assert_eq!(shop.commit(changes.expect("a secret of the former key")), Ok(()));
/// assert!(decide::webhook_endpoint::reseal(shop.last(), &keys, &mut shop.env)?.is_none());
/// # Ok::<(), cauri_core::SealError>(())
/// ```
pub fn reseal(
    endpoint: Versioned<WebhookEndpoint>,
    keys: &Keyring,
    env: &mut Env,
) -> Result<Option<Changeset>, SealError> {
    let Versioned { value: mut endpoint, version, due_at } = endpoint;
    let owner = secret_owner(endpoint.id);
    let mut renewed = false;
    let previous = endpoint.previous_secret.as_mut().map(|previous| &mut previous.secret);
    for sealed in [Some(&mut endpoint.secret), previous].into_iter().flatten() {
        // Whatever its id says: that it opens is what is asked for.
        let secret = keys.open(sealed, owner.as_bytes())?;
        if !keys.is_current(sealed) {
            *sealed = keys.seal(&secret, owner.as_bytes(), env.nonce())?;
            renewed = true;
        }
    }
    let mut changes = Changeset::new();
    changes.update(endpoint, version, due_at);
    Ok(renewed.then_some(changes))
}

/// What a sealed secret of this endpoint is bound to.
///
/// ```
/// use cauri_core::decide::webhook_endpoint::secret_owner;
/// let id = "whe_01jd3w8k4f7q2m9x5r6t0v1b3c".parse()?;
/// assert_eq!(secret_owner(id), "whe_01jd3w8k4f7q2m9x5r6t0v1b3c");
/// # Ok::<(), cauri_core::IdError>(())
/// ```
#[must_use]
pub fn secret_owner(id: EndpointId) -> String {
    id.to_string()
}

fn fresh_secret(
    id: EndpointId,
    keys: &Keyring,
    cx: &mut Context<'_>,
) -> Result<(Secret, Sealed), Error> {
    let secret = cx.env.secret("whsec_");
    let nonce = cx.env.nonce();
    let sealed = keys
        .seal(secret.reveal().as_bytes(), secret_owner(id).as_bytes(), nonce)
        .map_err(|_| Error::Impossible)?;
    Ok((secret, sealed))
}

/// Brings the scope's subscribers up to date with an endpoint.
fn subscribe(draft: &mut Draft<'_, '_>, listeners: Listeners, endpoint: &WebhookEndpoint) {
    let (mut all, version) = match listeners {
        Some(listeners) => (listeners.value, Some(listeners.version)),
        None => (Subscriptions::none(draft.cx.scope), None),
    };
    let place = all.endpoints.iter().position(|known| known.id == endpoint.id);
    match (place, endpoint.deleted_at) {
        (Some(at), None) => {
            if let Some(known) = all.endpoints.get_mut(at) {
                *known = endpoint.subscriber();
            }
        }
        (None, None) => all.endpoints.push(endpoint.subscriber()),
        (Some(at), Some(_)) => {
            all.endpoints.remove(at);
        }
        (None, Some(_)) => {}
    }
    match version {
        Some(version) => draft.changes.update(all, version, None),
        None => draft.changes.insert(all, None),
    }
}
