//! Words and binary numbers of a file, with the line where they are.

use super::FileError;

/// A place in a file.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// The rest of the line, without blanks around it; its end is passed.
    pub(super) fn rest_of_line(&mut self) -> String {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        self.at = (self.at + end + 1).min(self.bytes.len());
        self.line += 1;
        String::from_utf8_lossy(&rest[..end]).trim().to_owned()
    }

    /// The next word; `None` at the end. Comments from `#` to the end of the line are passed.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        loop {
            match self.bytes.get(self.at)? {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                b'#' => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                b if b.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += end;
        // What is not text is shown as a word that no format knows.
        Some(std::str::from_utf8(&rest[..end]).unwrap_or("?"))
    }

    /// A number in text.
    pub(super) fn number<T: std::str::FromStr>(
        &mut self,
        expected: &'static str,
    ) -> Result<T, FileError> {
        let word = self.word().ok_or(FileError::End { expected })?;
        word.parse().map_err(|_| self.unexpected(expected, word))
    }

    /// Three numbers in text.
    pub(super) fn point(&mut self) -> Result<[f64; 3], FileError> {
        let e = "a coordinate";
        Ok([self.number(e)?, self.number(e)?, self.number(e)?])
    }

    /// As many whole numbers in text.
    pub(super) fn numbers(
        &mut self,
        count: usize,
        expected: &'static str,
    ) -> Result<Vec<u64>, FileError> {
        (0..count).map(|_| self.number(expected)).collect()
    }

    /// Bytes of a binary number.
    pub(super) fn binary<const N: usize>(
        &mut self,
        expected: &'static str,
    ) -> Result<[u8; N], FileError> {
        let found = self.bytes.get(self.at..self.at + N).and_then(|b| b.try_into().ok());
        self.at += N;
        found.ok_or(FileError::End { expected })
    }

    pub(super) fn int(&mut self, expected: &'static str) -> Result<i32, FileError> {
        Ok(i32::from_le_bytes(self.binary(expected)?))
    }

    pub(super) fn size(&mut self, expected: &'static str) -> Result<u64, FileError> {
        Ok(u64::from_le_bytes(self.binary(expected)?))
    }

    pub(super) fn double(&mut self, expected: &'static str) -> Result<f64, FileError> {
        Ok(f64::from_le_bytes(self.binary(expected)?))
    }

    /// Three binary numbers.
    pub(super) fn binary_point(&mut self) -> Result<[f64; 3], FileError> {
        let e = "a coordinate";
        Ok([self.double(e)?, self.double(e)?, self.double(e)?])
    }

    /// How many items of at least `bytes` bytes may follow, so that a wrong count asks for no
    /// memory.
    pub(super) fn bounded(&self, count: u64, bytes: usize) -> usize {
        (count as usize).min((self.bytes.len().saturating_sub(self.at)) / bytes.max(1) + 1)
    }

    /// Passes everything up to a word at the start of a line.
    pub(super) fn skip_to(&mut self, word: &'static str) -> Result<(), FileError> {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let found = rest.windows(word.len()).position(|w| w == word.as_bytes());
        let to = found.ok_or(FileError::End { expected: word })?;
        self.line += rest[..to].iter().filter(|b| **b == b'\n').count();
        self.at += to + word.len();
        Ok(())
    }

    pub(super) fn unexpected(&self, expected: &'static str, found: &str) -> FileError {
        let found = found.chars().take(40).collect();
        FileError::Text { line: self.line, expected, found }
    }
}
