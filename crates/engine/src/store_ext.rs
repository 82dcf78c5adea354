//! What every caller of a store wants: typed records, whole lists.

use async_trait::async_trait;
use cauri_core::{Entity, Key, Page, Query, Versioned};

use crate::port::store::{Store, StoreError};

/// Typed calls for every store; not to be implemented.
#[async_trait]
pub trait StoreExt: Store {
    /// The record of a key, if it is there and of this type.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not answer.
    async fn find<T: Entity>(&self, key: Key) -> Result<Option<Versioned<T>>, StoreError> {
        let found = self.get(std::slice::from_ref(&key)).await?.into_iter().next().flatten();
        Ok(found.and_then(Versioned::of))
    }

    /// Every record of a list, page after page.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not answer.
    async fn all<T: Entity>(&self, query: Query) -> Result<Vec<T>, StoreError> {
        let mut all = Vec::new();
        let mut offset = 0;
        while let Some(page) = Page::new(Page::LIMIT_MAX, offset) {
            let listed = self.list(&query.clone().page(page)).await?;
            let count = i64::try_from(listed.items.len()).unwrap_or(i64::MAX);
            all.extend(listed.items.into_iter().filter_map(|it| T::from_record(it.value)));
            offset = offset.saturating_add(count);
            if count == 0 || offset >= listed.total {
                break;
            }
        }
        Ok(all)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}
