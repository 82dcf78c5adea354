//! What stops a chore.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

#[derive(Debug)]
pub(crate) enum Error {
    /// The command line makes no sense; the text says why.
    Usage(String),
    /// A program could not be started.
    Start { program: String, source: io::Error },
    /// A program ran and failed; it has said why itself.
    Failed { program: String, status: ExitStatus },
    /// A file or directory could not be read or written.
    File { path: PathBuf, source: io::Error },
    /// Neither found nor installable; the text says why it was not installed.
    NoPostgres(String),
    /// A program that tests are run with is missing and cannot be installed.
    NoProgram { program: &'static str, package: &'static str, why: String },
    /// The server did not start; the text is the end of its log.
    PostgresLog(String),
    /// The toolchain cannot build for this target.
    NoTarget(&'static str),
    /// As many dependencies as this are where they must not be.
    Impure(usize),
    /// So many crates let others use something else than is written down.
    PublicApi(usize),
    /// So many planted bugs were not found; none, when one was found that nobody planted.
    Survived(usize),
}

impl Error {
    /// A failed program's own code, so that `cargo xtask postgres -- CMD` is transparent.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed { status, .. } => status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .filter(|code| *code != 0)
                .unwrap_or(1),
            Self::Start { .. }
            | Self::File { .. }
            | Self::NoPostgres(_)
            | Self::NoProgram { .. }
            | Self::PostgresLog(_)
            | Self::NoTarget(_)
            | Self::Impure(_)
            | Self::PublicApi(_)
            | Self::Survived(_) => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(why) => f.write_str(why),
            Self::Start { program, source } => {
                write!(f, "{program} could not be started: {source}")
            }
            Self::Failed { program, status } => write!(f, "{program} failed ({status})"),
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::NoPostgres(why) => write!(
                f,
                "the tests need PostgreSQL 14 to 18, which is neither on PATH, nor in \
                 /usr/lib/postgresql, nor where pg_config says, and could not be installed: {why}"
            ),
            Self::NoProgram { program, package, why } => write!(
                f,
                "this needs {program} (Debian's package {package}), which is not on PATH and could \
                 not be installed: {why}"
            ),
            Self::PostgresLog(log) => write!(f, "Postgres did not start; its log ends with\n{log}"),
            Self::NoTarget(target) => write!(
                f,
                "the target {target} is not installed (rustup target add {target}; \
                 --without-wasm leaves its build out)"
            ),
            Self::Impure(count) => {
                write!(f, "{count} dependencies are where they must not be (see above)")
            }
            Self::PublicApi(count) => write!(
                f,
                "{count} crates are not what public-api/ says (see above); where that is meant, \
                 `cargo xtask public-api --update` writes it down"
            ),
            Self::Survived(0) => write!(f, "the simulation fails as it is"),
            Self::Survived(count) => write!(f, "{count} planted bugs were not found (see above)"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start { source, .. } | Self::File { source, .. } => Some(source),
            Self::Usage(_)
            | Self::Failed { .. }
            | Self::NoPostgres(_)
            | Self::NoProgram { .. }
            | Self::PostgresLog(_)
            | Self::NoTarget(_)
            | Self::Impure(_)
            | Self::PublicApi(_)
            | Self::Survived(_) => None,
        }
    }
}
