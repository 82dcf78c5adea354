//! Every link of every document leads somewhere.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{files, read, root, shown};

/// What a document links to, but for code: `](target)` and `[name]: target`.
fn targets(document: &str) -> Vec<String> {
    let prose = prose(document);
    let mut found: Vec<String> = prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split_whitespace().next().unwrap_or_default().to_owned())
        .collect();
    found.extend(prose.lines().filter_map(|line| {
        let (name, target) = line.trim_start().strip_prefix('[')?.split_once("]: ")?;
        (!name.contains(']')).then(|| target.trim().to_owned())
    }));
    found
}

/// The text without its blocks and spans of code.
fn prose(document: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(document: &str) -> Vec<String> {
    let mut seen = BTreeMap::<String, u32>::new();
    let mut fenced = false;
    let mut found = Vec::new();
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let level = line.chars().take_while(|it| *it == '#').count();
        let Some(title) = line[level..].strip_prefix(' ').filter(|_| !fenced && level > 0) else {
            continue;
        };
        let kept = title.trim().chars().filter_map(|it| match it {
            ' ' => Some('-'),
            '-' | '_' => Some(it),
            it => it.is_alphanumeric().then_some(it),
        });
        let anchor = kept.collect::<String>().to_lowercase();
        let repeats = seen.entry(anchor.clone()).and_modify(|count| *count += 1).or_default();
        found.push(if *repeats == 0 { anchor } else { format!("{anchor}-{repeats}") });
    }
    found
}

/// Why a link leads nowhere.
fn fault(from: &Path, target: &str) -> Option<String> {
    if target.starts_with("http://") || target.starts_with("https://") {
        return None; // the world's
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let to = if path.is_empty() { from.to_path_buf() } else { from.parent()?.join(path) };
    if !to.exists() {
        return Some("there is no such file".to_owned());
    }
    let named = !anchor.is_empty() && to.extension().is_some_and(|it| it == "md");
    if named && !anchors(&read(&to)).iter().any(|it| it == anchor) {
        return Some("there is no such heading".to_owned());
    }
    None
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    let mut faults = Vec::new();
    for path in files(&root(), "md") {
        for target in targets(&read(&path)) {
            count += 1;
            if let Some(why) = fault(&path, &target) {
                faults.push(format!("{}: {target}: {why}", shown(&path)));
            }
        }
    }
    assert!(count > 20, "only {count} links were found");
    assert!(faults.is_empty(), "links that lead nowhere:\n{}", faults.join("\n"));
}

/// What the index does not name is found by nobody.
#[test]
fn the_index_names_every_document() {
    let docs = root().join("docs");
    let index = targets(&read(&docs.join("README.md")));
    let missing: Vec<String> = files(&docs, "md")
        .iter()
        .filter_map(|path| path.file_name()?.to_str())
        .filter(|name| *name != "README.md" && !index.iter().any(|it| it == name))
        .map(str::to_owned)
        .collect();
    assert!(missing.is_empty(), "docs/README.md does not name {missing:?}");
}

#[test]
fn links_and_anchors_are_found() {
    let document = "\
# One page: a `title`

See [there](other.md#part) and [this](#one-page-a-title), not `[code](no.md)`.

```sh
echo [not](a-link.md)
# no heading
```

## Part

## Part

[named]: https://example.com
";
    assert_eq!(targets(document), ["other.md#part", "#one-page-a-title", "https://example.com"]);
    assert_eq!(anchors(document), ["one-page-a-title", "part", "part-1"]);
    let here = root().join("README.md");
    assert_eq!(fault(&here, "docs/api.md"), None);
    assert_eq!(fault(&here, "docs/nowhere.md").as_deref(), Some("there is no such file"));
    assert_eq!(fault(&here, "docs/api.md#no").as_deref(), Some("there is no such heading"));
}
