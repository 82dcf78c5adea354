//! Short texts of ASCII without an allocation: ids and moments are written this way. Every object
//! that is answered, stored or sent has a dozen of them, for which the ways of `fmt` are long.

use std::ops::Deref;

/// As long as the longest of them: `plink_` and 26 characters.
pub(crate) const LENGTH_MAX: usize = 32;

/// A text of at most 32 bytes.
#[derive(Debug, Default)]
pub(crate) struct Short {
    bytes: [u8; LENGTH_MAX],
    length: usize,
}

impl Short {
    /// One more character. There is room for whatever this crate writes: the prefix of every id is
    /// measured when it is compiled.
    pub(crate) fn push(&mut self, character: u8) {
        if let Some(slot) = self.bytes.get_mut(self.length) {
            *slot = character;
            self.length = self.length.saturating_add(1);
        }
    }

    /// More characters.
    pub(crate) fn push_all(&mut self, characters: &[u8]) {
        characters.iter().for_each(|it| self.push(*it));
    }

    /// So many digits of a number, zeros in front.
    pub(crate) fn push_number(&mut self, number: u32, digits: u32) {
        for place in (0..digits).rev() {
            let digit = number.checked_div(10_u32.saturating_pow(place)).unwrap_or_default() % 10;
            self.push(b'0'.saturating_add(u8::try_from(digit).unwrap_or_default()));
        }
    }
}

impl Deref for Short {
    type Target = str;

    fn deref(&self) -> &str {
        let bytes = self.bytes.get(..self.length).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_digits_and_what_has_no_room_is_not_written() {
        let mut text = Short::default();
        text.push_number(7, 3);
        text.push(b'.');
        text.push_number(2_026, 4);
        assert_eq!(&*text, "007.2026");
        text.push_all(&[b'x'; 40]);
        assert_eq!(text.len(), LENGTH_MAX);
    }
}
