//! Lists: a page of them, or everything as a stream.

use std::{fmt, future::IntoFuture, marker::PhantomData};

use cauri_core::{Page, wire::List};
use futures_util::{
    StreamExt, TryStreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use url::form_urlencoded;

use crate::{call::Call, client::Client, error::Error, growth::Growth};

/// A list to be read. Awaited, it is its first page of 25.
///
/// ```no_run
/// # async fn f(client: cauri_client::Client) -> Result<(), cauri_client::Error> {
/// use cauri_client::{Page, filter};
/// use futures_util::TryStreamExt;
///
/// let failed = filter::Payments {
///     status: Some(cauri_client::PaymentStatus::Failed),
///     ..filter::Payments::default()
/// };
/// let listing = client.payments().list(&failed);
/// let newest = listing.page(Page::new(1, 0).unwrap()).await?;
/// println!("{} payments failed", newest.total);
/// let mut all = listing.items();
/// while let Some(payment) = all.try_next().await? {
///     println!("{} {:?}", payment.id, payment.failure_code);
/// }
/// # Ok(()) }
/// ```
#[must_use = "a list is read when it is awaited"]
pub struct Listing<T> {
    client: Client,
    path: &'static str,
    /// What the path names, such as the payment of a timeline.
    of: String,
    pairs: Vec<(String, String)>,
    order: Order,
    gives: PhantomData<fn() -> T>,
}

/// Where new items go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// To the front: what was on a page moves on to the next one.
    NewestFirst,
    /// To the end, or nowhere.
    OldestFirst,
}

impl<T> Listing<T> {
    /// A list at a path, in which `{id}` stands for `of`.
    pub(crate) fn new(
        client: &Client,
        path: &'static str,
        of: &str,
        filter: &impl Serialize,
        order: Order,
    ) -> Self {
        let (client, of) = (client.clone(), of.to_owned());
        Self { client, path, of, pairs: pairs(filter), order, gives: PhantomData }
    }

    /// The same, with the items as they came: see [`Call::raw`].
    pub fn raw(self) -> Listing<Box<RawValue>> {
        let Self { client, path, of, pairs, order, gives: _ } = self;
        Listing { client, path, of, pairs, order, gives: PhantomData }
    }

    /// One page.
    pub fn page(&self, page: Page) -> Call<List<T>> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(&self.pairs);
        query.append_pair("limit", &page.limit().to_string());
        query.append_pair("offset", &page.offset().to_string());
        self.client.get(format!("{}?{}", self.path.replace("{id}", &self.of), query.finish()))
    }
}

impl<T: DeserializeOwned + Send + 'static> Listing<T> {
    /// Every item, page after page of a hundred, each fetched when it is wanted.
    ///
    /// What is added meanwhile is left out, and nothing that was there is told twice or missed,
    /// unless the filter is about something that changes, such as a status: an item that begins or
    /// ceases to match moves those behind it.
    ///
    /// A list to which more is added than a page holds, while that page is on its way, takes more
    /// pages: one that brings nothing shows where the next has to begin.
    ///
    /// The stream ends with its first error.
    #[must_use]
    pub fn items(self) -> BoxStream<'static, Result<T, Error>> {
        let walk = Walk::new(self.order);
        let pages = stream::try_unfold((self, walk), async |(listing, mut walk)| {
            let Some(page) = walk.next() else { return Ok(None) };
            let list = listing.page(page).await?;
            let passed_over = walk.took(page, &list);
            let items = list.data.into_iter().skip(passed_over).map(Ok::<T, Error>);
            Ok::<_, Error>(Some((stream::iter(items), (listing, walk))))
        });
        pages.try_flatten().boxed()
    }
}

impl<T: DeserializeOwned + Send + 'static> IntoFuture for Listing<T> {
    type Output = Result<List<T>, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.page(Page::default()).into_future()
    }
}

impl<T> fmt::Debug for Listing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Filters may hold personal data.
        write!(f, "Listing({})", self.path.replace("{id}", &self.of))
    }
}

/// Where in a list somebody is who reads all of it.
#[derive(Debug)]
struct Walk {
    order: Order,
    /// How many items there were at first, and how many at last.
    totals: Option<(i64, i64)>,
    growth: Growth,
    /// How many of the first were told.
    told: i64,
    ended: bool,
}

impl Walk {
    fn new(order: Order) -> Self {
        Self { order, totals: None, growth: Growth::default(), told: 0, ended: false }
    }

    /// The page to ask for; `None` after the last one.
    fn next(&self) -> Option<Page> {
        let ahead = match self.order {
            Order::NewestFirst => self.shift().saturating_add(self.growth.lead()),
            Order::OldestFirst => 0,
        };
        let offset = self.told.saturating_add(ahead).max(0);
        if self.ended { None } else { Page::new(Page::LIMIT_MAX, offset) }
    }

    /// By how much the items that were there at first have moved.
    fn shift(&self) -> i64 {
        match (self.order, self.totals) {
            (Order::NewestFirst, Some((first, last))) => last.saturating_sub(first),
            (Order::NewestFirst, None) | (Order::OldestFirst, _) => 0,
        }
    }

    /// Goes on by a page. How many of its items are passed over: those that were told or are new,
    /// and all of them when others should have come before.
    fn took<T>(&mut self, page: Page, list: &List<T>) -> usize {
        let (first, last) = self.totals.unwrap_or((list.total, list.total));
        self.totals = Some((first, list.total));
        let begins = page.offset().saturating_sub(self.shift());
        let length = i64::try_from(list.data.len()).unwrap_or(i64::MAX);
        let ends = begins.saturating_add(length);
        // Nothing is before the first page: where it begins too late, what is missed is gone.
        let is_too_far = begins > self.told && page.offset() > 0;
        let hit = !is_too_far && ends > self.told;
        self.growth.saw(list.total.saturating_sub(last));
        self.ended = !is_too_far && (list.data.is_empty() || !list.has_more);
        if !hit {
            return list.data.len();
        }
        let repeated = self.told.saturating_sub(begins).max(0);
        self.told = ends;
        usize::try_from(repeated).unwrap_or(usize::MAX)
    }
}

/// A path with what a filter says.
pub(crate) fn at(path: &str, filter: &impl Serialize) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs(filter));
    format!("{path}?{}", query.finish())
}

/// What a filter says, as it goes into a query.
fn pairs(filter: &impl Serialize) -> Vec<(String, String)> {
    // No filter of ours fails to be written or is anything but an object.
    let Ok(Value::Object(fields)) = serde_json::to_value(filter) else { return Vec::new() };
    let said = |value| match value {
        Value::String(text) => Some(text),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    fields.into_iter().filter_map(|(name, value)| Some((name, said(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use std::iter::repeat;

    use cauri_core::Listed;
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::filter;

    /// Reads a list of numbers while `growth` says how many are added after each page. What was
    /// told, and after how many pages; `None` after more than `pages_max`.
    fn read(
        order: Order,
        count: i64,
        mut growth: impl Iterator<Item = i64>,
        pages_max: usize,
    ) -> Option<(Vec<i64>, usize)> {
        let mut walk = Walk::new(order);
        let (mut total, mut told) = (count, Vec::new());
        for pages in 0..=pages_max {
            let Some(page) = walk.next() else { return Some((told, pages)) };
            let numbers = page.numbers(total, order == Order::OldestFirst);
            let items: Vec<i64> = match (numbers, order) {
                (None, _) => Vec::new(),
                (Some((low, high)), Order::OldestFirst) => (low..=high).collect(),
                (Some((low, high)), Order::NewestFirst) => (low..=high).rev().collect(),
            };
            let list = List::of(Listed { items, total }, page).unwrap();
            let passed_over = walk.took(page, &list);
            told.extend(list.data.into_iter().skip(passed_over));
            total = (total + growth.next().unwrap_or(0)).max(0);
        }
        None
    }

    fn newest_first(count: i64) -> Vec<i64> {
        (1..=count).rev().collect()
    }

    /// As many pages as a list takes of which each page brings three quarters, and one to see the
    /// growth.
    fn pages(count: i64) -> usize {
        usize::try_from(count / 75).unwrap() + 3
    }

    #[test]
    fn everything_that_was_there_is_told_once_whatever_is_added() {
        for count in [0, 1, 99, 100, 101, 200, 350] {
            for grows in [0, 1, 25, 26, 30, 74, 99, 100, 101, 1_000, 1_000_000_000] {
                let read = read(Order::NewestFirst, count, repeat(grows), pages(count));
                let (told, _) = read.unwrap_or_else(|| panic!("{count} {grows}: no end"));
                assert_eq!(told, newest_first(count), "{count} {grows}");
            }
        }
    }

    #[test]
    fn a_list_that_stands_still_takes_as_few_pages_as_can_be() {
        for (count, expected) in [(0, 1), (1, 1), (100, 1), (101, 2), (350, 4)] {
            let read = read(Order::NewestFirst, count, repeat(0), pages(count));
            assert_eq!(read, Some((newest_first(count), expected)));
        }
    }

    #[test]
    fn a_page_that_begins_too_far_back_leaves_nothing_out() {
        // A thousand while the second page is on its way, and then no more.
        let read = read(Order::NewestFirst, 300, [1_000].into_iter(), 9).unwrap();
        assert_eq!(read, (newest_first(300), 5));
    }

    proptest! {
        #[test]
        fn a_growth_that_repeats_itself_is_foreseen(
            count in 0_i64..400,
            growth in vec(0_i64..=1_000, 1..=8),
        ) {
            // Each page that was aimed well brings half a page; before it each of eight growths is
            // expected at most twice.
            let pages_max = usize::try_from(count / 50).unwrap() * 16 + 32;
            let read = read(Order::NewestFirst, count, growth.iter().copied().cycle(), pages_max);
            let (told, _) = read.expect("an end");
            prop_assert_eq!(told, newest_first(count));
        }

        #[test]
        fn a_growth_that_nobody_foresees_leaves_nothing_out(
            count in 0_i64..400,
            growth in vec(0_i64..=1_000, 2_000),
        ) {
            let (told, _) = read(Order::NewestFirst, count, growth.into_iter(), 2_010).expect("an end");
            prop_assert_eq!(told, newest_first(count));
        }

        /// What it tells then is nobody's promise.
        #[test]
        fn a_list_that_shrinks_has_an_end(
            count in 0_i64..400,
            growth in vec(-100_i64..=100, 1..=20),
        ) {
            prop_assert!(read(Order::NewestFirst, count, growth.into_iter(), 40).is_some());
        }
    }

    #[test]
    fn a_list_that_grows_at_its_end_is_read_to_its_end() {
        let read = |count, grows| read(Order::OldestFirst, count, repeat(grows), 9).unwrap().0;
        assert_eq!(read(250, 0), (1..=250).collect::<Vec<_>>());
        assert_eq!(read(100, 1), (1..=100).collect::<Vec<_>>());
        assert_eq!(read(101, 20), (1..=121).collect::<Vec<_>>());
    }

    #[test]
    fn a_filter_says_only_what_it_was_told() {
        assert_eq!(pairs(&filter::Payments::default()), []);
        let filter = filter::PaymentLinks {
            active: Some(true),
            reference: "A & B".parse().ok(),
            ..filter::PaymentLinks::default()
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs(&filter), [pair("active", "true"), pair("reference", "A & B")]);
    }
}
