//! A commit as data: what is asked of a store, and what the answer means.

pub(crate) mod changeset;
pub(crate) mod claim;
pub(crate) mod judge;
pub(crate) mod key;
pub(crate) mod query;
pub(crate) mod record;
