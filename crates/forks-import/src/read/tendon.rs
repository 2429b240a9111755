//! `<tendon>`: fixed tendons are combinations of joint coordinates, with a spring where they have
//! one.

use forks_mechanism::{Combination, CombinationSpring};

use super::{
    Attributes, Reader,
    assemble::{Model, ModelTendon},
};
use crate::{ImportError, note::Effect, xml::Element};

impl<'a> Reader<'a> {
    pub(crate) fn read_tendons(
        &mut self,
        section: &'a Element,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        for e in self.tree.children(section) {
            let a = match e.tag.as_str() {
                "fixed" => self.with_defaults("tendon/fixed", "tendon", e, None)?,
                "spatial" => self.with_defaults("tendon/spatial", "tendon", e, None)?,
                _ => {
                    self.unknown_element(e, "tendon")?;
                    continue;
                }
            };
            model.tendon_names.insert(&a, model.next_tendon())?;
            let tendon = if e.tag == "fixed" {
                self.read_fixed(e, &a, model)?
            } else {
                self.read_spatial(e, &a, model)?
            };
            model.add_tendon(tendon);
        }
        Ok(())
    }

    fn read_fixed(
        &mut self,
        e: &'a Element,
        a: &Attributes<'a>,
        model: &mut Model,
    ) -> Result<ModelTendon, ImportError> {
        let mut combination = Combination { terms: vec![], offset: 0.0 };
        let (mut start_length, mut spring_length) = (0.0, 0.0);
        for child in self.tree.children(e) {
            if child.tag != "joint" {
                self.unknown_element(child, "fixed")?;
                continue;
            }
            let t = self.attributes("fixed/joint", child)?;
            let joint = model.joint(model.joint_names.required(&t, "joint")?);
            if !joint.raw.kind.is_scalar() {
                return Err(t.invalid("joint", "is neither a hinge nor a slide"));
            }
            t.required("coef")?;
            let coefficient = t.number("coef")?.expect("required");
            if combination.terms.iter().any(|(c, _)| *c == joint.coordinate()) {
                return Err(t.invalid("joint", format!("is used twice in {}", a.label())));
            }
            combination.terms.push((joint.coordinate(), coefficient));
            start_length += coefficient * joint.raw.reference;
            spring_length += coefficient * joint.raw.spring_reference;
        }
        if combination.terms.is_empty() {
            return Err(a.error("the tendon has no joints"));
        }
        self.read_tendon_spring(a, &combination, start_length, spring_length, model)?;
        self.note_tendon_limit(a)?;
        Ok(ModelTendon { combination: Some(combination), cable: None, start_length })
    }

    fn read_tendon_spring(
        &mut self,
        a: &Attributes<'a>,
        combination: &Combination,
        start_length: f64,
        spring_length: f64,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        let (mut stiffness, more_stiffness) = self.passive(a, "stiffness")?;
        let (mut damping, more_damping) = self.passive(a, "damping")?;
        let reason = "only the linear part is kept";
        if more_stiffness {
            self.notes.add(a.label(), "stiffness", Effect::Approximated, reason, &a.at);
        }
        if more_damping {
            self.notes.add(a.label(), "damping", Effect::Approximated, reason, &a.at);
        }
        let rest = match a.numbers("springlength", 1, 2)?.as_deref() {
            None | Some([-1.0] | [-1.0, -1.0]) => spring_length,
            Some([rest]) => *rest,
            Some([lower, upper]) if lower == upper => *lower,
            Some([lower, upper, ..]) if lower < upper => {
                if stiffness != 0.0 {
                    let reason = "instead of a dead band the spring rests at the nearest end, or \
                        at its length in the start pose if that is inside";
                    self.notes.add(a.label(), "springlength", Effect::Approximated, reason, &a.at);
                }
                start_length.clamp(*lower, *upper)
            }
            _ => return Err(a.invalid("springlength", "decreases")),
        };
        if self.compiler.no_springs {
            stiffness = 0.0;
        }
        if self.compiler.no_dampers {
            damping = 0.0;
        }
        if stiffness != 0.0 || damping != 0.0 {
            model.builder.add_combination_spring(CombinationSpring {
                name: a.name().unwrap_or("").to_owned(),
                combination: combination.clone(),
                stiffness,
                damping,
                rest,
            });
        }
        Ok(())
    }

    pub(crate) fn note_tendon_limit(&mut self, a: &Attributes<'a>) -> Result<(), ImportError> {
        let range = a.array::<2>("range")?;
        let limited = match a.keyword("limited", &["false", "true", "auto"])? {
            Some("true") => true,
            Some("false") => false,
            _ => range.is_some_and(|[l, u]| l < u),
        };
        if limited {
            self.notes.add(a.label(), "range", Effect::Ignored, "no limits on tendons", &a.at);
        }
        Ok(())
    }
}
