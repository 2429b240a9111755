//! A serialiser that writes nothing and only looks for numbers that are not finite.

use std::fmt::{self, Display};

use serde::{Serialize, ser};

use crate::IoError;

/// Walks `value`; the first NaN or infinity is an error with its path.
pub(crate) fn check_finite<T: Serialize + ?Sized>(value: &T) -> Result<(), IoError> {
    value.serialize(Probe).map_err(|f| match f {
        Finding::Number { path, value } => {
            let place = if path.is_empty() { "the value".to_owned() } else { path };
            IoError::NotFinite { place, value }
        }
        Finding::Message(reason) => IoError::Json { reason },
    })
}

/// What the walk came upon.
#[derive(Debug)]
enum Finding {
    /// A number that is not finite; the path grows from the inside out.
    Number { path: String, value: f64 },
    /// A message of the value's own `Serialize`.
    Message(String),
}

impl Finding {
    fn inside(self, outer: &dyn Display) -> Self {
        match self {
            Self::Number { path, value } => {
                let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
                Self::Number { path: format!("{outer}{dot}{path}"), value }
            }
            message => message,
        }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { path, value } => write!(f, "{path} is {value}"),
            Self::Message(m) => f.write_str(m),
        }
    }
}

impl std::error::Error for Finding {}

impl ser::Error for Finding {
    fn custom<T: Display>(message: T) -> Self {
        Self::Message(message.to_string())
    }
}

fn number(value: f64) -> Result<(), Finding> {
    if value.is_finite() { Ok(()) } else { Err(Finding::Number { path: String::new(), value }) }
}

struct Probe;

/// Position in a sequence or the name of the entry that comes next.
struct Inside {
    variant: &'static str,
    next: usize,
    key: String,
}

impl Inside {
    fn new(variant: &'static str) -> Result<Self, Finding> {
        Ok(Self { variant, next: 0, key: String::new() })
    }

    /// JSON writes a variant as an object of one field, so it is a step of the path.
    fn in_variant(&self, f: Finding) -> Finding {
        if self.variant.is_empty() { f } else { f.inside(&self.variant) }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Finding> {
        let i = self.next;
        self.next += 1;
        value.serialize(Probe).map_err(|f| self.in_variant(f.inside(&format_args!("[{i}]"))))
    }

    fn entry<T: Serialize + ?Sized>(&self, key: &str, value: &T) -> Result<(), Finding> {
        value.serialize(Probe).map_err(|f| self.in_variant(f.inside(&key)))
    }
}

macro_rules! harmless {
    ($($name:ident($($t:ty),*))*) => {
        $(fn $name(self, $(_: $t),*) -> Result<(), Finding> {
            Ok(())
        })*
    };
}

/// What has parts.
macro_rules! compound {
    ($($name:ident($($t:ty),*))*) => {
        $(fn $name(self, $(_: $t),*) -> Result<Inside, Finding> {
            Inside::new("")
        })*
    };
}

impl ser::Serializer for Probe {
    type Ok = ();
    type Error = Finding;
    type SerializeSeq = Inside;
    type SerializeTuple = Inside;
    type SerializeTupleStruct = Inside;
    type SerializeTupleVariant = Inside;
    type SerializeMap = Inside;
    type SerializeStruct = Inside;
    type SerializeStructVariant = Inside;

    harmless! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32)
        serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_i128(i128)
        serialize_u128(u128) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_unit_struct(&'static str) serialize_none() serialize_unit()
        serialize_unit_variant(&'static str, u32, &'static str)
    }

    compound! {
        serialize_seq(Option<usize>) serialize_tuple(usize)
        serialize_tuple_struct(&'static str, usize) serialize_map(Option<usize>)
        serialize_struct(&'static str, usize)
    }

    fn serialize_f32(self, v: f32) -> Result<(), Finding> {
        number(f64::from(v))
    }

    fn serialize_f64(self, v: f64) -> Result<(), Finding> {
        number(v)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Finding> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Finding> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Finding> {
        value.serialize(self).map_err(|f| f.inside(&variant))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside, Finding> {
        Inside::new(variant)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside, Finding> {
        Inside::new(variant)
    }
}

macro_rules! inside {
    ($($kind:ident: $method:ident;)*) => {
        $(impl ser::$kind for Inside {
            type Ok = ();
            type Error = Finding;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Finding> {
                self.element(value)
            }

            fn end(self) -> Result<(), Finding> {
                Ok(())
            }
        })*
    };
}

inside! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

macro_rules! inside_named {
    ($($kind:ident)*) => {
        $(impl ser::$kind for Inside {
            type Ok = ();
            type Error = Finding;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Finding> {
                self.entry(key, value)
            }

            fn end(self) -> Result<(), Finding> {
                Ok(())
            }
        })*
    };
}

inside_named! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Inside {
    type Ok = ();
    type Error = Finding;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Finding> {
        // Only the name for messages; whether the key is legal is for the writer to say.
        let text = serde_json::to_string(key).unwrap_or_default();
        self.key = text.trim_matches('"').to_owned();
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Finding> {
        self.entry(&self.key, value)
    }

    fn end(self) -> Result<(), Finding> {
        Ok(())
    }
}
