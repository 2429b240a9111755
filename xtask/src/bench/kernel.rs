//! `kernel/poses-6` (-12, -18): poses of links by the library, against the hand-written kernel for
//! six coordinates.

use std::hint::black_box;

use forks_mechanism::{LinkId, Mechanism};
use forks_models::HelixJoints;
use forks_reduce::{Effector, Problem, ReduceOptions};
use forks_rom::{PoseBuffer, ReducedModel, State};

use super::{
    case::{Case, Context},
    measure::{Timing, time},
};

const LINKS: [usize; 4] = [20, 50, 400, 4000];
/// Largest rotation of a link, rad: well inside what the hand-written kernel is for.
const LARGEST_TURN: f64 = 1.0;

/// `kernel/poses-6`: one effector.
pub(super) fn poses_6(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    LINKS.iter().map(|&n| poses(name, context, n, 1)).collect()
}

/// `kernel/poses-12`: two effectors.
pub(super) fn poses_12(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    LINKS.iter().map(|&n| poses(name, context, n, 2)).collect()
}

/// `kernel/poses-18`: three effectors.
pub(super) fn poses_18(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    LINKS.iter().map(|&n| poses(name, context, n, 3)).collect()
}

fn poses(name: &str, context: &Context<'_>, n: usize, effectors: usize) -> Result<Case, String> {
    let model = helix(n, effectors)?;
    let coordinates = model.dof();
    if coordinates != 6 * effectors {
        return Err(format!("{n} links: {coordinates} coordinates"));
    }
    let mut state = State::new(&model);
    let eta = coordinates_of_turn(&model, LARGEST_TURN);
    state.set(&eta, &vec![0.0; coordinates]).map_err(|e| e.to_string())?;
    let mut out = PoseBuffer::new(&model);
    let ours = time(context.batch, || model.poses(&state, black_box(&mut out)));
    let mut case = Case::new(&format!("{name}/{n}"), n, 1, ours, model.isa().name());
    case.figure("ns per link, ours", ours.ns / n as f64);
    match hand(&model, &eta, context.batch, &out) {
        Some((timing, difference)) => add_hand(&mut case, timing, difference, coordinates),
        None => case.notes.push("hand-avx2 left out: no AVX2 and FMA here".into()),
    }
    Ok(case)
}

fn add_hand(case: &mut Case, hand: Timing, difference: Option<f64>, coordinates: usize) {
    case.rival("hand-avx2", hand, "six coordinates, as many links");
    case.figure("ns per link, hand-avx2", hand.ns / case.n_links as f64);
    let scale = coordinates as f64 / 6.0;
    case.figure("ours / (hand-avx2 × coordinates/6)", 1.0 / (case.ratio["hand-avx2"] * scale));
    if let Some(ratio) = case.cpu_ratio.get("hand-avx2") {
        let figure = 1.0 / (ratio * scale);
        case.figure("ours / (hand-avx2 × coordinates/6), computing time", figure);
    }
    if let Some(difference) = difference {
        case.figure("largest difference of poses", difference);
    }
}

/// A helix of `n` links, three hinges per joint, reduced to effectors at equal distances, the tip
/// among them.
pub(super) fn helix(n: usize, effectors: usize) -> Result<ReducedModel, String> {
    let m = forks_models::helix(n, HelixJoints::Hinge3).mechanism;
    let links: Vec<LinkId> = real_links(&m);
    let at = |k: usize| Effector::of_link(&m, links[(k + 1) * links.len() / effectors - 1]);
    let effectors = (0..effectors).map(at).collect();
    let problem = Problem::unprepared(m, effectors);
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default());
    Ok(reduction.map_err(|e| e.to_string())?.model)
}

/// Links without the ground and massless frames inside joints.
fn real_links(m: &Mechanism) -> Vec<LinkId> {
    let real = m.links().iter().enumerate().skip(1).filter(|(_, l)| !l.auxiliary);
    real.map(|(i, _)| LinkId::new(i)).collect()
}

/// Coordinates, all different, at which no link turns by more than `turn`, and one by as much.
fn coordinates_of_turn(model: &ReducedModel, turn: f64) -> Vec<f64> {
    let eta: Vec<f64> = (0..model.dof()).map(|j| 1.0 / (j + 1) as f64).collect();
    let angle = |map: &forks_mechanism::linalg::Matrix| {
        map.mul_vec(&eta)[3..].iter().map(|x| x * x).sum::<f64>().sqrt()
    };
    let largest = model.data().links.iter().map(|l| angle(&l.map)).fold(0.0, f64::max);
    eta.iter().map(|x| x * turn / largest).collect()
}

/// Time of the hand-written kernel on as many links: the model's own if it has six coordinates, and
/// then the largest difference of poses, else the first six columns of its maps.
#[cfg(target_arch = "x86_64")]
fn hand(
    model: &ReducedModel,
    eta: &[f64],
    batch: f64,
    ours: &PoseBuffer,
) -> Option<(Timing, Option<f64>)> {
    use forks_benches::hand_kernel::{COORDINATES, HandKernel};

    let links = &model.data().links;
    let shown =
        ours.links().iter().map(|&l| (links[l].rest, links[l].map.block(0, 0, 6, COORDINATES)));
    let shown: Vec<_> = shown.collect();
    let mut kernel = HandKernel::new(shown.iter().map(|(rest, map)| (*rest, map)))?;
    let first: [f64; COORDINATES] = eta.first_chunk().copied()?;
    let timing = time(batch, || {
        kernel.update(black_box(&first));
        black_box(&mut kernel);
    });
    let difference = (eta.len() == COORDINATES).then(|| {
        let all = ours.iter().enumerate().map(|(i, (_, a))| {
            let b = kernel.pose(i);
            a.translation.distance(b.translation).max((a.rotation - b.rotation).length())
        });
        all.fold(0.0, f64::max)
    });
    Some((timing, difference))
}

#[cfg(not(target_arch = "x86_64"))]
fn hand(_: &ReducedModel, _: &[f64], _: f64, _: &PoseBuffer) -> Option<(Timing, Option<f64>)> {
    None
}
