//! Deliveries: what an attempt means for the next one (API §16.3).

use super::draft::{Context, Decision};
use crate::{
    arithmetic::retry,
    commit::{changeset::Changeset, record::Versioned},
    error::Error,
    model::{
        delivery::{AttemptError, AttemptRecord, Delivery, DeliveryStatus, DeliveryStep},
        webhook_endpoint::WebhookEndpoint,
    },
    value::{time::Timestamp, web_url::WebUrl},
    wire,
};

/// Records an attempt: done, to be tried again, or given up after the sixth. The update is refused
/// when the lease was lost meanwhile, since the delivery is then at another version.
///
/// ```
/// # use cauri_core::{decide, *};
/// # let now = Timestamp::EPOCH;
/// # let mut env = Env::new(now, Tick::first(now), [0; 32]);
/// # let scope = Scope { account: env.id(), environment: Environment::Sandbox };
/// # let url: WebUrl = "https://shop.example.com/hooks".parse()?;
/// # let delivery = Delivery {
/// #     id: env.id(), scope, endpoint: env.id(), event: env.id(),
/// #     event_kind: EventKind::PaymentCreated, url: url.clone(), status: DeliveryStatus::Pending,
/// #     attempts: vec![], next_attempt_at: Some(now), ended_by: None, test: false,
/// #     created_at: now, completed_at: None,
/// # };
/// # let held = Versioned { value: delivery, version: 1, due_at: Some(now) };
/// let (delivery, _) = decide::delivery::attempted(held, url, now, Ok(500), 92);
/// assert_eq!(delivery.next_attempt_at, Some(now.plus_millis(92).plus_seconds(5)));
/// # Ok::<(), WebUrlError>(())
/// ```
#[must_use]
pub fn attempted(
    delivery: Versioned<Delivery>,
    url: WebUrl,
    started_at: Timestamp,
    outcome: Result<u16, AttemptError>,
    duration_ms: u32,
) -> (Delivery, Changeset) {
    let Versioned { value: mut delivery, version, .. } = delivery;
    let number = delivery.next_number();
    let (http_status, error) = match outcome {
        Ok(status) if (200..300).contains(&status) => (Some(status), None),
        Ok(status) => (Some(status), Some(AttemptError::Non2xx)),
        Err(error) => (None, Some(error)),
    };
    let attempt = AttemptRecord { number, started_at, http_status, duration_ms, error };
    let ended_at = attempt.ended_at();
    delivery.url = url;
    delivery.attempts.push(attempt);
    let (step, next) = match (error, retry::delay_after(number)) {
        (None, _) => (DeliveryStep::Receive, None),
        (Some(_), Some(delay)) => (DeliveryStep::Miss, Some(ended_at.plus_millis(delay))),
        (Some(_), None) => (DeliveryStep::GiveUp, None),
    };
    close(&mut delivery, step, next, ended_at);
    let mut changes = Changeset::new();
    changes.update(delivery.clone(), version, next);
    (delivery, changes)
}

/// Gives a delivery up without an attempt, because its endpoint is gone or inactive.
///
/// ```
/// use cauri_core::{AttemptError, DeliveryStatus, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (_, delivery) = shop.delivery();
/// let why = AttemptError::EndpointDeleted;
/// let (delivery, _) = decide::delivery::abandoned(delivery, why, shop.now());
/// assert_eq!((delivery.status, delivery.ended_by), (DeliveryStatus::Failed, Some(why)));
/// assert!(delivery.attempts.is_empty());
/// ```
#[must_use]
pub fn abandoned(
    delivery: Versioned<Delivery>,
    why: AttemptError,
    now: Timestamp,
) -> (Delivery, Changeset) {
    let Versioned { value: mut delivery, version, .. } = delivery;
    delivery.ended_by = Some(why);
    close(&mut delivery, DeliveryStep::GiveUp, None, now);
    let mut changes = Changeset::new();
    changes.update(delivery.clone(), version, None);
    (delivery, changes)
}

/// The shortest and the longest that a delivery is put off, in milliseconds.
const PUT_OFF_MS: (i64, i64) = (60_000, 15 * 60_000);

/// Puts a delivery off without an attempt, because this installation cannot sign for its endpoint:
/// no fault of the receiver's, which still gets every attempt that it is promised. It is tried again
/// after as long as it has waited already, at least a minute and at most a quarter of an hour.
///
/// ```
/// use cauri_core::{DeliveryStatus, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (_, delivery) = shop.delivery();
/// let (delivery, _) = decide::delivery::put_off(delivery, shop.now());
/// assert_eq!((delivery.status, delivery.attempts.len()), (DeliveryStatus::Pending, 0));
/// assert_eq!(delivery.next_attempt_at, Some(shop.now().plus_seconds(60)));
/// ```
#[must_use]
pub fn put_off(delivery: Versioned<Delivery>, now: Timestamp) -> (Delivery, Changeset) {
    let Versioned { value: mut delivery, version, .. } = delivery;
    let (least, most) = PUT_OFF_MS;
    let next = Some(now.plus_millis(now.since(delivery.created_at).clamp(least, most)));
    delivery.next_attempt_at = next;
    let mut changes = Changeset::new();
    changes.update(delivery.clone(), version, next);
    (delivery, changes)
}

/// Has a delivery attempted once more, now, whatever became of it (API §22.2). One that is under
/// way, or due already, is left alone: what was asked for is about to happen.
///
/// # Errors
/// [`Error::WebhookEndpointDisabled`] when its endpoint is gone or inactive,
/// [`Error::WebhookDeliveryNotRetryable`] after [`retry::ATTEMPTS_KEPT_MAX`] attempts.
///
/// ```
/// use cauri_core::{Error, WebhookEndpoint, decide};
/// # mod shop { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shop/mod.rs")); }
/// # use shop::Shop;
/// let mut shop = Shop::open();
/// let (_, delivery) = shop.delivery();
/// let (url, now) = (delivery.value.url.clone(), shop.now());
/// let (_, changes) = decide::delivery::attempted(delivery, url, now, Ok(500), 92);
/// assert_eq!(shop.commit(changes), Ok(()));
/// // It would be tried again in five seconds; the merchant has mended the receiver already.
/// let (delivery, endpoint) = (shop.last(), shop.last::<WebhookEndpoint>().value);
/// let shown = decide::delivery::retry(delivery, Some(&endpoint), &shop.context())?.value;
/// assert_eq!(shown.next_attempt_at, Some(now));
/// // An endpoint that is gone gets nothing any more.
/// let refused = decide::delivery::retry(shop.last(), None, &shop.context());
/// assert_eq!(refused.unwrap_err(), Error::WebhookEndpointDisabled);
/// # Ok::<(), cauri_core::Error>(())
/// ```
pub fn retry(
    delivery: Versioned<Delivery>,
    endpoint: Option<&WebhookEndpoint>,
    cx: &Context<'_>,
) -> Result<Decision<wire::WebhookDelivery>, Error> {
    let Versioned { value: mut delivery, version, due_at } = delivery;
    if !endpoint.is_some_and(|it| it.active && it.deleted_at.is_none()) {
        return Err(Error::WebhookEndpointDisabled);
    }
    let now = cx.env.now();
    let mut changes = Changeset::new();
    // Whoever holds a delivery has moved `due_at` to the end of the lease.
    let held = due_at != delivery.next_attempt_at;
    let due = delivery.next_attempt_at.is_some_and(|at| at <= now);
    if delivery.status != DeliveryStatus::Pending || !(held || due) {
        if delivery.next_number() > retry::ATTEMPTS_KEPT_MAX {
            return Err(Error::WebhookDeliveryNotRetryable(retry::ATTEMPTS_KEPT_MAX));
        }
        let step = delivery.status.after(DeliveryStep::Retry);
        delivery.status = step.map_err(|_| Error::Impossible)?;
        delivery.next_attempt_at = Some(now);
        delivery.ended_by = None;
        delivery.completed_at = None;
        changes.update(delivery.clone(), version, Some(now));
    }
    let shown = wire::WebhookDelivery::of(&delivery)?;
    Ok(Decision { value: shown, changes, if_short: None })
}

fn close(delivery: &mut Delivery, step: DeliveryStep, next: Option<Timestamp>, at: Timestamp) {
    // A delivery that has ended is never due, so the table has the row; one that has ended all the
    // same stays as it is.
    delivery.status = delivery.status.after(step).unwrap_or(delivery.status);
    delivery.next_attempt_at = next;
    delivery.completed_at = if next.is_none() { Some(at) } else { None };
}
