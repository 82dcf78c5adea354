//! Grouping commits changes no answer.

use std::{
    fs,
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicU32, Ordering},
};

use cauri::{Grouped, GroupedOptions};
use cauri_conformance::Harness;
use cauri_sqlite::{SqliteOptions, SqliteStore};

fn main() -> ExitCode {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("conforms_grouped");
    let folder = folder.join(std::process::id().to_string());
    fs::create_dir_all(&folder).expect("a folder for the files");
    let files = AtomicU32::new(0);
    let ended = folder.clone();
    let fresh = move || {
        let file = folder.join(format!("{}.db", files.fetch_add(1, Ordering::Relaxed)));
        async move { open(file).await }
    };
    let reopen = |store: Grouped<SqliteStore>| async move {
        let file = store.inner().path().to_owned();
        drop(store);
        open(file).await
    };
    let code = Harness::new("grouped SqliteStore", fresh).reopening(reopen).main();
    let _ = fs::remove_dir_all(ended);
    code
}

async fn open(file: PathBuf) -> Grouped<SqliteStore> {
    let store = SqliteOptions::file(file).open().await.expect("the file opens");
    Grouped::with(store, GroupedOptions::default().batch_max(64).in_flight_max(1))
}
