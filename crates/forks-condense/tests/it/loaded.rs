//! Loaded poses: the energy of tissue between displaced bones, and full equilibria.

use forks_condense::{
    Patch, TissuePose, condense,
    deform::{
        Commands, Curvature, SoftBody, SoftOptions, SoftSimulation, SoftState, StaticsOptions,
        StaticsStatus,
        dynamics::{
            Loads,
            mechanism::{
                LinkId, Mechanism,
                lie::{Pose, SplitMix64, Twist, Wrench, glam::DVec3},
                linalg::{Matrix, dense},
            },
        },
    },
    finger::{BuiltFinger, SoftFinger},
    reduce::{Linearisation, Problem, ProblemOptions},
};

use crate::support::*;

/// Free nodes in balance between bones at poses.
fn relaxed(body: &SoftBody, local: &[DVec3], poses: &[Pose], start: &[DVec3]) -> Vec<DVec3> {
    let nodes = start.len();
    let mut x = start.to_vec();
    for n in 0..nodes {
        if let Some(l) = body.holder(n) {
            x[n] = poses[l.index()].transform_point(local[n]);
        }
    }
    let free: Vec<usize> = (0..nodes).filter(|n| body.holder(*n).is_none()).collect();
    let mut f = vec![DVec3::ZERO; nodes];
    let mut k = body.elastic().matrix();
    for _ in 0..60 {
        body.elastic().forces(&x, &mut f);
        let worst = free.iter().map(|n| f[*n].length()).fold(0.0, f64::max);
        if worst < 1e-13 {
            break;
        }
        body.elastic().stiffness(&x, Curvature::Exact, &mut k);
        let whole = k.to_dense();
        let part = Matrix::from_fn(3 * free.len(), 3 * free.len(), |i, j| {
            whole[(3 * free[i / 3] + i % 3, 3 * free[j / 3] + j % 3)]
        });
        let right = Matrix::from_fn(3 * free.len(), 1, |i, _| f[free[i / 3]][i % 3]);
        let d = dense::cholesky_solve(&part, &right).unwrap();
        for (i, n) in free.iter().enumerate() {
            x[*n] += DVec3::new(d[(3 * i, 0)], d[(3 * i + 1, 0)], d[(3 * i + 2, 0)]);
        }
    }
    x
}

fn locals(f: &BuiltFinger) -> Vec<DVec3> {
    let poses = f.mechanism.link_poses(&f.mechanism.start_positions());
    let at = |n: usize| f.body.holder(n).unwrap_or(LinkId::WORLD).index();
    let x = f.body.mesh().nodes();
    (0..x.len()).map(|n| poses[at(n)].inverse().transform_point(x[n])).collect()
}

/// Gradient of the tissue's energy in exponential coordinates of the bones about `poses`.
fn gradient(f: &BuiltFinger, poses: &[Pose], xi: &[f64], near: &[DVec3]) -> Vec<f64> {
    let (body, local) = (&f.body, locals(f));
    let moved: Vec<Pose> = poses
        .iter()
        .enumerate()
        .map(|(l, p)| p.displaced(Twist::from_array(std::array::from_fn(|k| xi[6 * l + k]))))
        .collect();
    let x = relaxed(body, &local, &moved, near);
    let mut force = vec![DVec3::ZERO; x.len()];
    body.elastic().forces(&x, &mut force);
    // −Σ f · ∂x/∂ξ, the places of nodes differenced to order 4.
    let mut out = vec![0.0; xi.len()];
    let h = 1e-3;
    for (c, out) in out.iter_mut().enumerate() {
        let (l, k) = (c / 6, c % 6);
        let place = |s: f64| {
            let mut t: [f64; 6] = std::array::from_fn(|k| xi[6 * l + k]);
            t[k] += s * h;
            poses[l].displaced(Twist::from_array(t))
        };
        let [a, b, c, d] = [place(-2.0), place(-1.0), place(1.0), place(2.0)];
        for n in 0..x.len() {
            if body.holder(n).is_some_and(|w| w.index() == l) {
                let at = |p: &Pose| p.transform_point(local[n]);
                let slope = (at(&a) - at(&d) + (at(&c) - at(&b)) * 8.0) / (12.0 * h);
                *out -= force[n].dot(slope);
            }
        }
    }
    out
}

/// K08 measured 5e-7 with Λ, 0.5 % without, the noise of its differences.
#[test]
fn stiffness_between_displaced_bones_is_the_energys() {
    let f = SoftFinger { cells: [9, 2, 2], poisson: 0.3, ..SoftFinger::default() }.build().unwrap();
    let mut rng = SplitMix64::new(3);
    let mut q = f.mechanism.start_positions();
    let turn: Vec<f64> =
        (0..f.mechanism.velocity_count()).map(|_| rng.range(-0.25, 0.25)).collect();
    f.mechanism.integrate(&mut q, &turn);
    let poses = f.mechanism.link_poses(&q);
    let guess: Vec<DVec3> = {
        let rest = f.mechanism.link_poses(&f.mechanism.start_positions());
        let x = f.body.mesh().nodes();
        (0..x.len())
            .map(|n| {
                let l = f.body.reference(n).index();
                poses[l].transform_point(rest[l].inverse().transform_point(x[n]))
            })
            .collect()
    };
    let x = relaxed(&f.body, &locals(&f), &poses, &guess);
    let at = TissuePose { q: &q, x: &x, patch_wrenches: &[] };
    let c = condense("finger", &f.body, &f.mechanism, &at, &[], 0).unwrap();
    assert_eq!(c.element.frames.len(), 4);
    // Rigid motions cost what turned forces say.
    c.element.check(&f.mechanism, &poses).unwrap();
    let n = 24;
    let zero = vec![0.0; n];
    let own = gradient(&f, &poses, &zero, &x);
    for (i, w) in c.element.forces.iter().flat_map(|w| w.to_array()).enumerate() {
        assert!((w + own[i]).abs() < 1e-9, "force {i}: {w} {}", own[i]);
    }
    let h = 1e-4;
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let at = |s: f64| {
                let mut xi = zero.clone();
                xi[j] = s * h;
                gradient(&f, &poses, &xi, &x)
            };
            let [a, b, c, d] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
            (0..n).map(|i| (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * h)).collect()
        })
        .collect();
    let numeric = Matrix::from_fn(n, n, |i, j| columns[j][i]);
    // Dimensionless: lengths over 3 cm.
    let unit = |i: usize| if i % 6 < 3 { 0.03 } else { 1.0 };
    let scaled = |m: &Matrix| Matrix::from_fn(n, n, |i, j| unit(i) * m[(i, j)] * unit(j));
    let off = difference(&scaled(&c.element.stiffness), &scaled(&numeric));
    assert!(off < 1e-6, "{off:e}");
}

/// The finger at rest under gravity and forces on its nodes.
fn equilibrium(
    f: &BuiltFinger,
    gravity: bool,
    forces: &[DVec3],
    from: Option<&SoftState>,
) -> SoftState {
    let options = SoftOptions { gravity, ..SoftOptions::default() };
    let mut s = SoftSimulation::new(&f.skeleton, f.body.clone(), options).unwrap();
    if let Some(state) = from {
        s.set_state(state.clone()).unwrap();
    }
    let commands = Commands { node_forces: forces, ..Commands::default() };
    let options = StaticsOptions { tolerance: 1e-13, ..StaticsOptions::default() };
    let report = s.rest(&commands, &options).unwrap();
    assert!(report.status == StaticsStatus::Converged || report.residual < 1e-10, "{report:?}");
    s.state().clone()
}

/// Forces of a wrench on a patch, E Eᵀ-wise: least squares over its nodes at `x`, world axes.
fn spread(patch: &Patch, x: &[DVec3], wrench: &[f64; 6]) -> Vec<DVec3> {
    let rows = patch_rows(patch, x);
    (0..x.len())
        .map(|n| {
            let of = |k: usize| (0..6).map(|i| rows[(i, 3 * n + k)] * wrench[i]).sum::<f64>();
            DVec3::new(of(0), of(1), of(2))
        })
        .collect()
}

/// Compliance of the pad at a loaded pose against differences of full equilibria, in twists E u of
/// the pose.
fn at_loaded_pose(gravity: bool) -> f64 {
    let f = SoftFinger { cells: [9, 2, 2], poisson: 0.3, ..SoftFinger::default() }.build().unwrap();
    let rest = f.body.mesh().nodes();
    let load = [0.0, 0.02, 0.05, 1e-4, 0.0, 5e-5];
    let dead = spread(&f.pad, rest, &load);
    let state = equilibrium(&f, gravity, &dead, None);
    let bent = state.x.iter().zip(rest).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(bent > 5e-3, "{bent}");
    // The same forces as a wrench on the pad where it is now: they are not E'ᵀ w for the pose's
    // own E; what is left acts on the nodes as it is, and is dead as well.
    let rows = patch_rows(&f.pad, &state.x);
    let m: &Mechanism = &f.mechanism;
    let patches = [f.pad.clone()];
    let at = TissuePose { q: &state.q, x: &state.x, patch_wrenches: &[] };
    let c = condense("finger", &f.body, m, &at, &patches, 0).unwrap();
    let options = ProblemOptions::default();
    let start = at_rest(&f, &patches, 0);
    let base =
        Problem::with_superelements(m, vec![start.element.clone()], &["pad"], &options).unwrap();
    let q = base.positions_of(&state.q, std::slice::from_ref(&c.element));
    let problem = base.with_elements(vec![c.element.clone()], &q).unwrap();
    let loads = if gravity { Loads::gravity() } else { Loads::none() };
    let response =
        problem.response(Linearisation::Loaded { q: &q, loads: &loads, multipliers: &[] }).unwrap();
    // The pad's own axes: turn the world's E.
    let pose = c.poses[4];
    let turn = |t: &[f64; 6]| -> [f64; 6] {
        let back = pose.rotation.conjugate();
        let v = back * DVec3::new(t[0], t[1], t[2]);
        let w = back * DVec3::new(t[3], t[4], t[5]);
        [v.x, v.y, v.z, w.x, w.y, w.z]
    };
    let twist = |x: &[DVec3]| -> [f64; 6] {
        let mut out = [0.0; 6];
        for (i, out) in out.iter_mut().enumerate() {
            *out = (0..3 * x.len())
                .map(|j| rows[(i, j)] * (x[j / 3][j % 3] - state.x[j / 3][j % 3]))
                .sum();
        }
        turn(&out)
    };
    let mut numeric = Matrix::zeros(6, 6);
    for j in 0..6 {
        let h = if j < 3 { 1e-3 } else { 1e-5 };
        let mut unit = [0.0; 6];
        unit[j] = 1.0;
        let (v, t) = (DVec3::new(unit[0], unit[1], unit[2]), DVec3::new(unit[3], unit[4], unit[5]));
        let (v, t) = (pose.rotation * v, pose.rotation * t);
        let more = spread(&f.pad, &state.x, &[v.x, v.y, v.z, t.x, t.y, t.z]);
        let at = |s: f64| {
            let forces: Vec<DVec3> =
                dead.iter().zip(&more).map(|(a, b)| *a + *b * (s * h)).collect();
            twist(&equilibrium(&f, gravity, &forces, Some(&state)).x)
        };
        let [a, b, c, d] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
        for i in 0..6 {
            numeric[(i, j)] = (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * h);
        }
    }
    let unit = |i: usize| if i % 6 < 3 { 1.0 / 0.03 } else { 1.0 };
    let scaled = |m: &Matrix| Matrix::from_fn(6, 6, |i, j| unit(i) * m[(i, j)] * unit(j));
    difference(&scaled(&response.compliance), &scaled(&numeric))
}

#[test]
fn loaded_pose_is_that_of_full_equilibria() {
    let off = at_loaded_pose(false);
    assert!(off < 1e-5, "{off:e}");
}

#[test]
fn loaded_pose_with_gravity_too() {
    let off = at_loaded_pose(true);
    assert!(off < 1e-5, "{off:e}");
}

/// A wrench on the patch is carried by the tissue, none by the joint of its frame.
#[test]
fn forces_on_frames_and_patches_balance() {
    let f = small().build().unwrap();
    let q = f.mechanism.start_positions();
    let x = f.body.mesh().nodes();
    let w = Wrench::new(DVec3::new(0.1, -0.2, 0.3), DVec3::new(1e-3, 2e-3, -1e-3));
    let dead = spread(&f.pad, x, &w.to_array());
    let state = equilibrium(&f, false, &dead, None);
    let _ = q;
    let at = TissuePose { q: &state.q, x: &state.x, patch_wrenches: &[] };
    let c =
        condense("finger", &f.body, &f.mechanism, &at, std::slice::from_ref(&f.pad), 0).unwrap();
    // Tissue pulls on all bones together as the load does.
    let (mut force, mut moment) = (DVec3::ZERO, DVec3::ZERO);
    for (p, w) in c.poses.iter().zip(&c.element.forces[..4]) {
        let f = p.rotation * w.force;
        force += f;
        moment += p.rotation * w.torque + p.translation.cross(f);
    }
    let (mut pushed, mut about) = (DVec3::ZERO, DVec3::ZERO);
    for (x, f) in state.x.iter().zip(&dead) {
        pushed += *f;
        about += x.cross(*f);
    }
    assert!(force.distance(pushed) < 1e-9 && moment.distance(about) < 1e-10);
}
