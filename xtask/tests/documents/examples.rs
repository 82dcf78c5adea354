//! Every public function of the core has an example that asserts something.

use crate::{files, read, root, shown};

/// A function that anybody can call, and the text above it.
#[derive(Debug, PartialEq)]
struct Function {
    line: usize,
    name: String,
    doc: String,
}

impl Function {
    /// Is there a block of code in its text that asserts?
    fn has_example(&self) -> bool {
        let blocks = self.doc.split("```").skip(1).step_by(2);
        blocks.into_iter().any(|block| block.contains("assert"))
    }
}

/// The public functions of a file that rustfmt has formatted, those of its public traits among
/// them. The lint `unreachable_pub` sees to it that what is called `pub` can be reached, so that
/// the word alone is enough.
fn functions(source: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut doc = String::new();
    // The end of what is skipped, and that of the public trait we are in.
    let (mut tests_end, mut trait_end) = (None, None);
    let mut is_test = false;
    for (at, line) in source.lines().enumerate() {
        let text = line.trim();
        let closing = line.len() - line.trim_start().len();
        let ends = |end: Option<usize>| end == Some(closing) && text.starts_with('}');
        if tests_end.is_some() {
            tests_end = tests_end.filter(|_| !ends(tests_end));
            continue;
        }
        trait_end = trait_end.filter(|_| !ends(trait_end));
        if let Some(more) = text.strip_prefix("///").or_else(|| text.strip_prefix("#[doc")) {
            doc.push_str(more);
            doc.push('\n');
            continue;
        }
        if text == "#[cfg(test)]" {
            is_test = true;
            continue;
        }
        if text.starts_with("#[") || text.starts_with(")]") {
            continue;
        }
        if is_test && text.ends_with('{') {
            tests_end = Some(closing);
        } else if text.starts_with("pub trait ") {
            trait_end = Some(closing);
        }
        if let Some(name) = called(text, trait_end.is_some()) {
            found.push(Function { line: at + 1, name, doc: doc.clone() });
        }
        is_test = false;
        doc.clear();
    }
    found
}

/// The name of the function that begins on this line, if it is public.
fn called(text: &str, in_trait: bool) -> Option<String> {
    let words = match text.strip_prefix("pub ") {
        Some(words) => words,
        None if in_trait => text,
        None => return None,
    };
    let qualifiers = ["const ", "async ", "unsafe "];
    let words = qualifiers.iter().fold(words, |text, it| text.strip_prefix(it).unwrap_or(text));
    let name = words.strip_prefix("fn ")?;
    Some(name.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect())
}

#[test]
fn every_public_function_of_the_core_has_an_example_that_asserts() {
    let mut count = 0;
    let mut without = Vec::new();
    for path in files(&root().join("crates/core/src"), "rs") {
        // Modules of tests; what is in them is no part of the library.
        if path.components().any(|it| it.as_os_str() == "tests") || path.ends_with("tests.rs") {
            continue;
        }
        for function in functions(&read(&path)) {
            count += 1;
            if !function.has_example() {
                without.push(format!("{}:{} {}", shown(&path), function.line, function.name));
            }
        }
    }
    assert!(count > 250, "only {count} functions were found");
    assert!(without.is_empty(), "without an example:\n{}", without.join("\n"));
}

#[test]
fn a_function_without_an_example_is_found() {
    let source = "\
/// Has one.
///
/// ```
/// assert!(one());
/// ```
#[must_use]
pub const fn one() -> bool {
    true
}

impl Thing {
    /// Has a block that asserts nothing.
    ///
    /// ```
    /// two();
    /// ```
    pub fn two(&self) {}

    /// Is nobody's business.
    pub(crate) fn inner(&self) {}

    fn private(&self) {}
}

pub trait Able:
    Copy
{
    /// Has none.
    fn three(&self);
}

fn after() {}

#[cfg(test)]
mod tests {
    pub fn four() {}
}

/// An assertion in words, in no block.
pub async fn five() {}
";
    let found = functions(source);
    let names: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.has_example())).collect();
    assert_eq!(names, [("one", true), ("two", false), ("three", false), ("five", false)]);
}
