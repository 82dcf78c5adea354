//! The laws of stores, on a file that a killed process left behind.

use std::{
    fs,
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
    // What is on the disk while the store is open is what a killed process would have left: closing
    // it first would give it the chance to write what it had put off.
    let reopen = |store: RedbStore| async move {
        let copy = store.path().with_added_extension("copy");
        fs::copy(store.path(), &copy).expect("a copy");
        drop(store);
        open(copy).await
    };
    Harness::new("RedbStore", fresh).reopening(reopen).main()
}

async fn open(file: PathBuf) -> RedbStore {
    RedbStore::open(file).await.expect("the file opens")
}
