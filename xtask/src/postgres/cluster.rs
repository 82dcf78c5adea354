//! The cluster itself: made, started, and gone with us whatever becomes of us.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::binaries::Binaries;
use crate::command::{outward, probe, read, run};
use crate::error::Error;

/// The chore behind [`Cluster`]: not for people.
pub(crate) const REAP: &str = "reap-postgres";

/// On a socket of its own the port is only a file name, but clients take theirs from `PGPORT`.
const PORT: u16 = 5432;

/// A running server on a Unix socket, without passwords, in a directory of its own.
#[derive(Debug)]
pub(crate) struct Cluster {
    url: String,
    pg_ctl: PathBuf,
    data: PathBuf,
    reaper: Child,
}

impl Cluster {
    /// Makes and starts one; later settings overrule earlier ones.
    pub(crate) fn start(
        settings: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Error> {
        let binaries = Binaries::find_or_install()?;
        let directory = directory()?;
        // From here on the reaper cleans up, also when one of the next steps fails.
        let reaper = spawn_reaper(&binaries, &directory)?;
        let data = directory.join("data");
        let pg_ctl = binaries.directory.join("pg_ctl");
        let cluster = Self { url: url(&directory), pg_ctl, data: data.clone(), reaper };
        if is_root() {
            give_away(&directory)?;
        }

        read(
            as_owner(&binaries, "initdb", &directory)?
                .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"])
                .args(collation(binaries.major))
                .arg("--pgdata")
                .arg(&data),
        )?;
        let conf = data.join("postgresql.conf");
        fs::OpenOptions::new()
            .append(true)
            .open(&conf)
            .and_then(|mut file| file.write_all(configuration(&directory, settings).as_bytes()))
            .map_err(|source| Error::File { path: conf, source })?;

        let log = directory.join("log");
        let mut pg_ctl = as_owner(&binaries, "pg_ctl", &directory)?;
        pg_ctl.args(["start", "--silent", "--wait", "--pgdata"]).arg(&data).arg("--log").arg(&log);
        run(pg_ctl.stdout(Stdio::null()).stderr(Stdio::null()))
            .map_err(|_| Error::PostgresLog(end_of(&log)))?;
        eprintln!("Postgres {} is up in {}.", binaries.major, directory.display());
        Ok(cluster)
    }

    /// Where it is, in the form that both libpq and sqlx read.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The program that stops and starts it, to be run by the owner of [`Cluster::data`].
    pub(crate) fn pg_ctl(&self) -> &Path {
        &self.pg_ctl
    }

    /// Its data directory; its log is the file `log` beside it.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.reaper.stdin.take());
        // It says itself what it could not do.
        let _ = self.reaper.wait();
    }
}

/// Starts a process that outlives us just long enough to stop the server and to remove its
/// directory. It waits for the end of a pipe of which we hold the other end, so it learns of our
/// end whether we return, panic, are interrupted or are killed; it has a process group of its own,
/// so a Ctrl-C does not reach it.
fn spawn_reaper(binaries: &Binaries, directory: &Path) -> Result<Child, Error> {
    let start = |source| Error::Start { program: REAP.into(), source };
    let this = std::env::current_exe().map_err(start)?;
    let mut command = outward(this);
    command.arg(REAP).arg(&binaries.directory).arg(directory);
    command.stdin(Stdio::piped()).process_group(0).spawn().map_err(start)
}

/// What that process does.
pub(crate) fn reap(mut args: impl Iterator<Item = String>) -> Result<(), Error> {
    let (Some(binaries), Some(directory)) = (args.next(), args.next()) else {
        return Err(Error::Usage(format!("{REAP} is not for people")));
    };
    let directory = Path::new(&directory);
    // An error of the pipe means the same as its end.
    let _ = io::stdin().read_to_end(&mut Vec::new());
    if directory.join("data/postmaster.pid").exists() {
        let binaries = Binaries { directory: binaries.into(), major: 0 };
        let mut pg_ctl = as_owner(&binaries, "pg_ctl", directory)?;
        pg_ctl.args(["stop", "--silent", "--wait", "--mode=immediate", "--pgdata"]);
        run(pg_ctl.arg(directory.join("data")))?;
    }
    fs::remove_dir_all(directory)
        .map_err(|source| Error::File { path: directory.to_path_buf(), source })
}

/// A new directory that only its owner can enter.
fn directory() -> Result<PathBuf, Error> {
    let parent = std::env::temp_dir();
    for attempt in 0.. {
        let path = parent.join(format!("cauri-postgres-{}-{attempt}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(Error::File { path, source }),
        }
    }
    unreachable!("the attempts do not end")
}

fn is_root() -> bool {
    id("-u", &[]) == Some(0)
}

/// Postgres refuses to run as root: the directory goes to the user Debian made for it, or else to
/// the one that owns nothing.
fn give_away(directory: &Path) -> Result<(), Error> {
    let user = ["postgres", "nobody"].into_iter().find(|user| id("-u", &[user]).is_some());
    let user = user.unwrap_or("nobody");
    chown(directory, id("-u", &[user]), id("-g", &[user]))
        .map_err(|source| Error::File { path: directory.to_path_buf(), source })
}

fn id(option: &str, user: &[&str]) -> Option<u32> {
    probe(Command::new("id").arg(option).args(user))?.parse().ok()
}

/// A Postgres program, run as whom the directory belongs to and told nothing by our environment.
fn as_owner(binaries: &Binaries, program: &str, directory: &Path) -> Result<Command, Error> {
    let owner = fs::metadata(directory)
        .map_err(|source| Error::File { path: directory.to_path_buf(), source })?;
    let mut command = outward(binaries.directory.join(program));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    if is_root() {
        command.uid(owner.uid()).gid(owner.gid());
    }
    // The directory we were started from may be closed to that user.
    command.current_dir(directory).stdin(Stdio::null());
    Ok(command)
}

/// Databases in the field seldom sort by bytes. A store that forgets to say so about its keys
/// shall be found out here, so the cluster sorts as English does wherever it brings the rules.
fn collation(major: u32) -> &'static [&'static str] {
    match major {
        15.. => &["--locale=C", "--locale-provider=icu", "--icu-locale=en-US"],
        _ => &["--locale=C"],
    }
}

/// Lines for `postgresql.conf`, where the last one of a name counts.
fn configuration(directory: &Path, settings: impl IntoIterator<Item = (String, String)>) -> String {
    let ours = [
        ("listen_addresses", String::new()),
        ("unix_socket_directories", directory.display().to_string()),
        ("port", PORT.to_string()),
        ("max_connections", "200".to_owned()),
        ("timezone", "UTC".to_owned()),
        ("log_timezone", "UTC".to_owned()),
    ];
    let ours = ours.into_iter().map(|(name, value)| (name.to_owned(), value));
    ours.chain(settings).fold(String::new(), |mut lines, (name, value)| {
        let _ = writeln!(lines, "{name} = '{}'", value.replace('\\', r"\\").replace('\'', "''"));
        lines
    })
}

/// A socket's directory takes the place of the host, percent-encoded.
fn url(directory: &Path) -> String {
    let host = directory.to_string_lossy().bytes().fold(String::new(), |mut host, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            host.push(char::from(byte));
        } else {
            let _ = write!(host, "%{byte:02X}");
        }
        host
    });
    format!("postgres://postgres@{host}:{PORT}/postgres")
}

fn end_of(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_else(|error| error.to_string());
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_the_socket_directory_as_its_host() {
        let at = |path: &str| url(Path::new(path));
        assert_eq!(at("/tmp/cauri-1_0"), "postgres://postgres@%2Ftmp%2Fcauri-1_0:5432/postgres");
        assert_eq!(at("/a b/é@:"), "postgres://postgres@%2Fa%20b%2F%C3%A9%40%3A:5432/postgres");
    }

    #[test]
    fn a_setting_of_the_caller_comes_after_ours() {
        let settings = [("port".to_owned(), "6000".to_owned())];
        let lines = configuration(Path::new("/tmp/x"), settings);
        assert!(lines.starts_with("listen_addresses = ''\nunix_socket_directories = '/tmp/x'\n"));
        assert!(lines.ends_with("port = '6000'\n"));
    }

    #[test]
    fn a_value_cannot_leave_its_quotes() {
        let settings = [("search_path".to_owned(), r"it's\".to_owned())];
        let lines = configuration(Path::new("/tmp/x"), settings);
        assert!(lines.ends_with("search_path = 'it''s\\\\'\n"));
    }
}
