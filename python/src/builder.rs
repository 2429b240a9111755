//! Mechanisms from Python: links, joints, frames; joints may close loops.

use forks_mechanism::{
    Frame, Joint, JointKind, Link, LinkId, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    arrays::Input,
    error::{HandleError, refused},
    mechanism::Mechanism,
};

/// Builds a mechanism, element by element: links first, then what joins them.
///
/// The ground is the link 'world'. A joint between links that already hang together closes a loop.
/// Poses are (7,): x, y, z (m), qw, qx, qy, qz. Lists of numbers do as well as arrays.
#[pyclass(module = "forks")]
#[derive(Debug)]
pub(crate) struct Builder {
    builder: Option<MechanismBuilder>,
}

impl Builder {
    fn open(&mut self) -> PyResult<&mut MechanismBuilder> {
        let built = || HandleError::new_err("the builder is closed: its mechanism is built");
        self.builder.as_mut().ok_or_else(built)
    }
}

fn find(b: &MechanismBuilder, name: &str) -> PyResult<LinkId> {
    if name == "world" {
        return Ok(LinkId::WORLD);
    }
    let i = b.links().iter().position(|l| l.name == name);
    i.map(LinkId::new).ok_or_else(|| {
        let known: Vec<&str> = b.links().iter().map(|l| &*l.name).collect();
        PyValueError::new_err(format!("no link '{name}'; there are: {}", known.join(", ")))
    })
}

fn vector(name: &str, x: &Bound<'_, PyAny>) -> PyResult<DVec3> {
    let input = Input::new(name, x, &[3])?;
    Ok(DVec3::from_slice(input.as_slice()))
}

/// A pose of seven numbers; the quaternion is scaled to length 1.
fn pose(name: &str, x: Option<&Bound<'_, PyAny>>) -> PyResult<Pose> {
    let Some(x) = x else { return Ok(Pose::IDENTITY) };
    let input = Input::new(name, x, &[7])?;
    let mut numbers = [0.0; 7];
    numbers.copy_from_slice(input.as_slice());
    let length = numbers[3..].iter().fold(0.0f64, |s, x| s.hypot(*x));
    if length == 0.0 {
        return Err(PyValueError::new_err(format!("{name} has a quaternion of length zero")));
    }
    numbers[3..].iter_mut().for_each(|x| *x /= length);
    Ok(Pose::from_array(numbers))
}

fn kind(name: &str, axis: Option<&Bound<'_, PyAny>>) -> PyResult<JointKind> {
    let along = || match axis {
        Some(x) => vector("axis", x),
        None => Err(PyValueError::new_err(format!("a {name} joint needs an axis"))),
    };
    let none = |kind| match axis {
        None => Ok(kind),
        Some(_) => Err(PyValueError::new_err(format!("a {name} joint has no axis"))),
    };
    match name {
        "revolute" => Ok(JointKind::Revolute { axis: along()? }),
        "prismatic" => Ok(JointKind::Prismatic { axis: along()? }),
        "cylindrical" => Ok(JointKind::Cylindrical { axis: along()? }),
        "fixed" => none(JointKind::Fixed),
        "spherical" => none(JointKind::Spherical),
        "planar" => none(JointKind::Planar),
        "free" => none(JointKind::Free),
        _ => Err(PyValueError::new_err(format!(
            "kind is '{name}', expected 'revolute', 'prismatic', 'cylindrical', 'fixed', \
             'spherical', 'planar' or 'free'"
        ))),
    }
}

#[pymethods]
impl Builder {
    /// A mechanism of a name, without links; gravity is (0, 0, -9.81) m/s² unless given.
    #[new]
    #[pyo3(signature = (name="mechanism", *, gravity=None))]
    fn new(name: &str, gravity: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut builder = MechanismBuilder::new(name);
        let down = DVec3::new(0.0, 0.0, -9.81);
        builder.set_gravity(gravity.map_or(Ok(down), |g| vector("gravity", g))?);
        Ok(Self { builder: Some(builder) })
    }

    /// Adds a link.
    ///
    /// mass: kg. center: (3,), centre of mass in the link, m. inertia: (3,), moments about it in
    /// the link's axes, kg m², or (3, 3).
    #[pyo3(signature = (name, *, mass=0.0, center=None, inertia=None))]
    fn link(
        &mut self,
        name: &str,
        mass: f64,
        center: Option<&Bound<'_, PyAny>>,
        inertia: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let center = center.map_or(Ok(DVec3::ZERO), |c| vector("center", c))?;
        let tensor = match inertia {
            None => DMat3::ZERO,
            Some(x) => match Input::new("inertia", x, &[3, 3]) {
                Ok(full) => {
                    let mut rows = [0.0; 9];
                    rows.copy_from_slice(full.as_slice());
                    DMat3::from_cols_array(&rows).transpose()
                }
                Err(_) => DMat3::from_diagonal(vector("inertia", x)?),
            },
        };
        let inertia = SpatialInertia::new(mass, center, tensor);
        self.open()?.add_link(Link::new(name).with_inertia(inertia));
        Ok(())
    }

    /// Adds a joint between two links, or closes a loop.
    ///
    /// kind: 'revolute', 'prismatic', 'cylindrical' (these with an axis, (3,), in the joint's
    /// frame), 'fixed', 'spherical', 'planar', 'free'.
    /// at, child_at: poses of the joint's frame in parent and child, (7,).
    /// stiffness: N/m or N m/rad on every coordinate, unstressed at the start. damping: N s/m or
    /// N m s/rad.
    #[pyo3(signature = (name, kind, parent, child, *, axis=None, at=None, child_at=None,
        stiffness=None, damping=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn joint(
        &mut self,
        name: &str,
        kind: &str,
        parent: &str,
        child: &str,
        axis: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
        child_at: Option<&Bound<'_, PyAny>>,
        stiffness: Option<f64>,
        damping: Option<f64>,
    ) -> PyResult<()> {
        let b = self.open()?;
        let joint = Joint::new(name, self::kind(kind, axis)?, find(b, parent)?, find(b, child)?);
        let mut joint = joint.at(pose("at", at)?).child_at(pose("child_at", child_at)?);
        if let Some(k) = stiffness {
            joint = joint.with_stiffness(k);
        }
        if let Some(d) = damping {
            joint = joint.with_damping(d);
        }
        b.add_joint(joint);
        Ok(())
    }

    /// Adds a named frame of a link; as an end effector it is 'site:NAME'.
    #[pyo3(signature = (name, link, pose=None))]
    fn frame(&mut self, name: &str, link: &str, pose: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let b = self.open()?;
        let link_from_frame = self::pose("pose", pose)?;
        b.add_frame(Frame { name: name.to_owned(), link: find(b, link)?, link_from_frame });
        Ok(())
    }

    /// Checks everything and gives the mechanism; the builder is closed then.
    fn build(&mut self) -> PyResult<Mechanism> {
        self.open()?;
        let built = self.builder.take().map(MechanismBuilder::build).transpose();
        let mechanism = built.map_err(refused)?.ok_or_else(|| HandleError::new_err("closed"))?;
        Ok(Mechanism::built(mechanism))
    }
}
