//! XML text with numbers that read back to the same bits.

use super::{WriteError, unsupported};

/// Indentation stops growing here: files nest thousands of bodies.
const DEEPEST: usize = 24;

/// Lines of XML.
#[derive(Clone, Debug)]
pub(crate) struct Xml {
    pub(crate) text: String,
    depth: usize,
}

impl Xml {
    /// No lines; the first will be indented by `depth` levels.
    pub(crate) fn new(depth: usize) -> Self {
        Self { text: String::new(), depth }
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, String)], end: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.depth.min(DEEPEST)));
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            self.text.push_str(&format!(" {key}=\"{}\"", escaped(value)));
        }
        self.text.push_str(end);
        self.text.push('\n');
    }

    /// An element without children.
    pub(crate) fn empty(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.tag(name, attributes, "/>");
    }

    /// The start of an element.
    pub(crate) fn open(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.tag(name, attributes, ">");
        self.depth += 1;
    }

    /// The end of an element.
    pub(crate) fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.text.extend(std::iter::repeat_n("  ", self.depth.min(DEEPEST)));
        self.text.push_str(&format!("</{name}>\n"));
    }

    /// A section with prepared lines, left out where there are none.
    pub(crate) fn section(&mut self, name: &str, lines: &Xml) {
        if !lines.text.is_empty() {
            self.open(name, &[]);
            self.text.push_str(&lines.text);
            self.close(name);
        }
    }
}

fn escaped(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
    out
}

/// Refuses names with characters that XML has no way to write.
pub(crate) fn check(text: &str) -> Result<(), WriteError> {
    let legal = |c: char| c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}') || c == '\n';
    let Some(at) = text.find(|c| !legal(c)) else { return Ok(()) };
    // Quotes within a value are escaped: the nearest ones are around it.
    let start = text[..at].rfind('"').map_or(0, |i| i + 1);
    let end = text[at..].find('"').map_or(text.len(), |i| at + i);
    Err(unsupported(
        format!("the name {:?}", &text[start..end]),
        "XML has none of its control characters",
    ))
}

/// The shortest text that reads back to the same number.
pub(crate) fn number(x: f64) -> String {
    let s = format!("{x:?}");
    s.strip_suffix(".0").map_or_else(|| s.clone(), str::to_owned)
}

/// Numbers with blanks between.
pub(crate) fn numbers(x: &[f64]) -> String {
    x.iter().map(|&x| number(x)).collect::<Vec<_>>().join(" ")
}
