//! The connections of the store, where it has some.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{MetricType, gauge::ConstGauge},
};

use crate::store::Opened;

/// How many connections are open, in use and allowed.
#[derive(Debug)]
pub(super) struct Sessions(pub(super) Opened);

impl Collector for Sessions {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(sessions) = self.0.sessions() else { return Ok(()) };
        let mut family = |name: &str,
                          help: &str,
                          of: fn(&cauri_postgres::SessionCount) -> usize| {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (purpose, count) in [("write", &sessions.writers), ("read", &sessions.readers)] {
                let gauge = ConstGauge::new(i64::try_from(of(count)).unwrap_or(i64::MAX));
                gauge.encode(family.encode_family(&[("purpose", purpose)])?)?;
            }
            Ok(())
        };
        family("store_sessions_in_use", "Connections in use", |count| count.in_use)?;
        family("store_sessions_idle", "Connections open and idle", |count| count.idle)?;
        family("store_sessions_max", "Connections allowed", |count| count.max)
    }
}
