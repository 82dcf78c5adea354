//! `cargo xtask torture`: real servers on real stores under real faults.

use crate::command::{cargo, run as run_command};
use crate::error::Error;
use crate::postgres::{Cluster, VARIABLE};

/// Builds the servers and their tormentor, and gives it a cluster unless no Postgres is asked for.
///
/// The tormentor knows the command line; fsync stays on, for a crash is what this is about.
pub(crate) fn run(args: &[String]) -> Result<(), Error> {
    run_command(cargo().args([
        "build",
        "--package",
        "cauri-server",
        "--package",
        "cauri-torture",
    ]))?;
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "cauri-torture", "--"]).args(args);
    if args.windows(2).any(|pair| pair == ["--store", "sqlite"]) {
        return run_command(&mut command);
    }
    let cluster = Cluster::start([])?;
    command
        .env(VARIABLE, cluster.url())
        .env("CAURI_TORTURE_PG_CTL", cluster.pg_ctl())
        .env("CAURI_TORTURE_PG_DATA", cluster.data());
    run_command(&mut command)
}
