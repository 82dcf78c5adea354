//! Bytes as choices.

/// Reads choices from an input; when it ends, every choice is the first.
#[derive(Debug)]
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// From an input.
    #[must_use]
    pub const fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    /// Is there anything left to choose with?
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Two of them.
    pub fn pair(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// Eight of them.
    pub fn word(&mut self) -> i64 {
        i64::from_be_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// One of these.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[usize::from(self.byte()) % from.len()]
    }

    /// So many bytes at most.
    pub fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}
