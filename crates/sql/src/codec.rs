//! How each type of a field becomes cells, and cells become it again.

use std::{borrow::Cow, str::FromStr};

use cauri_core::{
    AccountId, Actor, Amount, ApiKeyId, ApiKeyKind, AttemptError, AttemptRecord, Connection,
    Country, Currency, CustomerId, DeliveryId, DeliveryStatus, Direction, EndpointId, EntryId,
    EntryKind, Environment, EventId, EventKind, FailureCode, Id, IdempotencyKey, KeyHash,
    LedgerAccountKind, Metadata, Network, NextAction, OrderId, Otp, PaymentId, PaymentLinkId,
    PaymentLinkStatus, PaymentMethod, PaymentStatus, PayoutId, PayoutStatus, Phone, RefundId,
    RefundReason, RefundStatus, Scenario, Scope, Sealed, Simulation, StoredBody, Success, Text,
    TimelineKind, Timestamp, TransactionId, WebUrl,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    cell::{Cell, Kind},
    row::{Reader, RowError, RowReader, Wrong},
};

/// What a field's columns hold, in their order, and whether they may be null.
pub(crate) type Shape = &'static [(Kind, bool)];

/// A field's type: one or more columns.
pub(crate) trait Codec: Sized {
    const SHAPE: Shape;
    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>);
    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError>;
}

/// A type of one column that is never null; an `Option` of it is one that may be.
pub(crate) trait Scalar: Sized {
    const KIND: Kind;
    fn cell(&self) -> Cell<'_>;
    fn read(cell: Cell<'_>) -> Result<Self, Wrong>;
}

impl<T: Scalar> Codec for T {
    const SHAPE: Shape = &[(T::KIND, false)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.push(self.cell());
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        let (cell, place) = reader.cell()?;
        T::read(cell).map_err(|wrong| place.wrong(wrong))
    }
}

impl<T: Scalar> Codec for Option<T> {
    const SHAPE: Shape = &[(T::KIND, true)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.push(self.as_ref().map_or(Cell::Null, T::cell));
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        match reader.cell()? {
            (Cell::Null, _) => Ok(None),
            (cell, place) => T::read(cell).map(Some).map_err(|wrong| place.wrong(wrong)),
        }
    }
}

fn int(cell: &Cell<'_>) -> Result<i64, Wrong> {
    match cell {
        Cell::Int(it) => Ok(*it),
        _ => Err("not a number".into()),
    }
}

fn text<'a>(cell: &'a Cell<'_>) -> Result<&'a str, Wrong> {
    match cell {
        Cell::Text(it) => Ok(it),
        _ => Err("not a text".into()),
    }
}

fn bytes(cell: Cell<'_>) -> Result<Vec<u8>, Wrong> {
    match cell {
        Cell::Bytes(it) => Ok(it.into_owned()),
        _ => Err("not bytes".into()),
    }
}

pub(crate) fn parsed<T: FromStr<Err: Into<Wrong>>>(cell: &Cell<'_>) -> Result<T, Wrong> {
    text(cell)?.parse().map_err(Into::into)
}

pub(crate) const fn borrowed(text: &str) -> Cell<'_> {
    Cell::Text(Cow::Borrowed(text))
}

macro_rules! ids {
    ($($name:ident)+) => {$(
        impl Scalar for $name {
            const KIND: Kind = Kind::Id;

            fn cell(&self) -> Cell<'_> {
                Cell::Id(self.uuid())
            }

            fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
                match cell {
                    Cell::Id(bits) => Ok(Self::from_uuid(bits)),
                    _ => Err("not an id".into()),
                }
            }
        }
    )+};
}

ids! {
    AccountId ApiKeyId CustomerId DeliveryId EndpointId EntryId EventId PaymentId PaymentLinkId
    PayoutId RefundId TransactionId
}

/// Types that are read by parsing the text that shows them.
macro_rules! texts {
    ($($name:ident by $show:ident;)+) => {$(
        impl Scalar for $name {
            const KIND: Kind = Kind::Text;

            fn cell(&self) -> Cell<'_> {
                borrowed(self.$show())
            }

            fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
                parsed(&cell)
            }
        }
    )+};
}

texts! {
    Actor by as_str;
    ApiKeyKind by as_str;
    AttemptError by as_str;
    Country by code;
    Currency by code;
    DeliveryStatus by as_str;
    Direction by as_str;
    EntryKind by as_str;
    EventKind by as_str;
    FailureCode by as_str;
    IdempotencyKey by as_str;
    LedgerAccountKind by as_str;
    Network by as_str;
    Otp by as_str;
    PaymentLinkStatus by as_str;
    PaymentMethod by as_str;
    PaymentStatus by as_str;
    PayoutStatus by as_str;
    Phone by as_str;
    RefundReason by as_str;
    RefundStatus by as_str;
    Scenario by as_str;
    Success by as_str;
    TimelineKind by as_str;
    WebUrl by as_str;
}

impl<const MAX: usize> Scalar for Text<MAX> {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        borrowed(self.as_str())
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        parsed(&cell)
    }
}

impl Scalar for Connection {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        borrowed(self.as_str())
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        text(&cell).map(Self::new)
    }
}

impl Scalar for String {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        borrowed(self)
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        match cell {
            Cell::Text(it) => Ok(it.into_owned()),
            _ => Err("not a text".into()),
        }
    }
}

impl Scalar for i64 {
    const KIND: Kind = Kind::Int;

    fn cell(&self) -> Cell<'_> {
        Cell::Int(*self)
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        int(&cell)
    }
}

/// Versions: never negative in the database.
impl Scalar for u64 {
    const KIND: Kind = Kind::Int;

    fn cell(&self) -> Cell<'_> {
        // A record would have to change for longer than the sun shines.
        Cell::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        Ok(Self::try_from(int(&cell)?)?)
    }
}

impl Scalar for bool {
    const KIND: Kind = Kind::Flag;

    fn cell(&self) -> Cell<'_> {
        Cell::Flag(*self)
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        match cell {
            Cell::Flag(it) => Ok(it),
            _ => Err("not a flag".into()),
        }
    }
}

impl Scalar for Amount {
    const KIND: Kind = Kind::Int;

    fn cell(&self) -> Cell<'_> {
        Cell::Int(self.units())
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        int(&cell).map(Self::new)
    }
}

impl Scalar for Timestamp {
    const KIND: Kind = Kind::Int;

    fn cell(&self) -> Cell<'_> {
        Cell::Int(self.millis())
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        let millis = int(&cell)?;
        let at = Self::from_millis(millis);
        if at.millis() == millis { Ok(at) } else { Err("a moment out of range".into()) }
    }
}

impl Scalar for Vec<u8> {
    const KIND: Kind = Kind::Bytes;

    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(Cow::Borrowed(self))
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        bytes(cell)
    }
}

impl Scalar for [u8; 32] {
    const KIND: Kind = Kind::Bytes;

    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(Cow::Borrowed(self))
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        Self::try_from(bytes(cell)?).map_err(|_| "not 32 bytes".into())
    }
}

impl Scalar for KeyHash {
    const KIND: Kind = Kind::Bytes;

    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(Cow::Borrowed(self.as_bytes()))
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        <[u8; 32]>::read(cell).map(Self::from_bytes)
    }
}

impl Scalar for Sealed {
    const KIND: Kind = Kind::Bytes;

    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(Cow::Borrowed(self.as_bytes()))
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        bytes(cell).map(Self::from_bytes)
    }
}

pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Cell<'static> {
    // Texts, numbers, flags and lists of them always have a JSON form; were there none, null
    // would be refused by the column or when it is read, never taken for a value.
    serde_json::to_string(value).map_or(Cell::Null, |text| Cell::Text(Cow::Owned(text)))
}

pub(crate) fn from_json<T: DeserializeOwned>(cell: &Cell<'_>) -> Result<T, Wrong> {
    // Not the error itself: it may show a part of the text.
    serde_json::from_str(text(cell)?).map_err(|_| "not the JSON of this field".into())
}

/// Only a redirect has an address, and kinds may be added: kept in the form that core gives it.
impl Scalar for NextAction {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        json(self)
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        from_json(&cell)
    }
}

/// The methods of a link.
impl Scalar for Vec<PaymentMethod> {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        json(self)
    }

    fn read(cell: Cell<'_>) -> Result<Self, Wrong> {
        from_json(&cell)
    }
}

/// Most records have none, and null costs nothing.
impl Codec for Metadata {
    const SHAPE: Shape = &[(Kind::Text, true)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.push(if self.is_empty() { Cell::Null } else { json(self) });
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        match reader.cell()? {
            (Cell::Null, _) => Ok(Self::default()),
            (cell, place) => from_json(&cell).map_err(|wrong| place.wrong(wrong)),
        }
    }
}

/// A delivery is born without attempts, and null costs nothing.
impl Codec for Vec<AttemptRecord> {
    const SHAPE: Shape = &[(Kind::Text, true)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.push(if self.is_empty() { Cell::Null } else { json(self) });
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        match reader.cell()? {
            (Cell::Null, _) => Ok(Self::new()),
            (cell, place) => from_json(&cell).map_err(|wrong| place.wrong(wrong)),
        }
    }
}

impl Codec for Scope {
    const SHAPE: Shape = &[(Kind::Id, false), (Kind::Flag, false)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let Self { account, environment } = self;
        cells.extend([account.cell(), Cell::Flag(environment.is_live())]);
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        let account = reader.take()?;
        let environment =
            if reader.take::<bool>()? { Environment::Live } else { Environment::Sandbox };
        Ok(Self { account, environment })
    }
}

impl Codec for Option<Simulation> {
    const SHAPE: Shape = &[(Kind::Text, true), (Kind::Int, true)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend(match self {
            None => [Cell::Null, Cell::Null],
            Some(Simulation { scenario, since }) => [scenario.cell(), since.cell()],
        });
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        let scenario = reader.take()?;
        let (since, place) = reader.cell()?;
        match (scenario, since) {
            (None, Cell::Null) => Ok(None),
            (Some(scenario), since) => Timestamp::read(since)
                .map(|since| Some(Simulation { scenario, since }))
                .map_err(|wrong| place.wrong(wrong)),
            (None, _) => Err(place.wrong("a moment without a scenario")),
        }
    }
}

impl Codec for StoredBody {
    const SHAPE: Shape = &[(Kind::Text, true), (Kind::Bytes, true)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend(match self {
            Self::Plain(text) => [text.cell(), Cell::Null],
            Self::Sealed(sealed) => [Cell::Null, sealed.cell()],
        });
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        let plain = reader.take::<Option<String>>()?;
        let (sealed, place) = reader.cell()?;
        match (plain, sealed) {
            (Some(text), Cell::Null) => Ok(Self::Plain(text)),
            (None, sealed) => {
                Sealed::read(sealed).map(Self::Sealed).map_err(|wrong| place.wrong(wrong))
            }
            (Some(_), _) => Err(place.wrong("both plain and sealed")),
        }
    }
}

/// The words of [`OrderId`]'s kinds.
const ORDERS: [&str; 3] = ["payment", "payout", "refund"];

impl Codec for Option<OrderId> {
    const SHAPE: Shape = &[(Kind::Text, true), (Kind::Id, true)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let [payment, payout, refund] = ORDERS;
        let kind = match self {
            None => Cell::Null,
            Some(OrderId::Payment(_)) => borrowed(payment),
            Some(OrderId::Payout(_)) => borrowed(payout),
            Some(OrderId::Refund(_)) => borrowed(refund),
        };
        cells.extend([kind, self.map_or(Cell::Null, |id| Cell::Id(id.uuid()))]);
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        let [payment, payout, refund] = ORDERS;
        let kind = reader.take::<Option<String>>()?;
        let (bits, place) = reader.cell()?;
        match (kind.as_deref(), bits) {
            (None, Cell::Null) => Ok(None),
            (Some(kind), Cell::Id(bits)) if kind == payment => {
                Ok(Some(OrderId::Payment(PaymentId::from_uuid(bits))))
            }
            (Some(kind), Cell::Id(bits)) if kind == payout => {
                Ok(Some(OrderId::Payout(PayoutId::from_uuid(bits))))
            }
            (Some(kind), Cell::Id(bits)) if kind == refund => {
                Ok(Some(OrderId::Refund(RefundId::from_uuid(bits))))
            }
            _ => Err(place.wrong("not the id of an order")),
        }
    }
}
