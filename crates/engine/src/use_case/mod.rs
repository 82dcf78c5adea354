//! The use cases of the contract, one noun a file: who may, what is loaded, which decision.

mod audit;
mod customers;
mod deliveries;
mod events;
mod ledger;
mod payment_links;
mod payments;
mod payouts;
mod refunds;
mod reports;
mod routes;
mod sandbox;
mod secrets;
mod webhook_endpoints;

pub use audit::{Audit, AuditProgress, Violation};
pub(crate) use payments::keys_of as payment_keys;
pub(crate) use reports::Heard;
pub use secrets::Resealed;

use cauri_core::{
    Entity, Error as Refused, Key, List as Listing, Listed, Overflow, Query, Versioned,
    wire::{List, Mask},
};

use crate::{call::Caller, engine::Engine, error::Error, store_ext::StoreExt};

impl Engine {
    /// One object as a caller may see it.
    async fn shown<T: Entity, W: Mask>(
        &self,
        caller: &Caller,
        key: Key,
        name: &'static str,
        noun: &'static str,
        show: impl FnOnce(&T) -> Result<W, Overflow>,
    ) -> Result<W, Error> {
        self.case(name, caller.scope, None, async {
            let found = self.0.store.find::<T>(key).await?.ok_or(Refused::NotFound(noun))?;
            let shown = show(&found.value).map_err(Refused::from)?;
            Ok(if self.masks(caller) { shown.masked() } else { shown })
        })
        .await
    }

    /// A page of objects as a caller may see it.
    async fn listed<T: Entity, W: Mask>(
        &self,
        caller: &Caller,
        name: &'static str,
        of: Listing,
        query: &Query,
        show: impl FnMut(&T) -> Result<W, Overflow>,
    ) -> Result<List<W>, Error> {
        let list = self.page_of(caller, name, of, query, show).await?;
        Ok(if self.masks(caller) { list.masked() } else { list })
    }

    /// A page of objects as they are.
    async fn page_of<T: Entity, W>(
        &self,
        caller: &Caller,
        name: &'static str,
        of: Listing,
        query: &Query,
        mut show: impl FnMut(&T) -> Result<W, Overflow>,
    ) -> Result<List<W>, Error> {
        self.case(name, caller.scope, None, async {
            only(of, query)?;
            let Listed { items, total } = self.0.store.list(query).await?;
            let items = items
                .into_iter()
                .filter_map(|Versioned { value, .. }| T::from_record(value))
                .collect::<Vec<T>>();
            let list = List::each(Listed { items, total }, query.page, |it| show(&it));
            Ok(list.map_err(Refused::from)?)
        })
        .await
    }

    fn masks(&self, caller: &Caller) -> bool {
        self.0.options.mask_personal_data && caller.may_write().is_err()
    }
}

/// A query names its list, and with it an account: what a caller is shown must not hang on that.
fn only(of: Listing, query: &Query) -> Result<(), Error> {
    if query.list == of { Ok(()) } else { Err(Error::OtherList) }
}
