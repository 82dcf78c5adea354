//! How many requests are worked on at once.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use cauri::AccountId;

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

/// Places for what waits for somebody outside, a network or a name server, as long as these please.
/// An account takes no more of them than it leaves free, so that whoever asks for nothing else keeps
/// up nobody.
#[derive(Debug)]
pub(crate) struct Outside {
    held: Arc<Mutex<HashMap<AccountId, u32>>>,
    most: u32,
}

/// An account's place, until it is dropped.
#[derive(Debug)]
pub(crate) struct OutsideSlot(Arc<Mutex<HashMap<AccountId, u32>>>, AccountId);

impl Outside {
    /// Of so many that may be worked on at once, a quarter.
    pub(crate) fn of(at_once: u32) -> Self {
        Self { held: Arc::default(), most: at_once.div_ceil(4) }
    }

    /// A place, where one is left for this account.
    pub(crate) fn take(&self, account: AccountId) -> Option<OutsideSlot> {
        let mut held = lock(&self.held);
        let free = self.most.saturating_sub(held.values().copied().sum());
        if held.get(&account).copied().unwrap_or(0) >= free {
            return None;
        }
        let own = held.entry(account).or_default();
        *own = own.saturating_add(1);
        Some(OutsideSlot(Arc::clone(&self.held), account))
    }
}

impl Drop for OutsideSlot {
    fn drop(&mut self) {
        let mut held = lock(&self.0);
        if let Some(own) = held.get_mut(&self.1) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                held.remove(&self.1);
            }
        }
    }
}

/// Counts are right whatever panicked meanwhile.
fn lock(held: &Mutex<HashMap<AccountId, u32>>) -> MutexGuard<'_, HashMap<AccountId, u32>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use cauri_conformance::fixtures::Random;

    use super::*;

    #[test]
    fn an_account_leaves_as_many_places_outside_as_it_takes() {
        let mut random = Random::new(1);
        let (one, other) = (random.id(), random.id());
        let outside = Outside::of(32);
        let mut held: Vec<_> = (0..9).map_while(|_| outside.take(one)).collect();
        assert_eq!(held.len(), 4, "half of a quarter");
        let others: Vec<_> = (0..9).map_while(|_| outside.take(other)).collect();
        assert_eq!(others.len(), 2);
        assert!(outside.take(one).is_none());
        held.clear();
        assert_eq!((0..9).map_while(|_| outside.take(one)).collect::<Vec<_>>().len(), 3);
        drop(others);
        assert!(lock(&outside.held).is_empty(), "nothing is remembered of who holds none");
        assert!(Outside::of(1).take(one).is_some());
    }

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
