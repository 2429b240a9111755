//! Text for people.

use std::fmt::Display;

use forks_lie::Digits;

use crate::TextTable;

/// A number for people: six significant digits, an exponent only for very small and very large
/// ones.
pub fn short(x: f64) -> String {
    Digits(x).to_string()
}

/// Text for people: lines of a key and a value, then blocks with an empty line before each.
#[derive(Clone, Debug)]
pub struct Text {
    text: String,
    width: usize,
}

impl Text {
    /// Nothing yet; values will begin behind `width` columns.
    pub fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    /// A line.
    pub fn line(&mut self, key: &str, value: impl Display) {
        self.text += &format!("{key:<width$}{value}\n", width = self.width);
    }

    /// A block with its last line end.
    pub fn block(&mut self, block: impl Display) {
        self.text += &format!("\n{block}");
    }

    /// Tables with their titles and counts, the empty ones left out.
    pub fn tables<'a>(&mut self, tables: impl IntoIterator<Item = (&'a str, TextTable)>) {
        for (title, table) in tables.into_iter().filter(|(_, table)| table.row_count() > 0) {
            self.block(format_args!("{title} ({})\n{table}", table.row_count()));
        }
    }

    /// All of it.
    pub fn finish(self) -> String {
        self.text
    }
}
