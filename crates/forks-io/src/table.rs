//! Plain text tables for terminals.

use std::fmt;

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table with aligned columns; widths are counted in characters.
///
/// Shown through [`fmt::Display`]: header, a rule, one line per row, no blanks at line ends.
/// Control characters in cells (a line end in a name read from a file) are shown escaped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more column.
    pub fn column(mut self, title: impl Into<String>, align: Align) -> Self {
        self.columns.push((escaped(&title.into()), align));
        self
    }

    /// With more columns of one kind.
    pub fn columns<const N: usize>(self, titles: [&str; N], align: Align) -> Self {
        titles.into_iter().fold(self, |table, title| table.column(title, align))
    }

    /// Adds a row; missing cells are empty, cells beyond the last column are left out.
    pub fn push<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        let mut row: Vec<String> = cells.into_iter().map(|c| escaped(&c.into())).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
        self
    }

    /// Number of rows, the header not counted.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |s: &String| s.chars().count();
        let mut widths: Vec<usize> = self.columns.iter().map(|(t, _)| width(t)).collect();
        for row in &self.rows {
            for (w, cell) in widths.iter_mut().zip(row) {
                *w = (*w).max(width(cell));
            }
        }
        widths
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let padded: Vec<String> = cells
                .zip(&self.columns)
                .zip(&widths)
                .map(|((cell, (_, align)), &w)| match align {
                    Align::Left => format!("{cell:<w$}"),
                    Align::Right => format!("{cell:>w$}"),
                })
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        writeln!(f, "{}", line(&mut self.columns.iter().map(|(t, _)| t.as_str())))?;
        let rule: Vec<String> = widths.iter().map(|&w| "-".repeat(w)).collect();
        writeln!(f, "{}", rule.join("  "))?;
        for row in &self.rows {
            writeln!(f, "{}", line(&mut row.iter().map(String::as_str)))?;
        }
        Ok(())
    }
}

fn escaped(s: &str) -> String {
    s.chars()
        .flat_map(|c| {
            let escape = c.is_control().then(|| c.escape_default());
            let plain = (!c.is_control()).then_some(c);
            escape.into_iter().flatten().chain(plain)
        })
        .collect()
}
