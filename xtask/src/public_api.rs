//! `cargo xtask public-api`: what each published crate lets others use, held against
//! `public-api/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{cargo, outward, read, root, run as run_command};
use crate::error::Error;

const PUBLISHED: [&str; 10] = [
    "cauri-core",
    "cauri",
    "cauri-memory",
    "cauri-sql",
    "cauri-sqlite",
    "cauri-postgres",
    "cauri-http",
    "cauri-webhook",
    "cauri-client",
    "cauri-conformance",
];

/// rustdoc writes JSON only where unstable options are allowed. Allowed to it alone: a compiler
/// that allowed them too would build everything anew.
const WRAPPER: &str = "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n";

/// Writes the files anew with `update`, else demands that they are what is there.
pub(crate) fn run(update: bool) -> Result<(), Error> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let wrapper = target.join("rustdoc-json");
    write(&wrapper, WRAPPER)?;
    run_command(outward("chmod").arg("+x").arg(&wrapper))?;
    let mut changed = 0;
    for package in PUBLISHED {
        run_command(cargo().env("RUSTDOC", &wrapper).args([
            "rustdoc",
            "--quiet",
            "--package",
            package,
            "--lib",
            "--all-features",
            "--",
            "-Zunstable-options",
            "--output-format=json",
        ]))?;
        let json = target.join("doc").join(format!("{}.json", package.replace('-', "_")));
        // Without what the compiler adds to every type, and what `derive` writes.
        let api = read(cargo().args(["public-api", "-sss", "--rustdoc-json"]).arg(&json))?;
        let path = root().join("public-api").join(format!("{package}.txt"));
        let api = format!("{api}\n");
        if update {
            write(&path, &api)?;
        } else {
            changed += compare(&path, &api);
        }
    }
    if changed > 0 { Err(Error::PublicApi(changed)) } else { Ok(()) }
}

/// Says which lines are there and which are written down, where they differ.
fn compare(path: &Path, api: &str) -> usize {
    let written = fs::read_to_string(path).unwrap_or_default();
    let missing = |from: &str, of: &str, sign: char| {
        for line in from.lines().filter(|line| !of.lines().any(|it| it == *line)) {
            eprintln!("{sign} {line}");
        }
    };
    missing(&written, api, '-');
    missing(api, &written, '+');
    usize::from(written != api)
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|source| Error::File { path: path.to_owned(), source })
}
