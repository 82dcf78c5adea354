//! Every command of every document names what there is: packages, programs, chores and options.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{files, read, root, shown};

/// The lines of a document's blocks of shell, and its spans of code.
fn code(document: &str) -> Vec<String> {
    let mut fence: Option<bool> = None;
    let mut found = Vec::<String>::new();
    for line in document.lines() {
        let text = line.trim();
        if let Some(language) = text.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language == "sh") };
        } else if fence == Some(true) {
            match found.last_mut().filter(|before| before.ends_with('\\')) {
                Some(before) => {
                    before.pop();
                    before.push_str(text);
                }
                None => found.push(text.to_owned()),
            }
        } else if fence.is_none() {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// The workspace's packages, with their folders.
fn packages() -> BTreeMap<String, PathBuf> {
    let manifests = files(&root(), "toml").into_iter().filter(|it| it.ends_with("Cargo.toml"));
    let named = manifests.filter_map(|manifest| {
        let text = read(&manifest);
        let name = text.lines().find_map(|line| line.strip_prefix("name = \""))?;
        let folder = manifest.parent()?.to_path_buf();
        text.contains("[package]").then(|| (name.trim_end_matches('"').to_owned(), folder))
    });
    named.collect()
}

/// Has the package a program, an example, a bench or a test of this name?
fn has_target(package: &Path, kind: &str, name: &str) -> bool {
    let folder = match kind {
        "--bin" => "src/bin",
        "--example" => "examples",
        "--bench" => "benches",
        _ => "tests",
    };
    let manifest = read(&package.join("Cargo.toml"));
    let folder = package.join(folder);
    folder.join(format!("{name}.rs")).exists()
        || folder.join(name).join("main.rs").exists()
        || manifest.lines().any(|line| line == format!("name = \"{name}\""))
}

/// All of a program's code: its options are declared beside what they are for.
fn sources(folder: &Path) -> String {
    files(folder, "rs").iter().map(|path| read(path)).collect()
}

/// What a line of shell names that is not there.
fn faults(line: &str, packages: &BTreeMap<String, PathBuf>) -> Vec<String> {
    let words: Vec<&str> = line
        .split(|it: char| it.is_whitespace() || "'\"();|".contains(it))
        .filter(|word| !word.is_empty())
        .collect();
    let mut faults = Vec::new();
    let mut package: Option<&PathBuf> = None;
    let (mut of_cargo, mut of_server) = (false, false);
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        match *word {
            "#" => break,
            "cargo" => (of_cargo, of_server, package) = (true, false, None),
            "cauri-server" if !of_cargo => of_server = true,
            "--" => {
                let is_server = package.is_some() && package == packages.get("cauri-server");
                (of_cargo, of_server) = (false, is_server && !line.contains("--example"));
            }
            "xtask" if of_cargo => {
                let chores = read(&root().join("xtask/src/main.rs"));
                let is_name = next.starts_with(|it: char| it.is_ascii_lowercase());
                if is_name && !chores.contains(&format!("Some(\"{next}\")")) {
                    faults.push(format!("there is no chore {next}"));
                }
                of_cargo = false;
            }
            "-p" | "--package" if of_cargo && !next.is_empty() => {
                package = packages.get(next);
                if package.is_none() {
                    faults.push(format!("there is no package {next}"));
                }
            }
            kind @ ("--bin" | "--example" | "--bench" | "--test")
                if of_cargo && package.is_some_and(|it| !has_target(it, kind, next)) =>
            {
                faults.push(format!("there is no {kind} {next}"));
            }
            flag if of_server && flag.starts_with("--") && flag.len() > 2 => {
                let name: String =
                    flag[2..].split('=').next().unwrap_or_default().replace('-', "_");
                let options = sources(&root().join("examples/server/src"));
                let long = flag[2..].to_owned();
                let known = [format!(" {name}: "), format!("long = \"{long}\"")];
                let general = ["help", "version"].contains(&long.as_str());
                if !general && !known.iter().any(|it| options.contains(it)) {
                    faults.push(format!("cauri-server has no {flag}"));
                }
            }
            _ => {}
        }
    }
    faults
}

#[test]
fn every_command_names_what_there_is() {
    let packages = packages();
    let mut count = 0;
    let mut wrong = Vec::new();
    for path in files(&root(), "md") {
        for line in code(&read(&path)) {
            let is_command = ["cargo ", "cauri-server "].iter().any(|it| line.contains(it));
            count += usize::from(is_command);
            let faults = faults(&line, &packages);
            wrong.extend(faults.iter().map(|why| format!("{}: {line}: {why}", shown(&path))));
        }
    }
    assert!(count > 40, "only {count} commands were found");
    assert!(wrong.is_empty(), "commands that cannot work:\n{}", wrong.join("\n"));
}

#[test]
fn a_command_that_cannot_work_is_found() {
    let packages = packages();
    let faults = |line: &str| faults(line, &packages).len();
    assert_eq!(faults("cargo run --release -p cauri-benches --bin load -- --store memory:"), 0);
    assert_eq!(faults("cargo run -p cauri-bench --bin load"), 1);
    assert_eq!(faults("cargo run -p cauri-benches --bin lode"), 1);
    assert_eq!(faults("cargo xtask test"), 0);
    assert_eq!(faults("cargo xtask tset"), 1);
    assert_eq!(faults("cauri-server serve --no-worker --log-format json"), 0);
    assert_eq!(faults("cauri-server serve --no-workers"), 1);
    assert_eq!(code("`a` b\n```sh\nc \\\n  d\n```\n```rust\ne\n```"), ["a", "c d"]);
}
