//! The window: work round closed paths, the test of elements, forces of nodes against MuJoCo.

use forks_deform::{Material, Model, Range, Stretched, Window, within, within_by_polynomial};
use forks_mechanism::lie::glam::{DMat3, DVec3};
use forks_testkit::Rng;

use super::samples::{matrix, product, rotation};
use crate::{
    validate::record::{Recorder, larger},
    words::said,
};

/// Arcs of a path: the derivative of P jumps at the limits (strain) or its own does (stress), which
/// leaves the square or the cube of an arc.
const ARCS: usize = 40_000;

pub(super) fn check(paths: usize, gradients: usize, out: &mut Recorder) -> Result<(), String> {
    closed_paths(paths, out)?;
    window(gradients, out);
    Ok(())
}

fn closed_paths(paths: usize, out: &mut Recorder) -> Result<(), String> {
    for (name, window, bound) in [
        ("linear stress", Window::LinearStress(Range::PAPER), Some(1e-9)),
        ("linear strain", Window::LinearStrain(Range::PAPER), Some(1e-9)),
        ("per stretch, as the paper", Window::PerStretch(Range::PAPER), None),
    ] {
        let model = Model::StVenantKirchhoff(window);
        let law = Material::new(model, 1e5, 0.3, 1000.0).map_err(said)?;
        let mut rng = Rng::new(11);
        let (mut worst, mut done) = (0.0f64, 0);
        while done < paths {
            let (a, b) = (matrix(&mut rng) * 0.35, matrix(&mut rng) * 0.35);
            let at = |t: f64| DMat3::IDENTITY + a * t.cos() + b * t.sin();
            // Where elements turn over, the direction of their shortest stretch switches, which no
            // rule for smooth paths follows; and a path must leave the window.
            let samples = (0..64).map(|k| at(k as f64 * 0.1));
            let (mut least, mut outside) = (f64::INFINITY, false);
            for f in samples {
                least = least.min(f.determinant());
                outside |= !within(Range::PAPER, &f);
            }
            if least < 0.1 || !outside {
                continue;
            }
            done += 1;
            let arc = std::f64::consts::TAU / ARCS as f64;
            let (mut work, mut path) = (0.0, 0.0);
            for k in 0..ARCS {
                let t = (k as f64 + 0.5) * arc;
                let df = (b * t.cos() - a * t.sin()) * arc;
                let dw = product(&law.stress(Default::default(), &at(t)).0, &df);
                (work, path) = (work + dw, path + f64::abs(dw));
            }
            worst = larger(worst, f64::abs(work) / path);
        }
        out.judge(&format!("work round {paths} closed paths, {name}"), worst, bound);
    }
    Ok(())
}

/// F of six kinds, judged by their stretches.
fn window(gradients: usize, out: &mut Recorder) {
    let Range { lower, upper } = Range::PAPER;
    let mut rng = Rng::new(17);
    let (mut wrong, mut polynomial, mut inside) = (0, 0, 0);
    for case in 0..gradients {
        let mut s = DVec3::from_array([0; 3].map(|_| rng.range(0.5, 1.6)));
        let f = match case % 6 {
            0 => matrix(&mut rng) * 1.5,
            1 => DMat3::IDENTITY + matrix(&mut rng) * 0.2,
            kind => {
                match kind {
                    2 => s.y = s.x,
                    3 => s = DVec3::splat(s.x),
                    4 => s.z = -s.z,
                    _ => s = DVec3::ONE,
                }
                rotation(&mut rng) * DMat3::from_diagonal(s) * rotation(&mut rng)
            }
        };
        let sigma = Stretched::new(f).sigma;
        let squares = (sigma * sigma).to_array();
        if squares.iter().any(|l| (l - lower).abs() < 1e-12 || (l - upper).abs() < 1e-12) {
            continue;
        }
        let judged = squares.iter().all(|&l| l > lower && l < upper) && sigma.z > 0.0;
        inside += usize::from(judged);
        wrong += usize::from(within(Range::PAPER, &f) != judged);
        polynomial += usize::from(within_by_polynomial(Range::PAPER, &f) != judged);
    }
    out.equal(&format!("window by pivots, wrong of {gradients} F"), wrong, 0);
    out.info("window by the paper's polynomial, wrong", polynomial as f64);
    out.info("F inside the window", inside as f64);
    let bad = [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e200];
    let accepted = bad.iter().flat_map(|b| (0..9).map(move |k| (*b, k))).filter(|(b, k)| {
        let mut f = DMat3::IDENTITY.to_cols_array();
        f[*k] = *b;
        within(Range::PAPER, &DMat3::from_cols_array(&f))
    });
    out.equal("NaN, Inf and 1e200 in F, accepted", accepted.count(), 0);
}
