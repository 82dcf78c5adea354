//! Which part of a list is wanted (API §2.1).

/// A page: how many items, and how many to pass over first.
///
/// ```
/// use cauri_core::Page;
/// assert_eq!((Page::default().limit(), Page::default().offset()), (25, 0));
/// assert_eq!(Page::new(0, 0), None);
/// assert_eq!(Page::new(101, 0), None);
/// assert_eq!(Page::new(100, i64::MAX).map(|page| page.offset()), Some(i64::MAX));
/// assert_eq!(Page::new(1, -1), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    limit: u8,
    offset: i64,
}

impl Page {
    /// How many items a page may hold at most.
    pub const LIMIT_MAX: u8 = 100;

    /// A page of 1 to 100 items after passing over `offset`; `None` outside these limits.
    ///
    /// ```
    /// use cauri_core::Page;
    /// assert!(Page::new(100, 0).is_some());
    /// assert!(Page::new(101, 0).is_none());
    /// ```
    #[must_use]
    pub const fn new(limit: u8, offset: i64) -> Option<Self> {
        if limit >= 1 && limit <= Self::LIMIT_MAX && offset >= 0 {
            Some(Self { limit, offset })
        } else {
            None
        }
    }

    /// How many items at most.
    ///
    /// ```
    /// use cauri_core::Page;
    /// assert_eq!(Page::new(10, 30).map(Page::limit), Some(10));
    /// ```
    #[must_use]
    pub const fn limit(self) -> u8 {
        self.limit
    }

    /// How many items are passed over.
    ///
    /// ```
    /// use cauri_core::Page;
    /// assert_eq!(Page::new(10, 30).map(Page::offset), Some(30)); // the fourth page
    /// ```
    #[must_use]
    pub const fn offset(self) -> i64 {
        self.offset
    }

    /// The dense numbers that this page covers in a list numbered `1..=total`, as
    /// `(lowest, highest)`; `None` past the end. Newest first unless `oldest_first`.
    ///
    /// ```
    /// use cauri_core::Page;
    /// let page = Page::new(25, 10).unwrap();
    /// assert_eq!(page.numbers(30, false), Some((1, 20)));
    /// assert_eq!(page.numbers(60, false), Some((26, 50)));
    /// assert_eq!(page.numbers(60, true), Some((11, 35)));
    /// assert_eq!(page.numbers(10, false), None);
    /// ```
    #[must_use]
    pub fn numbers(self, total: i64, oldest_first: bool) -> Option<(i64, i64)> {
        if self.offset >= total {
            return None;
        }
        let length = i64::from(self.limit);
        if oldest_first {
            let lowest = self.offset.saturating_add(1);
            Some((lowest, self.offset.saturating_add(length).min(total)))
        } else {
            let highest = total.saturating_sub(self.offset);
            Some((highest.saturating_sub(length).saturating_add(1).max(1), highest))
        }
    }
}

impl Default for Page {
    fn default() -> Self {
        Self { limit: 25, offset: 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pages_cover_every_number_once(total in 0_i64..500, limit in 1_u8..=100, oldest_first: bool) {
            let mut seen = Vec::new();
            let mut offset = 0;
            while let Some((low, high)) = Page::new(limit, offset).unwrap().numbers(total, oldest_first) {
                prop_assert!(high.abs_diff(low) < u64::from(limit));
                let page: Vec<i64> = if oldest_first { (low..=high).collect() } else { (low..=high).rev().collect() };
                seen.extend(page);
                offset = offset.saturating_add(i64::from(limit));
            }
            let all: Vec<i64> = if oldest_first { (1..=total).collect() } else { (1..=total).rev().collect() };
            prop_assert_eq!(seen, all);
        }
    }
}
