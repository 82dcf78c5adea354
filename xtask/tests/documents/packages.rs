//! What is published says what it is, and nothing else is published.

use std::path::Path;

use crate::{files, read, root, shown};

/// Why a package is not fit to be published; nothing where it never is.
fn faults(manifest: &Path) -> Vec<&'static str> {
    let text = read(manifest);
    let folder = manifest.parent().expect("a folder");
    let says = |line: &str| text.lines().any(|it| it.starts_with(line));
    if says("publish = false") {
        return Vec::new();
    }
    let wanted = [
        (says("description = "), "no description"),
        (says("license.workspace = true"), "no licence"),
        (says("repository.workspace = true"), "no repository"),
        (says("[package.metadata.docs.rs]"), "nothing for docs.rs"),
        (folder.join("README.md").exists(), "no README.md"),
        (folder.join("LICENSE-MIT").exists(), "no text of the MIT licence"),
        (folder.join("LICENSE-APACHE").exists(), "no text of the Apache licence"),
    ];
    wanted.into_iter().filter(|(is, _)| !is).map(|(_, why)| why).collect()
}

#[test]
fn what_is_published_says_what_it_is() {
    let mut published = Vec::new();
    for manifest in files(&root(), "toml") {
        if !manifest.ends_with("Cargo.toml") || !read(&manifest).contains("[package]") {
            continue;
        }
        assert_eq!(faults(&manifest), [""; 0], "{}", shown(&manifest));
        if !read(&manifest).contains("publish = false") {
            published.push(shown(&manifest));
        }
    }
    assert!(published.iter().all(|it| it.starts_with("crates/")), "{published:?}");
    assert!(published.len() > 8, "{published:?}");
}
