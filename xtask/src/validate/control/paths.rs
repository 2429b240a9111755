//! Paths through singular poses: how far commands of neighbouring poses are apart.

use forks_control::filter::Filter;
use forks_mechanism::linalg::Matrix;
use forks_testkit::Rng;

use crate::validate::record::{Recorder, larger};

/// σ₀ of the selective filter and α of the constant one.
const LEAST: f64 = 0.05;
const ALPHA: f64 = 1e-4;

pub(super) fn check(count: usize, out: &mut Recorder) -> Result<(), String> {
    let mut rng = Rng::new(21);
    let (mut worst, mut least) = (0.0f64, f64::INFINITY);
    let [mut ours, mut published] = [[0.0f64; 3]; 2];
    for _ in 0..count {
        let lengths = [0.5, rng.range(0.3, 0.6), rng.range(0.2, 0.4)];
        let turns = [rng.range(-1.0, 1.0), rng.range(-0.5, 0.5)];
        let wish = [rng.symmetric(), rng.symmetric(), rng.symmetric()];
        let [mut smooth, mut jumps] = [[0.0f64; 3]; 2];
        for (k, spacing) in [1.0, 0.5, 0.25].into_iter().enumerate() {
            // Fine enough that the path is straight at σ₀'s own scale.
            let poses = (2000.0 / spacing) as usize;
            smooth[k] = largest_change(Filter::Selective(LEAST), lengths, turns, wish, poses)?;
            jumps[k] = largest_change(Filter::Constant(ALPHA), lengths, turns, wish, poses)?;
        }
        for pair in smooth.windows(2) {
            let ratio = pair[0] / pair[1];
            worst = larger(worst, (ratio - 2.0).abs());
            least = least.min(ratio);
        }
        for k in 0..3 {
            ours[k] = larger(ours[k], smooth[k]);
            published[k] = larger(published[k], jumps[k]);
        }
    }
    let name = format!("changes over half the spacing, ratio less 2, {count} singular paths");
    out.at_most(&name, worst, 0.1);
    for (k, spacing) in ["1", "1/2", "1/4"].into_iter().enumerate() {
        out.info(&format!("largest change, selective filter, spacing {spacing}"), ours[k]);
        let name =
            format!("largest change, two levels with a rank as published, spacing {spacing}");
        out.info(&name, published[k]);
    }
    bounds(out)
}

/// The first level: the second joint's tip, singular where the arm is stretched; then the whole
/// arm's.
fn largest_change(
    filter: Filter,
    lengths: [f64; 3],
    turns: [f64; 2],
    wish: [f64; 3],
    poses: usize,
) -> Result<f64, String> {
    let mut largest = 0.0f64;
    let mut before: Option<Vec<f64>> = None;
    for i in 0..=poses {
        let elbow = 0.3 * (1.0 - 2.0 * i as f64 / poses as f64);
        let angles = [turns[0], elbow, turns[1]];
        let first = jacobian(lengths, angles, 2);
        let whole = jacobian(lengths, angles, 3).block(1, 0, 1, 3);
        let levels = [(&first, &wish[..2]), (&whole, &wish[2..])];
        let x = filter.solve(&levels).map_err(|e| e.to_string())?;
        if let Some(b) = before {
            let change: f64 = x.iter().zip(&b).map(|(x, b)| (x - b).powi(2)).sum();
            largest = largest.max(change.sqrt());
        }
        before = Some(x);
    }
    Ok(largest)
}

/// Velocity of the end of link `links` of a planar arm, 2 × 3.
fn jacobian(lengths: [f64; 3], angles: [f64; 3], links: usize) -> Matrix {
    let mut out = Matrix::zeros(2, 3);
    for i in 0..links {
        for k in i..links {
            let angle: f64 = angles[..=k].iter().sum();
            out[(0, i)] -= lengths[k] * angle.sin();
            out[(1, i)] += lengths[k] * angle.cos();
        }
    }
    out
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Bounds of filtered commands, and residuals where singular values are large.
fn bounds(out: &mut Recorder) -> Result<(), String> {
    let mut rng = Rng::new(22);
    let [mut constant, mut selective, mut residual] = [0.0f64; 3];
    let mut good = 0;
    for case in 0..1000 {
        let (rows, columns) = (1 + rng.index(4), 4 + rng.index(4));
        let scale = 10f64.powf(rng.range(-4.0, 0.5));
        let a = Matrix::from_fn(rows, columns, |_, _| scale * rng.symmetric());
        let d: Vec<f64> = (0..rows).map(|_| rng.symmetric()).collect();
        let solve = |f: Filter| f.solve(&[(&a, &d)]).map_err(|e| format!("case {case}: {e}"));
        let x = solve(Filter::Constant(ALPHA))?;
        constant = larger(constant, norm(&x) / (norm(&d) / (2.0 * ALPHA.sqrt())) - 1.0);
        let x = solve(Filter::Selective(LEAST))?;
        selective = larger(selective, norm(&x) / (norm(&d) / LEAST) - 1.0);
        let s = forks_testkit::linear::singular_values(&a);
        if s[s.len() - 1] >= LEAST {
            good += 1;
            let open: Vec<f64> = a.mul_vec(&x).iter().zip(&d).map(|(y, d)| y - d).collect();
            residual = larger(residual, norm(&open) / norm(&d));
        }
    }
    let name = "constant filter: commands over their bound, less 1, 1000 matrices";
    out.at_most(name, constant.max(0.0), 1e-13);
    let name = "selective filter: commands over their bound, less 1, 1000 matrices";
    out.at_most(name, selective.max(0.0), 1e-13);
    let name = format!("selective filter: residual where all values are above the least, {good}");
    out.at_most(&name, residual, 1e-13);
    Ok(())
}
