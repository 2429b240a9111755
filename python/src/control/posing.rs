//! Links that are dragged and pinned.

use std::sync::Arc;

use forks_control::ik::{Handle as Held, IkReport, InverseKinematics as Search, Root};
use forks_mechanism::{
    Mechanism as Data,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};
use numpy::{PyArray2, PyArrayDyn};
use pyo3::{exceptions::PyValueError, prelude::*};

use super::names;
use crate::{
    arrays::{self, Input, Shared, poses},
    error::refused,
    handle::Handle,
    mechanism::Mechanism,
    options,
};

/// A mechanism whose links (or 'site:NAME') are dragged and pinned while loops stay closed and
/// limits hold. One thread uses it at a time.
///
/// start: positions of the tree joints, (positions,), or a keyframe's name. root: what a free joint
/// on the ground does: 'free', 'pinned', or 'balanced': the centre of mass stays above the pins.
#[pyclass(frozen, module = "forks.control")]
#[derive(Debug)]
pub(crate) struct InverseKinematics {
    handle: Handle<State>,
}

#[derive(Debug)]
struct State {
    mechanism: Arc<Data>,
    shown: Vec<usize>,
    search: Search,
}

/// A pose and what it misses.
#[pyclass(frozen, module = "forks.control")]
#[derive(Clone, Debug)]
pub(crate) struct Posed {
    status: &'static str,
    reached: bool,
    positions: Vec<f64>,
    links: Vec<Pose>,
    unmet: Vec<(String, String, f64)>,
    at_limit: Vec<(String, usize, f64)>,
    iterations: usize,
    /// Positions, links: arrays that Python shares.
    arrays: Arc<[Shared; 2]>,
}

impl State {
    fn posed(&self, found: IkReport) -> Posed {
        let m = &*self.mechanism;
        let all = self.search.link_poses();
        Posed {
            status: found.status.name(),
            reached: found.status == forks_control::ik::IkStatus::Reached,
            positions: found.positions[..m.tree_position_count()].to_vec(),
            links: self.shown.iter().map(|&i| all[i]).collect(),
            unmet: found.unmet.into_iter().map(|u| (u.name, u.row, u.by)).collect(),
            at_limit: (found.limits.iter())
                .map(|l| (m.joint_label(l.joint), l.coordinate, l.limit))
                .collect(),
            iterations: found.iterations,
            arrays: Arc::default(),
        }
    }

    /// A frame and where it shall be: a point, or a pose.
    fn target(&self, link: &str, target: &Bound<'_, PyAny>) -> PyResult<Held> {
        let frame = names::frame(&self.mechanism, link)?;
        let what = format!("the target of '{link}'");
        let at = match Input::any(&what, target, &[3]) {
            Ok(_) => {
                let point = DVec3::from_array(arrays::numbers(&what, target)?);
                Pose::new(DQuat::IDENTITY, point)
            }
            Err(_) => arrays::pose(&what, target)?,
        };
        let turns = target.len()? == 7;
        let mut held = Held::pose(link, frame.link, frame.link_from_frame, at);
        held.rotation = [turns; 3];
        Ok(held)
    }

    /// A frame where it is.
    fn here(&self, link: &str, turn: bool) -> PyResult<Held> {
        let frame = names::frame(&self.mechanism, link)?;
        let at = self.search.link_poses()[frame.link.index()] * frame.link_from_frame;
        let mut held = Held::pose(link, frame.link, frame.link_from_frame, at);
        held.rotation = [turn; 3];
        Ok(held)
    }
}

fn root(name: &str) -> PyResult<Root> {
    match name {
        "free" => Ok(Root::Free),
        "pinned" => Ok(Root::Pinned),
        "balanced" => Ok(Root::Balanced),
        _ => Err(PyValueError::new_err(format!(
            "root is '{name}', expected 'free', 'pinned' or 'balanced'"
        ))),
    }
}

#[pymethods]
impl InverseKinematics {
    #[new]
    #[pyo3(signature = (mechanism, *, start=None, root="free"))]
    fn new(mechanism: &Mechanism, start: Option<&Bound<'_, PyAny>>, root: &str) -> PyResult<Self> {
        let m = Arc::clone(mechanism.data());
        let start = options::start(&m, start)?;
        let q = start.unwrap_or_else(|| m.start_positions()[..m.tree_position_count()].to_vec());
        let mut search = Search::new(Arc::clone(&m), &q).map_err(refused)?;
        search.set_root(self::root(root)?);
        let state = State { mechanism: m, shown: mechanism.shown(), search };
        Ok(Self { handle: Handle::new("inverse kinematics", state) })
    }

    /// Holds a link, above all drags: at a target, (3,) or (7,), or where it is; turn=False: it may
    /// turn.
    #[pyo3(signature = (link, target=None, *, turn=true))]
    fn pin(&self, link: &str, target: Option<&Bound<'_, PyAny>>, turn: bool) -> PyResult<()> {
        self.handle.with(|s| {
            let held = match target {
                Some(x) => s.target(link, x)?,
                None => s.here(link, turn)?,
            };
            s.search.pin(held).map_err(refused)
        })
    }

    /// Drags a link to a point of the world, (3,), m, or to a pose, (7,): x, y, z, qw, qx, qy, qz.
    ///
    /// level: 0 is the most important after the pins. weight: among those of its level.
    #[pyo3(signature = (link, target, *, level=0, weight=1.0))]
    fn drag(
        &self,
        link: &str,
        target: &Bound<'_, PyAny>,
        level: usize,
        weight: f64,
    ) -> PyResult<()> {
        if level > 100 {
            return Err(PyValueError::new_err(format!("level {level} is none of 0…100")));
        }
        self.handle.with(|s| {
            let mut held = s.target(link, target)?;
            held.weight = weight;
            s.search.drag(level, held).map_err(refused)
        })
    }

    /// Takes all drags away; pins stay.
    fn clear_drags(&self) -> PyResult<()> {
        self.handle.with(|s| {
            s.search.clear_drags();
            Ok(())
        })
    }

    /// Searches from where the last search ended, as a hand that drags does. Returns a Posed.
    fn follow(&self, py: Python<'_>) -> PyResult<Posed> {
        self.handle.with(|s| {
            let found = py.detach(|| s.search.follow()).map_err(refused)?;
            Ok(s.posed(found))
        })
    }

    /// Searches from given positions, (positions,), or a keyframe: the same positions and handles
    /// give the same bits. Returns a Posed.
    fn follow_from(&self, py: Python<'_>, start: &Bound<'_, PyAny>) -> PyResult<Posed> {
        self.handle.with(|s| {
            let q = options::start(&s.mechanism, Some(start))?.unwrap_or_default();
            let found = py.detach(|| s.search.from_pose(&q)).map_err(refused)?;
            Ok(s.posed(found))
        })
    }

    /// World poses of the mechanism's links, (links, 7): x, y, z (m), qw, qx, qy, qz.
    fn link_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|s| {
            let all = s.search.link_poses();
            let shown: Vec<Pose> = s.shown.iter().map(|&i| all[i]).collect();
            poses(py, &shown)
        })
    }

    /// Gives the memory back; every further use raises HandleError.
    fn close(&self) -> PyResult<()> {
        self.handle.close()
    }

    fn __repr__(&self) -> PyResult<String> {
        if self.handle.is_closed() {
            return Ok("<forks.control.InverseKinematics, closed>".into());
        }
        self.handle
            .with(|s| Ok(format!("<forks.control.InverseKinematics of '{}'>", s.mechanism.name())))
    }
}

#[pymethods]
impl Posed {
    /// 'reached', 'drags are not reached', 'pins do not hold' or 'loops stay open'.
    #[getter]
    fn status(&self) -> &'static str {
        self.status
    }

    /// True if loops are closed, pins hold and drags are where they shall be.
    #[getter]
    fn reached(&self) -> bool {
        self.reached
    }

    /// Positions of the tree joints, (positions,), m and rad; of MJCF MuJoCo's qpos.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.arrays[0].get(py, &[self.positions.len()], || self.positions.clone())
    }

    /// World poses of the mechanism's links, (links, 7): x, y, z (m), qw, qx, qy, qz.
    #[getter]
    fn link_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.arrays[1].poses(py, &self.links)
    }

    /// Rows that are not met, the most important first: name of the link, of the loop's joint or of
    /// the coupling ('balance' for the centre of mass), row, what is missing (m or rad).
    #[getter]
    fn unmet(&self) -> Vec<(String, String, f64)> {
        self.unmet.clone()
    }

    /// Coordinates at their limits: joint, which of its coordinates, limit (rad or m).
    #[getter]
    fn at_limit(&self) -> Vec<(String, usize, f64)> {
        self.at_limit.clone()
    }

    /// Steps that were tried.
    #[getter]
    fn iterations(&self) -> usize {
        self.iterations
    }

    fn __repr__(&self) -> String {
        let Self { status, unmet, iterations, .. } = self;
        format!("<forks.control.Posed, {status}: {} rows unmet, {iterations} steps>", unmet.len())
    }
}
