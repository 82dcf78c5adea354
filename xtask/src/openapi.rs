//! `cargo xtask openapi-lint`: what the API says of itself, read by a linter.

use std::fs;

use crate::command::{cargo, outward, read, root, run as run_command};
use crate::debian::on_path;
use crate::error::Error;

/// Its strict rules take a warning for an error.
const LINTER: [&str; 5] =
    ["--yes", "@redocly/cli@2", "lint", "--extends=recommended-strict", "target/openapi.json"];

pub(crate) fn run() -> Result<(), Error> {
    if on_path("npx").is_none() {
        let why = "this chore installs nothing by itself".to_owned();
        return Err(Error::NoProgram { program: "npx", package: "npm", why });
    }
    let described = read(cargo().args(["run", "-q", "-p", "cauri-http", "--example", "openapi"]))?;
    let path = root().join("target/openapi.json");
    fs::create_dir_all(root().join("target"))
        .and_then(|()| fs::write(&path, described))
        .map_err(|source| Error::File { path, source })?;
    run_command(outward("npx").args(LINTER).current_dir(root()))
}
