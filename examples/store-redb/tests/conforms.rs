//! The laws of stores, on a file that is closed and opened again.

use std::{
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicU32, Ordering},
};

use cauri_conformance::Harness;
use cauri_example_store_redb::RedbStore;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let files = AtomicU32::new(0);
    let path = folder.path().to_owned();
    let fresh = move || {
        let number = files.fetch_add(1, Ordering::Relaxed);
        open(path.join(format!("{number}.redb")))
    };
    let reopen = |store: RedbStore| async move {
        let file = store.path().to_owned();
        drop(store);
        open(file).await
    };
    Harness::new("RedbStore", fresh).reopening(reopen).main()
}

async fn open(file: PathBuf) -> RedbStore {
    RedbStore::open(file).await.expect("the file opens")
}
