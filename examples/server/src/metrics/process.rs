//! The process, as every Prometheus client tells of it. Linux only: elsewhere nothing is told.

use std::{fmt, fs, time::Duration};

use cauri::Timestamp;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};

/// A tick of `/proc/self/stat`, in milliseconds: a constant of Linux towards its programs.
const TICK_MS: u64 = 10;

/// The process, and when it began, in seconds since 1970.
#[derive(Debug)]
pub(super) struct Process {
    began: i64,
}

impl Process {
    pub(super) const fn since(began: Timestamp) -> Self {
        Self { began: began.seconds() }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut gauge = |name: &str, help: &str, unit: Option<Unit>, value: Option<i64>| {
            let Some(value) = value else { return Ok(()) };
            let gauge = ConstGauge::new(value);
            let kind = gauge.metric_type();
            gauge.encode(encoder.encode_descriptor(name, help, unit.as_ref(), kind)?)
        };
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let bytes = |field| kib(&status, field).map(|kib: i64| kib.saturating_mul(1_024));
        let memory = "Resident memory";
        gauge("process_resident_memory", memory, Some(Unit::Bytes), bytes("VmRSS:"))?;
        gauge("process_virtual_memory", "Virtual memory", Some(Unit::Bytes), bytes("VmSize:"))?;
        let open = fs::read_dir("/proc/self/fd").ok().map(Iterator::count);
        let open = open.and_then(|open| i64::try_from(open).ok());
        gauge("process_open_fds", "Open files and sockets", None, open)?;
        gauge("process_max_fds", "How many may be open", None, open_max())?;
        let began = "When the process began, since 1970";
        gauge("process_start_time", began, Some(Unit::Seconds), Some(self.began))?;
        let Some(ticks) = cpu_ticks() else { return Ok(()) };
        let spent = Duration::from_millis(ticks.saturating_mul(TICK_MS));
        let cpu = ConstCounter::new(spent.as_secs_f64());
        let unit = Some(&Unit::Seconds);
        let help = "CPU time, of programs and of the kernel for them";
        cpu.encode(encoder.encode_descriptor("process_cpu", help, unit, cpu.metric_type())?)
    }
}

fn kib(status: &str, field: &str) -> Option<i64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

fn open_max() -> Option<i64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Of the process, in its own name's shadow: the name may hold blanks and ends with a parenthesis.
fn cpu_ticks() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    user.checked_add(system)
}
