//! Comma-separated tables with a header line.

use std::{borrow::Cow, fmt::Write as _, path::Path};

use crate::{IoError, error::finite, write_atomically};

/// One entry of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cell {
    /// A number, written with the fewest digits that read back as the same number.
    Number(f64),
    /// A count.
    Integer(i64),
    /// Text, quoted where it must be.
    Text(String),
    /// Nothing.
    Empty,
}

impl From<f64> for Cell {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<usize> for Cell {
    fn from(n: usize) -> Self {
        i64::try_from(n).map_or_else(|_| Self::Text(n.to_string()), Self::Integer)
    }
}

impl From<&str> for Cell {
    fn from(s: &str) -> Self {
        Self::Text(s.to_owned())
    }
}

impl From<String> for Cell {
    fn from(s: String) -> Self {
        Self::Text(s)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(x: Option<T>) -> Self {
        x.map_or(Self::Empty, Into::into)
    }
}

/// A table that grows row by row; text as in RFC 4180 with `\n` line ends.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvTable {
    columns: Vec<String>,
    rows: usize,
    text: String,
}

impl CsvTable {
    /// A table with a header line and no rows. Column names carry their unit: `time (s)`.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        let columns: Vec<String> = columns.into_iter().map(Into::into).collect();
        let header: Vec<Cow<'_, str>> = columns.iter().map(|c| quoted(c)).collect();
        let text = header.join(",") + "\n";
        Self { columns, rows: 0, text }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`IoError::WrongLength`]; [`IoError::NotFinite`] with column and row. The table is then as
    /// before.
    pub fn push<C: Into<Cell>>(
        &mut self,
        cells: impl IntoIterator<Item = C>,
    ) -> Result<&mut Self, IoError> {
        let cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        if cells.len() != self.columns.len() {
            return Err(IoError::WrongLength {
                row: self.rows,
                found: cells.len(),
                expected: self.columns.len(),
            });
        }
        let mut line = String::new();
        for (i, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
            if i > 0 {
                line.push(',');
            }
            self.write_cell(&mut line, cell, column)?;
        }
        self.text.push_str(&line);
        self.text.push('\n');
        self.rows += 1;
        Ok(self)
    }

    fn write_cell(&self, line: &mut String, cell: &Cell, column: &str) -> Result<(), IoError> {
        match cell {
            Cell::Number(x) => {
                let x = finite(*x, || format!("column '{column}', row {}", self.rows))?;
                // `Debug` is the shortest form that round-trips, with an exponent where it is
                // shorter.
                write!(line, "{x:?}").expect("writing to a string");
            }
            Cell::Integer(n) => write!(line, "{n}").expect("writing to a string"),
            Cell::Text(s) => line.push_str(&quoted(s)),
            Cell::Empty => {}
        }
        Ok(())
    }

    /// Number of rows, the header not counted.
    pub fn row_count(&self) -> usize {
        self.rows
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Writes the table to a file; see [`write_atomically`].
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), IoError> {
        write_atomically(path.as_ref(), self.text.as_bytes())
    }
}

/// Text with quotes around it if commas, quotes, line ends or outer blanks make them necessary.
fn quoted(s: &str) -> Cow<'_, str> {
    let special = s.contains([',', '"', '\n', '\r']) || s.trim() != s;
    if special { Cow::Owned(format!("\"{}\"", s.replace('"', "\"\""))) } else { Cow::Borrowed(s) }
}
