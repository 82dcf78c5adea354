//! What SECURITY.md names is there: a promise without a test is none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_path_buf()
}

/// Every Rust file of the project, but for what is built.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// What stands between backticks and is a path of names.
fn named(document: &str) -> BTreeSet<&str> {
    let quoted = document.split('`').skip(1).step_by(2);
    let is_path = |text: &&str| {
        text.contains("::") && text.chars().all(|c| c.is_alphanumeric() || "_:…-".contains(c))
    };
    quoted.filter(is_path).collect()
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let document = fs::read_to_string(root().join("SECURITY.md")).expect("SECURITY.md");
    let mut files = Vec::new();
    sources(&root(), &mut files);
    let texts: Vec<String> = files.iter().flat_map(fs::read_to_string).collect();
    let modules: BTreeSet<String> = files
        .iter()
        .flat_map(|path| path.components().map(|part| part.as_os_str().to_string_lossy()))
        .map(|part| part.trim_end_matches(".rs").to_owned())
        .collect();
    let names = named(&document);
    assert!(names.len() > 40, "{}", names.len());
    for name in names {
        let last = name.rsplit("::").next().expect("a name");
        let function = format!("fn {last}(");
        let there = texts.iter().any(|text| text.contains(&function)) || modules.contains(last);
        // A type or one of its functions, of the library.
        let item = [format!("fn {last}<"), format!("struct {last}"), format!("enum {last}")];
        let item = texts.iter().any(|text| item.iter().any(|item| text.contains(item)));
        assert!(there || item, "SECURITY.md names {name}, which is nowhere");
    }
}

#[test]
fn every_fuzz_target_that_a_document_names_exists() {
    let targets = root().join("fuzz/targets");
    for document in ["SECURITY.md", "docs/reliability.md"] {
        let text = fs::read_to_string(root().join(document)).expect(document);
        for line in text.lines().filter(|line| line.contains("fuzz target")) {
            let (_, list) = line.split_once("fuzz target").expect("it was found");
            for name in
                list.split('`').skip(1).step_by(2).filter(|it| !it.contains(['/', ' ', ':']))
            {
                assert!(targets.join(format!("{name}.rs")).exists(), "{document}: {name}");
            }
        }
    }
}
