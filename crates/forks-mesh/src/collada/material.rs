//! `<material>`: the diffuse colour of its effect.

use roxmltree::Node;

use super::{Library, Named, child, numbers};
use crate::painted::{Rgba, byte};

/// The colour of a material's effect; `None` for one that is an image, or is not there.
pub(super) fn colour(material: Node<'_, '_>, library: &Library<'_, '_>) -> Option<Rgba> {
    let instance = child(material, "instance_effect")?;
    let effect = library.find(instance.attribute("url"))?;
    let diffuse = effect.descendants().find(|n| n.has_tag_name_of("diffuse"))?;
    let [r, g, b, rest @ ..] = &numbers::<f64>(child(diffuse, "color")?).ok()?[..] else {
        return None;
    };
    // What programs write as transparency means different things; the colour's own says enough.
    Some([byte(*r), byte(*g), byte(*b), byte(rest.first().copied().unwrap_or(1.0))])
}
