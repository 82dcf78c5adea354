//! Records to rows and back, one noun a file. Every struct is taken apart whole, so that a new
//! field does not compile until it is mapped.

mod delivery;
mod installation;
mod ledger;
mod link;
mod merchant;
mod payment;
mod transfer;
mod webhook;

pub(crate) use ledger::{BalanceRow, EntryRow};

use crate::{
    cell::{Cell, Column},
    row::{Reader, RowError, RowReader},
};

/// A struct that is a row.
pub(crate) trait Mapped: Sized {
    fn columns() -> Vec<Column>;
    fn put<'a>(&'a self, cells: &mut Vec<Cell<'a>>);
    fn take<R: RowReader + ?Sized>(reader: &mut Reader<'_, R>) -> Result<Self, RowError>;
}

/// Maps each field of a struct to its columns, in this order.
macro_rules! mapped {
    ($type:ident { $($field:ident: $field_type:ty => $($column:literal)+;)+ }) => {
        $(const _: () = assert!(
            <$field_type as $crate::codec::Codec>::SHAPE.len() == [$($column),+].len()
        );)+

        impl $crate::record::Mapped for $type {
            fn columns() -> Vec<$crate::cell::Column> {
                let mut columns = Vec::new();
                $(
                    let shape = <$field_type as $crate::codec::Codec>::SHAPE;
                    for (name, (kind, null)) in [$($column),+].into_iter().zip(shape) {
                        columns.push($crate::cell::Column { name, kind: *kind, null: *null });
                    }
                )+
                columns
            }

            fn put<'a>(&'a self, cells: &mut Vec<$crate::cell::Cell<'a>>) {
                let Self { $($field),+ } = self;
                $($crate::codec::Codec::put($field, cells);)+
            }

            fn take<R: $crate::row::RowReader + ?Sized>(
                reader: &mut $crate::row::Reader<'_, R>,
            ) -> Result<Self, $crate::row::RowError> {
                $(let $field: $field_type = reader.take()?;)+
                Ok(Self { $($field),+ })
            }
        }
    };
}
pub(crate) use mapped;
