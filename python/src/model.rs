//! Reduced and blended models, as Python sees them.

use std::{path::PathBuf, sync::Arc};

use forks_blend::{
    BlendedModel, BlendedStepper, FloatingBlend, FloatingBlendStepper, Model as Read,
};
use forks_io::write_atomically;
use forks_mechanism::lie::Pose;
use forks_reduce::natural_frequencies;
use forks_rom::{
    BaseCoupling, Elasticity, FloatingModel, FloatingStepper, ModelError, ReducedModel, Scheme,
    StaticStatus, Stepper, System, data::ModelData,
};
use numpy::PyArrayDyn;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};

use crate::{
    arrays::{Input, Shared},
    batch::Batch,
    drawing,
    error::{ForksError, ReadError, refused, unreadable},
    loads,
    many::{Each, Fast, Many},
    run::{One, Run},
    simulation::Simulation,
    statics::Statics,
};

/// A reduced or blended model: small, saved in a file, solved and stepped in microseconds.
///
/// Made by `Mechanism.reduce` or `Mechanism.blend`, read by `forks.load_model`. Immutable; any
/// number of threads may use it. It can be pickled.
#[pyclass(frozen, eq, module = "forks")]
#[derive(Clone, Debug)]
pub(crate) struct Model {
    kind: Kind,
    shown: Arc<Shown>,
}

/// Arrays that Python shares.
#[derive(Debug, Default)]
struct Shown {
    basis: Shared,
    stiffness: Shared,
    mass: Shared,
    damping: Shared,
    rest_poses: Shared,
    frequencies: Shared,
}

/// What there is of models.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Reduced(Arc<ReducedModel>),
    Floating(Arc<FloatingModel>, Arc<ReducedModel>),
    Blended(Arc<BlendedModel>),
    FloatingBlend(Arc<FloatingBlend>),
}

impl PartialEq for Model {
    /// Equal in every bit of what is saved.
    fn eq(&self, other: &Self) -> bool {
        self.kind.bytes() == other.kind.bytes()
    }
}

impl Kind {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Reduced(m) | Self::Floating(_, m) => m.to_bytes(),
            Self::Blended(m) => m.to_bytes(),
            Self::FloatingBlend(m) => m.blend().to_bytes(),
        }
    }
}

impl Model {
    pub(crate) fn reduced(model: ReducedModel) -> Result<Self, ModelError> {
        let model = Arc::new(model);
        let kind = match model.data().base {
            None => Kind::Reduced(model),
            Some(_) => {
                let floating = FloatingModel::new(Arc::clone(&model), BaseCoupling::default())?;
                Kind::Floating(Arc::new(floating), model)
            }
        };
        Ok(Self { kind, shown: Arc::default() })
    }

    pub(crate) fn blended(model: BlendedModel) -> Result<Self, ModelError> {
        let floats = model.data().samples.iter().any(|s| s.model.data().base.is_some());
        let model = Arc::new(model);
        let kind = match floats {
            false => Kind::Blended(model),
            true => Kind::FloatingBlend(Arc::new(FloatingBlend::new(model)?)),
        };
        Ok(Self { kind, shown: Arc::default() })
    }

    /// The numbers, of a blend those of its first sample.
    pub(crate) fn data(&self) -> &ModelData {
        match &self.kind {
            Kind::Reduced(m) | Kind::Floating(_, m) => m.data(),
            Kind::Blended(m) => m.data().samples[0].model.data(),
            Kind::FloatingBlend(m) => m.blend().data().samples[0].model.data(),
        }
    }

    pub(crate) fn inner(&self) -> &Kind {
        &self.kind
    }

    fn only(&self, what: &str) -> PyResult<&ModelData> {
        match &self.kind {
            Kind::Reduced(m) | Kind::Floating(_, m) => Ok(m.data()),
            _ => Err(ForksError::new_err(format!(
                "a blend has no {what} of its own: that of its samples is blended by the state"
            ))),
        }
    }

    /// Refuses what only a single linearisation on a fixed base has.
    fn plain(&self, scheme: Scheme, elasticity: Elasticity) -> PyResult<()> {
        if scheme == Scheme::default() && elasticity == Elasticity::default() {
            return Ok(());
        }
        Err(ForksError::new_err(
            "blends and floating bases are stepped with scheme='implicit' and elasticity='energy' \
             alone",
        ))
    }
}

fn scheme(name: &str) -> PyResult<Scheme> {
    match name {
        "implicit" => Ok(Scheme::ImplicitEuler),
        "exponential" => Ok(Scheme::Exponential),
        _ => Err(PyValueError::new_err(format!(
            "scheme is '{name}', expected 'implicit' or 'exponential'"
        ))),
    }
}

fn elasticity(name: &str) -> PyResult<Elasticity> {
    match name {
        "energy" => Ok(Elasticity::Energy),
        "linear" => Ok(Elasticity::Linear),
        _ => Err(PyValueError::new_err(format!(
            "elasticity is '{name}', expected 'energy' or 'linear'"
        ))),
    }
}

/// Reads a model file: one linearisation or a blend, its first bytes say which.
///
/// Raises ReadError with the reason.
#[pyfunction]
pub(crate) fn load_model(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
    let read = py.detach(|| Read::load(&path));
    let made = match read {
        Ok(Read::Reduced(m)) => Model::reduced(m),
        Ok(Read::Blended(m)) => Model::blended(m),
        Err(e) => {
            let text = crate::error::sentence(&e);
            return Err(match text.contains(&*path.to_string_lossy()) {
                true => ReadError::new_err(text),
                false => ReadError::new_err(format!("{}: {text}", path.display())),
            });
        }
    };
    made.map_err(refused)
}

#[pymethods]
impl Model {
    /// The model of a file's bytes, as `to_bytes` gives them.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        use forks_rom::file::FileError;
        let made = match ReducedModel::from_bytes(bytes) {
            Ok(m) => Self::reduced(m),
            Err(FileError::NotAReducedModel { .. }) => {
                Self::blended(BlendedModel::from_bytes(bytes).map_err(unreadable)?)
            }
            Err(e) => return Err(unreadable(e)),
        };
        made.map_err(refused)
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.kind.bytes())
    }

    /// The numbers as JSON, for other programs.
    fn to_json(&self) -> String {
        match &self.kind {
            Kind::Reduced(m) | Kind::Floating(_, m) => m.to_json(),
            Kind::Blended(m) => m.to_json(),
            Kind::FloatingBlend(m) => m.blend().to_json(),
        }
    }

    /// Writes the model file; as JSON if the name ends in .json. The file appears whole or not at
    /// all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        py.detach(|| {
            let bytes = match json {
                true => (self.to_json() + "\n").into_bytes(),
                false => self.kind.bytes(),
            };
            write_atomically(&path, &bytes)
        })
        .map_err(refused)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let maker = slf.py().get_type::<Self>().getattr("from_bytes")?;
        Ok((maker, (slf.get().to_bytes(slf.py()),)))
    }

    /// 'reduced', 'floating', 'blended' or 'floating-blend'.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.kind {
            Kind::Reduced(_) => "reduced",
            Kind::Floating(..) => "floating",
            Kind::Blended(_) => "blended",
            Kind::FloatingBlend(_) => "floating-blend",
        }
    }

    /// Number of velocities.
    #[getter]
    fn dof(&self) -> usize {
        match &self.kind {
            Kind::Reduced(m) => m.dof(),
            Kind::Floating(_, m) => m.dof() + 6,
            Kind::Blended(m) => m.dof(),
            Kind::FloatingBlend(m) => m.blend().dof() + 6,
        }
    }

    /// Number of samples; 1 for one linearisation.
    #[getter]
    fn samples(&self) -> usize {
        match &self.kind {
            Kind::Reduced(_) | Kind::Floating(..) => 1,
            Kind::Blended(m) => m.data().samples.len(),
            Kind::FloatingBlend(m) => m.blend().data().samples.len(),
        }
    }

    /// Names of the end effectors.
    #[getter]
    fn effectors(&self) -> Vec<&str> {
        self.data().effectors.iter().map(|e| &*e.name).collect()
    }

    /// Names of the servos.
    #[getter]
    fn servos(&self) -> Vec<&str> {
        self.data().servos.iter().map(|s| &**s).collect()
    }

    /// Names of the links whose poses are known: all but the ground and massless frames in joints.
    #[getter]
    fn links(&self) -> Vec<&str> {
        let links = self.data().links.iter().skip(1).filter(|l| !l.auxiliary);
        links.map(|l| &*l.name).collect()
    }

    /// Size of the mechanism, m.
    #[getter]
    fn radius(&self) -> f64 {
        self.data().radius
    }

    /// Largest relative displacement of an effector for which the model is meant.
    #[getter]
    fn range(&self) -> f64 {
        self.data().range
    }

    /// B, (6 effectors, dof): effector twists per coordinate, each in its effector's frame; of one
    /// linearisation.
    #[getter]
    fn basis<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown.basis.matrix(py, &self.only("basis")?.basis)
    }

    /// Second derivative of the elastic energy, (dof, dof); of one linearisation.
    #[getter]
    fn stiffness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown.stiffness.matrix(py, &self.only("stiffness")?.hessian)
    }

    /// Mass in the coordinates, (dof, dof); of one linearisation.
    #[getter]
    fn mass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown.mass.matrix(py, &self.only("mass")?.mass)
    }

    /// Damping in the coordinates, (dof, dof); of one linearisation.
    #[getter]
    fn damping<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown.damping.matrix(py, &self.only("damping")?.damping)
    }

    /// World poses of the effectors at the linearisation pose, (effectors, 7): x, y, z, qw, qx, qy,
    /// qz.
    #[getter]
    fn rest_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let all: Vec<Pose> = self.data().effectors.iter().map(|e| e.rest).collect();
        self.shown.rest_poses.poses(py, &all)
    }

    /// Natural frequencies without damping, (frequencies,), Hz, ascending; motions without mass
    /// have none. Of one linearisation.
    #[getter]
    fn frequencies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let all = natural_frequencies(self.only("frequencies")?);
        let hertz = || all.iter().map(|w| w / (2.0 * std::f64::consts::PI)).collect();
        self.shown.frequencies.get(py, &[all.len()], hertz)
    }

    /// Where the model rests under wrenches and servo targets.
    ///
    /// wrenches: (effectors, 6), N and N m, rows fx, fy, fz, tx, ty, tz; None: no wrench.
    /// servo_targets: (servos,), relative to the linearisation, rad or m; None: 0.
    /// frame: 'world' or 'body', the axes of the wrenches.
    /// Raises ForksError if there is no such pose in the model's range.
    #[pyo3(signature = (wrenches=None, servo_targets=None, *, frame="world"))]
    fn statics(
        &self,
        wrenches: Option<&Bound<'_, PyAny>>,
        servo_targets: Option<&Bound<'_, PyAny>>,
        frame: &str,
    ) -> PyResult<Statics> {
        let mut all = Vec::new();
        let frame = loads::frame(frame)?;
        loads::fill(&mut all, wrenches, self.data().effectors.len(), frame)?;
        let count = self.data().servos.len();
        let targets = match servo_targets {
            Some(x) => Input::new("servo_targets", x, &[count])?.as_slice().to_vec(),
            None => vec![0.0; count],
        };
        let solved = self.solve(&all, &targets).map_err(refused)?;
        match solved.found.status {
            StaticStatus::Converged => Ok(Statics::new(solved)),
            StaticStatus::Stalled => {
                Err(ForksError::new_err("the reduced model found no equilibrium"))
            }
            StaticStatus::OutOfRange => {
                Err(ForksError::new_err("the reduced model left its range"))
            }
        }
    }

    /// One instance at the linearisation pose, at rest.
    ///
    /// step: s.
    /// scheme: 'implicit' Euler, or 'exponential' (exact for constant wrenches; reduced models).
    /// elasticity: 'energy' (conservative), or 'linear' (reduced models).
    #[pyo3(signature = (step, *, scheme="implicit", elasticity="energy"))]
    fn simulation(&self, step: f64, scheme: &str, elasticity: &str) -> PyResult<Simulation> {
        let (scheme, elasticity) = (self::scheme(scheme)?, self::elasticity(elasticity)?);
        fn one<S: System + 'static>(system: Result<S, ModelError>) -> PyResult<Box<dyn Run>> {
            Ok(Box::new(One::new(system.map_err(refused)?)))
        }
        let run = match &self.kind {
            Kind::Reduced(m) => one(Stepper::with(Arc::clone(m), step, scheme, elasticity)),
            _ => {
                self.plain(scheme, elasticity)?;
                match &self.kind {
                    Kind::Floating(m, _) => one(FloatingStepper::new(Arc::clone(m), step)),
                    Kind::Blended(m) => one(BlendedStepper::new(Arc::clone(m), step)),
                    Kind::FloatingBlend(m) => one(FloatingBlendStepper::new(Arc::clone(m), step)),
                    Kind::Reduced(m) => one(Stepper::new(Arc::clone(m), step)),
                }
            }
        };
        Ok(Simulation::new(run?, step))
    }

    /// `count` instances at the linearisation pose, at rest, stepped together; see `simulation`.
    #[pyo3(signature = (count, step, *, scheme="implicit", elasticity="energy"))]
    fn batch(
        &self,
        py: Python<'_>,
        count: usize,
        step: f64,
        scheme: &str,
        elasticity: &str,
    ) -> PyResult<Batch> {
        const MOST: usize = 1 << 28;
        if count > MOST {
            let text = format!("count is {count}; at most {MOST} instances make a batch");
            return Err(PyValueError::new_err(text));
        }
        let (scheme, elasticity) = (self::scheme(scheme)?, self::elasticity(elasticity)?);
        fn each<S: System + 'static>(
            system: Result<S, ModelError>,
            count: usize,
        ) -> Result<Box<dyn Many>, ModelError> {
            Ok(Box::new(Each::new(system?, count)))
        }
        if !matches!(self.kind, Kind::Reduced(_)) {
            self.plain(scheme, elasticity)?;
        }
        let many = py.detach(|| -> Result<Box<dyn Many>, ModelError> {
            match &self.kind {
                Kind::Reduced(m) => {
                    let stepper = Stepper::with(Arc::clone(m), step, scheme, elasticity)?;
                    Ok(Box::new(Fast::new(stepper, count)))
                }
                Kind::Floating(m, _) => each(FloatingStepper::new(Arc::clone(m), step), count),
                Kind::Blended(m) => each(BlendedStepper::new(Arc::clone(m), step), count),
                Kind::FloatingBlend(m) => {
                    each(FloatingBlendStepper::new(Arc::clone(m), step), count)
                }
            }
        });
        Ok(Batch::new(many.map_err(refused)?, step))
    }

    fn __repr__(&self) -> String {
        format!(
            "<forks.Model, {}: {} velocities, effectors {}, {} links, {} servos, {} sample(s)>",
            self.kind(),
            self.dof(),
            self.effectors().join(", "),
            self.links().len(),
            self.servos().len(),
            self.samples()
        )
    }

    fn _repr_html_(&self) -> PyResult<String> {
        let shown: Vec<usize> =
            (1..self.data().links.len()).filter(|&l| !self.data().links[l].auxiliary).collect();
        let mut picture = drawing::of_model(self.data(), &shown);
        let rest = shown.iter().map(|&l| self.data().links[l].rest).collect();
        picture.push(0.0, rest, &[0.0; 3]);
        Ok(format!("<p>{}</p>{}", drawing::escaped(&self.__repr__()), picture.frame()?))
    }
}
