//! What the documents quote is what the examples say.

use std::{fs, path::Path};

/// The quotations of a document: a file, named in a comment, and some of its lines.
fn quotations(text: &str) -> Vec<(&str, &str)> {
    let quoted = text.split("<!-- examples/").skip(1).filter_map(|rest| {
        let (file, rest) = rest.split_once(" -->\n```rust\n")?;
        let (lines, _) = rest.split_once("```\n")?;
        Some((file, lines))
    });
    quoted.collect()
}

#[test]
fn quotations_are_the_examples_own_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let documents =
        [("quick-start.md", 12), ("write-your-own-store.md", 4), ("write-your-own-gateway.md", 6)];
    for (document, least) in documents {
        let text = fs::read_to_string(root.join("docs").join(document)).unwrap();
        let quotations = quotations(&text);
        assert_eq!(
            quotations.len(),
            text.matches("```rust\n").count(),
            "{document}: all are quoted"
        );
        assert!(quotations.len() >= least, "{document}: {} quotations", quotations.len());
        for (file, lines) in quotations {
            let source = fs::read_to_string(root.join("examples").join(file)).unwrap();
            assert!(source.contains(lines), "{document} does not quote {file}:\n{lines}");
        }
    }
}

#[test]
fn every_example_is_in_the_quick_start() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/quick-start.md")).unwrap();
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let runnable = |name: &&str| root.join("examples").join(name).join("src/main.rs").exists();
    let members = manifest.lines().filter_map(|line| {
        line.trim().strip_prefix("\"examples/").and_then(|it| it.strip_suffix("\","))
    });
    let mut count = 0;
    for name in members.filter(runnable).filter(|name| !["server", "gateway"].contains(name)) {
        assert!(text.contains(&format!("cargo run -p cauri-example-{name}\n")), "{name}");
        count += 1;
    }
    assert!(count >= 9, "{count} examples");
}
