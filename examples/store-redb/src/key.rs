//! Keys as bytes, so that what belongs together lies side by side and in order.

use std::ops::RangeInclusive;

use cauri::{
    ClaimKind, CustomerId, EndpointId, Environment, Id, Key, LedgerAccount, List, PaymentId,
    Record, Scope, Timestamp,
};
use cauri_sql::key_cells;

use crate::row::{kind_number, put};

/// The name of a record: its kind, then what its key holds.
pub(crate) fn key(key: &Key) -> Vec<u8> {
    let found = key_cells(key);
    let mut bytes = vec![kind_number(found.kind)];
    put(&mut bytes, &found.cells);
    bytes
}

/// What all keys of a list begin with.
pub(crate) fn list(list: List) -> Vec<u8> {
    let mut bytes = list.name().as_bytes().to_vec();
    bytes.push(0);
    bytes.extend(list.scope().into_iter().flat_map(scope));
    if let List::Timeline(_, payment) = list {
        bytes.extend(payment.uuid().into_bytes());
    }
    bytes
}

/// The places of these numbers in a list.
pub(crate) fn places(of: List, numbers: (i64, i64)) -> RangeInclusive<Vec<u8>> {
    place(of, numbers.0)..=place(of, numbers.1)
}

/// The place of a number in a list.
pub(crate) fn place(of: List, number: i64) -> Vec<u8> {
    let mut bytes = list(of);
    bytes.extend(ordered(number));
    bytes
}

/// The number at a place.
pub(crate) fn number(place: &[u8]) -> Option<i64> {
    let (_, last) = place.split_last_chunk()?;
    Some(i64::from_be_bytes(*last) ^ i64::MIN)
}

/// Where a record's list has room for it, and the list; a timeline's lines bring their numbers.
pub(crate) fn listed(record: &Record, given: Option<i64>) -> Option<Vec<u8>> {
    match record {
        Record::TimelineEntry(it) => Some(place(List::Timeline(it.scope, it.payment), it.number)),
        record => record.list().zip(given).map(|(list, number)| place(list, number)),
    }
}

/// A balance; all of a scope begin with [`scope`].
pub(crate) fn balance(account: &LedgerAccount) -> Vec<u8> {
    let mut bytes = scope(account.scope);
    bytes.extend(account.currency.code().bytes());
    bytes.extend(account.kind.as_str().bytes());
    bytes
}

/// What the payments of a customer begin with.
pub(crate) fn customer(of: Scope, customer: CustomerId) -> Vec<u8> {
    let mut bytes = scope(of);
    bytes.extend(customer.uuid().into_bytes());
    bytes
}

/// A payment among those of its customer.
pub(crate) fn payment(of: Scope, customer: CustomerId, payment: PaymentId) -> Vec<u8> {
    let mut bytes = self::customer(of, customer);
    bytes.extend(payment.uuid().into_bytes());
    bytes
}

/// What waits in one lane begins with this: the kind, and for deliveries their endpoint.
pub(crate) const LANE: usize = 17;

/// Where a record waits until a moment: its lane, the moment, and its key.
pub(crate) fn due(record: &Record, due_at: Option<Timestamp>) -> Option<Vec<u8>> {
    let (kind, endpoint) = match record {
        Record::Payment(_) => (ClaimKind::Payments, None),
        Record::Payout(_) => (ClaimKind::Payouts, None),
        Record::Refund(_) => (ClaimKind::Refunds, None),
        Record::Delivery(it) => (ClaimKind::Deliveries, Some(it.endpoint)),
        Record::Idempotency(_) => (ClaimKind::Idempotency, None),
        Record::Account(_)
        | Record::Setting(_)
        | Record::ApiKey(_)
        | Record::Customer(_)
        | Record::PaymentLink(_)
        | Record::TimelineEntry(_)
        | Record::WebhookEndpoint(_)
        | Record::Subscriptions(_)
        | Record::Event(_) => return None,
    };
    let mut bytes = vec![claim_kind(kind)];
    bytes.extend(endpoint.map_or([0; 16], |id| id.uuid().into_bytes()));
    bytes.extend(ordered(due_at?.millis()));
    bytes.extend(key(&record.key()));
    Some(bytes)
}

/// The endpoint of a lane, the moment and the key of what waits in it.
pub(crate) fn waiting(due: &[u8]) -> Option<(EndpointId, i64, &[u8])> {
    let (lane, rest) = due.split_at_checked(LANE)?;
    let (moment, key) = rest.split_first_chunk()?;
    let endpoint = uuid::Uuid::from_slice(lane.get(1..)?).ok()?;
    Some((EndpointId::from_uuid(endpoint), i64::from_be_bytes(*moment) ^ i64::MIN, key))
}

/// Everything in a lane that is due at a moment.
pub(crate) fn due_until(lane: &[u8], now: Timestamp) -> RangeInclusive<Vec<u8>> {
    let mut end = lane.to_vec();
    end.extend(ordered(now.millis()));
    // Behind every key, which begins with a kind's small number.
    end.push(u8::MAX);
    lane.to_vec()..=end
}

pub(crate) const fn claim_kind(kind: ClaimKind) -> u8 {
    match kind {
        ClaimKind::Payments => 1,
        ClaimKind::Payouts => 2,
        ClaimKind::Refunds => 3,
        ClaimKind::Deliveries => 4,
        ClaimKind::Idempotency => 5,
    }
}

pub(crate) fn scope(scope: Scope) -> Vec<u8> {
    let mut bytes = scope.account.uuid().into_bytes().to_vec();
    bytes.push(match scope.environment {
        Environment::Sandbox => 0,
        Environment::Live => 1,
    });
    bytes
}

/// Bytes that sort as the numbers do, those below zero too.
fn ordered(number: i64) -> [u8; 8] {
    (number ^ i64::MIN).to_be_bytes()
}
