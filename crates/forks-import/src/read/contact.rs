//! `<contact>`: bodies that pass through each other.

use super::{Attributes, Reader, assemble::Model};
use crate::{ImportError, xml::Element};

impl<'a> Reader<'a> {
    pub(crate) fn read_exclusions(
        &mut self,
        section: &'a Element,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        for e in self.tree.children(section) {
            match e.tag.as_str() {
                "exclude" => {
                    let a = self.attributes("exclude", e)?;
                    let link = |model: &Model, attribute: &str, a: &Attributes<'a>| {
                        model.body_names.required(a, attribute).map(|body| model.link(body))
                    };
                    let [one, two] = [link(model, "body1", &a)?, link(model, "body2", &a)?];
                    model.builder.exclude_contact(one, two);
                }
                "pair" => self.whole_element("contact/pair", e)?,
                _ => self.unknown_element(e, "contact")?,
            }
        }
        Ok(())
    }
}
