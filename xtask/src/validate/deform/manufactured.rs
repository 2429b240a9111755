//! A solution made first: u = a sin πx sin πy sin πz in the unit cube, with the body force that
//! StVK needs for it, on meshes that are refined and bent.

use forks_deform::{
    Commands, Curvature, Material, Order, SoftOptions, StaticsOptions, StaticsStatus,
    StressDerivative, TetMesh, mesh::EDGES,
};
use forks_mechanism::lie::glam::{DMat3, DVec3};

use super::samples::{grounded, on_surface, plain};
use crate::{validate::record::Recorder, words::said};

/// a, m.
const AMPLITUDE: DVec3 = DVec3::new(0.04, -0.03, 0.05);

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    for (name, order, cells, [l2, energy]) in [
        ("Tet4", Order::Linear, [6, 12], [2.0, 1.0]),
        ("Tet10", Order::Quadratic, [4, 8], [3.0, 2.0]),
    ] {
        let [coarse, fine] = cells.map(|n| errors(n, order));
        let (coarse, fine) = (coarse?, fine?);
        let orders = [0, 1].map(|i| (coarse[i] / fine[i]).log2());
        let say =
            |what: &str, x: f64| format!("manufactured solution, {name}: order {x:.3} {what}");
        // Of linear elements these meshes are too coarse for the last tenth of the order.
        let bound = (order == Order::Quadratic).then_some(0.15);
        out.judge(&say("in L₂", orders[0]), (orders[0] - l2).abs(), bound);
        out.at_most(&say("of strains", orders[1]), (orders[1] - energy).abs(), 0.15);
    }
    Ok(())
}

/// u, ∂u/∂X, and ∂²u/∂X∂X_j for j = x, y, z.
fn solution(x: DVec3) -> (DVec3, DMat3, [DMat3; 3]) {
    use std::f64::consts::PI;
    let s = (x * PI).to_array().map(f64::sin);
    let c = (x * PI).to_array().map(f64::cos);
    // The derivative of the product of sines, `n` times by each coordinate.
    let d = |n: [usize; 3]| -> f64 {
        let one = |k: usize| match n[k] {
            0 => s[k],
            1 => PI * c[k],
            _ => -PI * PI * s[k],
        };
        one(0) * one(1) * one(2)
    };
    let unit = |j: usize| [usize::from(j == 0), usize::from(j == 1), usize::from(j == 2)];
    let sum = |a: [usize; 3], b: [usize; 3]| [0, 1, 2].map(|k| a[k] + b[k]);
    let outer =
        |g: [f64; 3]| DMat3::from_cols(AMPLITUDE * g[0], AMPLITUDE * g[1], AMPLITUDE * g[2]);
    let gradient = outer([0, 1, 2].map(|j| d(unit(j))));
    let second = [0, 1, 2].map(|j| outer([0, 1, 2].map(|k| d(sum(unit(j), unit(k))))));
    (AMPLITUDE * d([0; 3]), gradient, second)
}

/// Points of Gauss's rule with four points, on (0, 1).
fn gauss() -> [(f64, f64); 4] {
    let (a, b) = (0.861_136_311_594_052_6, 0.339_981_043_584_856_3);
    let (wa, wb) = (0.347_854_845_137_453_85, 0.652_145_154_862_546_1);
    [(-a, wa), (-b, wb), (b, wb), (a, wa)].map(|(x, w)| (0.5 * (x + 1.0), 0.5 * w))
}

/// Barycentric coordinates and parts of the volume: the cube's product rule, folded to a
/// tetrahedron (exact to degree 5).
fn rule() -> Vec<([f64; 4], f64)> {
    let mut out = Vec::new();
    for (a, wa) in gauss() {
        for (b, wb) in gauss() {
            for (c, wc) in gauss() {
                let (x, y, z) = (a, b * (1.0 - a), c * (1.0 - a) * (1.0 - b));
                let folded = (1.0 - a) * (1.0 - a) * (1.0 - b);
                out.push(([1.0 - x - y - z, x, y, z], 6.0 * wa * wb * wc * folded));
            }
        }
    }
    out
}

/// Shape functions and their gradients, node by node.
type Shape = Vec<(f64, DVec3)>;

/// Shape functions at a point.
fn shape(order: Order, l: &[f64; 4], g: &[DVec3; 4]) -> Shape {
    match order {
        Order::Linear => l.iter().zip(g).map(|(l, g)| (*l, *g)).collect(),
        Order::Quadratic => {
            let corner = |i: usize| (l[i] * (2.0 * l[i] - 1.0), g[i] * (4.0 * l[i] - 1.0));
            let middle =
                |[a, b]: [usize; 2]| (4.0 * l[a] * l[b], (g[b] * l[a] + g[a] * l[b]) * 4.0);
            (0..4).map(corner).chain(EDGES.into_iter().map(middle)).collect()
        }
    }
}

/// Points of an element: place, volume, shape functions with gradients.
fn points(mesh: &TetMesh, e: usize) -> Vec<(DVec3, f64, Shape)> {
    let corners: [DVec3; 4] = std::array::from_fn(|i| mesh.nodes()[mesh.element(e)[i]]);
    let [a, b, c, d] = corners;
    let inverse = DMat3::from_cols(b - a, c - a, d - a).inverse().transpose();
    let [gb, gc, gd] = [inverse.x_axis, inverse.y_axis, inverse.z_axis];
    let g = [-(gb + gc + gd), gb, gc, gd];
    let volume = mesh.volume(e);
    let at = |(l, w): ([f64; 4], f64)| {
        let x: DVec3 = corners.iter().zip(l).map(|(c, l)| *c * l).sum();
        (x, w * volume, shape(mesh.order(), &l, &g))
    };
    rule().into_iter().map(at).collect()
}

/// −Div P for the solution.
fn body_force(law: &Material, x: DVec3) -> DVec3 {
    let (_, gradient, second) = solution(x);
    let h = StressDerivative::new(law, Curvature::Exact, &(DMat3::IDENTITY + gradient));
    // ∂F/∂X_j has the columns ∂²u/∂X_k∂X_j.
    -(0..3).map(|j| h.apply(&second[j]).col(j)).sum::<DVec3>()
}

/// Errors of u and of ∂u/∂X, root of the integral of their squares.
fn errors(n: usize, order: Order) -> Result<[f64; 2], String> {
    use std::f64::consts::TAU;
    let bend = |x: DVec3| {
        let s = (x * TAU).to_array().map(f64::sin);
        x + DVec3::new(s[0] * s[1], s[1] * s[2], s[2] * s[0]) * 0.02
    };
    let mesh = TetMesh::kuhn([n; 3], DVec3::ONE).map_err(said)?.mapped(bend).map_err(said)?;
    let mesh = if order == Order::Quadratic { mesh.quadratic() } else { mesh };
    let law = plain(1e5, 0.3)?;
    let mut force = vec![DVec3::ZERO; mesh.nodes().len()];
    for e in 0..mesh.element_count() {
        for (x, w, shape) in points(&mesh, e) {
            let b = body_force(&law, x) * w;
            mesh.element(e).iter().zip(shape).for_each(|(&n, (s, _))| force[n] += b * s);
        }
    }
    let options = SoftOptions { gravity: false, ..SoftOptions::default() };
    let mut s = grounded(mesh.clone(), law, |x| on_surface(x, DVec3::ONE), options)?;
    let commands = Commands { node_forces: &force, ..Commands::default() };
    let search = StaticsOptions { tolerance: 1e-8, ..StaticsOptions::default() };
    let report = s.rest(&commands, &search).map_err(said)?;
    if report.status != StaticsStatus::Converged {
        return Err(format!("no rest: {report:?}"));
    }
    let mut squares = [0.0; 2];
    for e in 0..mesh.element_count() {
        for (x, w, shape) in points(&mesh, e) {
            let (u, gradient, _) = solution(x);
            let (mut v, mut dv) = (DVec3::ZERO, DMat3::ZERO);
            for (&n, (value, g)) in mesh.element(e).iter().zip(&shape) {
                let moved = s.state().x[n] - mesh.nodes()[n];
                v += moved * *value;
                dv += DMat3::from_cols(moved * g.x, moved * g.y, moved * g.z);
            }
            squares[0] += w * (v - u).length_squared();
            let d = dv - gradient;
            squares[1] += w * d.to_cols_array().iter().map(|x| x * x).sum::<f64>();
        }
    }
    Ok(squares.map(f64::sqrt))
}
