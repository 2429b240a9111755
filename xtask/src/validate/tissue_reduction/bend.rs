//! One linearisation under growing loads on the pad: the worst vertex against full equilibria, of
//! the largest displacement. The numbers to compare with are K08's measurements.

use forks_condense::{SkinKind, finger::SoftFinger, reduce::ReduceOptions, skin};
use forks_mechanism::lie::glam::DVec3;

use super::{
    craig_bampton::CraigBampton,
    direct::{Direct, condensed, patch_rows, problem},
};
use crate::{
    finger::{bend, equilibrium, pad, placed, pull, whole_mass, worst},
    validate::record::Recorder,
    words::said,
};

/// Direction, N, then the largest errors measured: linear, by bone, vertex as link. What is left of
/// one linearisation grows with the square of the load, so of the displacement with the load: 0.05
/// N has half the errors of 0.1 N.
const TABLE: [(&str, [f64; 3], f64, [f64; 3]); 6] = [
    ("0.05 N up", [0.0, 0.0, 1.0], 0.05, [0.0375, 0.0095, 0.0105]),
    ("0.1 N up", [0.0, 0.0, 1.0], 0.1, [0.075, 0.019, 0.021]),
    ("0.2 N up", [0.0, 0.0, 1.0], 0.2, [0.147, 0.034, 0.038]),
    ("0.4 N up", [0.0, 0.0, 1.0], 0.4, [0.268, 0.060, 0.059]),
    ("0.4 N aside", [0.0, 1.0, 0.0], 0.4, [0.273, 0.061, 0.058]),
    ("0.2 N pressed", [-1.0, 0.0, 0.3], 0.2, [0.169, 0.162, 0.163]),
];

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger::default();
    let f = spec.build().map_err(said)?;
    let x = f.body.mesh().nodes();
    let c = condensed(&f, 0)?;
    let problem = problem(&f, &c, &["pad"])?;
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).map_err(said)?;
    let model = &reduction.model;
    let rows = patch_rows(&f.pad, x);
    let direct = Direct::new(&f, spec.joints);
    let response = direct.response(&rows)?;
    let rival = CraigBampton::new(&direct.0, &whole_mass(&f, direct.0.stiffness.rows()), &rows)?;
    let skins = [SkinKind::Bone, SkinKind::Twist]
        .map(|kind| skin(&reduction, 0, &f.body, &c, kind).map_err(said));
    let [by_bone, as_link] = skins;
    let (by_bone, as_link) = (by_bone?, as_link?);
    for (name, direction, force, expected) in TABLE {
        let w = DVec3::from_array(direction) * force;
        let wrench = [w.x, w.y, w.z, 0.0, 0.0, 0.0];
        let full = equilibrium(&f, &rows, &wrench)?;
        let moved = full.x.iter().zip(x).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let eta = model.solve_static(&[pull(w)], &[]).map_err(said)?.coordinates;
        // The same energy without turns of vertices, and the rival without any turn.
        let per_eta = response.mul(&reduction.linear.basis.dual.mul(&reduction.linear.hessian));
        let displaced = |z: &[f64]| -> Vec<(usize, DVec3)> {
            let u = direct.0.motions.mul_vec(z);
            let at = |n: usize| x[n] + DVec3::new(u[3 * n], u[3 * n + 1], u[3 * n + 2]);
            (0..x.len()).map(|n| (n, at(n))).collect()
        };
        let linear = displaced(&per_eta.mul_vec(&eta));
        let z = rival.statics(&direct.0, &rows, &wrench)?;
        let rival = displaced(&z);
        out.info(&format!("{name}: turn of the last bone, degrees"), bend(&f, &full));
        out.info(&format!("{name}: largest displacement, of the length"), moved / spec.size[0]);
        let truth = pad(&f, &full.x);
        let reduced = model.effector_pose(0, &eta).translation.distance(truth) / moved;
        let whole: Vec<DVec3> = rival.iter().map(|(_, p)| *p).collect();
        let linear_pad = pad(&f, &whole).distance(truth) / moved;
        out.info(&format!("{name}: place of the pad, dense Craig-Bampton"), linear_pad);
        out.at_most(&format!("{name}: place of the pad, reduced"), reduced, linear_pad);
        let unit = response.mul_vec(&wrench);
        let largest = unit.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
        let off = z.iter().zip(&unit).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        out.at_most(&format!("{name}: static modes hold the linear solution"), off / largest, 1e-8);
        let rival = worst(&rival, &full.x) / moved;
        out.info(&format!("{name}: worst vertex, dense Craig-Bampton"), rival);
        for (kind, found, expected) in [
            ("linear", worst(&linear, &full.x) / moved, expected[0]),
            ("by bone", worst(&placed(&f, model, &by_bone, &eta)?, &full.x) / moved, expected[1]),
            ("vertex as link", worst(&placed(&f, model, &as_link, &eta)?, &full.x) / moved, {
                expected[2]
            }),
        ] {
            out.at_most(&format!("{name}: worst vertex, {kind}"), found, 1.1 * expected);
        }
    }
    Ok(())
}
