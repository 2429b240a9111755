//! `<equality>`: loop-closing joints for connect and weld, couplings for joint and tendon.

use forks_mechanism::{
    Combination, Coupling, CouplingTerm, Joint, JointKind,
    lie::{Pose, glam::DVec3},
};

use super::{
    Attributes, Reader,
    assemble::Model,
    names::{BodyId, TendonId, TreeJointId},
    orientation::unit_quaternion,
};
use crate::{ImportError, note::Effect, xml::Element};

/// Two links and the frames in them that a joint ties together.
struct Ends {
    body_a: BodyId,
    a_from_joint: Pose,
    body_b: BodyId,
    b_from_joint: Pose,
}

impl<'a> Reader<'a> {
    pub(crate) fn read_equalities(
        &mut self,
        section: &'a Element,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        for e in self.tree.children(section) {
            let kind = match e.tag.as_str() {
                "connect" => "connect",
                "weld" => "weld",
                "joint" => "equality/joint",
                "tendon" => "equality/tendon",
                "flex" | "flexvert" | "flexstrain" | "distance" => {
                    self.whole_element(&format!("equality/{}", e.tag), e)?;
                    continue;
                }
                _ => {
                    self.unknown_element(e, "equality")?;
                    continue;
                }
            };
            let a = self.with_defaults(kind, "equality", e, None)?;
            model.equality_names.insert(&a, ())?;
            let active = a.boolean("active")? != Some(false);
            if !active {
                self.notes.add(
                    a.label(),
                    "active",
                    Effect::Ignored,
                    "the equality is switched off",
                    &a.at,
                );
            }
            self.read_equality(kind, &a, active && !self.compiler.no_equalities, model)?;
        }
        Ok(())
    }

    fn read_equality(
        &mut self,
        kind: &str,
        a: &Attributes<'a>,
        active: bool,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        let coupling = match kind {
            "connect" => {
                let ends = connect_ends(a, model)?;
                return add_loop(a, active, JointKind::Spherical, ends, model);
            }
            "weld" => {
                // Without torques a weld holds its point only.
                let point = a.not_negative("torquescale")? == Some(0.0);
                let kind = if point { JointKind::Spherical } else { JointKind::Fixed };
                let ends = weld_ends(a, model)?;
                return add_loop(a, active, kind, ends, model);
            }
            "equality/joint" => Some(joint_coupling(a, model)?),
            _ => self.tendon_coupling(a, model)?,
        };
        if let Some(coupling) = coupling.filter(|_| active) {
            model.builder.add_coupling(coupling);
        }
        Ok(())
    }

    fn tendon_coupling(
        &mut self,
        a: &Attributes<'a>,
        model: &Model,
    ) -> Result<Option<Coupling>, ImportError> {
        let first = model.tendon_names.required(a, "tendon1")?;
        let second = model.tendon_names.reference(a, "tendon2")?;
        let length = |id: TendonId| {
            let t = model.tendon(id);
            t.combination.clone().map(|c| Combination { offset: -t.start_length, ..c })
        };
        let ends = (length(first), second.map(length));
        let (Some(y), Some(x)) = (ends.0, ends.1.unwrap_or(Some(nothing()))) else {
            self.refuse(
                a.label(),
                "",
                "equalities of spatial tendons cannot be represented",
                &a.at,
            )?;
            return Ok(None);
        };
        coupling(a, y, second.map(|_| x)).map(Some)
    }
}

fn nothing() -> Combination {
    Combination { terms: vec![], offset: 0.0 }
}

/// y − y₀ = p(x − x₀); a constant without x.
fn joint_coupling(a: &Attributes<'_>, model: &Model) -> Result<Coupling, ImportError> {
    let side = |attribute: &str, id: TreeJointId| {
        let joint = model.joint(id);
        if !joint.raw.kind.is_scalar() {
            return Err(a.invalid(attribute, "is neither a hinge nor a slide"));
        }
        Ok(Combination { terms: vec![(joint.coordinate(), 1.0)], offset: -joint.raw.reference })
    };
    let y = side("joint1", model.joint_names.required(a, "joint1")?)?;
    let x = match model.joint_names.reference(a, "joint2")? {
        Some(id) => Some(side("joint2", id)?),
        None => None,
    };
    if x.as_ref() == Some(&y) {
        return Err(a.invalid("joint2", "is the same joint as joint1"));
    }
    coupling(a, y, x)
}

fn coupling(
    a: &Attributes<'_>,
    y: Combination,
    x: Option<Combination>,
) -> Result<Coupling, ImportError> {
    let mut p = [0.0, 1.0, 0.0, 0.0, 0.0];
    let given = a.numbers("polycoef", 1, 5)?.unwrap_or_default();
    p[..given.len()].copy_from_slice(&given);
    let name = a.name().unwrap_or("").to_owned();
    let terms = match x {
        None => vec![CouplingTerm { combination: y, polynomial: vec![-p[0], 1.0] }],
        Some(x) => vec![
            CouplingTerm { combination: y, polynomial: vec![0.0, 1.0] },
            CouplingTerm { combination: x, polynomial: trimmed(p.map(|c| -c)) },
        ],
    };
    Ok(Coupling { name, terms })
}

/// The polynomial without zeros at its end, −0 as 0.
fn trimmed(p: [f64; 5]) -> Vec<f64> {
    let n = p.iter().rposition(|&c| c != 0.0).map_or(1, |i| i + 1);
    p[..n].iter().map(|&c| c + 0.0).collect()
}

fn add_loop(
    a: &Attributes<'_>,
    active: bool,
    kind: JointKind,
    ends: Ends,
    model: &mut Model,
) -> Result<(), ImportError> {
    if ends.body_a == ends.body_b {
        return Err(a.error("it ties a body to itself"));
    }
    if active {
        let (parent, child) = (model.link(ends.body_a), model.link(ends.body_b));
        let joint = Joint::new(a.name().unwrap_or(""), kind, parent, child)
            .at(ends.a_from_joint)
            .child_at(ends.b_from_joint);
        model.builder.add_joint(joint);
    }
    Ok(())
}

/// The bodies; `None` where sites are given.
fn bodies(a: &Attributes<'_>, model: &Model) -> Result<Option<(BodyId, BodyId)>, ImportError> {
    let by_body = a.has("body1") || a.has("body2") || a.has("anchor") || a.has("relpose");
    let by_site = a.has("site1") || a.has("site2");
    match (by_body, by_site) {
        (true, true) => Err(a.error("both bodies and sites are given")),
        (false, true) => Ok(None),
        _ => {
            let first = model.body_names.required(a, "body1")?;
            Ok(Some((first, model.body_names.reference(a, "body2")?.unwrap_or(BodyId(0)))))
        }
    }
}

fn site_ends(a: &Attributes<'_>, model: &Model) -> Result<Ends, ImportError> {
    let first = model.site(model.site_names.required(a, "site1")?);
    let second = model.site(model.site_names.required(a, "site2")?);
    Ok(Ends {
        body_a: first.body,
        a_from_joint: first.body_from_site,
        body_b: second.body,
        b_from_joint: second.body_from_site,
    })
}

/// b_from_a in the start pose.
fn relative(model: &Model, a: BodyId, b: BodyId) -> Pose {
    model.world_from(b).inverse() * model.world_from(a)
}

fn connect_ends(a: &Attributes<'_>, model: &Model) -> Result<Ends, ImportError> {
    let Some((body_a, body_b)) = bodies(a, model)? else { return site_ends(a, model) };
    a.required("anchor")?;
    let anchor = Pose::from_translation(a.vector("anchor")?.expect("required"));
    // The anchor in the second body is where the first one is in the start pose.
    let b_from_joint = relative(model, body_a, body_b) * anchor;
    Ok(Ends { body_a, a_from_joint: anchor, body_b, b_from_joint })
}

fn weld_ends(a: &Attributes<'_>, model: &Model) -> Result<Ends, ImportError> {
    let Some((body_a, body_b)) = bodies(a, model)? else { return site_ends(a, model) };
    let anchor = Pose::from_translation(a.vector("anchor")?.unwrap_or(DVec3::ZERO));
    let given = a.array::<7>("relpose")?.filter(|p| p[3..].iter().any(|&x| x != 0.0));
    let a_from_joint = match given {
        None => relative(model, body_b, body_a) * anchor,
        Some([x, y, z, qw, qx, qy, qz]) => {
            let rotation = unit_quaternion([qw, qx, qy, qz])
                .ok_or_else(|| a.invalid("relpose", "has a quaternion without direction"))?;
            Pose::new(rotation, DVec3::new(x, y, z))
        }
    };
    Ok(Ends { body_a, a_from_joint, body_b, b_from_joint: anchor })
}
