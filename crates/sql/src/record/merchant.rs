//! What merchants keep and how they are answered: customers and idempotency records.

use std::borrow::Cow;

use cauri_core::{
    Country, Customer, CustomerId, Email, IdempotencyKey, IdempotencyRecord, Metadata, Phone,
    Scope, StoredBody, Success, Text, Timestamp,
};

use super::mapped;
use crate::{
    cell::{Cell, Kind},
    codec::{Codec, Shape, borrowed, parsed},
    row::{Reader, RowError, RowReader},
};

/// The address as it came, and in lower case for the filter: no database folds as Unicode does.
impl Codec for Option<Email> {
    const SHAPE: Shape = &[(Kind::Text, true), (Kind::Text, true)];

    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let folded = |email: &Email| Cell::Text(Cow::Owned(email.folded()));
        cells.extend([
            self.as_ref().map_or(Cell::Null, |email| borrowed(email.as_str())),
            self.as_ref().map_or(Cell::Null, folded),
        ]);
    }

    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError> {
        let (cell, place) = reader.cell()?;
        let email = match cell {
            Cell::Null => None,
            cell => Some(parsed::<Email>(&cell).map_err(|wrong| place.wrong(wrong))?),
        };
        let (folded, place) = reader.cell()?;
        let expected = email.as_ref().map_or(Cell::Null, |it| Cell::Text(Cow::Owned(it.folded())));
        if folded == expected { Ok(email) } else { Err(place.wrong("not the folded address")) }
    }
}

mapped! { Customer {
    scope: Scope => "account" "live";
    id: CustomerId => "id";
    name: Option<Text<100>> => "name";
    email: Option<Email> => "email" "email_folded";
    phone: Option<Phone> => "phone";
    country: Option<Country> => "country";
    reference: Option<Text<100>> => "reference";
    metadata: Metadata => "metadata";
    created_at: Timestamp => "created_at";
    updated_at: Timestamp => "updated_at";
}}

mapped! { IdempotencyRecord {
    scope: Scope => "account" "live";
    key: IdempotencyKey => "key";
    fingerprint: [u8; 32] => "fingerprint";
    success: Success => "success";
    location: Option<String> => "location";
    body: StoredBody => "body" "body_sealed";
    created_at: Timestamp => "created_at";
    expires_at: Timestamp => "expires_at";
}}
