//! `completions`: what a shell needs to complete command lines.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{error::Done, options::Options};

pub(crate) fn run(shell: Shell) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut <Options as CommandFactory>::command(),
        "cauri-server",
        &mut script,
    );
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
