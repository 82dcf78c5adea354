//! The queue of commits: what the grouped store did.

use std::{fmt, time::Duration};

use cauri::GroupedStats;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};

use crate::store::Opened;

/// What the grouped store did.
#[derive(Debug)]
pub(super) struct Commits(pub(super) Opened);

impl Collector for Commits {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let GroupedStats {
            batches,
            changesets,
            largest_batch,
            halved,
            refused,
            calls,
            queue_time,
            commit_time,
            waiting,
            in_flight,
            ..
        } = self.0.stats();
        let mut counter = |name: &str, help: &str, value: u64| {
            let counter = ConstCounter::new(value);
            counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
        };
        counter("commit_batches", "Batches sent to the store", batches)?;
        counter("commit_changesets", "Changesets in them", changesets)?;
        counter("commit_batches_halved", "Batches cut in two by a broken store", halved)?;
        counter("commit_calls_refused", "Commits refused by a full queue", refused)?;
        counter("commit_calls", "Commits that left the queue", calls)?;
        let mut seconds = |name: &str, help: &str, value: Duration| {
            let counter = ConstCounter::new(value.as_secs_f64());
            let unit = Some(&Unit::Seconds);
            counter.encode(encoder.encode_descriptor(name, help, unit, counter.metric_type())?)
        };
        seconds("commit_queue_time", "How long commits waited, in all", queue_time)?;
        seconds("commit_store_time", "How long the store took, in all", commit_time)?;
        let mut gauge = |name: &str, help: &str, value: u64| {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
        };
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        gauge("commit_batch_largest", "Changesets in the largest batch", largest_batch)?;
        gauge("commit_waiting", "Changesets that wait now", number(waiting))?;
        gauge("commit_in_flight", "Batches on their way now", number(in_flight))
    }
}
