//! The laws of stores, on a file that is closed without a word and opened again.

use std::{
    fs,
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicU32, Ordering},
};

use cauri_conformance::Harness;
use cauri_sqlite::{SqliteOptions, SqliteStore};

fn main() -> ExitCode {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("conforms");
    let folder = folder.join(std::process::id().to_string());
    fs::create_dir_all(&folder).expect("a folder for the files");
    let files = AtomicU32::new(0);
    let ended = folder.clone();
    let fresh = move || {
        let file = folder.join(format!("{}.db", files.fetch_add(1, Ordering::Relaxed)));
        async move { open(file).await }
    };
    let reopen = |store: SqliteStore| async move {
        let file = store.path().to_owned();
        drop(store);
        open(file).await
    };
    let code = Harness::new("SqliteStore", fresh).reopening(reopen).main();
    let _ = fs::remove_dir_all(ended);
    code
}

async fn open(file: PathBuf) -> SqliteStore {
    SqliteOptions::file(file).open().await.expect("the file opens")
}
