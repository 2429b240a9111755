//! `aba/…`: forward dynamics of trees, against Pinocchio's articulated-body algorithm on identical
//! bodies.

use std::path::Path;

use forks_dynamics::tree::{AbaWorkspace, LinkLoads, Tree, aba};
use forks_import::{ImportOptions, load_model};
use forks_mechanism::Mechanism;
use forks_models::{HelixJoints, helix as make_helix};
use forks_testkit::rng::Rng;
use serde::{Deserialize, Serialize};

use super::{
    case::{Case, Context},
    export::Bodies,
    measure::{Timing, time},
    peers::Peers,
};

/// Accelerations agree to this part of the largest: far above rounding, far below any difference of
/// models.
const TOLERANCE: f64 = 1e-8;
const SETTINGS: &str = "gravity, random state, two poses in turn, release build";

/// What the script gets.
#[derive(Serialize)]
struct Task<'a> {
    bodies: Bodies,
    q: &'a [Vec<f64>; 2],
    v: &'a [f64],
    tau: &'a [f64],
    acceleration: [Vec<f64>; 2],
    tolerance: f64,
    batch: f64,
}

/// What it answers.
#[derive(Deserialize)]
pub(super) struct Answer {
    timing: Timing,
    overhead: Timing,
    difference: f64,
    settings: String,
}

/// `aba/helix-400`: one hinge per joint.
pub(super) fn helix(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let m = make_helix(400, HelixJoints::Alternating).mechanism;
    // A call lasts long enough for Python's part of it not to count.
    Ok(vec![Setup::new(&m).measure(name, context, false)?])
}

/// `aba/humanoid`: free root and 56 hinges, up to three on one body.
pub(super) fn humanoid(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let path = Path::new("fixtures/models/dmc_humanoid_CMU/humanoid_CMU.xml");
    let import = load_model(&context.root.join(path), &ImportOptions::default())
        .map_err(|e| e.to_string())?;
    Ok(vec![Setup::new(&import.mechanism).measure(name, context, true)?])
}

/// A tree in a random state.
pub(super) struct Setup<'a> {
    m: &'a Mechanism,
    pub(super) tree: Tree,
    pub(super) q: [Vec<f64>; 2],
    pub(super) v: Vec<f64>,
    pub(super) tau: Vec<f64>,
}

impl<'a> Setup<'a> {
    pub(super) fn new(m: &'a Mechanism) -> Self {
        let tree = Tree::new(m);
        let mut rng = Rng::new(7);
        let mut vector = |scale: f64| -> Vec<f64> {
            (0..tree.velocity_count()).map(|_| scale * rng.symmetric()).collect()
        };
        let pose = |v: Vec<f64>| {
            let mut step = vec![0.0; m.velocity_count()];
            step[..v.len()].copy_from_slice(&v);
            let mut q = m.start_positions();
            m.integrate(&mut q, &step);
            q.truncate(m.tree_position_count());
            q
        };
        let q = [pose(vector(0.3)), pose(vector(0.3))];
        let (v, tau) = (vector(1.0), vector(1.0));
        Self { m, tree, q, v, tau }
    }

    /// The spanning tree in two poses, with velocities and torques of its coordinates.
    pub(super) fn at(m: &'a Mechanism, q: [Vec<f64>; 2], v: Vec<f64>, tau: Vec<f64>) -> Self {
        Self { m, tree: Tree::new(m), q, v, tau }
    }

    /// Accelerations in both poses; an error if they are not finite.
    pub(super) fn accelerations(&self) -> Result<[Vec<f64>; 2], String> {
        let mut ws = AbaWorkspace::new(&self.tree);
        let mut out = [vec![0.0; self.v.len()], vec![0.0; self.v.len()]];
        for (q, a) in self.q.iter().zip(&mut out) {
            aba(&self.tree, &mut ws, q, &self.v, &self.tau, &LinkLoads::GRAVITY, a)
                .map_err(|e| e.to_string())?;
            if a.iter().any(|x| !x.is_finite()) {
                return Err("accelerations are not finite".into());
            }
        }
        Ok(out)
    }

    /// Time of our algorithm.
    pub(super) fn time(&self, batch: f64) -> Timing {
        let mut ws = AbaWorkspace::new(&self.tree);
        let mut out = vec![0.0; self.v.len()];
        let mut turn = 0;
        time(batch, || {
            turn ^= 1;
            let (q, v, tau) = (&self.q[turn], &self.v, &self.tau);
            aba(&self.tree, &mut ws, q, v, tau, &LinkLoads::GRAVITY, &mut out)
        })
    }

    fn measure(
        &self,
        name: &str,
        context: &Context<'_>,
        subtract_overhead: bool,
    ) -> Result<Case, String> {
        let acceleration = self.accelerations()?;
        let ours = self.time(context.batch);
        let mut case = Case::new(name, self.m.links().len() - 1, 1, ours, SETTINGS);
        case.figure("ns per coordinate, ours", ours.ns / self.v.len() as f64);
        let answer = match &context.peers {
            None => return Ok(case),
            Some(Err(e)) => Err(e.clone()),
            Some(Ok(peers)) => self.ask(name, context.batch, acceleration, peers),
        };
        match answer {
            Ok(answer) => add_pinocchio(&mut case, &answer, self.v.len(), subtract_overhead),
            Err(e) => case.notes.push(format!("pinocchio-aba left out: {e}")),
        }
        Ok(case)
    }

    pub(super) fn ask(
        &self,
        name: &str,
        batch: f64,
        acceleration: [Vec<f64>; 2],
        peers: &Peers,
    ) -> Result<Answer, String> {
        let task = Task {
            bodies: Bodies::new(self.m)?,
            q: &self.q,
            v: &self.v,
            tau: &self.tau,
            acceleration,
            tolerance: TOLERANCE,
            batch,
        };
        peers.ask("pinocchio_aba.py", name, &task)
    }
}

pub(super) fn add_pinocchio(case: &mut Case, answer: &Answer, coordinates: usize, subtract: bool) {
    let mut timing = answer.timing;
    let mut settings = answer.settings.clone();
    if subtract {
        // The spread stays that of the whole call, in ns.
        let whole = timing.ns;
        timing.ns -= answer.overhead.ns;
        timing.cpu_ns = timing.cpu_ns.zip(answer.overhead.cpu_ns).map(|(all, part)| all - part);
        timing.spread *= whole / timing.ns;
        settings += &format!(", {:.0} ns of call overhead taken off", answer.overhead.ns);
    }
    case.rival("pinocchio-aba", timing, &settings);
    case.figure("ns per coordinate, pinocchio-aba", timing.ns / coordinates as f64);
    case.figure("ns of call overhead, pinocchio-aba", answer.overhead.ns);
    case.figure("largest relative difference of accelerations", answer.difference);
}
