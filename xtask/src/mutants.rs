//! `cargo xtask mutants`: plants one bug at a time in a copy of the tree, and demands that the
//! simulation finds it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{outward, read, root, run as run_command};
use crate::error::Error;

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    mutant: Option<String>,
    seeds: u32,
}

impl Options {
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, Error> {
        let mut options = Self { mutant: None, seeds: 500 };
        while let Some(arg) = args.next() {
            if arg == "--seeds" {
                let seeds = args.next().and_then(|text| text.parse().ok());
                options.seeds = seeds.filter(|seeds| *seeds > 0).ok_or_else(|| {
                    Error::Usage("--seeds takes a whole number above 0".to_owned())
                })?;
            } else if arg.starts_with('-') || options.mutant.is_some() {
                return Err(Error::Usage(format!("mutants does not know what {arg:?} means")));
            } else {
                options.mutant = Some(arg);
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let mutants = mutants(&root().join("crates/sim/mutations"), options)?;
    let place = root().join("target/mutants");
    let tree = place.join("tree");
    copy(&tree)?;
    // As it is, nothing must be found: what is found afterwards is found because of the bug.
    if let Some(found) = seeds(&tree, &place, options.seeds)? {
        println!("Without a bug planted, the simulation finds one:\n{found}");
        return Err(Error::Survived(0));
    }
    let mut survived = 0;
    for mutant in &mutants {
        let name = mutant.file_stem().unwrap_or_default().to_string_lossy();
        // Fails when the patch does not apply any more.
        run_command(git(&tree).arg("apply").arg(mutant))?;
        let found = seeds(&tree, &place, options.seeds);
        run_command(git(&tree).args(["apply", "-R"]).arg(mutant))?;
        match found? {
            Some(found) => println!("found     {name}: {found}"),
            None => {
                survived += 1;
                println!("SURVIVED  {name}");
            }
        }
    }
    println!("{} of {} planted bugs are found.", mutants.len() - survived, mutants.len());
    if survived > 0 { Err(Error::Survived(survived)) } else { Ok(()) }
}

/// The patches, by name.
fn mutants(directory: &Path, options: &Options) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(directory)
        .map_err(|source| Error::File { path: directory.to_path_buf(), source })?;
    let mut all: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "patch"))
        .filter(|path| {
            options.mutant.as_ref().is_none_or(|name| path.file_stem() == Some(name.as_ref()))
        })
        .collect();
    all.sort();
    if all.is_empty() {
        return Err(Error::Usage("there is no such mutant".to_owned()));
    }
    Ok(all)
}

/// Brings the copy up to date with what git knows of, as it is in the working tree. What is the same
/// stays untouched, so that it is not built again.
fn copy(tree: &Path) -> Result<(), Error> {
    let listed = read(git(&root()).args(["ls-files"]))?;
    for name in listed.lines() {
        let (from, to) = (root().join(name), tree.join(name));
        let error = |path: &Path| {
            let path = path.to_path_buf();
            move |source| Error::File { path, source }
        };
        // Removed here, and not yet from what git knows.
        let Ok(content) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|there| there == content) {
            continue;
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(error(parent))?;
        }
        fs::write(&to, content).map_err(error(&to))?;
    }
    Ok(())
}

/// Builds and runs the simulation of a tree; the first promise that is broken, if any.
fn seeds(tree: &Path, place: &Path, seeds: u32) -> Result<Option<String>, Error> {
    let mut build = outward(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.current_dir(tree).args(["build", "--quiet", "--locked", "--profile", "mutants"]);
    build.args(["--package", "cauri-sim", "--bin", "sim", "--target-dir"]).arg(place);
    run_command(&mut build)?;
    let output = Command::new(place.join("mutants").join("sim"))
        .args(["--no-shrink", "--seeds", &seeds.to_string()])
        .stderr(Stdio::null())
        .output()
        .map_err(|source| Error::Start { program: "sim".to_owned(), source })?;
    if output.status.success() {
        return Ok(None);
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let first = said.lines().find(|line| line.starts_with("  seed "));
    Ok(Some(first.unwrap_or("it ended in a panic").trim().to_owned()))
}

/// Git in a directory that is no repository of its own: patches apply by their paths alone.
fn git(directory: &Path) -> Command {
    let mut git = outward("git");
    git.current_dir(directory);
    if directory != root() {
        git.env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap_or(directory));
    }
    git
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Error> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn mutant_and_seeds_come_in_any_order_or_not_at_all() {
        assert_eq!(parse("").unwrap(), Options { mutant: None, seeds: 500 });
        let one = Options { mutant: Some("seven_attempts".into()), seeds: 5 };
        assert_eq!(parse("seven_attempts --seeds 5").unwrap(), one);
        assert_eq!(parse("--seeds 5 seven_attempts").unwrap(), one);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["--seeds", "--seeds 0", "--fast", "a b"] {
            assert!(matches!(parse(line), Err(Error::Usage(_))), "{line}");
        }
    }

    /// What stands in `crates/sim/mutations` and in the table of `docs/reliability.md`, as
    /// "`name`: what it does".
    fn planted() -> (Vec<PathBuf>, Vec<String>, String) {
        let all = Options { mutant: None, seeds: 1 };
        let patches = mutants(&root().join("crates/sim/mutations"), &all).unwrap();
        let said = fs::read_to_string(root().join("docs/reliability.md")).unwrap();
        let (_, table) = said.split_once("| Planted | Seeds run until found |").unwrap();
        let rows = table.lines().skip(2).map_while(|line| line.strip_prefix("| "));
        let rows = rows.filter_map(|row| row.split(" | ").next().map(str::to_owned)).collect();
        (patches, rows, said)
    }

    #[test]
    fn each_applies_to_the_tree_as_it_is() {
        for patch in planted().0 {
            let output = git(&root()).args(["apply", "--check"]).arg(&patch).output().unwrap();
            let why = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {why}", patch.display());
        }
    }

    #[test]
    fn the_page_tells_of_each() {
        let (patches, rows, said) = planted();
        let names = patches.iter().map(|patch| {
            let name = patch.file_stem().unwrap().to_string_lossy();
            let text = fs::read_to_string(patch).unwrap();
            format!("`{name}`: {}", text.lines().next().unwrap())
        });
        assert_eq!(rows, names.collect::<Vec<_>>());
        let count = format!("All of these {} are found", rows.len());
        assert!(said.contains(&count), "the page does not say «{count}»");
        assert!(rows.len() >= 40);
    }
}
