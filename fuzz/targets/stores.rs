//! One history, two stores: memory and SQLite cannot be told apart.
//!
//! Input: how many steps, then what bends their draws.

#![no_main]

use cauri_conformance::{
    differential_of,
    fixtures::{Fill, History, Random},
};
use cauri_fuzz::Choices;
use cauri_memory::MemoryStore;
use cauri_sqlite::SqliteOptions;
use libfuzzer_sys::fuzz_target;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().enable_all().build().unwrap();
}

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let steps = 1 + usize::from(choices.byte() % 32);
    let fill = *choices.pick(&[Fill::Some, Fill::Every, Fill::Nothing, Fill::Extreme]);
    let random = Random::new(choices.pair().into()).filling(fill).bent_by(choices.rest());
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let sqlite = SqliteOptions::in_memory().open().await.expect("a database in memory");
            differential_of(&MemoryStore::new(), &sqlite, History::of(random), steps).await;
            sqlite.close().await;
        });
    });
});
