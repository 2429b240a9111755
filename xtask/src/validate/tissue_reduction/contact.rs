//! Static contact of the pad on a tilted plane: six coordinates with the pad's local compliance as
//! a shared block, against the whole with all of the pad's nodes.

use forks_condense::{
    finger::SoftFinger,
    local_compliance,
    reduce::{ProblemOptions, ReduceOptions},
};
use forks_contact::{Contact, ContactProblem, Friction, Method, Settings, Side, Solver};
use forks_mechanism::linalg::{Matrix, dense};

use super::direct::{Direct, condensed, node_rows, patch_rows, problem};
use crate::{
    validate::record::{Recorder, larger},
    words::said,
};

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    for (name, joints) in [("joints 0.02 N·m/rad", 0.02), ("joints 10 N·m/rad", 10.0)] {
        let spec = SoftFinger { joints, ..SoftFinger::default() };
        let f = spec.build().map_err(said)?;
        let x = f.body.mesh().nodes();
        let nodes = &f.pad.nodes;
        let pad = std::slice::from_ref(&f.pad);
        let options = ProblemOptions::default();
        let local = local_compliance(&f.body, &f.mechanism, pad, nodes, &options).map_err(said)?;
        let direct = Direct::new(&f, joints);
        let whole = direct.compliance(&node_rows(nodes, x.len()))?;
        let off = local.whole.sub(&whole).max_abs() / whole.max_abs();
        out.at_most(&format!("C of the pad's nodes, {name}"), off, 1e-10);
        let (values, _) = dense::symmetric_eigen(&local.residual).ok_or("R has no eigenvalues")?;
        let least = values.first().copied().unwrap_or(f64::NAN);
        let most = values.last().copied().unwrap_or(f64::NAN);
        out.at_most(&format!("R: negative part of its eigenvalues, {name}"), -least / most, 1e-10);
        let share: Vec<f64> = (0..nodes.len())
            .map(|v| local.residual[(3 * v + 2, 3 * v + 2)] / whole[(3 * v + 2, 3 * v + 2)])
            .collect();
        out.info(
            &format!("R of the normal compliance, least, {name}"),
            share.iter().fold(f64::INFINITY, |m, x| m.min(*x)),
        );
        out.info(
            &format!("R of the normal compliance, most, {name}"),
            share.iter().fold(0.0, |m, x| m.max(*x)),
        );

        // The load: down, with a tilt. Displacements as velocities of a step of 1 s.
        let wrench = [0.0, 0.002, -0.05, 1e-4, 2e-4, 0.0];
        let pushed = Matrix::from_fn(6, 1, |i, _| wrench[i]);
        let rows = patch_rows(&f.pad, x);
        let cross = node_rows(nodes, x.len()).mul(&direct.0.motions).mul(&direct.response(&rows)?);
        let free = cross.mul(&pushed);
        // A plane that the pad would sink into, tilted along the finger.
        let sink = (0..nodes.len()).map(|v| -free[(3 * v + 2, 0)]).fold(0.0, f64::max);
        let gap = |v: usize| sink * (0.4 + 20.0 * (x[nodes[v]].x - 0.081));
        let mut full = ContactProblem::new(1.0).map_err(said)?;
        let all = full.add_body(&whole, free.as_slice()).map_err(said)?;
        let reduction_problem = problem(&f, &condensed(&f, 0)?, &["pad"])?;
        let reduction = reduction_problem
            .reduce(reduction_problem.at_rest(), &ReduceOptions::default())
            .map_err(said)?;
        let (basis, h) = (&reduction.linear.basis, &reduction.linear.hessian);
        let c_eta = dense::cholesky_solve(h, &Matrix::identity(h.rows())).ok_or("no 𝓗⁻¹")?;
        let eta = c_eta.mul(&basis.matrix.transpose_mul(&pushed));
        let mut small = ContactProblem::new(1.0).map_err(said)?;
        let six = small.add_body(&c_eta.symmetric_part(), eta.as_slice()).map_err(said)?;
        let shared = small.add_shared_compliance(&local.residual).map_err(said)?;
        let follow = local.follow.mul(&basis.matrix);
        for v in 0..nodes.len() {
            // Normal up, then the tangents.
            let axes = Matrix::from_fn(3, 3, |i, j| f64::from(u8::from(j == [2, 0, 1][i])));
            let contact = Contact { gap: gap(v), ..Contact::new(Friction::Cone { mu: 0.3 }) };
            let wide = Matrix::from_fn(3, 3 * nodes.len(), |i, j| {
                if j / 3 == v { axes[(i, j % 3)] } else { 0.0 }
            });
            full.add_contact(&contact, &[Side::of(all, wide.as_slice())]).map_err(said)?;
            let own = axes.mul(&follow.block(3 * v, 0, 3, 6));
            let local = shared.jacobian(3 * v, &axes);
            let sides = [Side::of(six, own.as_slice()), Side::of(shared.body(), local.as_slice())];
            small.add_contact(&contact, &sides).map_err(said)?;
        }
        let settings = Settings { method: Method::Robust, tolerance: 1e-12, ..Settings::default() };
        let (mut a, mut b) = (Solver::new(), Solver::new());
        let _ = a.solve(&full, &settings);
        let _ = b.solve(&small, &settings);
        // Displacements of the nodes in both.
        let of_full = a.velocity(all).map_err(said)?;
        let of_six = follow.mul_vec(b.velocity(six).map_err(said)?);
        let local = b.velocity(shared.body()).map_err(said)?;
        let beside = shared.jacobian(0, &Matrix::identity(3 * nodes.len())).mul_vec(local);
        let scale = of_full.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut worst = 0.0;
        let mut touching = 0;
        for i in 0..of_full.len() {
            worst = larger(worst, (of_six[i] + beside[i] - of_full[i]).abs() / scale);
            touching += usize::from(i % 3 == 2 && of_full[i] + gap(i / 3) < 1e-12);
        }
        out.info(&format!("nodes that touch, of {}, {name}", nodes.len()), touching as f64);
        out.at_most(&format!("contact, reduced + R = full, {name}"), worst, 1e-8);
        let alone = of_six.iter().zip(of_full).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        out.info(&format!("the same without R's part, {name}"), alone / scale);
    }
    Ok(())
}
