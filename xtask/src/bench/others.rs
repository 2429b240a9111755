//! The rivals of `reduced/…` that are other programs: MuJoCo and Pinocchio through Python, Rapier
//! in process.

use forks_import::write::save_mjcf;
#[cfg(feature = "rapier")]
use forks_mechanism::lie::Pose;
use serde::{Deserialize, Serialize};

#[cfg(feature = "rapier")]
use super::measure::time;
use super::{
    case::{Case, Context},
    forward::{Answer, add_pinocchio},
    measure::Timing,
    peers::Peers,
    rivals::{Measured, Pushed, STEPS_BEFORE},
};

/// What MuJoCo's script gets.
#[derive(Serialize)]
struct Task {
    /// MJCF file.
    model: String,
    dt: Vec<f64>,
    body: String,
    force: [f64; 3],
    steps: usize,
    batch: f64,
}

/// What it answers for a time step; nothing where the simulation does not stay finite.
#[derive(Deserialize)]
struct Stepped {
    timing: Timing,
    displacement: [f64; 3],
    settings: String,
}

/// What the programs in Python say about a mechanism.
pub(super) struct Others {
    mujoco: Result<Vec<Option<Stepped>>, String>,
    /// The algorithm knows no time step: one answer for all.
    pinocchio: Result<Answer, String>,
}

impl Others {
    /// Measures at all time steps; `None` if other programs were not asked for.
    pub(super) fn ask(
        name: &str,
        context: &Context<'_>,
        pushed: &Pushed<'_>,
        steps: &[f64],
    ) -> Option<Self> {
        match context.peers.as_ref()? {
            Err(e) => Some(Self { mujoco: Err(e.clone()), pinocchio: Err(e.clone()) }),
            Ok(peers) => Some(Self {
                mujoco: mujoco(name, peers, pushed, steps),
                pinocchio: pinocchio(name, peers, pushed, steps[0]),
            }),
        }
    }

    /// MuJoCo's and Rapier's steps of the `k`-th length, `dt`.
    pub(super) fn steps(&self, k: usize, dt: f64, pushed: &Pushed<'_>) -> Vec<Named> {
        let mujoco = match &self.mujoco {
            Ok(answers) => match answers.get(k).and_then(Option::as_ref) {
                Some(a) => Ok(Measured {
                    timing: a.timing,
                    displacement: Some(a.displacement.into()),
                    settings: a.settings.clone(),
                }),
                None => Err("it does not stay finite".into()),
            },
            Err(e) => Err(e.clone()),
        };
        let mut all = vec![("mujoco-discrete", mujoco)];
        all.extend(rapier(pushed, dt));
        all
    }

    /// Adds Pinocchio's articulated-body algorithm, of the spanning tree where there are loops.
    pub(super) fn add_pinocchio(&self, case: &mut Case, pushed: &Pushed<'_>) {
        match &self.pinocchio {
            Ok(answer) => {
                let m = pushed.mechanism();
                add_pinocchio(case, answer, m.tree_velocity_count(), true);
                if !m.forest().closures().is_empty() {
                    case.notes.push("pinocchio-aba: the spanning tree, loops left open".into());
                }
            }
            Err(e) => case.notes.push(format!("pinocchio-aba left out: {e}")),
        }
    }
}

/// A rival's name, and its time or why there is none.
pub(super) type Named = (&'static str, Result<Measured, String>);

fn pinocchio(name: &str, peers: &Peers, pushed: &Pushed<'_>, dt: f64) -> Result<Answer, String> {
    let setup = pushed.setup(dt)?;
    let acceleration = setup.accelerations()?;
    setup.ask(&format!("{name}-pinocchio"), pushed.batch, acceleration, peers)
}

/// Rapier is not in this build.
#[cfg(not(feature = "rapier"))]
fn rapier(_: &Pushed<'_>, _: f64) -> Vec<Named> {
    let why = || Err("this build is without feature rapier".to_owned());
    vec![("rapier-multibody", why()), ("rapier-impulse", why())]
}

/// Both of Rapier's joint types. The multibody needs one solver iteration, which is one substep;
/// the impulse joints' default of four is kept, with fewer they do not hold the mechanism together.
#[cfg(feature = "rapier")]
fn rapier(pushed: &Pushed<'_>, dt: f64) -> Vec<Named> {
    use forks_benches::rapier::RapierJoints::{Impulse, Multibody};

    let multibody =
        run_rapier(pushed, dt, Multibody, Some(1), "multibody joints, 1 solver iteration");
    let impulse =
        run_rapier(pushed, dt, Impulse, None, "impulse joints, default 4 solver iterations");
    vec![("rapier-multibody", multibody), ("rapier-impulse", impulse)]
}

#[cfg(feature = "rapier")]
fn run_rapier(
    pushed: &Pushed<'_>,
    dt: f64,
    joints: forks_benches::rapier::RapierJoints,
    iterations: Option<usize>,
    settings: &str,
) -> Result<Measured, String> {
    let (m, link) = (pushed.mechanism(), pushed.p.effectors[0]);
    let mut world = forks_benches::rapier::RapierWorld::new(m, joints, dt, iterations)?;
    let position = |w: &forks_benches::rapier::RapierWorld| w.poses()[link.index()].translation;
    let start = position(&world);
    world.push(m, link, pushed.force);
    (0..STEPS_BEFORE).for_each(|_| world.step());
    let displacement = Some(position(&world) - start);
    let timing = time(pushed.batch, || world.step());
    if !world.poses().iter().all(Pose::is_finite) {
        return Err("it does not stay finite".into());
    }
    let settings = format!("Rapier 0.36 f64, {settings}, no colliders, poses in the step");
    Ok(Measured { timing, displacement, settings })
}

fn mujoco(
    name: &str,
    peers: &Peers,
    pushed: &Pushed<'_>,
    steps: &[f64],
) -> Result<Vec<Option<Stepped>>, String> {
    let m = pushed.mechanism();
    let path = peers.exchange().join(format!("{}.xml", name.replace('/', "-")));
    save_mjcf(m, &path).map_err(|e| e.to_string())?;
    let task = Task {
        model: path.display().to_string(),
        dt: steps.to_vec(),
        body: m.link(pushed.p.effectors[0]).name.clone(),
        force: pushed.force.to_array(),
        steps: STEPS_BEFORE,
        batch: pushed.batch,
    };
    peers.ask("mujoco_discrete.py", &format!("{name}-mujoco"), &task)
}
