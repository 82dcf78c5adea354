//! The reference store upholds the laws.

use std::process::ExitCode;

use cauri_memory::MemoryStore;

fn main() -> ExitCode {
    cauri_conformance::main("MemoryStore", || async { MemoryStore::new() })
}
