//! `<joint>`: which motion it allows, between which links, and what resists it.

use forks_mechanism::{
    Limit,
    lie::{Digits, Pose, glam::DVec3},
};

use super::Reader;
use crate::{
    ImportError,
    note::Effect,
    read::{Attributes, Names},
    xml::Element,
};

/// The types of URDF, and `spherical` of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointType {
    Fixed,
    Revolute,
    Continuous,
    Prismatic,
    Planar,
    Floating,
    Spherical,
}

use JointType::{Continuous, Fixed, Floating, Planar, Prismatic, Revolute, Spherical};

impl JointType {
    fn read(a: &Attributes<'_>) -> Result<Self, ImportError> {
        a.required("type")?;
        let word = a.keyword(
            "type",
            &[
                "fixed",
                "revolute",
                "continuous",
                "prismatic",
                "planar",
                "floating",
                "spherical",
                "ball",
            ],
        )?;
        Ok(match word.expect("required") {
            "fixed" => Fixed,
            "revolute" => Revolute,
            "continuous" => Continuous,
            "prismatic" => Prismatic,
            "planar" => Planar,
            "floating" => Floating,
            _ => Spherical,
        })
    }

    /// True for joints with one coordinate, the only ones that can mimic and be mimicked.
    pub(crate) fn is_scalar(self) -> bool {
        matches!(self, Revolute | Continuous | Prismatic)
    }

    fn has_axis(self) -> bool {
        self.is_scalar() || self == Planar
    }
}

/// y = multiplier · x + offset, x the coordinate of another joint.
#[derive(Clone, Debug)]
pub(crate) struct Mimic<'a> {
    pub(crate) attributes: Attributes<'a>,
    pub(crate) multiplier: f64,
    pub(crate) offset: f64,
}

/// A joint as it is written.
pub(crate) struct RawJoint<'a> {
    pub(crate) attributes: Attributes<'a>,
    pub(crate) kind: JointType,
    pub(crate) parent: usize,
    pub(crate) child: usize,
    pub(crate) parent_from_child: Pose,
    /// Direction in the child's frame; its length is not checked where the joint does not use it.
    pub(crate) axis: DVec3,
    pub(crate) limit: Option<Limit>,
    pub(crate) damping: f64,
    pub(crate) friction: f64,
    pub(crate) mimic: Option<Mimic<'a>>,
}

impl RawJoint<'_> {
    pub(crate) fn name(&self) -> &str {
        self.attributes.name().unwrap_or("")
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn read_joint(
        &mut self,
        a: Attributes<'a>,
        e: &'a Element,
        links: &Names<usize>,
    ) -> Result<RawJoint<'a>, ImportError> {
        let kind = JointType::read(&a)?;
        if kind == Spherical {
            let reason = "not a type of URDF; taken as a ball joint with a quaternion";
            self.notes.add(a.label(), "type", Effect::Approximated, reason, &a.at);
        }
        let parent = self.link_of(&a, e, "parent", links)?;
        let child = self.link_of(&a, e, "child", links)?;
        let [damping, friction] = self.dynamics(e)?;
        let joint = RawJoint {
            kind,
            parent,
            child,
            parent_from_child: self.origin(e)?,
            axis: self.axis(&a, e, kind)?,
            limit: self.limit(&a, e, kind)?,
            damping,
            friction,
            mimic: self.mimic(e)?,
            attributes: a,
        };
        const READ: [&str; 7] = ["parent", "child", "origin", "axis", "limit", "dynamics", "mimic"];
        self.skip_others(e, &READ)?;
        Ok(joint)
    }

    fn link_of(
        &mut self,
        joint: &Attributes<'a>,
        e: &'a Element,
        tag: &'static str,
        links: &Names<usize>,
    ) -> Result<usize, ImportError> {
        let missing = || joint.error(format!("has no element '{tag}'"));
        let end = self.only(e, tag)?.ok_or_else(missing)?;
        let a = self.attributes(tag, end);
        let name = a.required("link")?;
        links.find(name).ok_or_else(|| ImportError::UnknownReference {
            at: Box::new(a.at.clone()),
            element: joint.label(),
            attribute: tag.into(),
            value: name.into(),
            kind: "link",
        })
    }

    /// The axis, (1, 0, 0) where none is given.
    fn axis(
        &mut self,
        joint: &Attributes<'a>,
        e: &'a Element,
        kind: JointType,
    ) -> Result<DVec3, ImportError> {
        let Some(axis) = self.only(e, "axis")? else { return Ok(DVec3::X) };
        let a = self.attributes("axis", axis);
        let axis = a.vector("xyz")?.unwrap_or(DVec3::X);
        if kind.has_axis() && !(axis.length() > 0.0 && axis.length().is_finite()) {
            let text = a.text("xyz").unwrap_or("");
            return Err(joint.error(format!("its axis \"{text}\" has no direction")));
        }
        Ok(axis)
    }

    fn limit(
        &mut self,
        joint: &Attributes<'a>,
        e: &'a Element,
        kind: JointType,
    ) -> Result<Option<Limit>, ImportError> {
        let limit = self.only(e, "limit")?.map(|l| self.attributes("limit", l));
        let limited = matches!(kind, Revolute | Prismatic);
        let Some(a) = limit.filter(|a| a.has("lower") || a.has("upper")) else {
            if limited {
                let reason = "neither 'lower' nor 'upper' is given; taken as unlimited";
                self.notes.add(joint.label(), "limit", Effect::Approximated, reason, &joint.at);
            }
            return Ok(None);
        };
        let (lower, upper) = (a.number("lower")?, a.number("upper")?);
        if !limited {
            // A continuous joint has none by definition; files write ±π, ±1e16 or 0 there.
            return Ok(None);
        }
        let (lower, upper) = (lower.unwrap_or(0.0), upper.unwrap_or(0.0));
        if lower > upper {
            // Some programs mean by this that there is no limit.
            let reason = format!(
                "the range from {} to {} is empty; taken as unlimited",
                Digits(lower),
                Digits(upper)
            );
            self.notes.add(joint.label(), "limit", Effect::Approximated, reason, &joint.at);
            return Ok(None);
        }
        Ok(Some(Limit { lower, upper }))
    }

    /// Damping and dry friction.
    fn dynamics(&mut self, e: &'a Element) -> Result<[f64; 2], ImportError> {
        let Some(d) = self.only(e, "dynamics")? else { return Ok([0.0; 2]) };
        let a = self.attributes("dynamics", d);
        let number = |name| Ok(a.not_negative(name)?.unwrap_or(0.0));
        Ok([number("damping")?, number("friction")?])
    }

    /// Which joints can follow which is decided when all are known.
    fn mimic(&mut self, e: &'a Element) -> Result<Option<Mimic<'a>>, ImportError> {
        let Some(m) = self.only(e, "mimic")? else { return Ok(None) };
        let a = self.attributes("mimic", m);
        a.required("joint")?;
        let multiplier = a.number("multiplier")?.unwrap_or(1.0);
        let offset = a.number("offset")?.unwrap_or(0.0);
        Ok(Some(Mimic { attributes: a, multiplier, offset }))
    }
}
