//! The MJCF reader: sections in MuJoCo's order, then the mechanism.

mod actuator;
mod assemble;
mod asset;
mod attributes;
mod body;
mod cable;
mod compiler;
mod contact;
mod defaults;
mod equality;
pub(crate) mod geom;
mod inertia;
mod inertial_fault;
mod joint;
mod keyframe;
mod mass_matrix;
mod names;
pub(crate) mod orientation;
mod tendon;
mod tree;

use crate::{
    CoordinateOrder, Import, ImportError, ImportOptions, Location, UrdfOrder,
    note::{Effect, Notes},
    schema::{self, Treatment},
    xml::{Element, Tree, wrong_root},
};
pub(crate) use attributes::{Attributes, label};
use compiler::Compiler;
use defaults::Defaults;
pub(crate) use names::Names;

/// What all parts of the reader need.
struct Reader<'a> {
    tree: &'a Tree,
    options: &'a ImportOptions,
    compiler: Compiler,
    defaults: Defaults<'a>,
    assets: asset::Assets,
    notes: Notes,
}

/// Tag of an MJCF file's outermost element.
pub(crate) const ROOT: &str = "mujoco";

/// Reads a tree of elements.
pub(crate) fn read(tree: &Tree, options: &ImportOptions) -> Result<Import, ImportError> {
    let root = &tree.elements[tree.root];
    if root.tag != ROOT {
        return Err(wrong_root(
            tree,
            "MJCF files are read here, whose outermost element must be 'mujoco'",
        ));
    }
    let mut reader = Reader {
        tree,
        options,
        compiler: Compiler::default(),
        defaults: Defaults::default(),
        assets: asset::Assets::default(),
        notes: Notes::default(),
    };
    let mechanism = reader.model(root)?;
    if options.urdf_order == Some(UrdfOrder::Name) {
        let reason = "the coordinates of MJCF are always in MuJoCo's order";
        let at = tree.location(root);
        reader.notes.add("option", "urdf_order", Effect::Ignored, reason, &at);
    }
    let order = CoordinateOrder::Mujoco;
    Ok(Import { mechanism, notes: reader.notes.list, effectors: Vec::new(), order })
}

impl<'a> Reader<'a> {
    fn model(&mut self, root: &'a Element) -> Result<forks_mechanism::Mechanism, ImportError> {
        self.check_sections(root)?;
        let name =
            self.attributes("mujoco", root)?.text("model").unwrap_or("MuJoCo Model").to_owned();
        for e in self.sections(root, "compiler") {
            self.read_compiler(e)?;
        }
        self.compiler.balance_inertia |= self.options.balance_inertia;
        for e in self.sections(root, "option") {
            self.read_option(e)?;
        }
        for e in self.sections(root, "default") {
            self.read_defaults(e)?;
        }
        for e in self.sections(root, "asset") {
            self.read_assets(e)?;
        }
        let world: Vec<_> = self.sections(root, "worldbody");
        let raw = self.read_bodies(&world)?;
        let mut model = self.assemble(&name, raw)?;
        for e in self.sections(root, "tendon") {
            self.read_tendons(e, &mut model)?;
        }
        for e in self.sections(root, "equality") {
            self.read_equalities(e, &mut model)?;
        }
        for e in self.sections(root, "contact") {
            self.read_exclusions(e, &mut model)?;
        }
        for e in self.sections(root, "actuator") {
            self.read_actuators(e, &mut model)?;
        }
        self.finish_inertial_rules(&mut model)?;
        for e in self.sections(root, "keyframe") {
            self.read_keyframes(e, &mut model)?;
        }
        let file = self.tree.location(root).file.unwrap_or_else(|| "text".into());
        model.builder.build().map_err(|source| ImportError::Mechanism { file, source })
    }

    fn sections(&self, root: &'a Element, tag: &str) -> Vec<&'a Element> {
        self.tree.children(root).filter(|e| e.tag == tag).collect()
    }

    /// Knows every section; notes or refuses those that are treated as a whole.
    fn check_sections(&mut self, root: &'a Element) -> Result<(), ImportError> {
        const READ: [&str; 10] = [
            "asset",
            "contact",
            "compiler",
            "option",
            "default",
            "worldbody",
            "tendon",
            "equality",
            "actuator",
            "keyframe",
        ];
        for e in self.tree.children(root) {
            if READ.contains(&e.tag.as_str()) {
                continue;
            }
            const WHOLE: [&str; 7] =
                ["sensor", "custom", "extension", "size", "statistic", "visual", "deformable"];
            if !WHOLE.contains(&e.tag.as_str()) {
                self.unknown_element(e, "mujoco")?;
                continue;
            }
            self.whole_element(&e.tag, e)?;
        }
        Ok(())
    }

    /// An element that is treated as a whole: skipped, noted or refused as the table says.
    fn whole_element(&mut self, kind: &str, e: &Element) -> Result<(), ImportError> {
        let feature = schema::element(schema::mjcf_features(), kind)
            .expect("whole elements are in the table");
        let at = self.tree.location(e);
        match feature.treatment {
            Treatment::Refused => {
                let label = label(&e.tag, e.attribute("name"));
                self.refuse(label, "", feature.remark, &at)
            }
            Treatment::Noted => {
                self.notes.once(kind, "", Effect::Ignored, feature.remark, &at);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Refuses something that cannot be represented; notes it where that was asked for.
    fn refuse(
        &mut self,
        element: String,
        attribute: &str,
        reason: &str,
        at: &Location,
    ) -> Result<(), ImportError> {
        if self.options.lenient {
            self.notes.add(element, attribute, Effect::Ignored, reason, at);
            return Ok(());
        }
        let element =
            if attribute.is_empty() { element } else { format!("{attribute} of {element}") };
        Err(ImportError::Unsupported { at: Box::new(at.clone()), element, reason: reason.into() })
    }

    /// The linear part of a spring or damper, and whether there is more. A negative one would drive
    /// what it acts on: refused, or left out where that was asked for.
    fn passive(&mut self, a: &Attributes<'a>, name: &str) -> Result<(f64, bool), ImportError> {
        let (linear, more) = a.polynomial(name)?;
        if linear < 0.0 {
            let reason = "is negative: it would drive what it acts on";
            if !self.options.lenient {
                return Err(a.invalid(name, reason));
            }
            self.notes.add(a.label(), name, Effect::Ignored, reason, &a.at);
            return Ok((0.0, more));
        }
        Ok((linear, more))
    }

    fn unknown_element(&mut self, e: &Element, parent: &str) -> Result<(), ImportError> {
        let at = self.tree.location(e);
        if self.options.lenient {
            self.notes.add(e.tag.clone(), "", Effect::Ignored, "not a known element", &at);
            return Ok(());
        }
        Err(ImportError::UnknownElement {
            at: Box::new(at),
            element: e.tag.clone(),
            parent: parent.into(),
        })
    }

    /// The attributes of an element that has no default class, checked against the table.
    fn attributes(
        &mut self,
        kind: &'static str,
        e: &'a Element,
    ) -> Result<Attributes<'a>, ImportError> {
        let a = Attributes::new(kind, self.tree, e, &[]);
        self.check(&a)?;
        Ok(a)
    }

    /// The attributes of an element over those of its default class, checked against the table.
    fn with_defaults(
        &mut self,
        kind: &'static str,
        default_kind: &str,
        e: &'a Element,
        childclass: Option<usize>,
    ) -> Result<Attributes<'a>, ImportError> {
        let class = self.class_of(kind, e, childclass)?;
        let a = Attributes::new(kind, self.tree, e, self.defaults.values(class, default_kind));
        self.check(&a)?;
        Ok(a)
    }

    /// The class that applies to an element: its own, else the nearest `childclass`, else the root.
    fn class_of(
        &self,
        kind: &str,
        e: &Element,
        childclass: Option<usize>,
    ) -> Result<usize, ImportError> {
        match e.attribute("class") {
            None => Ok(childclass.unwrap_or(0)),
            Some(name) => self.find_class(kind, e, "class", name),
        }
    }

    fn find_class(
        &self,
        kind: &str,
        e: &Element,
        attribute: &str,
        name: &str,
    ) -> Result<usize, ImportError> {
        self.defaults.find(name).ok_or_else(|| ImportError::UnknownReference {
            at: Box::new(self.tree.location(e)),
            element: label(kind, e.attribute("name")),
            attribute: attribute.into(),
            value: name.into(),
            kind: "default class",
        })
    }

    /// Checks attributes against the table: unknown ones are refused, those that are noted or
    /// refused as soon as their value is not neutral are treated so.
    fn check(&mut self, a: &Attributes<'_>) -> Result<(), ImportError> {
        for (name, value) in a.iter() {
            let Some(feature) = schema::attribute(schema::mjcf_features(), a.kind, name) else {
                self.unknown_attribute(a, name, value)?;
                continue;
            };
            match feature.treatment {
                Treatment::Noted
                    if !neutral(value) && !CHECKED_BY_CODE.contains(&(a.kind, name)) =>
                {
                    self.notes.once(a.kind, name, Effect::Ignored, feature.remark, &a.at);
                }
                Treatment::Refused if !neutral(value) => {
                    self.refuse(a.label(), name, feature.remark, &a.at)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn unknown_attribute(
        &mut self,
        a: &Attributes<'_>,
        name: &str,
        value: &str,
    ) -> Result<(), ImportError> {
        if self.options.lenient {
            self.notes.add(a.label(), name, Effect::Ignored, "not a known attribute", &a.at);
            return Ok(());
        }
        Err(ImportError::UnknownAttribute {
            at: Box::new(a.at.clone()),
            element: a.label(),
            attribute: name.into(),
            value: value.into(),
        })
    }
}

/// Attributes whose notes depend on more than their value.
const CHECKED_BY_CODE: [(&str, &str); 6] = [
    ("geom", "mesh"),
    ("geom", "hfield"),
    ("joint", "springyield"),
    ("tendon/spatial", "range"),
    ("tendon/fixed", "range"),
    ("body", "mocap"),
];

/// Values that change nothing wherever they may stand.
fn neutral(value: &str) -> bool {
    matches!(value.trim(), "" | "false" | "auto" | "none" | "enable")
        || value.split_whitespace().all(|v| v.parse::<f64>() == Ok(0.0))
}
