//! `<joint>` and `<freejoint>`.

use forks_mechanism::{Limit, lie::glam::DVec3};

use super::{Attributes, Reader};
use crate::{ImportError, Location, note::Effect, xml::Element};

/// MuJoCo's joint types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointType {
    Free,
    Ball,
    Slide,
    Hinge,
}

impl JointType {
    /// True for hinge and slide.
    pub(crate) fn is_scalar(self) -> bool {
        matches!(self, Self::Slide | Self::Hinge)
    }
}

/// A joint as it is written, angles in radians.
#[derive(Clone, Debug)]
pub(crate) struct RawJoint {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) at: Location,
    pub(crate) kind: JointType,
    /// Anchor in the body's frame.
    pub(crate) position: DVec3,
    /// Axis in the body's frame.
    pub(crate) axis: DVec3,
    pub(crate) reference: f64,
    pub(crate) spring_reference: f64,
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
    pub(crate) armature: f64,
    pub(crate) friction: f64,
    pub(crate) limit: Option<Limit>,
    /// Time constant and damping ratio that replace stiffness and damping.
    pub(crate) spring_damper: Option<(f64, f64)>,
}

impl<'a> Reader<'a> {
    pub(crate) fn read_joint(
        &mut self,
        e: &'a Element,
        childclass: Option<usize>,
    ) -> Result<(Attributes<'a>, RawJoint), ImportError> {
        if e.tag == "freejoint" {
            let a = self.attributes("freejoint", e)?;
            let joint = RawJoint::plain(&a, JointType::Free);
            return Ok((a, joint));
        }
        let a = self.with_defaults("joint", "joint", e, childclass)?;
        let kind = match a.keyword("type", &["free", "ball", "slide", "hinge"])? {
            Some("free") => JointType::Free,
            Some("ball") => JointType::Ball,
            Some("slide") => JointType::Slide,
            _ => JointType::Hinge,
        };
        let mut j = RawJoint::plain(&a, kind);
        if kind != JointType::Free {
            j.position = a.vector("pos")?.unwrap_or(DVec3::ZERO);
        }
        self.read_axis(&a, &mut j)?;
        self.read_spring(&a, &mut j)?;
        j.armature = a.not_negative("armature")?.unwrap_or(0.0);
        self.read_limit(&a, &mut j)?;
        j.friction = a.not_negative("frictionloss")?.unwrap_or(0.0);
        Ok((a, j))
    }

    fn read_axis(&self, a: &Attributes<'_>, j: &mut RawJoint) -> Result<(), ImportError> {
        let Some(axis) = a.vector("axis")? else { return Ok(()) };
        if !j.kind.is_scalar() {
            return Ok(());
        }
        let n = axis.length();
        // Shorter axes have no direction, as in MuJoCo.
        if n < 1e-14 {
            return Err(a.invalid("axis", "has no direction"));
        }
        j.axis = if (n - 1.0).abs() < 4.0 * f64::EPSILON { axis } else { axis / n };
        Ok(())
    }

    fn read_spring(&mut self, a: &Attributes<'a>, j: &mut RawJoint) -> Result<(), ImportError> {
        let coordinate =
            |x: f64| if j.kind == JointType::Hinge { self.compiler.angle(x) } else { x };
        if j.kind.is_scalar() {
            j.reference = coordinate(a.number("ref")?.unwrap_or(0.0));
            j.spring_reference = coordinate(a.number("springref")?.unwrap_or(0.0));
        }
        let (stiffness, more_stiffness) = self.passive(a, "stiffness")?;
        let (damping, more_damping) = self.passive(a, "damping")?;
        (j.stiffness, j.damping) = (stiffness, damping);
        let reason = "only the linear part is kept";
        if more_stiffness {
            self.notes.add(a.label(), "stiffness", Effect::Approximated, reason, &a.at);
        }
        if more_damping {
            self.notes.add(a.label(), "damping", Effect::Approximated, reason, &a.at);
        }
        if let Some([time, ratio]) = a.array("springdamper")?
            && time > 0.0
            && ratio > 0.0
        {
            j.spring_damper = Some((time, ratio));
        }
        if a.number("springyield")?.unwrap_or(0.0) > 0.0 {
            let reason = "the spring stays elastic";
            self.notes.add(a.label(), "springyield", Effect::Approximated, reason, &a.at);
        }
        if j.kind == JointType::Free {
            self.note_free_joint(a, j);
        }
        Ok(())
    }

    /// Springs and rotor inertia of free joints act along world axes in MuJoCo, along body axes
    /// here.
    fn note_free_joint(&mut self, a: &Attributes<'_>, j: &RawJoint) {
        if j.stiffness > 0.0 || j.spring_damper.is_some() {
            let reason = "the spring acts on the logarithm of the displacement";
            self.notes.add(a.label(), "stiffness", Effect::Approximated, reason, &a.at);
        }
        if a.number("armature").ok().flatten().unwrap_or(0.0) > 0.0 {
            let reason = "the rotor inertia acts along body axes";
            self.notes.add(a.label(), "armature", Effect::Approximated, reason, &a.at);
        }
    }

    fn read_limit(&mut self, a: &Attributes<'_>, j: &mut RawJoint) -> Result<(), ImportError> {
        let range = a.array::<2>("range")?;
        let limited = match a.keyword("limited", &["false", "true", "auto"])? {
            Some("true") => true,
            Some("false") => false,
            _ if self.compiler.auto_limits => range.is_some_and(|[l, u]| l < u),
            _ if range.is_some_and(|r| r != [0.0; 2]) => {
                return Err(a.invalid(
                    "range",
                    "needs limited=\"true\" or \"false\" where autolimits is off",
                ));
            }
            _ => false,
        };
        if !limited || j.kind == JointType::Free {
            return Ok(());
        }
        let [lower, upper] = range.unwrap_or([0.0; 2]);
        if lower >= upper {
            return Err(
                a.invalid("range", "is empty: its first number must be less than its second")
            );
        }
        if j.kind == JointType::Ball {
            if lower != 0.0 {
                return Err(a.invalid("range", "must begin with 0 for a ball joint"));
            }
            let reason = "no limits on rotations about any axis";
            self.notes.add(a.label(), "range", Effect::Ignored, reason, &a.at);
            return Ok(());
        }
        let coordinate =
            |x: f64| if j.kind == JointType::Hinge { self.compiler.angle(x) } else { x };
        j.limit = Some(Limit { lower: coordinate(lower), upper: coordinate(upper) });
        Ok(())
    }
}

impl RawJoint {
    /// A joint without properties.
    fn plain(a: &Attributes<'_>, kind: JointType) -> Self {
        Self {
            name: a.name().unwrap_or("").to_owned(),
            label: a.label(),
            at: a.at.clone(),
            kind,
            position: DVec3::ZERO,
            axis: DVec3::Z,
            reference: 0.0,
            spring_reference: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            armature: 0.0,
            friction: 0.0,
            limit: None,
            spring_damper: None,
        }
    }
}
