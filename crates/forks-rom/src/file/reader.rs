//! Values from bytes, every size compared with the bytes that are left before anything is
//! allocated.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use forks_lie::{
    Pose, Twist, Wrench,
    glam::{DQuat, DVec3},
};
use forks_linalg::Matrix;

use super::FileError;

/// Bytes of a number, count or index.
const WORD: usize = 8;

/// Reads values from the front of some bytes.
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// Where the bytes stand, for messages.
    section: &'static str,
}

impl<'a> Reader<'a> {
    /// Of bytes whose place messages name.
    pub fn new(bytes: &'a [u8], section: &'static str) -> Self {
        Self { bytes, section }
    }

    /// The section of this name, which comes next; the reader goes on behind it.
    pub fn section(&mut self, name: &'static str) -> Result<Reader<'a>, FileError> {
        let outer = core::mem::replace(&mut self.section, name);
        let found = self.take(name.len(), "name")?;
        if found != name.as_bytes() {
            let found = String::from_utf8_lossy(found).escape_default().to_string();
            return Err(FileError::Section { found, expected: name });
        }
        let size = self.word("size")?;
        let bytes = self.take(usize::try_from(size).unwrap_or(usize::MAX), "content")?;
        self.section = outer;
        Ok(Reader::new(bytes, name))
    }

    /// Nothing may be left.
    pub fn end(self) -> Result<(), FileError> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        Err(FileError::TooLong { section: self.section, left: self.bytes.len() as u64 })
    }

    fn take(&mut self, size: usize, field: &'static str) -> Result<&'a [u8], FileError> {
        match self.bytes.split_at_checked(size) {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(taken)
            }
            None => Err(self.too_short(field, size)),
        }
    }

    fn too_short(&self, field: &'static str, needed: usize) -> FileError {
        let left = self.bytes.len() as u64;
        FileError::TooShort { section: self.section, field, needed: needed as u64, left }
    }

    fn word(&mut self, field: &'static str) -> Result<u64, FileError> {
        let bytes = self.take(WORD, field)?;
        Ok(u64::from_le_bytes(core::array::from_fn(|i| bytes[i])))
    }

    /// An index or a count; a count says nothing yet about what is there.
    pub fn index(&mut self, field: &'static str) -> Result<usize, FileError> {
        let value = self.word(field)?;
        usize::try_from(value).map_err(|_| self.wrong(field, value))
    }

    /// The error of an impossible value.
    pub fn wrong(&self, field: &'static str, value: u64) -> FileError {
        FileError::Value { section: self.section, field, value }
    }

    /// One byte.
    pub fn byte(&mut self, field: &'static str) -> Result<u8, FileError> {
        Ok(self.take(1, field)?[0])
    }

    /// A count that is a small number.
    pub fn small(&mut self, field: &'static str) -> Result<u32, FileError> {
        let value = self.word(field)?;
        u32::try_from(value).map_err(|_| self.wrong(field, value))
    }

    /// A count of bytes, then the bytes.
    pub fn block(&mut self, field: &'static str) -> Result<&'a [u8], FileError> {
        let size = self.index(field)?;
        self.take(size, field)
    }

    /// A byte that is 0 or 1.
    pub fn flag(&mut self, field: &'static str) -> Result<bool, FileError> {
        match self.byte(field)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.wrong(field, other.into())),
        }
    }

    /// Any number, infinite ones and NaN too.
    pub fn raw_number(&mut self, field: &'static str) -> Result<f64, FileError> {
        Ok(f64::from_bits(self.word(field)?))
    }

    /// A finite number.
    pub fn number(&mut self, field: &'static str) -> Result<f64, FileError> {
        let value = self.raw_number(field)?;
        if value.is_finite() {
            return Ok(value);
        }
        Err(FileError::NotFinite { section: self.section, field, value })
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[f64; N], FileError> {
        let mut out = [0.0; N];
        for x in &mut out {
            *x = self.number(field)?;
        }
        Ok(out)
    }

    /// A count of bytes, then UTF-8.
    pub fn text(&mut self, field: &'static str) -> Result<String, FileError> {
        let size = self.index(field)?;
        let bytes = self.take(size, field)?;
        let text = core::str::from_utf8(bytes);
        text.map(String::from).map_err(|_| FileError::Text { section: self.section, field })
    }

    /// Position, then quaternion w, x, y, z.
    pub fn pose(&mut self, field: &'static str) -> Result<Pose, FileError> {
        let [px, py, pz, w, x, y, z] = self.array(field)?;
        Ok(Pose { rotation: DQuat::from_xyzw(x, y, z, w), translation: DVec3::new(px, py, pz) })
    }

    /// Three numbers.
    pub fn vector(&mut self, field: &'static str) -> Result<DVec3, FileError> {
        self.array(field).map(DVec3::from_array)
    }

    /// Six numbers.
    pub fn twist(&mut self, field: &'static str) -> Result<Twist, FileError> {
        self.array(field).map(Twist::from_array)
    }

    /// Six numbers.
    pub fn wrench(&mut self, field: &'static str) -> Result<Wrench, FileError> {
        self.array(field).map(Wrench::from_array)
    }

    /// `count` things of at least `least` bytes each.
    pub fn list<T>(
        &mut self,
        field: &'static str,
        count: usize,
        least: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, FileError>,
    ) -> Result<Vec<T>, FileError> {
        self.expect(field, count, least)?;
        let mut out = Vec::with_capacity(count);
        for _ in 0..count {
            out.push(read(self)?);
        }
        Ok(out)
    }

    /// Numbers row by row.
    pub fn matrix(
        &mut self,
        field: &'static str,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix, FileError> {
        self.expect(field, rows, columns.saturating_mul(WORD))?;
        let mut out = Matrix::zeros(rows, columns);
        for i in 0..rows {
            for x in out.row_mut(i) {
                *x = self.number(field)?;
            }
        }
        Ok(out)
    }

    /// True to size: `count` times `size` bytes are there.
    fn expect(&self, field: &'static str, count: usize, size: usize) -> Result<(), FileError> {
        let needed = count.saturating_mul(size);
        if needed <= self.bytes.len() { Ok(()) } else { Err(self.too_short(field, needed)) }
    }
}
