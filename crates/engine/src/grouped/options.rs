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
    /// first one's callers are answered. Those beside two share no scope with any: what belongs to
    /// one account mostly changes the same rows, for which it would only wait in the database.
    pub const fn in_flight_max(self, batches: usize) -> Self {
        Self { in_flight_max: at_least_one(batches), ..self }
    }

    /// How many changesets have to wait for a batch to leave while another is on its way (32, and
    /// never more than fill a batch). A transaction costs the database as much as dozens of
    /// changesets, so two small batches at once are dearer than one that waits for the other. One
    /// that is overdue, such as behind a lock of the host's, is not waited for.
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
    /// Lanes of which nothing is on its way.
    Apart,
    Anybody,
}

/// How many batches that share lanes are on their way at most.
const SHARING_MAX: usize = 2;

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
        if waiting == 0 || in_flight >= self.in_flight_max {
            return Leave::Nobody;
        }
        // What waits longer than it should for one batch is not to wait for it any more.
        let enough = self.parallel_min.min(self.batch_max);
        if in_flight == overdue || (in_flight < SHARING_MAX && waiting >= enough) {
            return Leave::Anybody;
        }
        if apart >= enough { Leave::Apart } else { Leave::Nobody }
    }
}
