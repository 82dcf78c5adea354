//! By how much a list grows while it is read.

use cauri_core::Page;

/// How many growths are remembered: whoever adds to a list in bursts, one for every so many of our
/// requests, is foreseen all the same.
const KEPT: usize = 8;

/// How many items of a page are for a growth that is not quite the one expected. Without any, one
/// more than before would cost a request; what is spared is missing from what a page brings.
const SPARE: i64 = 25;

/// What is known of how a list grows from one request to the next, and what to make of it.
///
/// Items are numbered from the end that grows. A page is asked for before anybody knows where the
/// items will be when the server looks; one that turns out to be beside what was wanted brings
/// nothing but the growth, which is what the next one is aimed by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Growth {
    /// The newest first.
    seen: [i64; KEPT],
    /// Which of them is expected to come again.
    expects: usize,
    /// How often in a row something else came.
    wrong: usize,
}

impl Growth {
    /// A request later there are so many more.
    pub(crate) fn saw(&mut self, growth: i64) {
        let is_right = growth.abs_diff(self.expected()) <= SPARE.unsigned_abs();
        self.seen.rotate_right(1);
        let [newest, ..] = &mut self.seen;
        *newest = growth;
        if is_right {
            self.wrong = 0;
        } else {
            // Growth that repeats itself after so many requests is met once every one of them has
            // been tried; what was just seen comes between, since most growth goes on as it is.
            self.expects = if self.wrong.is_multiple_of(2) { self.wrong / 2 % KEPT } else { 0 };
            self.wrong = self.wrong.saturating_add(1);
        }
    }

    fn expected(&self) -> i64 {
        self.seen.get(self.expects).copied().unwrap_or_default()
    }

    /// How far beyond an item a page begins that is to hold it, and as many as can be of those
    /// behind it. Negative where the list shrinks.
    pub(crate) fn lead(&self) -> i64 {
        match self.expected() {
            0..=SPARE => 0,
            growth => growth.saturating_sub(SPARE),
        }
    }

    /// How far before an item a page begins that is to hold it, and as many as can be of those
    /// before it. Negative where more come than a page holds.
    pub(crate) fn reach(&self) -> i64 {
        let spared = i64::from(Page::LIMIT_MAX).saturating_sub(SPARE);
        spared.saturating_sub(self.expected().max(0))
    }
}
