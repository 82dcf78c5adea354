//! No file that is kept holds what a merge left undecided.

use std::fs;
use std::process::Command;

use crate::root;

/// How long the markers are unless `conflict-marker-size` says otherwise.
const LENGTH: usize = 7;

/// The lines, from one on, that mark a conflict: where ours begins, the common ancestor, where
/// theirs ends. What divides the two is a heading's underline elsewhere, and never alone.
fn markers(text: &str) -> Vec<usize> {
    let is_marker = |line: &str| {
        ['<', '>', '|'].iter().any(|&sign| {
            let rest = line.trim_start_matches(sign);
            line.len() - rest.len() == LENGTH && (rest.is_empty() || rest.starts_with(' '))
        })
    };
    text.lines().zip(1..).filter(|(line, _)| is_marker(line)).map(|(_, number)| number).collect()
}

#[test]
fn no_conflict_is_left_undecided() {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let listed = listed.expect("git lists what is tracked");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).expect("names in UTF-8");
    let (mut count, mut found) = (0, Vec::new());
    for name in names.split_terminator('\0') {
        // What cannot be read is no text, or deleted and not yet committed so.
        let Ok(text) = fs::read_to_string(root().join(name)) else { continue };
        count += 1;
        found.extend(markers(&text).iter().map(|line| format!("{name}:{line}")));
    }
    assert!(count > 100, "only {count} texts were found");
    assert!(found.is_empty(), "conflicts left undecided:\n{}", found.join("\n"));
}

#[test]
fn markers_are_told_from_what_looks_like_them() {
    let [ours, base, theirs] = ["<", "|", ">"].map(|sign| sign.repeat(LENGTH));
    let text = format!("a\n{ours} HEAD\nb\n{base} 1234567\nc\n=======\nd\n{theirs} branch\n");
    assert_eq!(markers(&text), [2, 4, 8]);
    let other = format!("Title\n=======\n{ours}< no\n {theirs}\nshl {ours}\n{base}|\n||||\n");
    assert_eq!(markers(&other), [0; 0]);
}
