//! Figures: how many, how fast, at what cost.

use std::{error::Error, time::Duration};

use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection, Row as _};

/// How long each operation took, in microseconds.
#[derive(Debug, Default)]
pub struct Latencies(Vec<u32>);

impl Latencies {
    /// One more.
    pub fn add(&mut self, took: Duration) {
        self.0.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }

    /// All of another's.
    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// p50, p95, p99 and the worst, in microseconds.
    #[must_use]
    pub fn summary(mut self) -> Value {
        self.0.sort_unstable();
        let at = |per_mille: usize| {
            let place = self.0.len().saturating_mul(per_mille) / 1_000;
            self.0.get(place.min(self.0.len().saturating_sub(1))).copied().unwrap_or_default()
        };
        json!({ "p50_us": at(500), "p95_us": at(950), "p99_us": at(990), "max_us": at(1_000) })
    }
}

/// Prints them: in one line for programs, or in lines for people.
pub fn print(figures: &Value, in_one_line: bool) {
    if in_one_line {
        println!("{figures}");
    } else {
        println!("{figures:#}");
    }
}

/// CPU time that this process has used, in clock ticks of 10 ms: user and system together.
#[must_use]
pub fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may hold spaces; what follows its parenthesis does not.
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |at: usize| fields.get(at).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    field(11).saturating_add(field(12))
}

/// Memory that this process holds, in KiB.
#[must_use]
pub fn resident_kib() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// `count` in a time, per second and rounded down.
#[must_use]
pub fn per_second(count: usize, took: Duration) -> u64 {
    let micros = took.as_micros().max(1);
    let count = u128::try_from(count).unwrap_or_default();
    u64::try_from(count.saturating_mul(1_000_000) / micros).unwrap_or(u64::MAX)
}

/// What a store has written to the disk.
#[derive(Debug)]
#[non_exhaustive]
pub enum Written {
    /// Postgres: the length of its write-ahead log, asked on a connection of our own.
    Log(PgConnection, i64),
    /// SQLite: what this process has had written, the log and the checkpoints alike.
    Process(u64),
    /// Memory.
    Nothing,
}

impl Written {
    /// Begins to count.
    ///
    /// # Errors
    /// What the database says.
    pub async fn of(store: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        if store.starts_with("postgres") {
            let mut connection = PgConnection::connect(store).await?;
            let at = length(&mut connection).await?;
            return Ok(Self::Log(connection, at));
        }
        Ok(if store == "memory:" { Self::Nothing } else { Self::Process(process()) })
    }

    /// Bytes since then; `None` for memory.
    ///
    /// # Errors
    /// What the database says.
    pub async fn since(&mut self) -> Result<Option<u64>, Box<dyn Error + Send + Sync>> {
        Ok(match self {
            Self::Log(connection, at) => {
                let now = length(connection).await?;
                Some(u64::try_from(now.saturating_sub(*at)).unwrap_or(0))
            }
            Self::Process(at) => Some(process().saturating_sub(*at)),
            Self::Nothing => None,
        })
    }
}

async fn length(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    let text = "select (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint";
    sqlx::query(text).fetch_one(connection).await?.try_get(0)
}

fn process() -> u64 {
    std::fs::read_to_string("/proc/self/io")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok())
        .unwrap_or(0)
}
