//! The example, from outside.

use std::process::ExitCode;

fn main() -> ExitCode {
    cauri_example_smoke::main("warp", env!("CARGO_BIN_EXE_cauri-example-warp"))
}
