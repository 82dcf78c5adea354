//! Following the events of an account by asking again.

use std::ops::ControlFlow;

use cauri_core::{
    Page,
    wire::{EventBody, List},
};

use crate::{error::Error, growth::Growth, listing::Listing};

/// Tells events one after the other in the order in which they were accepted, each once and none
/// left out. Whoever follows asks the server, and need not be reachable from it.
///
/// ```no_run
/// # async fn f(client: cauri_client::Client) -> Result<(), cauri_client::Error> {
/// use std::time::Duration;
///
/// let mut follow = client.events().follow(0);
/// loop {
///     for event in follow.next().await? {
///         println!("{}", event.as_str());
///     }
///     tokio::time::sleep(Duration::from_secs(1)).await;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Follow {
    listing: Listing<EventBody>,
    place: Place,
}

impl Follow {
    pub(crate) fn new(listing: Listing<EventBody>, back: u32) -> Self {
        let place = Place { told: None, back: back.into(), growth: Growth::default() };
        Self { listing, place }
    }

    /// What has been told since the last time, up to a hundred events, oldest first; nothing where
    /// there is nothing new. The first time it tells the events it was to begin with.
    ///
    /// After an error it goes on where it was. Where more events happen than a page holds, while
    /// that page is on its way, nothing is left out either, but whoever follows falls behind.
    ///
    /// # Errors
    /// As any call.
    pub async fn next(&mut self) -> Result<Vec<EventBody>, Error> {
        let mut page = Page::new(1, 0).unwrap_or_default();
        let mut last = None;
        loop {
            let list = self.listing.page(page).await?;
            let total = list.total;
            match self.place.took(last.replace(total), list) {
                ControlFlow::Break(events) => return Ok(events),
                ControlFlow::Continue(next) => page = next,
            }
        }
    }
}

/// Where among the events somebody is who follows them.
#[derive(Debug)]
struct Place {
    /// Events are numbered densely from 1 (API §19.9); the last one that was told. `None` before
    /// the first answer.
    told: Option<i64>,
    back: i64,
    growth: Growth,
}

impl Place {
    /// Goes on by a page: its events, or the page to ask for instead. `last` is how many events
    /// there were when it was chosen; `None` of the one that only asks how many there are, since
    /// nobody knows how much time went by before it.
    fn took<T>(&mut self, last: Option<i64>, list: List<T>) -> ControlFlow<Vec<T>, Page> {
        let total = list.total;
        let told = match self.told {
            // A server that forgot its events begins to count anew.
            Some(told) => told.min(total),
            None => total.saturating_sub(self.back).max(0),
        };
        self.told = Some(told);
        let left = total.saturating_sub(told);
        if left == 0 {
            return ControlFlow::Break(Vec::new());
        }
        let events = after(told, list);
        if let Some(last) = last {
            self.growth.saw(total.saturating_sub(last));
        }
        if !events.is_empty() {
            let length = i64::try_from(events.len()).unwrap_or(i64::MAX);
            self.told = Some(told.saturating_add(length));
            return ControlFlow::Break(events);
        }
        let offset = left.saturating_sub(self.growth.reach()).max(0);
        ControlFlow::Continue(Page::new(Page::LIMIT_MAX, offset).unwrap_or_default())
    }
}

/// The events of a page that come right after `told`, oldest first; none when the page does not
/// reach back to there, or has nothing new.
fn after<T>(told: i64, list: List<T>) -> Vec<T> {
    let length = i64::try_from(list.data.len()).unwrap_or(i64::MAX);
    // What is before the oldest event of the page: the newest event of all is number `total`.
    let before = list.total.saturating_sub(list.offset).saturating_sub(length);
    match usize::try_from(told.saturating_sub(before)) {
        Ok(known) => list.data.into_iter().rev().skip(known).collect(),
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use cauri_core::Listed;
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Follows numbers from the first on, until `count` are told, while `growth` says how many are
    /// added after each page. What was told, and after how many pages; `None` after more than
    /// `pages_max`.
    fn follow(
        count: usize,
        mut growth: impl Iterator<Item = i64>,
        pages_max: usize,
    ) -> Option<(Vec<i64>, usize)> {
        let mut place = Place { told: Some(0), back: 0, growth: Growth::default() };
        let (mut total, mut told) = (1, Vec::new());
        let (mut page, mut last) = (Page::new(1, 0).unwrap(), None);
        for pages in 0..=pages_max {
            if told.len() >= count {
                return Some((told, pages));
            }
            let items = page
                .numbers(total, false)
                .map_or_else(Vec::new, |(low, high)| (low..=high).rev().collect());
            let list = List::of(Listed { items, total }, page).unwrap();
            (page, last) = match place.took(last, list) {
                ControlFlow::Break(events) => {
                    told.extend(events);
                    (Page::new(1, 0).unwrap(), None)
                }
                ControlFlow::Continue(next) => (next, Some(total)),
            };
            total += growth.next().unwrap_or(0);
        }
        None
    }

    fn is_whole(told: &[i64]) -> bool {
        (1..).zip(told).all(|(expected, told)| expected == *told)
    }

    #[test]
    fn however_much_happens_everything_is_told_in_its_order() {
        for grows in [1, 25, 26, 50, 51, 75, 76, 100, 101, 1_000, 1_000_000_000] {
            let followed = follow(500, std::iter::repeat(grows), 600);
            let (told, pages) = followed.unwrap_or_else(|| panic!("{grows}: no end"));
            assert!(is_whole(&told), "{grows}: {told:?}");
            // Two requests for each time it is asked, one for what nobody could know at first.
            assert!(grows < 50 || pages <= 2 * 500 / 75 + 4, "{grows}: {pages}");
        }
    }

    proptest! {
        #[test]
        fn a_growth_that_repeats_itself_is_foreseen(mut growth in vec(0_i64..=1_000, 0..=7)) {
            // At last something happens.
            growth.push(1);
            let (told, _) = follow(300, growth.iter().copied().cycle(), 5_000).expect("an end");
            prop_assert!(is_whole(&told), "{:?}", told);
        }

        #[test]
        fn a_growth_that_nobody_foresees_leaves_nothing_out(growth in vec(0_i64..=1_000, 5_000)) {
            let (told, _) = follow(300, growth.into_iter(), 5_010).expect("an end");
            prop_assert!(is_whole(&told), "{:?}", told);
        }
    }
}
