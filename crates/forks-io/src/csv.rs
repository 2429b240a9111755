//! Comma-separated tables with a header line.

use std::path::Path;

use csv::{QuoteStyle, Terminator, WriterBuilder};

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
        let text = line(&columns);
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
        let cells = cells.iter().zip(&self.columns);
        let cells: Result<Vec<String>, IoError> =
            cells.map(|(cell, column)| self.cell_text(cell, column)).collect();
        self.text.push_str(&line(&cells?));
        self.rows += 1;
        Ok(self)
    }

    fn cell_text(&self, cell: &Cell, column: &str) -> Result<String, IoError> {
        Ok(match cell {
            Cell::Number(x) => {
                let x = finite(*x, || format!("column '{column}', row {}", self.rows))?;
                // `Debug` is the shortest form that round-trips, with an exponent where it is
                // shorter.
                format!("{x:?}")
            }
            Cell::Integer(n) => n.to_string(),
            Cell::Text(s) => s.clone(),
            Cell::Empty => String::new(),
        })
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

/// Cells as a line, with quotes where they are necessary.
fn line(cells: &[String]) -> String {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::Any(b'\n'))
        .quote_style(QuoteStyle::Necessary)
        .from_writer(Vec::new());
    writer.write_record(cells).expect("memory takes any record");
    let bytes = writer.into_inner().expect("memory is flushed");
    String::from_utf8(bytes).expect("cells are text, and quotes are ASCII")
}
