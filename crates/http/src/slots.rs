//! How many requests are worked on at once.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// So many at once, and no more. Whoever comes when all are taken is told so at once: a queue would
/// only make everybody wait for as long as it is.
#[derive(Debug)]
pub(crate) struct Slots {
    taken: Arc<AtomicU32>,
    most: u32,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<AtomicU32>);

impl Slots {
    pub(crate) fn new(most: u32) -> Self {
        Self { taken: Arc::default(), most }
    }

    /// A place, where one is left.
    pub(crate) fn take(&self) -> Option<Slot> {
        let more = |taken: u32| (taken < self.most).then(|| taken.saturating_add(1));
        let taken = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| Slot(Arc::clone(&self.taken)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_it_is_dropped() {
        let slots = Slots::new(2);
        let (first, second) = (slots.take(), slots.take());
        assert!(first.is_some() && second.is_some() && slots.take().is_none());
        drop(first);
        assert!(slots.take().is_some());
        assert!(Slots::new(0).take().is_none());
    }
}
