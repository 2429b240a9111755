//! Many instances in motion, as Python sees them.

use forks_mechanism::lie::Pose;
use forks_rom::{LoadFrame, StepStatus, batch::BatchStatus};
use numpy::{PyArray1, PyArrayDyn};
use pyo3::{exceptions::PyIndexError, prelude::*, sync::PyOnceLock, types::PyDict};

use crate::{
    arrays::{Input, room, writing},
    error::refused,
    handle::Handle,
    loads,
    many::Many,
};

/// Many instances of one model, stepped together on the library's threads; made by `Model.batch`.
///
/// Arrays have one row an instance. Results equal those of single simulations in every bit, for any
/// number of threads (environment variable RAYON_NUM_THREADS). One Python thread uses a batch at a
/// time; a second one gets a `HandleError`.
#[pyclass(frozen, module = "forks")]
#[derive(Debug)]
pub(crate) struct Batch {
    handle: Handle<Held>,
}

#[derive(Debug)]
struct Held {
    many: Box<dyn Many>,
    step: f64,
    steps: u64,
}

impl Batch {
    pub(crate) fn new(many: Box<dyn Many>, step: f64) -> Self {
        Self { handle: Handle::new("batch", Held { many, step, steps: 0 }) }
    }
}

impl Held {
    fn effectors(&self) -> usize {
        self.many.data().effectors.len()
    }

    fn steps(
        &mut self,
        count: usize,
        wrenches: Option<&[[f64; 6]]>,
        frame: LoadFrame,
    ) -> BatchStatus {
        let mut worst = BatchStatus::default();
        for _ in 0..count {
            worst = worst.or_worse(self.many.step(wrenches, frame));
            self.steps += 1;
        }
        worst
    }

    /// Steps without the GIL, under wrenches that nobody else can change meanwhile.
    fn long(
        &mut self,
        py: Python<'_>,
        count: usize,
        wrenches: Option<&[[f64; 6]]>,
        frame: LoadFrame,
    ) -> PyResult<BatchStatus> {
        let own = wrenches.map(<[_]>::to_vec);
        // Pieces of about 10 ms, so that Ctrl-C is heard.
        let piece = (50 * self.many.moment() / self.many.count().max(1)).max(1);
        let (mut worst, mut left) = (BatchStatus::default(), count);
        while left > 0 {
            let now = left.min(piece);
            worst = worst.or_worse(py.detach(|| self.steps(now, own.as_deref(), frame)));
            left -= now;
            py.check_signals()?;
        }
        Ok(worst)
    }

    /// An instance of the user's indices.
    fn instances(&self, indices: Option<Vec<usize>>) -> PyResult<Vec<usize>> {
        let count = self.many.count();
        let all = indices.unwrap_or_else(|| (0..count).collect());
        match all.iter().find(|&&i| i >= count) {
            Some(i) => Err(PyIndexError::new_err(format!("instance {i} of a batch of {count}"))),
            None => Ok(all),
        }
    }

    /// Fills rows of an array, one an instance, each of a shape.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        of_one: &[usize],
        fill: impl Fn(&dyn Many, usize, &mut [f64]),
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let mut shape = vec![self.many.count()];
        shape.extend(of_one);
        let array = room(py, out, &shape)?;
        let size: usize = of_one.iter().product();
        if size > 0 {
            let mut numbers = writing(&array)?;
            for (i, row) in numbers.as_slice_mut()?.chunks_exact_mut(size).enumerate() {
                fill(&*self.many, i, row);
            }
        }
        Ok(array)
    }
}

/// The dict that a step returns; where all instances completed, a copy of one made before, which
/// looks up no key.
fn summary(py: Python<'_>, all: BatchStatus) -> PyResult<Bound<'_, PyDict>> {
    static COMPLETED: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let new = |all: BatchStatus| {
        let out = PyDict::new(py);
        out.set_item(pyo3::intern!(py, "out_of_range"), all.out_of_range)?;
        out.set_item(pyo3::intern!(py, "not_finite"), all.not_finite)?;
        out.set_item(pyo3::intern!(py, "uncontrolled"), all.uncontrolled)?;
        PyResult::Ok(out)
    };
    if all != BatchStatus::default() {
        return new(all);
    }
    COMPLETED.get_or_try_init(py, || new(all).map(Bound::unbind))?.bind(py).copy()
}

/// Poses one after the other.
fn write(poses: &[Pose], out: &mut [f64]) {
    let (rows, _) = out.as_chunks_mut::<7>();
    rows.iter_mut().zip(poses).for_each(|(row, pose)| *row = pose.to_array());
}

#[pymethods]
impl Batch {
    /// Makes `count` steps of all instances under constant wrenches.
    ///
    /// wrenches: (instances, effectors, 6) array of float64, N and N m; None: no wrench.
    /// frame: 'world' or 'body', the axes of the wrenches.
    /// Returns a dict: the largest numbers of instances in one of the steps that were
    /// 'out_of_range', 'not_finite' (unchanged by the step) or 'uncontrolled' (floating bases);
    /// `statuses` tells which in the last step.
    #[pyo3(signature = (wrenches=None, *, frame="world", count=1))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        wrenches: Option<&Bound<'py, PyAny>>,
        frame: &str,
        count: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let frame = loads::frame(frame)?;
        self.handle.with(|held| {
            let (n, effectors) = (held.many.count(), held.effectors());
            let input = wrenches.map(|x| Input::new("wrenches", x, &[n, effectors, 6]));
            let input = input.transpose()?;
            let rows = input.as_ref().map(|i| i.as_slice().as_chunks::<6>().0);
            let all = match count.saturating_mul(n) <= held.many.moment() {
                true => held.steps(count, rows, frame),
                false => held.long(py, count, rows, frame)?,
            };
            summary(py, all)
        })
    }

    /// How the last step ended, (instances,) of uint8: 0 completed, 1 out of range, 2 not finite
    /// (unchanged), 3 uncontrolled (floating bases).
    fn statuses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        self.handle.with(|held| {
            let mut out: Vec<u8> = Vec::with_capacity(held.many.count());
            held.many.statuses(&mut |s| {
                out.push(match s {
                    StepStatus::Completed => 0,
                    StepStatus::OutOfRange { .. } => 1,
                    StepStatus::NotFinite => 2,
                    StepStatus::InertiaHeldBack | StepStatus::NotSettled => 3,
                });
            });
            Ok(PyArray1::from_vec(py, out))
        })
    }

    /// Time since the start, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.handle.with(|held| Ok(held.step * held.steps as f64))
    }

    /// Coordinates, (instances, coordinates); into `out` if given.
    #[pyo3(signature = (out=None))]
    fn coordinates<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.handle.with(|held| {
            held.rows(py, out, &held.many.sizes()[..1], |m, i, row| m.coordinates(i, row))
        })
    }

    /// Velocities, (instances, dof); into `out` if given.
    #[pyo3(signature = (out=None))]
    fn velocity<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.handle.with(|held| {
            held.rows(py, out, &held.many.sizes()[1..], |m, i, row| m.velocity(i, row))
        })
    }

    /// Servo targets relative to those of the linearisation, (instances, servos), rad or m; into
    /// `out` if given.
    #[pyo3(signature = (out=None))]
    fn servo_targets<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.handle.with(|held| {
            let servos = held.many.data().servos.len();
            held.rows(py, out, &[servos], |m, i, row| m.servo_targets(i, row))
        })
    }

    /// Sets coordinates and velocities, (k, coordinates) and (k, dof), of k instances: those of
    /// `indices`, all by default.
    #[pyo3(signature = (coordinates, velocity, *, indices=None))]
    fn set(
        &self,
        coordinates: &Bound<'_, PyAny>,
        velocity: &Bound<'_, PyAny>,
        indices: Option<Vec<usize>>,
    ) -> PyResult<()> {
        self.handle.with(|held| {
            let (which, [c, n]) = (held.instances(indices)?, held.many.sizes());
            let coordinates = Input::new("coordinates", coordinates, &[which.len(), c])?;
            let velocity = Input::new("velocity", velocity, &[which.len(), n])?;
            let (coordinates, velocity) = (coordinates.as_slice(), velocity.as_slice());
            for (row, &i) in which.iter().enumerate() {
                let (x, v) = (&coordinates[row * c..][..c], &velocity[row * n..][..n]);
                held.many.set(i, x, v).map_err(refused)?;
            }
            Ok(())
        })
    }

    /// Sets servo targets, (k, servos), of k instances: those of `indices`, all by default.
    #[pyo3(signature = (targets, *, indices=None))]
    fn set_servo_targets(
        &self,
        targets: &Bound<'_, PyAny>,
        indices: Option<Vec<usize>>,
    ) -> PyResult<()> {
        self.handle.with(|held| {
            let (which, s) = (held.instances(indices)?, held.many.data().servos.len());
            let targets = Input::new("targets", targets, &[which.len(), s])?;
            for (row, &i) in which.iter().enumerate() {
                let targets = &targets.as_slice()[row * s..][..s];
                held.many.set_servo_targets(i, targets).map_err(refused)?;
            }
            Ok(())
        })
    }

    /// Back to the linearisation pose at rest, servo targets 0: `indices`, all by default.
    #[pyo3(signature = (indices=None))]
    fn reset(&self, indices: Option<Vec<usize>>) -> PyResult<()> {
        self.handle.with(|held| {
            let which = held.instances(indices)?;
            which.into_iter().for_each(|i| held.many.reset(i));
            Ok(())
        })
    }

    /// World poses of the effectors, (instances, effectors, 7): x, y, z (m), qw, qx, qy, qz; into
    /// `out` if given.
    #[pyo3(signature = (out=None))]
    fn effector_poses<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.handle.with(|held| {
            let effectors = held.effectors();
            held.rows(py, out, &[effectors, 7], |many, i, row| {
                let mut poses = vec![Pose::IDENTITY; effectors];
                many.effector_poses(i, &mut poses);
                write(&poses, row);
            })
        })
    }

    /// Names of the links of `link_poses`.
    #[getter]
    fn links(&self) -> PyResult<Vec<String>> {
        self.handle.with(|held| {
            let name = |l: usize| held.many.data().links[l].name.clone();
            Ok(held.many.links().into_iter().map(name).collect())
        })
    }

    /// World poses of the links, (instances, links, 7): x, y, z (m), qw, qx, qy, qz; into `out` if
    /// given.
    #[pyo3(signature = (out=None))]
    fn link_poses<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.handle.with(|held| {
            py.detach(|| held.many.update_poses());
            let links = held.many.links().len();
            held.rows(py, out, &[links, 7], |many, i, row| {
                let (rows, _) = row.as_chunks_mut::<7>();
                for (l, row) in rows.iter_mut().enumerate() {
                    *row = many.link_pose(i, l).to_array();
                }
            })
        })
    }

    /// Gives the memory back; every further use raises HandleError.
    fn close(&self) -> PyResult<()> {
        self.handle.close()
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_details))]
    fn __exit__(&self, _details: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close()
    }

    fn __len__(&self) -> PyResult<usize> {
        self.handle.with(|held| Ok(held.many.count()))
    }

    fn __repr__(&self) -> PyResult<String> {
        if self.handle.is_closed() {
            return Ok("<forks.Batch, closed>".into());
        }
        self.handle.with(|held| {
            Ok(format!("<forks.Batch of {}, step {} s>", held.many.count(), held.step))
        })
    }
}
