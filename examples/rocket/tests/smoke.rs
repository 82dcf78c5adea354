//! The example, from outside.

use std::process::ExitCode;

fn main() -> ExitCode {
    cauri_example_smoke::main("rocket", env!("CARGO_BIN_EXE_cauri-example-rocket"))
}
