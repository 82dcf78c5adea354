//! What commands say: lines for people, or one JSON object a line.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// Where what is said goes, and for whom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// Says one thing: as JSON, or as a line for people. Colours are for terminals alone, and for
    /// nobody where `NO_COLOR` says so.
    pub(crate) fn say(self, json: &(impl Serialize + ?Sized), text: &str) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut out, json)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{text}")?;
        }
        out.flush()
    }

    /// Says what a command ends with. Whether anybody still reads it changes nothing about that.
    pub(crate) fn conclude(self, json: &(impl Serialize + ?Sized), text: &str) -> io::Result<()> {
        match self.say(json, text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            said => said,
        }
    }

    /// Says the beginning of what will be one thing, so that whoever cannot be told is known not to
    /// listen before there is more to be said.
    pub(crate) fn begin(self, json: &str, text: &str) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        if self.json {
            write!(out, "{json}")?
        } else {
            writeln!(out, "{text}")?
        }
        out.flush()
    }

    /// Says its end.
    pub(crate) fn end(self, json: &str, text: &str) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}", if self.json { json } else { text })?;
        out.flush()
    }

    /// Says something that only people want to know.
    pub(crate) fn remark(self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { writeln!(anstream::stdout(), "{text}") }
    }

    /// How far something is; only on a terminal, and gone with the next.
    pub(crate) fn progress(self) -> Progress {
        Progress { shown: !self.json && io::stderr().is_terminal() }
    }
}

/// How far something is that takes long.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: bool,
}

/// How many characters a bar has.
const BAR: usize = 24;

impl Progress {
    /// So many of so many are done.
    pub(crate) fn at(&self, done: u64, all: u64, text: &str) {
        if self.shown {
            // A terminal that is gone has nobody to be told.
            let _ = write!(io::stderr(), "\r\x1b[K{} {text}", bar(done, all));
        }
    }

    /// Takes it away again.
    pub(crate) fn end(&self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn bar(done: u64, all: u64) -> String {
    let width = u64::try_from(BAR).unwrap_or_default();
    let full = done.saturating_mul(width).checked_div(all).unwrap_or(width);
    let full = usize::try_from(full).unwrap_or(BAR).min(BAR);
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR.saturating_sub(full)))
}

/// A status, in the colour of what it means, as wide as its column.
pub(crate) fn status(word: &str, width: usize) -> String {
    let colour = match word {
        "succeeded" | "paid" | "good" => AnsiColor::Green,
        "failed" | "cancelled" | "expired" | "trouble" => AnsiColor::Red,
        _ => AnsiColor::Yellow,
    };
    let style = Style::new().fg_color(Some(colour.into()));
    format!("{style}{word:width$}{style:#}")
}

/// A word that is good, or is not.
pub(crate) fn coloured(word: &str, is_good: bool) -> String {
    let colour = if is_good { AnsiColor::Green } else { AnsiColor::Red };
    let style = Style::new().fg_color(Some(colour.into()));
    format!("{style}{word}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_its_work_is_done() {
        assert_eq!(bar(0, 10), "[------------------------]");
        assert_eq!(bar(5, 10), "[############------------]");
        assert_eq!(bar(10, 10), "[########################]");
        assert_eq!(bar(0, 0), bar(1, 1), "nothing to do is done");
        assert_eq!(bar(u64::MAX, 3), bar(1, 1));
    }
}
