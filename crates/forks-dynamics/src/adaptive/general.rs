//! State of general connections: any joint, several in a row with massless links between them (S =
//! [S₁ S₂], EQUATIONS 1.7), and closing joints, whose positions follow from the two sides.

use forks_mechanism::{
    JointKind,
    lie::{Pose, Twist, glam::DVec3},
};

use super::connection::{General, GeneralPart};
use crate::{
    dca::{
        basis::full_basis,
        kernel::{Block, Vec6, ZERO_BLOCK, dot},
    },
    passive::add_spring,
};

/// A general connection in its present state.
#[derive(Clone, Copy, Debug)]
pub(super) struct GeneralState {
    /// Side B's handle frame in side A's, as the joints allow it.
    pub(super) pose: Pose,
    /// P of both sides; the common frame is that of side B.
    pub(super) sides: [Block; 2],
    /// Columns S as rows, common frame.
    pub(super) columns: Block,
    /// Q of all coordinates, with what massless links between the joints carry.
    pub(super) load: Vec6,
    /// Forces on massless links, as part of Q.
    pub(super) carried: Vec6,
    /// c in the joint's coordinates: what takes a loop's gap back.
    pub(super) correction: Vec6,
    /// Positions of the closing joint.
    pub(super) fitted: [f64; 7],
    /// Pose of side B relative to side A from which the state of a closing connection was made.
    pub(super) from: Pose,
    /// False if the columns are dependent.
    pub(super) independent: bool,
}

impl GeneralState {
    pub(super) const ZERO: Self = Self {
        pose: Pose::IDENTITY,
        sides: [ZERO_BLOCK; 2],
        columns: ZERO_BLOCK,
        load: [0.0; 6],
        carried: [0.0; 6],
        correction: [0.0; 6],
        fitted: [0.0; 7],
        from: Pose::IDENTITY,
        independent: true,
    };
}

/// Constants of a connection beside its joints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub(super) dof: usize,
    pub(super) unit: f64,
    /// Part of the gap taken back over h².
    pub(super) correction: f64,
}

impl General {
    /// Brings pose, P, S and c up to date. `closed`: side B's handle frame in side A's, for closing
    /// connections.
    pub(super) fn update(
        &self,
        k: &Constants,
        q: &[f64],
        closed: Option<&Pose>,
        out: &mut GeneralState,
    ) {
        let mut c = Twist::ZERO;
        let mut b_in_far = Pose::IDENTITY;
        let mut pose = Pose::IDENTITY;
        for (i, part) in self.parts.iter().enumerate().rev() {
            let motion = match closed.filter(|_| part.closing) {
                Some(closed) => {
                    let near = self.near_in_a(i, q);
                    let actual = part.turned(&(near.inverse() * *closed * b_in_far.inverse()));
                    let (motion, gap) = part.closing_motion(&actual, k, &mut out.fitted);
                    c += moved(&b_in_far, part.outwards(&motion, gap));
                    motion
                }
                None => part.kind.motion(&part.relative(q)[..part.q_len]),
            };
            let relative =
                if part.closing { part.relative_fitted(&out.fitted) } else { part.relative(q) };
            for (j, column) in
                part.local_columns(&relative, &motion).into_iter().enumerate().take(part.dof)
            {
                let outwards = part.outwards(&motion, column);
                out.columns[part.column + j] = moved(&b_in_far, outwards).to_array();
            }
            for (j, t) in part.released.iter().enumerate() {
                let outwards = part.outwards(&motion, *t);
                out.columns[part.released_column + j] = moved(&b_in_far, outwards).to_array();
            }
            pose = part.turned(&motion) * b_in_far;
            if i > 0 {
                b_in_far = self.parts[i - 1].far_from_next * pose;
            }
        }
        out.pose = pose;
        self.set_sides(k, c, out);
    }

    /// The frame of part `i` on its side A, in side A's handle frame.
    fn near_in_a(&self, i: usize, q: &[f64]) -> Pose {
        self.parts[..i].iter().fold(Pose::IDENTITY, |p, part| {
            let motion = part.kind.motion(&part.relative(q)[..part.q_len]);
            p * part.turned(&motion) * part.far_from_next
        })
    }

    /// The frame of part `i` on its side B, in side A's handle frame.
    pub(super) fn far_in_a(&self, i: usize, q: &[f64], state: &GeneralState) -> Pose {
        let part = &self.parts[i];
        if self.parts[..=i].iter().any(|p| p.closing) {
            // Behind the closing joint: from the other end.
            let mut b_in_far = Pose::IDENTITY;
            for j in (i + 1..self.parts.len()).rev() {
                let p = &self.parts[j];
                let motion = p.kind.motion(&p.relative(q)[..p.q_len]);
                b_in_far = self.parts[j - 1].far_from_next * p.turned(&motion) * b_in_far;
            }
            return state.pose * b_in_far.inverse();
        }
        let motion = part.kind.motion(&part.relative(q)[..part.q_len]);
        self.near_in_a(i, q) * part.turned(&motion)
    }

    /// Brings Q up to date: given forces, springs, and what massless links carry.
    pub(super) fn update_load(&self, q: &[f64], tau: &[f64], out: &mut GeneralState) {
        for part in &self.parts {
            let at = part.column..part.column + part.dof;
            for i in at.clone() {
                out.load[i] = tau[part.v + i - part.column] + out.carried[i];
            }
            if let Some(s) = &part.spring {
                let fitted = out.fitted;
                let q = if part.closing {
                    &fitted[..part.q_len]
                } else {
                    &q[part.q..part.q + part.q_len]
                };
                add_spring(&part.kind, s, q, &mut out.load[at]);
            }
        }
    }

    /// P_B = Bᵀ and P_A = Bᵀ X, X the motion transform from A's handle to B's.
    fn set_sides(&self, k: &Constants, c: Twist, out: &mut GeneralState) {
        let Some(basis) = full_basis(&out.columns, k.dof, k.unit) else {
            out.independent = false;
            return;
        };
        out.independent = true;
        let transform = out.pose.inverse().adjoint().matrix().rows;
        out.sides = [ZERO_BLOCK, basis];
        for i in 0..6 {
            for j in 0..6 {
                crate::dca::kernel::add_scaled(&mut out.sides[0][i], basis[i][j], &transform[j]);
            }
        }
        let c = c.to_array();
        out.correction = std::array::from_fn(|i| dot(&basis[i], &c));
    }
}

impl GeneralPart {
    /// q − reference.
    pub(super) fn relative(&self, q: &[f64]) -> [f64; 7] {
        let mut out = [0.0; 7];
        for i in 0..self.q_len {
            out[i] = q[self.q + i] - self.reference[i];
        }
        out
    }

    fn relative_fitted(&self, fitted: &[f64; 7]) -> [f64; 7] {
        std::array::from_fn(|i| fitted[i] - self.reference[i])
    }

    /// A pose of the child side in the parent side, as that of side B in side A; and back.
    fn turned(&self, p: &Pose) -> Pose {
        if self.forward { *p } else { p.inverse() }
    }

    /// A twist of the child against the parent, child-side frame, as that of side B against side A
    /// in the frame on side B.
    fn outwards(&self, motion: &Pose, t: Twist) -> Twist {
        if self.forward { t } else { -motion.adjoint().apply(t) }
    }

    /// The motion of a closing joint with the rotation that its sides have and the translation that
    /// it allows; what takes the gap back, as an acceleration of the child side.
    fn closing_motion(&self, actual: &Pose, k: &Constants, fitted: &mut [f64; 7]) -> (Pose, Twist) {
        self.fit(actual, fitted);
        let allowed = self.kind.motion(&self.relative_fitted(fitted)[..self.q_len]);
        let motion = Pose::new(actual.rotation, allowed.translation);
        if k.correction == 0.0 {
            return (motion, Twist::ZERO);
        }
        (motion, allowed.twist_to(actual) * -k.correction)
    }

    /// Positions closest to a motion; without allocation except for universal and general joints.
    /// Angles stay on the turn that they were on.
    fn fit(&self, motion: &Pose, fitted: &mut [f64; 7]) {
        let (r, p) = (motion.rotation, motion.translation);
        let about = |axis: DVec3, last: f64| {
            let angle = 2.0 * DVec3::new(r.x, r.y, r.z).dot(axis).atan2(r.w);
            let turn = core::f64::consts::TAU;
            angle + turn * ((last - angle) / turn).round()
        };
        let last = self.relative_fitted(fitted);
        let mut x = [0.0; 7];
        match &self.kind {
            JointKind::Fixed => {}
            JointKind::Revolute { axis } => x[0] = about(*axis, last[0]),
            JointKind::Prismatic { axis } => x[0] = p.dot(*axis),
            JointKind::Cylindrical { axis } => {
                (x[0], x[1]) = (p.dot(*axis), about(*axis, last[1]));
            }
            JointKind::Planar => (x[0], x[1], x[2]) = (p.x, p.y, about(DVec3::Z, last[2])),
            JointKind::Spherical => x[..4].copy_from_slice(&[r.w, r.x, r.y, r.z]),
            JointKind::Free => x = motion.to_array(),
            JointKind::Universal { .. } | JointKind::General { .. } => {
                let found = self.kind.closest_positions(motion);
                x[..found.len()].copy_from_slice(&found);
            }
        }
        for i in 0..self.q_len {
            fitted[i] = x[i] + self.reference[i];
        }
    }

    /// Columns of the child against the parent in the child-side frame.
    fn local_columns(&self, relative: &[f64; 7], motion: &Pose) -> [Twist; 6] {
        let mut out = [Twist::ZERO; 6];
        if let JointKind::Universal { first, second } = &self.kind {
            out[0].angular = motion.rotation.conjugate() * *first;
            out[1].angular = *second;
            return out;
        }
        let c = self.kind.columns(&relative[..self.q_len]);
        out[..self.dof].copy_from_slice(c.as_slice());
        out
    }
}

/// A twist in a frame, in the frame of a pose there.
fn moved(there: &Pose, t: Twist) -> Twist {
    there.adjoint().apply_inverse(t)
}
