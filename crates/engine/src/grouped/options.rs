/// The limits of a [`Grouped`](crate::Grouped) store. None is less than one.
///
/// ```
/// use cauri::GroupedOptions;
/// let options = GroupedOptions::default().batch_max(64).in_flight_max(1).waiting_max(1_000);
/// assert_ne!(options, GroupedOptions::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct GroupedOptions {
    pub(super) batch_max: usize,
    pub(super) in_flight_max: usize,
    pub(super) parallel_min: usize,
    pub(super) waiting_max: usize,
}

impl GroupedOptions {
    /// How many changesets go in one batch (128): larger batches are a little cheaper each, and
    /// everybody in them waits longer. A call of more than that goes alone.
    pub const fn batch_max(self, changesets: usize) -> Self {
        Self { batch_max: at_least_one(changesets), ..self }
    }

    /// How many batches are on their way at once (3). The second keeps the database busy while the
    /// first one's callers are answered. Beside two, only scopes leave that are on neither, or on
    /// one that is overdue: what belongs to one account mostly changes the same rows, for which it
    /// would only wait in the database.
    pub const fn in_flight_max(self, batches: usize) -> Self {
        Self { in_flight_max: at_least_one(batches), ..self }
    }

    /// How many changesets that may leave have to wait for a batch to leave while another is on its
    /// way (32, and never more than fill a batch). A transaction costs the database as much as dozens
    /// of changesets, so two small batches at once are dearer than one that waits for the other. One
    /// that is overdue, such as behind a lock of the host's, is not waited for, except by a scope
    /// that is on two such.
    pub const fn parallel_min(self, changesets: usize) -> Self {
        Self { parallel_min: at_least_one(changesets), ..self }
    }

    /// How many changesets wait at most (8,192, less than a second's worth for a database that is
    /// well). One call may always wait, however large.
    pub const fn waiting_max(self, changesets: usize) -> Self {
        Self { waiting_max: at_least_one(changesets), ..self }
    }
}

impl Default for GroupedOptions {
    fn default() -> Self {
        Self { batch_max: 128, in_flight_max: 3, parallel_min: 32, waiting_max: 8_192 }
    }
}

const fn at_least_one(number: usize) -> usize {
    if number == 0 { 1 } else { number }
}

/// Who may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    Nobody,
    /// Lanes that are apart from what is on its way.
    Apart,
    Anybody,
}

/// How many batches on their way have a lane in common at most.
pub(super) const SHARING_MAX: usize = 2;

impl GroupedOptions {
    /// Who may leave, with so many waiting, of which so many apart, and so many batches on their
    /// way, of which some are overdue?
    pub(super) fn leave(
        &self,
        waiting: usize,
        apart: usize,
        in_flight: usize,
        overdue: usize,
    ) -> Leave {
        if in_flight >= self.in_flight_max {
            return Leave::Nobody;
        }
        let (leave, count) = match in_flight < SHARING_MAX {
            true => (Leave::Anybody, waiting),
            false => (Leave::Apart, apart),
        };
        // What waits longer than it should for those on their way is not to wait for them any more.
        let enough = if in_flight == overdue { 1 } else { self.parallel_min.min(self.batch_max) };
        if count >= enough { leave } else { Leave::Nobody }
    }
}
