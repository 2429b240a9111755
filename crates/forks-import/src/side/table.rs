//! Values of a TOML table with the lines that they stand at; every key must be known.

use toml::{Spanned, de::DeTable, de::DeValue};

use super::Numbers;
use crate::{ImportError, Location};

/// The text that lines are counted in.
pub(super) struct Source<'s> {
    pub(super) text: &'s str,
    pub(super) file: Option<String>,
}

impl Source<'_> {
    pub(super) fn at(&self, offset: usize) -> Location {
        let end = offset.min(self.text.len());
        let line = self.text.as_bytes()[..end].iter().filter(|b| **b == b'\n').count() as u32 + 1;
        Location { file: self.file.clone(), line }
    }
}

/// A value, its key and the table around it.
#[derive(Clone, Copy)]
pub(super) struct Entry<'s, 'v> {
    pub(super) source: &'s Source<'s>,
    pub(super) element: &'v str,
    pub(super) key: &'static str,
    pub(super) value: &'v Spanned<DeValue<'v>>,
}

impl<'s, 'v> Entry<'s, 'v> {
    pub(super) fn at(&self) -> Location {
        self.source.at(self.value.span().start)
    }

    /// The value as it is written.
    fn text(&self) -> &'s str {
        self.source.text.get(self.value.span()).unwrap_or("")
    }

    pub(super) fn invalid(&self, problem: impl Into<String>) -> ImportError {
        ImportError::Value {
            at: Box::new(self.at()),
            element: self.element.into(),
            attribute: self.key.into(),
            value: self.text().trim_matches(['"', '\'']).into(),
            problem: problem.into(),
        }
    }

    pub(super) fn string(&self) -> Result<&'v str, ImportError> {
        match self.value.get_ref() {
            DeValue::String(s) if !s.is_empty() => Ok(s),
            _ => Err(self.invalid("is not a name in quotation marks")),
        }
    }

    pub(super) fn array(&self) -> Result<&'v [Spanned<DeValue<'v>>], ImportError> {
        match self.value.get_ref() {
            DeValue::Array(a) => Ok(a),
            _ => Err(self.invalid("is not a list")),
        }
    }

    pub(super) fn table(&self, element: &'v str) -> Result<Table<'s, 'v>, ImportError> {
        match self.value.get_ref() {
            DeValue::Table(table) => {
                Ok(Table { source: self.source, element, table, at: self.at() })
            }
            _ => Err(self.invalid("is not a table")),
        }
    }

    /// One of the values of a list.
    pub(super) fn item(&self, value: &'v Spanned<DeValue<'v>>) -> Self {
        Entry { value, ..*self }
    }

    fn number(&self) -> Result<f64, ImportError> {
        let x = match self.value.get_ref() {
            DeValue::Float(f) => f.as_str().parse::<f64>().ok(),
            DeValue::Integer(i) if i.radix() == 10 => i.as_str().parse().ok(),
            _ => None,
        };
        x.filter(|x| x.is_finite()).ok_or_else(|| self.invalid("is not a finite number"))
    }

    /// A number, or a list of numbers.
    pub(super) fn numbers(&self) -> Result<Numbers, ImportError> {
        let list = match self.value.get_ref() {
            DeValue::Array(a) => {
                a.iter().map(|v| self.item(v).number()).collect::<Result<_, _>>()?
            }
            _ => vec![self.number()?],
        };
        Ok(Numbers { at: self.at(), key: self.key, list })
    }

    /// Numbers that are not negative.
    pub(super) fn not_negative(&self) -> Result<Numbers, ImportError> {
        let numbers = self.numbers()?;
        if numbers.list.iter().any(|x| *x < 0.0) {
            return Err(self.invalid("is negative"));
        }
        Ok(numbers)
    }

    pub(super) fn fixed<const N: usize>(&self) -> Result<[f64; N], ImportError> {
        let list = self.numbers()?.list;
        let found = list.len();
        <[f64; N]>::try_from(list)
            .map_err(|_| self.invalid(format!("has {found} numbers, expected {N}")))
    }
}

/// A table, and what messages call it.
#[derive(Clone)]
pub(super) struct Table<'s, 'v> {
    pub(super) source: &'s Source<'s>,
    pub(super) element: &'v str,
    pub(super) table: &'v DeTable<'v>,
    pub(super) at: Location,
}

impl<'s, 'v> Table<'s, 'v> {
    pub(super) fn get(&self, key: &'static str) -> Option<Entry<'s, 'v>> {
        let value = self.table.get(key)?;
        Some(Entry { source: self.source, element: self.element, key, value })
    }

    pub(super) fn required(&self, key: &'static str) -> Result<Entry<'s, 'v>, ImportError> {
        self.get(key).ok_or_else(|| self.error(format!("key '{key}' is missing")))
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> ImportError {
        ImportError::Element {
            at: Box::new(self.at.clone()),
            element: self.element.into(),
            problem: problem.into(),
        }
    }

    /// Refuses the first key that is not one of these.
    pub(super) fn only(&self, keys: &[&str]) -> Result<(), ImportError> {
        let unknown = |(k, _): &(&Spanned<_>, _)| {
            let k: &Spanned<std::borrow::Cow<'_, str>> = k;
            !keys.contains(&k.get_ref().as_ref())
        };
        let Some((key, value)) = self.table.iter().find(unknown) else { return Ok(()) };
        let text = self.source.text.get(value.span()).unwrap_or("");
        Err(ImportError::UnknownAttribute {
            at: Box::new(self.source.at(key.span().start)),
            element: self.element.into(),
            attribute: key.get_ref().to_string(),
            value: text.trim_matches(['"', '\'']).into(),
        })
    }
}
