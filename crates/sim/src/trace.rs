//! What happened, in order: always as a sum, and as text when somebody wants to read it.

use crate::dice::{hash, hash_on};

#[derive(Debug)]
pub(crate) struct Trace {
    kept: Option<Vec<String>>,
    sum: u64,
    lines: u64,
}

impl Trace {
    pub(crate) fn new(keep: bool) -> Self {
        Self { kept: keep.then(Vec::new), sum: hash(b""), lines: 0 }
    }

    pub(crate) fn line(&mut self, at_ms: u64, text: &str) {
        self.sum = hash_on(hash_on(self.sum, &at_ms.to_be_bytes()), text.as_bytes());
        self.lines += 1;
        if let Some(kept) = &mut self.kept {
            kept.push(format!("{:>6}.{:03}  {text}", at_ms / 1_000, at_ms % 1_000));
        }
    }

    pub(crate) fn end(self) -> (u64, u64, Vec<String>) {
        (self.sum, self.lines, self.kept.unwrap_or_default())
    }
}
