//! Prints the description of the API, for linters and generators of clients:
//! `cargo run -p cauri-http --example openapi > openapi.json`.

use std::{
    io::{self, Write},
    sync::Arc,
};

use cauri::Engine;
use cauri_http::Api;
use cauri_memory::MemoryStore;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder(Arc::new(MemoryStore::new())).build()?;
    io::stdout().write_all(Api::new(engine).description())?;
    Ok(())
}
