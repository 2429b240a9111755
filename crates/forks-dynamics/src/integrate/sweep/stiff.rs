//! Springs, dampers and rotors beside those of tree joints: rows with a compliance, what they drive
//! the slots with, and their energy.
//!
//! A form κ s sᵀ is a row √κ s whose multiplier has −1 on the diagonal; forms of several directions
//! are taken apart by their eigenvectors.

use forks_mechanism::{
    JointMatrix, LinkId, Mechanism,
    kinematics::loops,
    lie::{Pose, Twist, Vec6, Wrench},
    linalg::{Accuracy, jacobi},
};

use super::{
    motion::Motion,
    plan::SweepPlan,
    rows::{Rows, Seen, Source, add},
};
use crate::{
    cables::for_each_stiff_row,
    constrained::{MechanismEnergy, column_bias},
    passive::add_spring,
    springs::{bushing_energy, bushing_gradient_and_hessian, joint_energy, joint_hessian},
};

/// Eigenvalues below this part of the largest one are rounding.
const NEGLIGIBLE: f64 = 1e-14;

/// A frame that moves with a child against a parent.
struct Relative {
    parent: usize,
    child: usize,
    seen: Seen,
}

impl Rows {
    fn closing_frame(&self, k: usize) -> Relative {
        let c = &self.closings[k];
        Relative { parent: c.parent, child: c.child, seen: self.places[k] }
    }

    fn bushing_frame(&self, k: usize) -> Relative {
        let b = &self.bushings[k];
        Relative { parent: b.parent, child: b.child, seen: b.seen }
    }

    /// Rows of springs, dampers and rotors in a step of length h, and the impulses h f of their
    /// forces on the slots.
    pub(super) fn stiffen(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        h: f64,
        drives: &mut [Wrench],
    ) {
        for group in 0..self.groups.len() {
            match self.groups[group].source {
                Source::Closing(_) | Source::Coupling(_) => {}
                Source::ClosingTerms(k) => self.stiffen_closing(m, motion, h, group, k, drives),
                Source::Combination(k) => {
                    self.stiffen_combination(m, plan, motion, h, group, k, drives);
                }
                Source::Bushing(k) => self.stiffen_bushing(m, h, group, k, drives),
                Source::Cable(k) => self.stiffen_cable(m, plan, motion, h, group, k, drives),
            }
        }
    }

    fn stiffen_closing(
        &mut self,
        m: &Mechanism,
        motion: &Motion,
        h: f64,
        group: usize,
        k: usize,
        drives: &mut [Wrench],
    ) {
        let id = self.closings[k].joint;
        let j = m.joint(id);
        let d = j.dof();
        let own: [Wrench; 6] =
            core::array::from_fn(|i| self.closings[k].own.get(i).copied().unwrap_or_default());
        let q = &self.q[m.position_range(id)];
        let mut force = [0.0; 6];
        if let Some(spring) = &j.spring {
            add_spring(&j.kind, spring, q, &mut force[..d]);
        }
        for (i, x) in q.iter().enumerate().take(d) {
            force[i] -= j.limit_term(i, *x, None).gradient;
        }
        let frame = self.closing_frame(k);
        let (rates, bias) = closing_rates(m, motion, &frame, j, q, &own[..d]);
        for i in 0..d {
            force[i] += j.armature[i] * (rates[i] / h - bias[i]);
        }
        let wrench = (0..d).fold(Wrench::ZERO, |w, i| w + own[i] * force[i]);
        drive(&frame, wrench * h, drives);
        let hessian = match (&j.spring, j.kind.has_scalar_coordinates()) {
            (None, _) if !j.has_limit_springs() => JointMatrix::zeros(d),
            _ => joint_hessian(m, id, &self.q),
        };
        let mut form = [0.0; 36];
        for a in 0..d {
            for b in 0..d {
                let rotor = if a == b { j.armature[a] } else { 0.0 };
                form[a * d + b] = h * (h * hessian.get(a, b) + j.damping.get(a, b)) + rotor;
            }
        }
        self.write_form(group, &frame, d, form, &own);
    }

    #[allow(clippy::too_many_arguments)]
    fn stiffen_combination(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        h: f64,
        group: usize,
        k: usize,
        drives: &mut [Wrench],
    ) {
        let s = &m.combination_springs()[k];
        let pull = s.stiffness * (loops::combination_value(m, &s.combination, &self.q) - s.rest);
        let kappa = h * (h * s.stiffness + s.damping);
        let g = &self.groups[group];
        let mut all = core::mem::take(&mut self.coefficients);
        let row = &mut all[g.first..][..g.slots.len()];
        row.fill(Wrench::ZERO);
        self.add_combination(m, plan, motion, &s.combination, 1.0, &g.slots, row);
        for (w, &slot) in row.iter_mut().zip(&g.slots) {
            drives[slot as usize] += *w * (-h * pull);
            *w = *w * kappa.abs().sqrt();
        }
        self.diagonal[g.first_row] = diagonal(kappa);
        self.coefficients = all;
    }

    fn stiffen_bushing(
        &mut self,
        m: &Mechanism,
        h: f64,
        group: usize,
        k: usize,
        drives: &mut [Wrench],
    ) {
        let b = &m.bushings()[k];
        let (gradient, hessian) = bushing_gradient_and_hessian(b, &self.poses);
        let frame = self.bushing_frame(k);
        drive(&frame, gradient * -h, drives);
        let form = core::array::from_fn(|i| {
            let (a, c) = (i / 6, i % 6);
            h * (h * hessian.get(a, c) + b.damping.get(a, c))
        });
        let units: [Wrench; 6] = core::array::from_fn(Wrench::unit);
        self.write_form(group, &frame, 6, form, &units);
    }

    /// A cable pulls along its gradient; a damper's part is in the row's strength alone.
    #[allow(clippy::too_many_arguments)]
    fn stiffen_cable(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        h: f64,
        group: usize,
        k: usize,
        drives: &mut [Wrench],
    ) {
        let (c, g) = (&m.cables()[k], &self.groups[group]);
        let on_slot = |l: LinkId, w: Wrench| {
            let slot = plan.slot(l.index());
            (slot, motion.turned(slot, &plan.tree.wrench_in_slot(slot, &w)))
        };
        let pull = c.tension(c.length(&self.poses)).force;
        if pull != 0.0 {
            c.length_and_gradient(&self.poses, |l, w| {
                let (slot, w) = on_slot(l, w);
                drives[slot] += w * (-h * pull);
            });
        }
        let n = g.slots.len();
        self.coefficients[g.first..g.first + g.rows * n].fill(Wrench::ZERO);
        self.diagonal[g.first_row..g.first_row + g.rows].fill(diagonal(0.0));
        let (poses, coefficients) = (&self.poses, &mut self.coefficients);
        for_each_stiff_row(c, poses, h, |s| {
            let row = &mut coefficients[g.first + s.index * n..][..n];
            let root = s.strength.sqrt();
            s.for_each(c, poses, |l, w| {
                let (slot, w) = on_slot(l, w);
                add(row, &g.slots, slot, w * root);
            });
        });
    }

    /// Rows of a d × d form in directions that wrenches pick, in the frame's axes.
    fn write_form(
        &mut self,
        group: usize,
        frame: &Relative,
        d: usize,
        mut form: [f64; 36],
        picks: &[Wrench; 6],
    ) {
        let mut vectors = [0.0; 36];
        jacobi(d, &mut form[..d * d], &mut vectors[..d * d], Accuracy::Norm);
        let values: Vec6 = core::array::from_fn(|i| if i < d { form[i * d + i] } else { 0.0 });
        let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let g = &self.groups[group];
        for i in 0..d {
            let kappa = if values[i].abs() > NEGLIGIBLE * largest { values[i] } else { 0.0 };
            let w = (0..d).fold(Wrench::ZERO, |w, a| w + picks[a] * vectors[i * d + a]);
            let w = w * kappa.abs().sqrt();
            let row = &mut self.coefficients[g.first + i * g.slots.len()..][..g.slots.len()];
            row.fill(Wrench::ZERO);
            add(row, &g.slots, frame.child, frame.seen.from_child.apply_to_wrench(w));
            add(row, &g.slots, frame.parent, -frame.seen.from_parent.apply_to_wrench(w));
            self.diagonal[g.first_row + i] = diagonal(kappa);
        }
    }

    /// Adds the energy of springs and rotors beside those of tree joints.
    pub(super) fn add_energy(&self, m: &Mechanism, motion: &Motion, out: &mut MechanismEnergy) {
        for group in &self.groups {
            match group.source {
                Source::Closing(_) | Source::Coupling(_) => {}
                Source::ClosingTerms(k) => {
                    let c = &self.closings[k];
                    let j = m.joint(c.joint);
                    out.elastic += joint_energy(m, c.joint, &self.q);
                    if j.armature.iter().any(|a| *a != 0.0) {
                        let rho = relative_twist(motion, &self.closing_frame(k)).0;
                        let terms = c.own.iter().zip(&j.armature);
                        out.kinetic +=
                            terms.map(|(w, a)| 0.5 * a * rho.dot(*w).powi(2)).sum::<f64>();
                    }
                }
                Source::Combination(k) => {
                    let s = &m.combination_springs()[k];
                    let value = loops::combination_value(m, &s.combination, &self.q);
                    out.elastic += 0.5 * s.stiffness * (value - s.rest).powi(2);
                }
                Source::Bushing(k) => {
                    out.elastic += bushing_energy(&m.bushings()[k], &self.poses);
                }
                Source::Cable(k) => {
                    let c = &m.cables()[k];
                    out.elastic += c.tension(c.length(&self.poses)).energy;
                }
            }
        }
    }
}

/// The diagonal entry of a row that is scaled by √|κ|; of one without κ any that is not 0.
fn diagonal(kappa: f64) -> f64 {
    if kappa < 0.0 { 1.0 } else { -1.0 }
}

/// A wrench on the child in the frame's axes, and its opposite on the parent.
fn drive(frame: &Relative, w: Wrench, drives: &mut [Wrench]) {
    drives[frame.child] += frame.seen.from_child.apply_to_wrench(w);
    drives[frame.parent] -= frame.seen.from_parent.apply_to_wrench(w);
}

/// ρ of the child against the parent, and the parent's twist, both in the frame's axes.
fn relative_twist(motion: &Motion, frame: &Relative) -> (Twist, Twist) {
    let child = frame.seen.from_child.apply_inverse(motion.places[frame.child].twist);
    let parent = frame.seen.from_parent.apply_inverse(motion.places[frame.parent].twist);
    (child - parent, parent)
}

/// θ̇ of a closing joint, and θ̈ where no tree coordinate accelerates.
fn closing_rates(
    m: &Mechanism,
    motion: &Motion,
    frame: &Relative,
    j: &forks_mechanism::Joint,
    q: &[f64],
    own: &[Wrench],
) -> (Vec6, Vec6) {
    let (rho, carried) = relative_twist(motion, frame);
    let rate = |i: usize| own.get(i).map_or(0.0, |w| rho.dot(*w));
    let rates: Vec6 = core::array::from_fn(rate);
    if j.armature.iter().all(|a| *a == 0.0) {
        return (rates, [0.0; 6]);
    }
    let _ = m;
    let bias = frame.seen.from_child.apply_inverse(motion.places[frame.child].bias)
        - frame.seen.from_parent.apply_inverse(motion.places[frame.parent].bias)
        + rho.ad(carried)
        - to_joint(j, column_bias(j, q, &rates[..own.len()]));
    (rates, core::array::from_fn(|i| own.get(i).map_or(0.0, |w| bias.dot(*w))))
}

/// A twist of the child's frame in the joint's.
fn to_joint(j: &forks_mechanism::Joint, t: Twist) -> Twist {
    let pose: &Pose = &j.child_from_joint;
    pose.adjoint().apply_inverse(t)
}
