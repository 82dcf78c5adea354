//! Where nothing can be written to.

use std::fs::File;
use std::process::Stdio;

/// Every kind of it.
pub(crate) const KINDS: [fn() -> Stdio; 2] = [nobody, full];

/// The end of a pipe that nobody reads any more.
pub(crate) fn nobody() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// A disk that is full.
pub(crate) fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}
