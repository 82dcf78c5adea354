//! Grouping commits changes no answer.

use std::process::ExitCode;

use cauri::Grouped;
use cauri_memory::MemoryStore;

fn main() -> ExitCode {
    cauri_conformance::main("grouped MemoryStore", || async { Grouped::new(MemoryStore::new()) })
}
