//! The planted bugs can still be planted. Whether each is found takes longer: `cargo xtask mutants`.

use std::{path::Path, process::Command};

#[test]
fn every_planted_bug_still_applies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let folder = root.join("crates/sim/mutations");
    let mut patches = 0;
    let mut stale = Vec::new();
    for entry in folder.read_dir().expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|it| it != "patch") {
            continue;
        }
        patches += 1;
        let check = ["apply", "--check"];
        let output = Command::new("git").current_dir(root).args(check).arg(&path).output();
        let output = output.expect("git");
        if !output.status.success() {
            stale.push(String::from_utf8_lossy(&output.stderr).into_owned());
        }
    }
    assert!(patches >= 20, "{patches} patches");
    assert!(stale.is_empty(), "{}", stale.concat());
}
