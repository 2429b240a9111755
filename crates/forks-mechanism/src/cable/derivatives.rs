//! The second derivative of a cable's length by the motion of its links.
//!
//! Every link i moves by exp(ξᵢ), ξᵢ in its own frame. A point p of a link is, to second order in
//! ξ = (v, ω), at p + v + ω×p + ½ ω×(v + ω×p); seen from a link that moves itself it is the same
//! with the opposite sign of that link's first order, and −ω_frame × (v + ω×p) beside.

use forks_lie::{
    Mat6, Pose, Wrench,
    glam::{DMat3, DVec3},
    skew,
};
use forks_linalg::Matrix;

use super::{Cable, CableSegment};
use crate::LinkId;

/// A length with both derivatives by the body twists of the links that it depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CableHessian {
    /// m.
    pub length: f64,
    /// The links, in rising order, without the ground.
    pub links: Vec<LinkId>,
    /// By link: the wrench that a unit compression exerts on it, in its frame.
    pub gradient: Vec<Wrench>,
    /// 6k × 6k, symmetric, blocks in the order of `links`, linear parts first.
    pub hessian: Matrix,
}

impl Cable {
    /// Length with both derivatives at the poses of all links.
    pub fn length_and_hessian(&self, poses: &[Pose]) -> CableHessian {
        let links = self.links();
        let n = 6 * links.len();
        let mut out = CableHessian {
            length: 0.0,
            gradient: vec![Wrench::ZERO; links.len()],
            hessian: Matrix::zeros(n, n),
            links,
        };
        for s in self.segments(poses) {
            out.length += s.weight * s.length;
            s.for_each_gradient(poses, |l, w| {
                let at = out.links.binary_search(&l).expect("a link of the cable");
                out.gradient[at] += w;
            });
            s.add_second_derivatives(poses, &mut out);
        }
        out
    }
}

impl CableHessian {
    /// Second derivative of a function V of the length: V″ g gᵀ + V′ H.
    pub fn of_function(&self, slope: f64, curvature: f64) -> Matrix {
        let g: Vec<f64> = self.gradient.iter().flat_map(|w| w.to_array()).collect();
        Matrix::from_fn(g.len(), g.len(), |i, j| {
            curvature * g[i] * g[j] + slope * self.hessian[(i, j)]
        })
    }

    /// Adds a form in the twists of two links and, for two uses, its transpose.
    fn add(&mut self, a: LinkId, b: LinkId, form: &Mat6, with_transpose: bool) {
        if a == LinkId::WORLD || b == LinkId::WORLD {
            return;
        }
        let at = |l: LinkId| 6 * self.links.binary_search(&l).expect("a link of the cable");
        let (i, j) = (at(a), at(b));
        for (y, row) in form.rows.iter().enumerate() {
            for (z, x) in row.iter().enumerate() {
                self.hessian[(i + y, j + z)] += x;
                if with_transpose {
                    self.hessian[(j + z, i + y)] += x;
                }
            }
        }
    }
}

/// What a point seen from the frame link does when a link moves: 3×6, linear part first.
#[derive(Clone, Copy)]
struct Move {
    link: LinkId,
    linear: DMat3,
    angular: DMat3,
}

impl CableSegment {
    fn add_second_derivatives(&self, poses: &[Pose], out: &mut CableHessian) {
        let h = self.second_derivatives();
        let moves: [[Move; 2]; 2] = [0, 1].map(|i| self.moves(i, poses));
        let blocks = [(0, 0, h[0]), (0, 1, h[1]), (1, 0, h[1].transpose()), (1, 1, h[2])];
        for (i, j, block) in blocks {
            for a in &moves[i] {
                for b in &moves[j] {
                    out.add(a.link, b.link, &congruence(a, block * self.weight, b), false);
                }
            }
        }
        for i in 0..2 {
            let (p, g) = (self.ends[i], self.gradient[i] * self.weight);
            let carried = moves[i][0].linear;
            let in_link = carried.transpose() * g;
            out.add(p.link, p.link, &point_curvature(in_link, p.position), false);
            if self.frame != LinkId::WORLD {
                out.add(self.frame, self.frame, &point_curvature(g, self.seen[i]), false);
                // ω_frame · (g × δp).
                let turned = skew(g);
                let form = Mat6::from_blocks(
                    DMat3::ZERO,
                    DMat3::ZERO,
                    turned * moves[i][0].linear,
                    turned * moves[i][0].angular,
                );
                out.add(self.frame, p.link, &form, true);
            }
        }
    }

    /// How end `i` moves with its own link and with the frame link.
    fn moves(&self, i: usize, poses: &[Pose]) -> [Move; 2] {
        let p = self.ends[i];
        let frame_from_world = poses[self.frame.index()].rotation.conjugate();
        let turn = DMat3::from_quat(frame_from_world * poses[p.link.index()].rotation);
        let own = Move { link: p.link, linear: turn, angular: -(turn * skew(p.position)) };
        let (linear, angular) = (-DMat3::IDENTITY, skew(self.seen[i]));
        [own, Move { link: self.frame, linear, angular }]
    }
}

/// Aᵀ H B.
fn congruence(a: &Move, h: DMat3, b: &Move) -> Mat6 {
    let (l, t) = (a.linear.transpose() * h, a.angular.transpose() * h);
    Mat6::from_blocks(l * b.linear, l * b.angular, t * b.linear, t * b.angular)
}

/// The form of f · ½ ω×(v + ω×p), times two.
fn point_curvature(f: DVec3, p: DVec3) -> Mat6 {
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let cross = skew(f) * 0.5;
    let angular = (outer(f, p) + outer(p, f)) * 0.5 - DMat3::from_diagonal(DVec3::splat(f.dot(p)));
    Mat6::from_blocks(DMat3::ZERO, cross, cross.transpose(), angular)
}
