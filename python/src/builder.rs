//! Mechanisms from Python: links and what joins them; servos, couplings, springs, cables, shapes.

use forks_mechanism::{
    Cable, Combination, CombinationSpring, ContactMask, Coupling, Frame, Joint, Limit, Link,
    MechanismBuilder, Servo, Shape, Transmission,
    lie::{
        SpatialInertia,
        glam::{DMat3, DVec3},
    },
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};

use crate::{
    arrays::Input,
    builder_words::{self as words, pose, vector},
    error::{HandleError, refused},
    mechanism::Mechanism,
};

/// Builds a mechanism, element by element: links first, then what joins them, then what acts on
/// these.
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

/// Positions of a joint: a number for joints with one, or a list.
fn positions(name: &str, x: &Bound<'_, PyAny>, joint: &Joint) -> PyResult<Vec<f64>> {
    let count = joint.kind.position_count();
    match x.extract::<f64>() {
        Ok(x) if count == 1 => Ok(vec![x]),
        _ => Ok(Input::new(name, x, &[count])?.as_slice().to_vec()),
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
    /// stiffness: N/m or N m/rad on every coordinate; the spring rests at `rest`, at the start if
    /// that is not given. damping: N s/m or N m s/rad. armature: kg or kg m² on every coordinate.
    /// rest, start: positions of the joint, a number or one for each. limits: (lower, upper) of
    /// every coordinate, rad or m; data unless springs beyond them are asked for.
    #[pyo3(signature = (name, kind, parent, child, *, axis=None, at=None, child_at=None,
        stiffness=None, damping=None, armature=None, rest=None, start=None, limits=None))]
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
        armature: Option<f64>,
        rest: Option<&Bound<'_, PyAny>>,
        start: Option<&Bound<'_, PyAny>>,
        limits: Option<(f64, f64)>,
    ) -> PyResult<()> {
        let b = self.open()?;
        let joint = Joint::new(
            name,
            words::kind(kind, axis)?,
            words::link(b, parent)?,
            words::link(b, child)?,
        );
        let mut joint = joint.at(pose("at", at)?).child_at(pose("child_at", child_at)?);
        if let Some(x) = start {
            joint.start = positions("start", x, &joint)?;
        }
        if let Some(k) = stiffness {
            joint = joint.with_stiffness(k);
        }
        match (rest.map(|x| positions("rest", x, &joint)).transpose()?, &mut joint.spring) {
            (Some(rest), Some(spring)) => spring.rest = rest,
            (Some(_), None) => {
                return Err(PyValueError::new_err("rest is of a spring: give a stiffness"));
            }
            (None, _) => {}
        }
        if let Some(d) = damping {
            joint = joint.with_damping(d);
        }
        if let Some(a) = armature {
            joint.armature.fill(a);
        }
        if let Some((lower, upper)) = limits {
            joint.limits.fill(Some(Limit { lower, upper }));
        }
        b.add_joint(joint);
        Ok(())
    }

    /// Adds a named frame of a link; as an end effector it is 'site:NAME'.
    #[pyo3(signature = (name, link, pose=None))]
    fn frame(&mut self, name: &str, link: &str, pose: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let b = self.open()?;
        let link_from_frame = words::pose("pose", pose)?;
        let link = words::link(b, link)?;
        b.add_frame(Frame { name: name.to_owned(), link, link_from_frame });
        Ok(())
    }

    /// Adds a servo: a spring and damper with a target that can be moved.
    ///
    /// on: what it drives: a joint's name, (name, index) for another of its coordinates, or a dict
    /// of these to coefficients for a tendon over several; or `cable`, the name of a cable.
    /// stiffness: N m/rad or N/m. damping: N m s/rad or N s/m.
    #[pyo3(signature = (name, on=None, *, cable=None, stiffness, damping=0.0))]
    fn servo(
        &mut self,
        name: &str,
        on: Option<&Bound<'_, PyAny>>,
        cable: Option<&str>,
        stiffness: f64,
        damping: f64,
    ) -> PyResult<()> {
        let b = self.open()?;
        let (transmission, combination) = match (on, cable) {
            (Some(on), None) => {
                let several = on.cast::<PyDict>().is_ok();
                let how = if several { Transmission::Tendon } else { Transmission::Joint };
                (how, words::combination(b, on, 0.0)?)
            }
            (None, Some(cable)) => {
                let none = Combination { terms: vec![], offset: 0.0 };
                (Transmission::Cable(words::cable(b, cable)?), none)
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "servo '{name}' drives either a joint, a dict of joints, or a cable"
                )));
            }
        };
        b.add_servo(Servo { name: name.to_owned(), transmission, combination, stiffness, damping });
        Ok(())
    }

    /// Adds an exact relation between joint coordinates.
    ///
    /// terms: a dict of joints (or (name, index)) to coefficients a: Σ a q + constant = 0. Or
    /// polynomial: coefficients c, lowest first, of y = Σ c x^k, with terms the pair (y, x).
    #[pyo3(signature = (name, terms, *, constant=0.0, polynomial=None))]
    fn coupling(
        &mut self,
        name: &str,
        terms: &Bound<'_, PyAny>,
        constant: f64,
        polynomial: Option<Vec<f64>>,
    ) -> PyResult<()> {
        let b = self.open()?;
        let coupling = match polynomial {
            None => {
                let all = words::combination(b, terms, 0.0)?.terms;
                Coupling::linear(name, all, constant)
            }
            Some(_) if constant != 0.0 => {
                let text = "constant belongs to a dict of joints; a polynomial has its own";
                return Err(PyValueError::new_err(text));
            }
            Some(c) => {
                let (y, x): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                    terms.extract().map_err(|_| {
                        PyTypeError::new_err(
                            "with a polynomial, terms is the pair of joints (y, x)",
                        )
                    })?;
                let [y, x] = [words::coordinate(b, &y)?, words::coordinate(b, &x)?];
                Coupling::polynomial(name, y, x, c)
            }
        };
        b.add_coupling(coupling);
        Ok(())
    }

    /// Adds a spring and damper on a combination of joint coordinates: energy ½ k (Σ a q − rest)².
    ///
    /// on: a dict of joints (or (name, index)) to coefficients a. stiffness: N m or N/m by the
    /// coefficients. damping: along the combination.
    #[pyo3(signature = (name, on, *, stiffness, damping=0.0, rest=0.0))]
    fn spring(
        &mut self,
        name: &str,
        on: &Bound<'_, PyAny>,
        stiffness: f64,
        damping: f64,
        rest: f64,
    ) -> PyResult<()> {
        let b = self.open()?;
        let (name, combination) = (name.to_owned(), words::combination(b, on, 0.0)?);
        b.add_combination_spring(CombinationSpring { name, combination, stiffness, damping, rest });
        Ok(())
    }

    /// Adds a cable: a spring and damper along a path through points of links.
    ///
    /// path: stops: (link, point) where it runs through, point (3,) in the link; a dict for what it
    /// may wrap between two of these: 'sphere' or 'cylinder' with a radius (m), 'link', 'at' (7,)
    /// its frame in the link (a cylinder is along z), 'side': (link, point) on which side it
    /// passes. Or branches: dicts of 'path' and 'strands', by which the branch's length is divided.
    /// stiffness: N/m. damping: N s/m. rest: m, or (lower, upper): slack between, it pushes below
    /// and pulls above; slack=True is (0, rest), a string.
    #[pyo3(signature = (name, path, *, stiffness=0.0, damping=0.0, rest=None, slack=false))]
    fn cable(
        &mut self,
        name: &str,
        path: &Bound<'_, PyAny>,
        stiffness: f64,
        damping: f64,
        rest: Option<&Bound<'_, PyAny>>,
        slack: bool,
    ) -> PyResult<()> {
        let b = self.open()?;
        let wrong = "rest is a length, or (lower, upper)";
        let rest = match rest {
            None => None,
            Some(x) => Some(match (x.extract::<f64>(), x.extract::<(f64, f64)>()) {
                (Ok(l), _) => [if slack { 0.0 } else { l }, l],
                (_, Ok((lower, upper))) if !slack => [lower, upper],
                _ => return Err(PyTypeError::new_err(wrong)),
            }),
        };
        if rest.is_none() && stiffness != 0.0 {
            return Err(PyValueError::new_err(format!(
                "cable '{name}' has a spring: give its rest"
            )));
        }
        let (name, branches) = (name.to_owned(), words::branches(b, path)?);
        b.add_cable(Cable { name, branches, stiffness, damping, rest: rest.unwrap_or([0.0, 0.0]) });
        Ok(())
    }

    /// Adds a collision shape to a link.
    ///
    /// form: 'plane', 'sphere' (radius), 'capsule' and 'cylinder' along z (radius, half_length),
    /// 'ellipsoid' (radii, (3,)), 'box' (half_extents, (3,)), 'hull' (points, (n, 3)); m.
    /// at: its frame in the link, (7,). friction: coefficient of sliding friction.
    #[pyo3(signature = (link, form, *, name="", radius=None, half_length=None, radii=None,
        half_extents=None, points=None, at=None, friction=1.0))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn shape(
        &mut self,
        link: &str,
        form: &str,
        name: &str,
        radius: Option<f64>,
        half_length: Option<f64>,
        radii: Option<&Bound<'_, PyAny>>,
        half_extents: Option<&Bound<'_, PyAny>>,
        points: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
        friction: f64,
    ) -> PyResult<()> {
        let b = self.open()?;
        let sizes = words::Sizes { radius, half_length, radii, half_extents, points };
        let shape = Shape {
            name: name.to_owned(),
            link: words::link(b, link)?,
            link_from_shape: pose("at", at)?,
            geometry: words::form(form, &sizes)?,
            friction,
            mask: ContactMask::default(),
        };
        b.add_shape(shape);
        Ok(())
    }

    /// Lets the shapes of two links pass through each other.
    fn exclude_contact(&mut self, a: &str, b: &str) -> PyResult<()> {
        let builder = self.open()?;
        let [a, b] = [words::link(builder, a)?, words::link(builder, b)?];
        builder.exclude_contact(a, b);
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
