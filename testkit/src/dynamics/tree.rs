//! The same equations for a tree without couplings, link by link from the leaves, all in numbers of
//! twice the precision: an accurate answer for thousands of links.
//!
//! A link, its tree joint and the joint's multipliers are eliminated together: their dense block is
//! solved with the inner link's acceleration as parameter.

use forks_mechanism::Mechanism;

use super::{
    Double, State,
    equations::{Equations, JointRows, Six, d, dot_columns, six},
};

/// Accelerations of a tree.
#[derive(Clone, Debug)]
pub struct TreeAcceleration {
    /// Rates of the velocity coordinates.
    pub joints: Vec<f64>,
    /// Rates of the components of the links' body twists, ground first.
    pub links: Vec<[f64; 6]>,
}

/// A link's unknowns (a, θ̈, λ) as affine functions of the inner link's a: seven columns, the
/// constant last.
struct Eliminated {
    columns: Vec<Vec<Double>>,
}

/// Accelerations of a mechanism without loops and couplings.
///
/// # Panics
/// If there are loops or couplings, or a massless leaf is free to move.
pub fn tree_forward_dynamics(m: &Mechanism, s: &State) -> TreeAcceleration {
    assert!(m.forest().closures().is_empty() && m.couplings().is_empty(), "not a tree");
    let mut e = Equations::new(m, s);
    let edges = m.forest().edges();
    let mut eliminated = Vec::with_capacity(edges.len());
    for edge in edges.iter().rev() {
        let (outer, inner) = (edge.outer.index(), edge.inner.index());
        let j = &e.joints[edge.joint.index()];
        let done = eliminate(&e, j, outer);
        let of_inner = if edge.reversed { &j.of_child } else { &j.of_parent };
        // I a_inner − Gᵀ λ(a_inner) = w.
        let d = j.range.len();
        let reactions: Vec<Vec<Double>> = done
            .columns
            .iter()
            .map(|c| dot_columns(of_inner, &std::array::from_fn(|i| c[6 + d + i])))
            .collect();
        for k in 0..6 {
            let column = &mut e.inertias[inner][k];
            *column = std::array::from_fn(|i| column[i] - reactions[k][i]);
        }
        let constant: Six = std::array::from_fn(|i| reactions[6][i]);
        e.forces[inner] = six(&e.forces[inner], &constant, |a, b| a + b);
        eliminated.push(done);
    }
    let mut a = vec![[Double::ZERO; 6]; m.links().len()];
    let mut joints = vec![0.0; m.velocity_count()];
    for (edge, done) in edges.iter().zip(eliminated.iter().rev()) {
        let inner = a[edge.inner.index()];
        let value = |i: usize| {
            (0..6).fold(done.columns[6][i], |sum, k| sum + done.columns[k][i] * inner[k])
        };
        a[edge.outer.index()] = std::array::from_fn(value);
        for (i, k) in e.joints[edge.joint.index()].range.clone().enumerate() {
            joints[k] = value(6 + i).high;
        }
    }
    TreeAcceleration { joints, links: a.iter().map(|a| a.map(|x| x.high)).collect() }
}

fn eliminate(e: &Equations, j: &JointRows, outer: usize) -> Eliminated {
    let dof = j.range.len();
    let n = 12 + dof;
    let (of_outer, of_inner) =
        if j.child == outer { (&j.of_child, &j.of_parent) } else { (&j.of_parent, &j.of_child) };
    let mut a = vec![vec![Double::ZERO; n]; n];
    let mut b = vec![vec![Double::ZERO; 7]; n];
    for i in 0..6 {
        for k in 0..6 {
            a[i][k] = e.inertias[outer][k][i];
            a[i][6 + dof + k] = -of_outer[i][k];
            a[6 + dof + i][k] = of_outer[k][i];
            b[6 + dof + i][k] = -of_inner[k][i];
        }
        for k in 0..dof {
            a[6 + k][6 + dof + i] = -j.of_joint[k][i];
            a[6 + dof + i][6 + k] = j.of_joint[k][i];
        }
        b[i][6] = e.forces[outer][i];
        b[6 + dof + i][6] = -j.bias[i];
    }
    for (k, v) in j.range.clone().enumerate() {
        a[6 + k][6 + k] = d(e.armature[v]);
        b[6 + k][6] = d(e.generalized[v]);
    }
    solve(&mut a, &mut b);
    Eliminated { columns: (0..7).map(|k| b.iter().map(|row| row[k]).collect()).collect() }
}

/// Gauss–Jordan elimination with row pivoting; the solution replaces `b`.
fn solve(a: &mut [Vec<Double>], b: &mut [Vec<Double>]) {
    let n = a.len();
    for k in 0..n {
        let p = (k..n)
            .max_by(|&x, &y| a[x][k].high.abs().total_cmp(&a[y][k].high.abs()))
            .expect("not empty");
        assert!(a[p][k].high != 0.0, "singular block: a massless leaf that is free to move");
        a.swap(k, p);
        b.swap(k, p);
        let r = crate::scalar::Scalar::reciprocal(a[k][k]);
        let (pivot_a, pivot_b): (Vec<Double>, Vec<Double>) =
            (a[k].iter().map(|x| *x * r).collect(), b[k].iter().map(|x| *x * r).collect());
        for i in (0..n).filter(|&i| i != k) {
            let f = a[i][k];
            if f.high != 0.0 {
                a[i].iter_mut().zip(&pivot_a).for_each(|(x, y)| *x = *x - f * *y);
                b[i].iter_mut().zip(&pivot_b).for_each(|(x, y)| *x = *x - f * *y);
            }
        }
        a[k] = pivot_a;
        b[k] = pivot_b;
    }
}
