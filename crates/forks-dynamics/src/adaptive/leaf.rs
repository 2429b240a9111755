//! A body by itself: Φ_ij = L_i I⁻¹ L_jᵀ is constant in the handles' own frames, and only b = L_i
//! I⁻¹ w follows the forces on the body (\[R06\] Eq. 3, EQUATIONS 1.2).

use forks_mechanism::{
    Mechanism,
    lie::{
        Mat6, Pose, Twist, Wrench,
        glam::{DMat3, DVec3},
        skew,
    },
};

use super::layout::{Layout, Node, Work};
use crate::dca::bodies::Bodies;

/// A body's constants, body frame (that of its first link).
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// The node of the piece that carries all forces; `None` for the ground.
    pub(super) leaf: Option<usize>,
    /// The body's frame in the leaf's, which is that of its first handle.
    pub(super) leaf_from_body: Pose,
    pub(super) center: DVec3,
    inverse_mass: f64,
    inverse_inertia: DMat3,
    /// Pieces that the body is cut into; each has an equal part of the inertia.
    pieces: f64,
    /// Σ m c over links with gravity compensation c, and its moment about the centre of mass.
    compensated: f64,
    compensated_moment: DVec3,
}

/// A handle of a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafHandle {
    handle_from_body: DMat3,
    /// From the centre of mass, body axes.
    arm: DVec3,
}

impl LeafHandle {
    pub(super) fn new(body: &Body, body_from_handle: &Pose) -> Self {
        Self {
            handle_from_body: DMat3::from_quat(body_from_handle.rotation).transpose(),
            arm: body_from_handle.translation - body.center,
        }
    }

    /// L: acceleration of the centre of mass and angular acceleration, body axes, to the handle's.
    fn matrix(&self) -> Mat6 {
        let r = self.handle_from_body;
        Mat6::from_blocks(r, r * skew(-self.arm), DMat3::ZERO, r)
    }

    fn apply(&self, a: Twist) -> Twist {
        let r = &self.handle_from_body;
        Twist::new(*r * (a.linear + a.angular.cross(self.arm)), *r * a.angular)
    }
}

/// Constants of all bodies, the ground first.
pub(super) fn bodies(m: &Mechanism, bodies: &Bodies, layout: &Layout, gravity: bool) -> Vec<Body> {
    let mut out: Vec<Body> = bodies
        .bodies
        .iter()
        .map(|b| {
            let mut body = Body {
                leaf: None,
                leaf_from_body: Pose::IDENTITY,
                center: b.inertia.center_of_mass,
                inverse_mass: if b.link == 0 { 0.0 } else { 1.0 / b.inertia.mass },
                inverse_inertia: b.inverse_inertia,
                pieces: 0.0,
                compensated: 0.0,
                compensated_moment: DVec3::ZERO,
            };
            for member in b.members.iter().filter(|_| gravity) {
                let link = &m.links()[member.link];
                let part = link.inertia.mass * link.gravity_compensation;
                let pose = bodies.cluster[member.link].1;
                let arm = pose.transform_point(link.inertia.center_of_mass) - body.center;
                body.compensated += part;
                body.compensated_moment += arm * part;
            }
            body
        })
        .collect();
    for (i, n) in layout.nodes.iter().enumerate() {
        if let Work::Leaf { body, first } = n.work {
            out[body].pieces += 1.0;
            if first {
                out[body].leaf = Some(i);
            }
        }
    }
    out
}

impl Body {
    /// True if gravity compensation makes a force on the body that does not turn with it.
    pub(super) fn is_compensated(&self) -> bool {
        self.compensated != 0.0 || self.compensated_moment != DVec3::ZERO
    }

    /// What compensation adds to a frame that falls freely: wrench about the centre of mass, body
    /// axes.
    pub(super) fn compensation(&self, gravity: DVec3) -> Wrench {
        Wrench::new(-gravity * self.compensated, -self.compensated_moment.cross(gravity))
    }

    /// Writes the constant Φ of a leaf.
    pub(super) fn write_inertia(&self, n: &Node, handles: &[LeafHandle], matrix: &mut [f64]) {
        let mut inverse = Mat6::from_blocks(
            DMat3::from_diagonal(DVec3::splat(self.inverse_mass)),
            DMat3::ZERO,
            DMat3::ZERO,
            self.inverse_inertia,
        );
        inverse = inverse.scale(self.pieces);
        let maps: Vec<Mat6> = handles.iter().map(LeafHandle::matrix).collect();
        for (a, la) in maps.iter().enumerate() {
            for (b, lb) in maps.iter().enumerate().skip(a) {
                let mut block = *la * inverse * lb.transpose();
                if a == b {
                    block = (block + block.transpose()).scale(0.5);
                }
                for i in 0..6 {
                    for j in 0..6 {
                        matrix[(6 * a + i) * n.stride + 6 * b + j] = block[(i, j)];
                        matrix[(6 * b + j) * n.stride + 6 * a + i] = block[(i, j)];
                    }
                }
            }
        }
    }

    /// Writes b of the leaf that carries the forces; `w` about the centre of mass, body axes.
    pub(super) fn write_bias(
        &self,
        n: &Node,
        handles: &[LeafHandle],
        w: Wrench,
        matrix: &mut [f64],
    ) {
        let a = Twist::new(w.force * self.inverse_mass, self.inverse_inertia * w.torque);
        let a = a * self.pieces;
        for (h, handle) in handles.iter().enumerate() {
            let b = handle.apply(a).to_array();
            for i in 0..6 {
                matrix[(6 * h + i) * n.stride + 6 * n.handles] = b[i];
            }
        }
    }
}
