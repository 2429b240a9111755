//! Mass and damping of given shapes (static ones: Guyan \[Guyan65\]): XᵀMX and XᵀDX.

use forks_mechanism::{JointId, Mechanism, lie::Pose, linalg::Matrix};

use crate::{
    basis::{length_change, relative_twist},
    shapes::Shapes,
};

/// Σ X_lᵀ I_l X_l over links, plus rotors.
pub(crate) fn mass_of(m: &Mechanism, shapes: &Shapes) -> Matrix {
    let n = shapes.joints.columns();
    let mut out = Matrix::zeros(n, n);
    for (link, map) in m.links().iter().zip(&shapes.links) {
        if link.inertia.is_zero() {
            continue;
        }
        let inertia = link.inertia.matrix().to_mat6();
        let momentum = Matrix::from_fn(6, 6, |i, j| inertia.rows[i][j]).mul(map);
        add(&mut out, &map.transpose_mul(&momentum), 1.0);
    }
    for (i, j) in m.joints().iter().enumerate() {
        for (k, v) in m.velocity_range(JointId::new(i)).enumerate() {
            add_outer(&mut out, j.armature[k], shapes.joints.row(v));
        }
    }
    out.symmetric_part()
}

/// Zᵀ D Z over joints, springs on combinations, bushings and cables.
pub(crate) fn damping_of(m: &Mechanism, world_from_link: &[Pose], shapes: &Shapes) -> Matrix {
    let z = &shapes.joints;
    let n = z.columns();
    let mut out = Matrix::zeros(n, n);
    for (i, j) in m.joints().iter().enumerate() {
        let range = m.velocity_range(JointId::new(i));
        if j.damping.is_zero() {
            continue;
        }
        let d = Matrix::from_fn(j.dof(), j.dof(), |a, b| j.damping.get(a, b));
        let local = z.block(range.start, 0, range.len(), n);
        add(&mut out, &local.transpose_mul(&d.mul(&local)), 1.0);
    }
    for s in m.combination_springs() {
        let mut row = vec![0.0; n];
        for (c, a) in &s.combination.terms {
            let zr = z.row(m.velocity_index(*c));
            row.iter_mut().zip(zr).for_each(|(r, z)| *r += a * z);
        }
        add_outer(&mut out, s.damping, &row);
    }
    for b in m.bushings() {
        let d = b.damping.to_mat6();
        let relative = relative_twist(b, world_from_link, &shapes.links);
        let force = Matrix::from_fn(6, 6, |i, j| d.rows[i][j]).mul(&relative);
        add(&mut out, &relative.transpose_mul(&force), 1.0);
    }
    for c in m.cables().iter().filter(|c| c.damping != 0.0) {
        add_outer(&mut out, c.damping, &length_change(c, world_from_link, &shapes.links).1);
    }
    out.symmetric_part()
}

fn add(out: &mut Matrix, x: &Matrix, s: f64) {
    for i in 0..out.rows() {
        for (o, x) in out.row_mut(i).iter_mut().zip(x.row(i)) {
            *o += s * x;
        }
    }
}

fn add_outer(out: &mut Matrix, s: f64, x: &[f64]) {
    if s == 0.0 {
        return;
    }
    for i in 0..x.len() {
        for (o, b) in out.row_mut(i).iter_mut().zip(x) {
            *o += s * x[i] * b;
        }
    }
}
