//! The soft finger of 304 nodes under forces on its pad: full equilibria, the linear solution over
//! all joints and nodes, reduced models.

use forks_condense::{
    Condensed, TissuePose, condense,
    deform::{Commands, SoftOptions, SoftSimulation, SoftState, StaticsOptions, StaticsStatus},
    finger::BuiltFinger,
    reduce::{Problem, ProblemOptions},
    skins::{
        Skin, SkinBuffer,
        rom::{EffectorLoad, LoadFrame, ReducedModel, State},
    },
};
use forks_dynamics::mass_matrix;
use forks_mechanism::{
    lie::{Wrench, glam::DVec3},
    linalg::Matrix,
};

use crate::words::said;

/// The finger's tissue condensed at rest, with so many internal modes.
pub(crate) fn condensed(f: &BuiltFinger, modes: usize) -> Result<Condensed, String> {
    let q = f.mechanism.start_positions();
    let at = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let pad = std::slice::from_ref(&f.pad);
    condense("finger", &f.body, &f.mechanism, &at, pad, modes).map_err(said)
}

/// Skeleton and condensed tissue, to be reduced.
pub(crate) fn problem(
    f: &BuiltFinger,
    c: &Condensed,
    effectors: &[&str],
) -> Result<Problem, String> {
    let elements = vec![c.element.clone()];
    let options = ProblemOptions::default();
    Problem::with_superelements(&f.mechanism, elements, effectors, &options).map_err(said)
}

/// Full equilibrium under dead forces Eᵀ w, in four steps.
pub(crate) fn equilibrium(
    f: &BuiltFinger,
    rows: &Matrix,
    wrench: &[f64; 6],
) -> Result<SoftState, String> {
    let forces = rows.transpose_mul_vec(wrench);
    let forces: Vec<DVec3> = forces.chunks_exact(3).map(|f| DVec3::new(f[0], f[1], f[2])).collect();
    let options = SoftOptions { gravity: false, ..SoftOptions::default() };
    let mut s = SoftSimulation::new(&f.skeleton, f.body.clone(), options).map_err(said)?;
    let commands = Commands { node_forces: &forces, ..Commands::default() };
    let options = StaticsOptions { load_steps: 4, ..StaticsOptions::default() };
    let report = s.rest(&commands, &options).map_err(said)?;
    match report.status {
        StaticsStatus::Converged => Ok(s.state().clone()),
        _ => Err(format!("no equilibrium: {report:?}")),
    }
}

/// How far the last bone has turned, degrees.
pub(crate) fn bend(f: &BuiltFinger, state: &SoftState) -> f64 {
    let m = &f.mechanism;
    let last = m.links().len() - 1;
    let [now, start] = [&state.q, &m.start_positions()].map(|q| m.link_poses(q)[last].rotation);
    now.angle_between(start).to_degrees()
}

/// A force at the origin of the pad, world.
pub(crate) fn pull(force: DVec3) -> EffectorLoad {
    let wrench = Wrench::new(force, DVec3::ZERO);
    EffectorLoad { effector: 0, wrench, frame: LoadFrame::World }
}

/// Nodes at reduced coordinates: number and place of every vertex of a skin.
pub(crate) fn placed(
    f: &BuiltFinger,
    model: &ReducedModel,
    skin: &Skin,
    eta: &[f64],
) -> Result<Vec<(usize, DVec3)>, String> {
    let mut state = State::new(model);
    state.set(eta, &vec![0.0; eta.len()]).map_err(said)?;
    let mut places = SkinBuffer::new(skin, model);
    skin.place(model, &state, &mut places);
    let x = f.body.mesh().nodes();
    let node = |p: &DVec3| x.iter().position(|x| x == p).ok_or("a vertex that is no node");
    let nodes = skin.rest().iter().map(node).collect::<Result<Vec<_>, _>>()?;
    Ok(nodes.into_iter().zip(places.iter()).collect())
}

/// Mean of the pad's nodes.
pub(crate) fn pad(f: &BuiltFinger, x: &[DVec3]) -> DVec3 {
    f.pad.nodes.iter().map(|n| x[*n]).sum::<DVec3>() / f.pad.nodes.len() as f64
}

/// Largest distance of places from where nodes are.
pub(crate) fn worst(places: &[(usize, DVec3)], x: &[DVec3]) -> f64 {
    places.iter().map(|(n, p)| p.distance(x[*n])).fold(0.0, f64::max)
}

/// Mass over joints and free nodes, `size` of them together.
pub(crate) fn whole_mass(f: &BuiltFinger, size: usize) -> Matrix {
    let m = mass_matrix(&f.mechanism, &f.mechanism.start_positions());
    let mut mass = Matrix::zeros(size, size);
    for i in 0..m.rows() {
        mass.row_mut(i)[..m.rows()].copy_from_slice(m.row(i));
    }
    let free = (0..f.body.masses().len()).filter(|n| f.body.holder(*n).is_none());
    for (i, n) in free.enumerate() {
        (0..3).for_each(|a| {
            let at = m.rows() + 3 * i + a;
            mass[(at, at)] = f.body.masses()[n];
        });
    }
    mass
}
