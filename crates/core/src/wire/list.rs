//! The envelope of every list (API §2.1).

use serde::{Deserialize, Serialize};

use super::{private::Mask, tag};
use crate::{
    commit::query::Listed,
    value::{money::Overflow, page::Page},
};

/// A page of a list, with exactly these six fields (API §1, R9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct List<T> {
    /// `list`.
    pub object: tag::List,
    /// The items of the page.
    pub data: Vec<T>,
    /// Are there items after this page?
    pub has_more: bool,
    /// How many items there are over all pages.
    pub total: i64,
    /// How many items the page may hold.
    pub limit: u8,
    /// How many items were passed over.
    pub offset: i64,
}

impl<T> List<T> {
    /// The page of a list whose items are ready to be shown.
    ///
    /// # Errors
    /// None today; it answers as every `of` does.
    ///
    /// ```
    /// use cauri_core::{Listed, Overflow, Page, wire::List};
    /// let list = List::of(Listed { items: vec!["a", "b"], total: 3 }, Page::default())?;
    /// assert!(list.has_more);
    /// assert_eq!((list.total, list.limit, list.offset), (3, 25, 0));
    /// # Ok::<(), Overflow>(())
    /// ```
    pub fn of(listed: Listed<T>, page: Page) -> Result<Self, Overflow> {
        Self::each(listed, page, Ok)
    }

    /// The page of a list of records, each shown by `show`.
    ///
    /// # Errors
    /// The first [`Overflow`] of `show`.
    ///
    /// ```
    /// use cauri_core::{Listed, Overflow, Page, wire::List};
    /// let list = List::each(Listed { items: vec![1, 2], total: 2 }, Page::default(), |it| Ok(it * 2))?;
    /// assert_eq!(list.data, [2, 4]);
    /// assert!(!list.has_more);
    /// # Ok::<(), Overflow>(())
    /// ```
    pub fn each<M>(
        listed: Listed<M>,
        page: Page,
        show: impl FnMut(M) -> Result<T, Overflow>,
    ) -> Result<Self, Overflow> {
        let Listed { items, total } = listed;
        let data = items.into_iter().map(show).collect::<Result<Vec<T>, Overflow>>()?;
        let length = i64::try_from(data.len()).map_err(|_| Overflow)?;
        Ok(Self {
            object: tag::List,
            has_more: page.offset().saturating_add(length) < total,
            data,
            total,
            limit: page.limit(),
            offset: page.offset(),
        })
    }
}

impl<T: Mask> Mask for List<T> {
    fn masked(self) -> Self {
        Self { data: self.data.into_iter().map(Mask::masked).collect(), ..self }
    }
}
