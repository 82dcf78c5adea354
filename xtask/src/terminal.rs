//! `cargo xtask terminal`: plays the session of `docs/terminal.sh` and draws what it showed.

use std::fmt::Write as _;
use std::path::Path;

use crate::command::{outward, read, root};
use crate::error::Error;

/// What stands before a line of a command in what the session prints.
const MARK: char = '\u{1e}';

/// Sizes, in pixels; that of a column in hundredths.
const FONT: usize = 14;
const LINE: usize = 20;
const COLUMN: usize = 843;
const MARGIN: usize = 20;
const BAR: usize = 36;

pub(crate) fn run() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("cauri-terminal-{}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|source| file(&folder, source))?;
    let script = root().join("docs/terminal.sh");
    let session = read(outward("bash").arg(script).current_dir(&folder));
    std::fs::remove_dir_all(&folder).map_err(|source| file(&folder, source))?;

    let path = root().join("docs/terminal.svg");
    std::fs::write(&path, draw(&session?)).map_err(|source| file(&path, source))?;
    println!("{} was drawn.", path.display());
    Ok(())
}

fn file(path: &Path, source: std::io::Error) -> Error {
    Error::File { path: path.to_owned(), source }
}

/// The picture of a session: commands behind their prompts, and what they printed.
fn draw(session: &str) -> String {
    let lines: Vec<&str> = session.lines().collect();
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let (width, height) = (2 * MARGIN + columns * COLUMN / 100, BAR + MARGIN + lines.len() * LINE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"A session with cauri-server\">\n\
         <style>text {{ font: {FONT}px 'DejaVu Sans Mono', Menlo, Consolas, monospace; \
         white-space: pre; fill: #9da7b3 }} .command {{ fill: #ffffff }} \
         .prompt {{ fill: #3fb950 }}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>\n"
    );
    for (at, colour) in ["#ff5f56", "#ffbd2e", "#27c93f"].iter().enumerate() {
        let x = MARGIN + 6 + at * LINE;
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"18\" r=\"6\" fill=\"{colour}\"/>");
    }
    for (at, line) in lines.iter().enumerate() {
        let y = BAR + FONT + at * LINE;
        let text = match line.strip_prefix(MARK).and_then(|line| line.split_at_checked(2)) {
            Some((prompt, command)) => format!(
                "<tspan class=\"prompt\">{}</tspan><tspan class=\"command\">{}</tspan>",
                escaped(prompt),
                escaped(command)
            ),
            None => escaped(line),
        };
        let _ =
            writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{text}</text>");
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_what_they_print() {
        let svg = draw("\u{1e}$ echo '<b>'\n\u{1e}> more\n<b>\n");
        assert!(svg.contains(">$ </tspan><tspan class=\"command\">echo '&lt;b&gt;'</tspan>"));
        assert!(svg.contains(">&gt; </tspan><tspan class=\"command\">more</tspan>"));
        assert!(svg.contains("xml:space=\"preserve\">&lt;b&gt;</text>"));
    }
}
