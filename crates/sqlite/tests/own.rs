//! What is SQLite's own, beside the laws.

use cauri_conformance::differential;
use cauri_memory::MemoryStore;
use cauri_sqlite::SqliteStore;

#[tokio::test(flavor = "multi_thread")]
async fn it_cannot_be_told_from_the_store_in_memory() {
    for seed in 0..8 {
        let sqlite = SqliteStore::open_in_memory().await.unwrap();
        differential(&MemoryStore::new(), &sqlite, seed, 400).await;
        sqlite.close().await;
    }
}
