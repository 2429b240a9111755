//! Mechanisms whose compliance can be written down, built from plain parameters.
//!
//! All frames are parallel to the world's at the start pose, so that body twists are in world axes.

use forks_mechanism::{
    Combination, CombinationSpring, Coordinate, Coupling, Joint, JointId, JointKind, Link, LinkId,
    Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};

use crate::Matrix;

/// A mechanism with its exact compliance.
#[derive(Clone, Debug)]
pub struct ClosedForm {
    /// The mechanism, unstressed at its start pose.
    pub mechanism: Mechanism,
    /// Its effectors.
    pub effectors: Vec<LinkId>,
    /// 6E×6E: effector twists for effector wrenches, linear part first.
    pub compliance: Matrix,
}

fn hinge(parent: LinkId, child: LinkId, axis: DVec3, in_parent: DVec3, in_child: DVec3) -> Joint {
    Joint::new("", JointKind::Revolute { axis }, parent, child)
        .at(Pose::from_translation(in_parent))
        .child_at(Pose::from_translation(in_child))
}

fn slider(parent: LinkId, child: LinkId, axis: DVec3) -> Joint {
    Joint::new("", JointKind::Prismatic { axis }, parent, child)
}

fn built(b: MechanismBuilder) -> Mechanism {
    b.build().expect("a closed form is a valid mechanism")
}

/// Σ cᵢ Jᵢ Jᵢᵀ.
fn outer_sum(columns: &[([f64; 6], f64)]) -> Matrix {
    Matrix::from_fn(6, 6, |i, j| columns.iter().map(|(t, c)| c * t[i] * t[j]).sum())
}

fn twist(v: DVec3, w: DVec3) -> [f64; 6] {
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// A parallelogram in the x–y plane: ground hinges (axis z) at (∓a, 0, 0), coupler hinges at (∓a,
/// −h, 0), hinge compliances `c` (left ground, right ground, left coupler, right coupler), coupler
/// frame at (0, −h, 0).
///
/// Every hinge turns by ±φ while the coupler moves h φ along x: C_xx = h² / Σ 1/cᵢ, all else is 0.
pub fn parallelogram(a: f64, h: f64, c: [f64; 4]) -> ClosedForm {
    let mut b = MechanismBuilder::new("parallelogram");
    let left = b.add_link(Link::new("left"));
    let right = b.add_link(Link::new("right"));
    let coupler = b.add_link(Link::new("coupler"));
    let (x, down) = (DVec3::X * a, DVec3::new(0.0, -h, 0.0));
    let o = DVec3::ZERO;
    b.add_joint(hinge(LinkId::WORLD, left, DVec3::Z, -x, o).with_stiffness(1.0 / c[0]));
    b.add_joint(hinge(LinkId::WORLD, right, DVec3::Z, x, o).with_stiffness(1.0 / c[1]));
    b.add_joint(hinge(left, coupler, DVec3::Z, down, -x).with_stiffness(1.0 / c[2]));
    b.add_joint(hinge(right, coupler, DVec3::Z, down, x).with_stiffness(1.0 / c[3]));
    let mut compliance = Matrix::zeros(6, 6);
    compliance[(0, 0)] = h * h / c.iter().map(|c| 1.0 / c).sum::<f64>();
    ClosedForm { mechanism: built(b), effectors: vec![coupler], compliance }
}

/// A serial chain of hinges: hinge i lies at `points[i]` about `axes[i]` with compliance
/// `compliances[i]`; the last link's frame is at `tip`.
///
/// Jᵢ = (aᵢ × (p − pᵢ); aᵢ), C = Σ cᵢ Jᵢ Jᵢᵀ.
///
/// # Panics
/// If the lists differ in length or are empty.
pub fn serial_chain(
    points: &[[f64; 3]],
    axes: &[[f64; 3]],
    compliances: &[f64],
    tip: [f64; 3],
) -> ClosedForm {
    assert!(!points.is_empty() && points.len() == axes.len() && axes.len() == compliances.len());
    let mut b = MechanismBuilder::new("serial chain");
    let (mut at, mut origin) = (LinkId::WORLD, DVec3::ZERO);
    let tip = DVec3::from_array(tip);
    let mut columns = vec![];
    for i in 0..points.len() {
        let (p, a) = (DVec3::from_array(points[i]), DVec3::from_array(axes[i]).normalize());
        let link = b.add_link(Link::new(format!("link{}", i + 1)));
        // Frames of inner links at their hinge, of the last one at the tip.
        let frame = if i + 1 == points.len() { tip } else { p };
        let joint = hinge(at, link, a, p - origin, p - frame);
        b.add_joint(joint.with_stiffness(1.0 / compliances[i]));
        columns.push((twist(a.cross(tip - p), a), compliances[i]));
        (at, origin) = (link, frame);
    }
    ClosedForm { mechanism: built(b), effectors: vec![at], compliance: outer_sum(&columns) }
}

/// A cantilever along x: `n` links of length `l`, hinges about z of stiffness `k`, frame at the
/// tip.
///
/// C_yy = l² n(n+1)(2n+1)/(6k), C_yφ = l n(n+1)/(2k), C_φφ = n/k.
pub fn cantilever(n: usize, l: f64, k: f64) -> ClosedForm {
    let points: Vec<[f64; 3]> = (0..n).map(|i| [l * i as f64, 0.0, 0.0]).collect();
    let axes = vec![[0.0, 0.0, 1.0]; n];
    let chain = serial_chain(&points, &axes, &vec![1.0 / k; n], [l * n as f64, 0.0, 0.0]);
    let n = n as f64;
    let mut compliance = Matrix::zeros(6, 6);
    compliance[(1, 1)] = l * l * n * (n + 1.0) * (2.0 * n + 1.0) / (6.0 * k);
    compliance[(1, 5)] = l * n * (n + 1.0) / (2.0 * k);
    compliance[(5, 1)] = compliance[(1, 5)];
    compliance[(5, 5)] = n / k;
    ClosedForm { compliance, ..chain }
}

/// Sliders along x one after the other: C_xx = Σ 1/kᵢ.
///
/// # Panics
/// If there is no stiffness.
pub fn springs_in_series(stiffnesses: &[f64]) -> ClosedForm {
    let mut b = MechanismBuilder::new("series");
    let mut at = LinkId::WORLD;
    for (i, k) in stiffnesses.iter().enumerate() {
        let link = b.add_link(Link::new(format!("link{}", i + 1)));
        b.add_joint(slider(at, link, DVec3::X).with_stiffness(*k));
        at = link;
    }
    assert!(at != LinkId::WORLD, "no stiffness");
    let mut compliance = Matrix::zeros(6, 6);
    compliance[(0, 0)] = stiffnesses.iter().map(|k| 1.0 / k).sum();
    ClosedForm { mechanism: built(b), effectors: vec![at], compliance }
}

/// Sliders along x between the ground and the same link: C_xx = 1 / Σ kᵢ; a zero is a passive
/// slider.
pub fn springs_in_parallel(stiffnesses: &[f64]) -> ClosedForm {
    let mut b = MechanismBuilder::new("parallel");
    let link = b.add_link(Link::new("link"));
    for k in stiffnesses {
        let j = slider(LinkId::WORLD, link, DVec3::X);
        b.add_joint(if *k == 0.0 { j } else { j.with_stiffness(*k) });
    }
    let mut compliance = Matrix::zeros(6, 6);
    compliance[(0, 0)] = 1.0 / stiffnesses.iter().sum::<f64>();
    ClosedForm { mechanism: built(b), effectors: vec![link], compliance }
}

/// A slider-crank in the x–y plane: crank of length `a` at angle `phi` from x, rod of length `b` >
/// a to a slider on the x axis; stiffnesses `k` of the crank hinge, the crank-rod hinge, the
/// rod-slider hinge and the slider. Effectors: the slider, then the crank (frame at its ground
/// hinge).
///
/// b sin ψ = −a sin φ, ψ′ = −a cos φ / (b cos ψ), x′ = −a sin φ − b sin ψ ψ′;
/// φ has stiffness k₁ + k₂(ψ′ − 1)² + k₃ψ′² + k₄x′².
pub fn slider_crank(a: f64, rod_length: f64, phi: f64, k: [f64; 4]) -> ClosedForm {
    let mut b = MechanismBuilder::new("slider-crank");
    let crank = b.add_link(Link::new("crank"));
    let rod = b.add_link(Link::new("rod"));
    let block = b.add_link(Link::new("slider"));
    let psi = (-a * phi.sin() / rod_length).asin();
    let elbow = DVec3::new(a * phi.cos(), a * phi.sin(), 0.0);
    let end = elbow + DVec3::new(rod_length * psi.cos(), rod_length * psi.sin(), 0.0);
    let o = DVec3::ZERO;
    let sprung = |j: Joint, k: f64| if k == 0.0 { j } else { j.with_stiffness(k) };
    b.add_joint(sprung(hinge(LinkId::WORLD, crank, DVec3::Z, o, o), k[0]));
    b.add_joint(sprung(hinge(crank, rod, DVec3::Z, elbow, o), k[1]));
    b.add_joint(sprung(hinge(rod, block, DVec3::Z, end - elbow, o), k[2]));
    let guide = slider(LinkId::WORLD, block, DVec3::X).at(Pose::from_translation(end));
    b.add_joint(sprung(guide, k[3]));
    let dpsi = -a * phi.cos() / (rod_length * psi.cos());
    let dx = -a * phi.sin() - rod_length * psi.sin() * dpsi;
    let stiffness = k[0] + k[1] * (dpsi - 1.0).powi(2) + k[2] * dpsi * dpsi + k[3] * dx * dx;
    let mut motion = [0.0; 12];
    (motion[0], motion[11]) = (dx, 1.0);
    let compliance = Matrix::from_fn(12, 12, |i, j| motion[i] * motion[j] / stiffness);
    ClosedForm { mechanism: built(b), effectors: vec![block, crank], compliance }
}

/// Two links on ground hinges about z at their frames, stiffnesses k₁ and k₂, geared φ₂ = ρ φ₁ by a
/// linear coupling: with s = 1/(k₁ + ρ²k₂), C_φφ = s (1, ρ; ρ, ρ²).
pub fn gear_pair(k: [f64; 2], ratio: f64) -> ClosedForm {
    let (mut b, links) = two_hinges("gear pair", k);
    let c = |i: usize| Coordinate::of(JointId::new(i));
    b.add_coupling(Coupling::linear("gear", vec![(c(1), 1.0), (c(0), -ratio)], 0.0));
    let s = 1.0 / (k[0] + ratio * ratio * k[1]);
    let compliance = turns([[s, s * ratio], [s * ratio, s * ratio * ratio]]);
    ClosedForm { mechanism: built(b), effectors: links, compliance }
}

/// The same two links with a tendon spring of stiffness `tendon` on a₁φ₁ + a₂φ₂ instead: the
/// inverse of diag(k) + tendon a aᵀ.
pub fn tendon_pair(k: [f64; 2], a: [f64; 2], tendon: f64) -> ClosedForm {
    let (mut b, links) = two_hinges("tendon pair", k);
    let c = |i: usize| Coordinate::of(JointId::new(i));
    b.add_combination_spring(CombinationSpring {
        name: "tendon".into(),
        combination: Combination { terms: vec![(c(0), a[0]), (c(1), a[1])], offset: 0.0 },
        stiffness: tendon,
        damping: 0.0,
        rest: 0.0,
    });
    let (p, q) = (k[0] + tendon * a[0] * a[0], k[1] + tendon * a[1] * a[1]);
    let off = tendon * a[0] * a[1];
    let det = p * q - off * off;
    let compliance = turns([[q / det, -off / det], [-off / det, p / det]]);
    ClosedForm { mechanism: built(b), effectors: links, compliance }
}

/// Zero stiffness stands for a passive hinge.
fn two_hinges(name: &str, k: [f64; 2]) -> (MechanismBuilder, Vec<LinkId>) {
    let mut b = MechanismBuilder::new(name);
    let links = vec![b.add_link(Link::new("first")), b.add_link(Link::new("second"))];
    for (l, k) in links.iter().zip(k) {
        let j = hinge(LinkId::WORLD, *l, DVec3::Z, DVec3::ZERO, DVec3::ZERO);
        b.add_joint(if k == 0.0 { j } else { j.with_stiffness(k) });
    }
    (b, links)
}

/// A 12×12 compliance with rotations about z alone.
fn turns(c: [[f64; 2]; 2]) -> Matrix {
    let mut out = Matrix::zeros(12, 12);
    for i in 0..2 {
        for j in 0..2 {
            out[(6 * i + 5, 6 * j + 5)] = c[i][j];
        }
    }
    out
}

/// A pendulum about z in gravity `g` along −y: a point mass `mass` at distance `l` from the hinge,
/// which has stiffness `k`; it stands still at angle `phi` from hanging straight down, its spring
/// stressed to balance the weight. Frame at the mass, its y axis pointing to the hinge. The
/// compliance is 𝓗⁻¹ at that pose.
///
/// The tangent stiffness of φ is k + m g l cos φ; the mass moves l φ along the frame's x axis.
pub fn loaded_pendulum(k: f64, mass: f64, l: f64, g: f64, phi: f64) -> ClosedForm {
    let mut b = MechanismBuilder::new("pendulum");
    b.set_gravity(DVec3::new(0.0, -g, 0.0));
    let inertia = SpatialInertia::new(mass, DVec3::ZERO, DMat3::ZERO);
    let bob = b.add_link(Link::new("bob").with_inertia(inertia));
    let up = DVec3::new(0.0, l, 0.0);
    let mut j = hinge(LinkId::WORLD, bob, DVec3::Z, DVec3::ZERO, up).with_stiffness(k);
    j.start = vec![phi];
    // k (φ − rest) + m g l sin φ = 0.
    j.spring.as_mut().expect("sprung").rest = vec![phi + mass * g * l * phi.sin() / k];
    b.add_joint(j);
    let stiffness = k + mass * g * l * phi.cos();
    let motion = [l, 0.0, 0.0, 0.0, 0.0, 1.0];
    let compliance = outer_sum(&[(motion, 1.0 / stiffness)]);
    ClosedForm { mechanism: built(b), effectors: vec![bob], compliance }
}
