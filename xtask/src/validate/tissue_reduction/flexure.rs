//! Flexure hinges of finite elements, condensed to ground and lever, against beam theory and the
//! hinge that it makes of them.
//!
//! How far beam theory is off. Let a(x) = h/2 be slowly variable. With Airy's function φ the energy
//! of a plane beam is ∫∫ (∇²φ)²/2E, least under φ = ±M/2, φ_y = 0 at y = ±a (the rest, det ∇∇φ,
//! sees the ends alone). φ₀ = M (3s − s³)/4, s = y/a, is beam theory; its error of order a'² enters
//! at a'⁴, so what is next is ∫∫ φ₀_xx φ₀_yy/E, which is
//!
//! ```text
//! θ/M = ∫ (1 + 6/5 a'²) dx / (E I),    near a neck h ≈ t + x²/R:  1 + 2/5 t/R
//! ```
//!
//! times that of beam theory. Where it is much wider than high, less 1 − ν² (no strain along y);
//! where rigid ends hold it too, stiffer by (1 − ν)²/(1 − 2ν) within about half a height of each.

use forks_condense::{
    TissuePose, condense,
    deform::{Commands, SoftOptions, SoftSimulation, StaticsOptions, StaticsStatus},
    notch::{BuiltNotch, Notch, Profile},
    reduce::{Problem, ProblemOptions, ReduceOptions},
};
use forks_mechanism::{
    lie::glam::DVec3,
    linalg::{Matrix, dense},
};

use crate::{finger::pull, validate::record::Recorder, words::said};

/// Turns of the lever, degrees.
const TURNS: [f64; 3] = [5.0, 10.0, 20.0];

/// Stiffness of the lever against its twists at its origin.
fn condensed(f: &BuiltNotch) -> Result<(forks_condense::Condensed, Matrix), String> {
    let q = f.mechanism.start_positions();
    let at = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let c = condense("flexure", &f.body, &f.mechanism, &at, &[], 0).map_err(said)?;
    let k = c.element.stiffness.block(6, 6, 6, 6);
    Ok((c, k))
}

/// θ/M about y, and K of the lever.
fn turn_per_moment(n: &Notch) -> Result<(f64, Matrix), String> {
    let (_, k) = condensed(&n.build().map_err(said)?)?;
    let unit = Matrix::from_fn(6, 1, |i, _| f64::from(u8::from(i == 4)));
    let turned = dense::cholesky_solve(&k, &unit).ok_or("the hinge is not stable")?;
    Ok((turned[(4, 0)], k))
}

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    leaf(out)?;
    closed_form(out);
    necks(out)?;
    refined(out)?;
    wide(out)?;
    bent(out)
}

/// Without lateral strain a leaf between rigid ends bends as beam theory says, by a displacement of
/// second order, which ten-node elements have.
fn leaf(out: &mut Recorder) -> Result<(), String> {
    let (length, t) = (0.01, 1e-3);
    let n = Notch {
        profile: Profile::Leaf(length),
        neck: t,
        blocks: [0.0; 2],
        poisson: 0.0,
        cells: [8, 1, 1],
        ..Notch::default()
    };
    let (c, k) = turn_per_moment(&n)?;
    out.at_most("leaf, nu = 0: turn off M L / E I", (c / n.beam_compliance() - 1.0).abs(), 1e-9);
    let stretch = n.young * n.width * t / length;
    out.at_most("leaf, nu = 0: stretch off E A / L", (k[(0, 0)] / stretch - 1.0).abs(), 1e-9);
    // Stress along x alone is admissible: what is held more is stiffer, and elements make it so.
    let nu = 0.35;
    for (name, width) in [("wide as long", length), ("narrow", t)] {
        let cells = [12, if width > t { 6 } else { 2 }, 2];
        let n = Notch { poisson: nu, width, cells, ..n.clone() };
        let stiffer = n.beam_compliance() / turn_per_moment(&n)?.0;
        let held = (1.0 - nu) * (1.0 - nu) / (1.0 - 2.0 * nu);
        let most = (1.0 + (held - 1.0) * t / length) / (1.0 - nu * nu);
        out.at_most(&format!("leaf, {name}: softer than E I / L"), 1.0 - stiffer, 0.0);
        out.at_most(&format!("leaf, {name}: stiffness over E I / L"), stiffer, most);
    }
    Ok(())
}

/// The closed form against its integral by Simpson's rule in x = R sin φ.
fn closed_form(out: &mut Recorder) {
    for ratio in [0.4, 0.1, 0.02] {
        let n = plane(ratio, [2, 1, 1]);
        let r = n.half_length();
        let count = 20_000;
        let step = core::f64::consts::PI / f64::from(count);
        let at = |i: i32| {
            let phi = step * f64::from(i) - core::f64::consts::FRAC_PI_2;
            r * phi.cos() / n.height(r * phi.sin()).powi(3)
        };
        let weight = |i: i32| match i {
            0 => 1.0,
            i if i == count => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let sum: f64 = (0..=count).map(|i| weight(i) * at(i)).sum();
        let integral = 12.0 / (n.young * n.width) * sum * step / 3.0;
        let off = (n.beam_compliance() / integral - 1.0).abs();
        out.at_most(&format!("Paros-Weisbord, t/R = {ratio}: off its integral"), off, 1e-9);
    }
}

/// A circular hinge without lateral strain: one cell over its width is enough.
fn plane(ratio: f64, cells: [usize; 3]) -> Notch {
    let Profile::Circular(r) = Notch::default().profile else { unreachable!("a circular default") };
    Notch { neck: ratio * r, blocks: [0.0; 2], poisson: 0.0, width: r, cells, ..Notch::default() }
}

/// θ/M in the limit of fine meshes, whose chords are off by the square of their length: from this
/// one and one of half as long edges.
fn limit(n: &Notch, over_width: usize) -> Result<f64, String> {
    let [along, width, height] = n.cells;
    let finer = [2 * along, over_width * width, 2 * height];
    let coarse = turn_per_moment(n)?.0;
    let fine = turn_per_moment(&Notch { cells: finer, ..n.clone() })?.0;
    Ok(fine + (fine - coarse) / 3.0)
}

/// Compliance over Paros and Weisbord's against 1 + 2/5 t/R; the rest is of second order.
fn necks(out: &mut Recorder) -> Result<(), String> {
    let mut before: Option<f64> = None;
    for ratio in [0.4, 0.2, 0.1] {
        let n = plane(ratio, [24, 1, 2]);
        let softer = limit(&n, 1)? / n.beam_compliance() - 1.0;
        let left = softer - 0.4 * ratio;
        let name = format!("circular, t/R = {ratio}");
        out.info(&format!("{name}: softer than beam theory by"), softer);
        out.at_most(&format!("{name}: off 2/5 t/R, over (t/R)^2"), left.abs() / ratio.powi(2), 1.0);
        if let Some(before) = before {
            let order = (before / left).abs().log2();
            out.info(&format!("{name}: order of what is left"), order);
        }
        before = Some(left);
    }
    Ok(())
}

/// Meshes get softer as they get finer, by less and less.
fn refined(out: &mut Recorder) -> Result<(), String> {
    let ratio = 0.1;
    let of = |k: usize| turn_per_moment(&plane(ratio, [8 * k, 1, k])).map(|(c, _)| c);
    let c = [of(1)?, of(2)?, of(4)?];
    let end = c[2] + (c[2] - c[1]) / 3.0;
    for (k, c) in [1, 2, 4].iter().zip(&c) {
        out.info(
            &format!("{} cells along the hinge: stiffer than the limit by", 8 * k),
            end / c - 1.0,
        );
    }
    out.at_most("finer meshes are softer: 16 cells less 32", (c[1] - c[2]) / end, 0.0);
    let name = "finer meshes are softer: change over the change before";
    out.at_most(name, (c[2] - c[1]) / (c[1] - c[0]), 0.5);
    Ok(())
}

/// With lateral strain: between free faces and no strain along the width.
fn wide(out: &mut Recorder) -> Result<(), String> {
    let n = Notch { cells: [16, 2, 1], blocks: [0.0; 2], ..Notch::default() };
    let ratio = n.neck / n.half_length();
    let softer = limit(&n, 2)? / (n.beam_compliance() * (1.0 + 0.4 * ratio));
    let name = "the scene's hinge, 20 times as wide as thin";
    out.at_most(&format!("{name}: compliance over the corrected form"), softer, 1.0);
    let least = 1.0 - n.poisson * n.poisson;
    out.at_most(&format!("{name}: 1 - nu^2 over that"), least / softer, 1.0);
    Ok(())
}

/// The lever under forces on its end: reduced model and hinge of beam theory against full statics.
fn bent(out: &mut Recorder) -> Result<(), String> {
    let n = Notch::default();
    let f = n.build().map_err(said)?;
    let (c, k) = condensed(&f)?;
    let options = ProblemOptions::default();
    let elements = vec![c.element];
    let problem = Problem::with_superelements(&f.mechanism, elements, &["lever"], &options);
    let problem = problem.map_err(said)?;
    let found = problem.response(problem.at_rest()).map_err(said)?.compliance;
    let eye = Matrix::from_fn(6, 6, |i, j| f64::from(u8::from(i == j)));
    let inverse = dense::cholesky_solve(&k, &eye).ok_or("the hinge is not stable")?;
    let off = found.sub(&inverse).max_abs() / inverse.max_abs();
    out.at_most("lever: C of the sweep = inverse of the condensed K", off, 1e-9);
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).map_err(said)?;
    let model = &reduction.model;
    let (reach, stiffness) = (n.reach(), 1.0 / n.beam_compliance());
    for turn in TURNS {
        // Of a hinge: k θ = F ℓ cos θ, the force upright.
        let theta = turn.to_radians();
        let force = DVec3::Z * (stiffness * theta / (reach * theta.cos()));
        let (angle, end) = equilibrium(&f, force)?;
        let start = DVec3::X * reach;
        let moved = end.distance(start);
        let hinge = |k: f64| {
            let mut t = 0.0;
            for _ in 0..50 {
                let (r, slope) =
                    (k * t - force.z * reach * f64::cos(t), k + force.z * reach * f64::sin(t));
                t -= r / slope;
            }
            DVec3::new(reach * t.cos(), 0.0, reach * t.sin()).distance(end) / moved
        };
        let eta = model.solve_static(&[pull(force)], &[]).map_err(said)?.coordinates;
        let reduced = model.effector_pose(0, &eta).translation.distance(end) / moved;
        let name = format!("lever at {turn} degrees");
        out.info(&format!("{name}: its turn by full statics, degrees"), angle);
        out.info(&format!("{name}: end off, hinge of beam theory"), hinge(stiffness));
        out.info(&format!("{name}: end off, hinge with the condensed stiffness"), {
            hinge(1.0 / inverse[(4, 4)])
        });
        out.at_most(&format!("{name}: end off, reduced"), reduced, hinge(stiffness));
    }
    Ok(())
}

/// Turn of the lever (degrees) and place of its end under a force there, all nodes free.
fn equilibrium(f: &BuiltNotch, force: DVec3) -> Result<(f64, DVec3), String> {
    let mut forces = vec![DVec3::ZERO; f.body.mesh().nodes().len()];
    f.end.iter().for_each(|n| forces[*n] = force / f.end.len() as f64);
    let options = SoftOptions { gravity: false, ..SoftOptions::default() };
    let mut s = SoftSimulation::new(&f.skeleton, f.body.clone(), options).map_err(said)?;
    let commands = Commands { node_forces: &forces, ..Commands::default() };
    // Of hard material forces are known to rounding of its stiffness times places: 1e-9 N.
    let options = StaticsOptions { load_steps: 8, tolerance: 1e-8, ..StaticsOptions::default() };
    let report = s.rest(&commands, &options).map_err(said)?;
    if report.status != StaticsStatus::Converged {
        return Err(format!("no equilibrium: {report:?}"));
    }
    let pose = f.mechanism.link_poses(&s.state().q)[1];
    Ok((pose.rotation.to_axis_angle().1.to_degrees(), pose.translation))
}
