//! How the form of a shape is read: a table with one key, its name.

use std::fmt;

use forks_geometry::Geometry;
use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, EnumAccess, IntoDeserializer as _, VariantAccess as _, Visitor,
        value::EnumAccessDeserializer,
    },
};

use super::spec::FormSpec;

impl<'de> Deserialize<'de> for FormSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("FormSpec", &[], Named)
    }
}

/// Reads the name, then what belongs to it.
struct Named;

impl<'de> Visitor<'de> for Named {
    type Value = FormSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a form by its name")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<FormSpec, A::Error> {
        let (name, rest): (String, _) = data.variant()?;
        match name.as_str() {
            "hills" => rest.newtype_variant().map(FormSpec::Hills),
            "heights" => rest.newtype_variant().map(FormSpec::Heights),
            _ => {
                let known = EnumAccessDeserializer::new(Known { name, rest });
                Geometry::deserialize(known).map(FormSpec::Geometry)
            }
        }
    }
}

/// A variant whose name has been read.
struct Known<V> {
    name: String,
    rest: V,
}

impl<'de, V: serde::de::VariantAccess<'de>> EnumAccess<'de> for Known<V> {
    type Error = V::Error;
    type Variant = V;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, V), V::Error> {
        Ok((seed.deserialize(self.name.into_deserializer())?, self.rest))
    }
}
