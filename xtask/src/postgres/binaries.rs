//! Where Postgres is, and how it gets there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::probe;
use crate::debian::{self, on_path};
use crate::error::Error;

/// The versions that cauri supports.
const MAJORS: std::ops::RangeInclusive<u32> = 14..=18;
const DEBIAN: &str = "/usr/lib/postgresql";
const CREATECLUSTER: &str = "/etc/postgresql-common/createcluster.conf";

/// The directory with `initdb`, `pg_ctl` and `postgres`, and the major version of the last.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Binaries {
    pub(super) directory: PathBuf,
    pub(super) major: u32,
}

impl Binaries {
    /// Finds Postgres, or installs it where that can be done without asking.
    pub(super) fn find_or_install() -> Result<Self, Error> {
        if let Some(found) = Self::find() {
            return Ok(found);
        }
        install()?;
        Self::find().ok_or_else(|| Error::NoPostgres("the package brings no such version".into()))
    }

    /// What the caller put on the PATH wins; of what a distribution installed, the newest.
    fn find() -> Option<Self> {
        on_path("pg_ctl")
            .and_then(|file| Self::at(file.parent()?))
            .or_else(|| newest(versioned(Path::new(DEBIAN))))
            .or_else(|| Self::at(Path::new(&probe(Command::new("pg_config").arg("--bindir"))?)))
    }

    fn at(directory: &Path) -> Option<Self> {
        let has = |name| directory.join(name).is_file();
        if !(has("initdb") && has("pg_ctl") && has("postgres")) {
            return None;
        }
        let major = major(&probe(Command::new(directory.join("postgres")).arg("--version"))?)?;
        MAJORS.contains(&major).then(|| Self { directory: directory.to_path_buf(), major })
    }
}

/// Debian keeps versions side by side, each in a directory named after it.
fn versioned(parent: &Path) -> Vec<Binaries> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.filter_map(|entry| Binaries::at(&entry.path().join("bin"))).collect()
}

fn newest(found: Vec<Binaries>) -> Option<Binaries> {
    found.into_iter().max_by_key(|binaries| binaries.major)
}

/// The major version in `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` or `… 18beta1`.
fn major(version: &str) -> Option<u32> {
    let (_, rest) = version.split_once("(PostgreSQL) ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

fn install() -> Result<(), Error> {
    debian::may_install("postgresql").map_err(Error::NoPostgres)?;
    eprintln!("PostgreSQL is not installed; installing it with apt-get.");
    keep_debian_from_creating_a_cluster()?;
    debian::install("postgresql").map_err(Error::NoPostgres)
}

/// Otherwise the package would create a cluster, start it and listen on the usual port.
fn keep_debian_from_creating_a_cluster() -> Result<(), Error> {
    let file = |source| Error::File { path: CREATECLUSTER.into(), source };
    if let Some(directory) = Path::new(CREATECLUSTER).parent() {
        fs::create_dir_all(directory).map_err(file)?;
    }
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(CREATECLUSTER)
        .and_then(|mut conf| conf.write_all(b"create_main_cluster = false\n"))
        .map_err(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(major: u32) -> Binaries {
        Binaries { directory: format!("{DEBIAN}/{major}/bin").into(), major }
    }

    #[test]
    fn the_newest_version_wins() {
        assert_eq!(newest(vec![found(15), found(18), found(14)]), Some(found(18)));
        assert_eq!(newest(vec![]), None);
    }

    #[test]
    fn a_version_is_read_from_what_postgres_prints() {
        let debian = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)";
        assert_eq!(major(debian), Some(15));
        assert_eq!(major("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(major("postgres (PostgreSQL) 18"), Some(18));
        assert_eq!(major("postgres (PostgreSQL) devel"), None);
        assert_eq!(major("psql 15"), None);
    }

    #[test]
    fn only_supported_versions_are_taken() {
        let taken: Vec<u32> = (13..=19).filter(|major| MAJORS.contains(major)).collect();
        assert_eq!(taken, [14, 15, 16, 17, 18]);
    }
}
