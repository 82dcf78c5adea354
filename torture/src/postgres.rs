//! The cluster that `cargo xtask torture` made, and how it is hurt.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use sqlx::{Connection, PgConnection};
use tokio::runtime;

/// Where it is, and the program that starts and stops it.
#[derive(Debug)]
pub(crate) struct Postgres {
    url: String,
    pg_ctl: PathBuf,
    data: PathBuf,
}

impl Postgres {
    /// `None` where no cluster was made for us.
    pub(crate) fn from_environment() -> Option<Self> {
        Some(Self {
            url: std::env::var("CAURI_TEST_POSTGRES").ok()?,
            pg_ctl: std::env::var_os("CAURI_TORTURE_PG_CTL")?.into(),
            data: std::env::var_os("CAURI_TORTURE_PG_DATA")?.into(),
        })
    }

    pub(crate) fn store(&self) -> String {
        format!("{}?schema=torture", self.url)
    }

    /// As if the power had failed: what is only in memory is gone.
    pub(crate) fn crash(&self) -> Result<(), String> {
        self.control(&["stop", "--mode=immediate"])
    }

    pub(crate) fn start(&self) -> Result<(), String> {
        let log = self.data.with_file_name("log");
        self.control(&["start", "--log", &log.to_string_lossy()])
    }

    /// Ends every connection there is; how many.
    pub(crate) fn cut(&self) -> Result<i64, String> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let cut = async {
            let mut connection = PgConnection::connect(&self.url).await?;
            let count = sqlx::query_scalar(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                 where backend_type = 'client backend' and pid <> pg_backend_pid()",
            )
            .fetch_one(&mut connection)
            .await?;
            connection.close().await?;
            Ok::<i64, sqlx::Error>(count)
        };
        runtime.map_err(|error| error.to_string())?.block_on(cut).map_err(|e| e.to_string())
    }

    /// `pg_ctl`, as whom the cluster belongs to: it refuses to run as root.
    fn control(&self, arguments: &[&str]) -> Result<(), String> {
        let owner = fs::metadata(&self.data).map_err(|error| error.to_string())?;
        let us = fs::metadata("/proc/self").map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.pg_ctl);
        command.args(arguments).args(["--silent", "--wait", "--pgdata"]).arg(&self.data);
        if us.uid() == 0 {
            command.uid(owner.uid()).gid(owner.gid());
        }
        command.current_dir(&self.data);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("pg_ctl {arguments:?}: {status}")) }
    }
}
