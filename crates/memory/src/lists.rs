//! Numbered lists of keys.

use std::collections::{BTreeMap, HashMap};

use cauri::{Key, List, Listed, Query};

/// Which record has which number in each list.
#[derive(Default)]
pub(crate) struct Lists {
    numbered: HashMap<List, BTreeMap<i64, Key>>,
}

impl Lists {
    pub(crate) fn place(&mut self, list: List, number: i64, key: Key) {
        self.numbered.entry(list).or_default().insert(number, key);
    }

    /// How many records a list holds: numbers are dense, so this is the last one too.
    pub(crate) fn total(&self, list: List) -> i64 {
        let total = self.numbered.get(&list).map_or(0, BTreeMap::len);
        i64::try_from(total).unwrap_or(i64::MAX)
    }

    /// The keys of one page of a whole list, found by their numbers.
    pub(crate) fn range(&self, query: &Query) -> impl Iterator<Item = &Key> {
        let numbers = query.page.numbers(self.total(query.list), query.list.is_oldest_first());
        let range = numbers.map(|(low, high)| low..=high);
        let numbered = self.numbered.get(&query.list).zip(range);
        let page = numbered.into_iter().flat_map(|(keys, range)| keys.range(range));
        in_order(page.map(|(_, key)| key).collect(), query.list)
    }

    /// All keys of a list, in its order.
    pub(crate) fn all(&self, list: List) -> impl Iterator<Item = &Key> {
        let keys = self.numbered.get(&list).into_iter().flat_map(BTreeMap::values);
        in_order(keys.collect(), list)
    }
}

fn in_order(mut keys: Vec<&Key>, list: List) -> std::vec::IntoIter<&Key> {
    if !list.is_oldest_first() {
        keys.reverse();
    }
    keys.into_iter()
}

/// The page and the total of what a query admits, given in the list's order.
pub(crate) fn page<'a, T: Clone + 'a>(
    query: &Query,
    admitted: impl Iterator<Item = &'a T>,
) -> Listed<T> {
    let offset = query.page.offset();
    let mut listed = Listed { items: Vec::new(), total: 0 };
    for item in admitted {
        if listed.total >= offset && listed.items.len() < usize::from(query.page.limit()) {
            listed.items.push(item.clone());
        }
        listed.total += 1;
    }
    listed
}
