//! Where all slots are and how they move: one outward pass.
//!
//! Every slot is seen in world axes at its own origin, so that nothing is turned on the way from
//! one slot to the next: twists and wrenches are moved along `offset`, no more. Lengths stay those
//! of single links.

use forks_mechanism::{
    JointColumns, Mechanism,
    lie::{
        Pose, Twist, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
    linalg::simd::{Arithmetic, Kernel},
};

use super::{plan::SweepPlan, shift::Shift, sine::sin_cos};
use crate::{
    constrained::MechanismEnergy,
    springs::joint_energy,
    tree::{
        Tree,
        block::{RigidInertia, bracket, turn_back},
        compile::{Carrier, Slot},
        motion::MultiMotion,
    },
};

/// A slot at a state, in world axes at its own origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// World axes from the slot's own; of length one but for rounding of the whole chain.
    turn: DQuat,
    pub(super) rotation: DMat3,
    pub(super) origin: DVec3,
    /// From the inner slot's origin to this one.
    pub(super) offset: Shift,
    pub(super) inertia: RigidInertia,
    pub(super) twist: Twist,
    /// Acceleration where no coordinate accelerates.
    pub(super) bias: Twist,
    /// I v.
    pub(super) momentum: Wrench,
    /// What it takes to accelerate like that.
    pub(super) resistance: Wrench,
}

const GROUND: Place = Place {
    turn: DQuat::IDENTITY,
    rotation: DMat3::IDENTITY,
    origin: DVec3::ZERO,
    offset: Shift(DVec3::ZERO),
    inertia: RigidInertia::ZERO,
    twist: Twist::ZERO,
    bias: Twist::ZERO,
    momentum: Wrench::ZERO,
    resistance: Wrench::ZERO,
};

/// Columns of a joint of several coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    /// In the slot's own axes.
    pub(super) own: JointColumns,
    /// In world axes.
    pub(super) world: JointColumns,
    /// Ṡ θ̇ in world axes.
    rate: Twist,
}

impl Columns {
    const NONE: Self =
        Self { own: JointColumns::EMPTY, world: JointColumns::EMPTY, rate: Twist::ZERO };

    fn new(motion: &MultiMotion, rotation: &DMat3) -> Self {
        let turned =
            |t: Twist| Twist { linear: *rotation * t.linear, angular: *rotation * t.angular };
        Self { own: motion.columns, world: motion.columns.map(turned), rate: turned(motion.rate) }
    }
}

/// All slots at a state.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub(super) gravity: DVec3,
    pub(super) places: Vec<Place>,
    pub(super) multi: Vec<Columns>,
}

impl Motion {
    pub(super) fn new(plan: &SweepPlan, gravity: DVec3) -> Self {
        Self {
            gravity,
            places: vec![GROUND; plan.tree.slots.len()],
            multi: vec![Columns::NONE; plan.tree.multi.len()],
        }
    }

    /// Takes over another state of the same mechanism.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.places.copy_from_slice(&other.places);
        self.multi.copy_from_slice(&other.multi);
    }

    /// At positions and velocities of the tree.
    pub(super) fn update(&mut self, plan: &SweepPlan, q: &[f64], v: &[f64]) {
        plan.isa.run(Update { motion: self, plan, q, v });
    }

    #[inline(always)]
    fn compute(&mut self, plan: &SweepPlan, q: &[f64], v: &[f64]) {
        for i in 1..plan.tree.slots.len() {
            self.settle(plan, i, q, v);
            self.set_moving(plan, i, v);
        }
    }

    /// Positions alone; velocities are those that the columns of joints are taken at.
    pub(super) fn update_positions(&mut self, plan: &SweepPlan, q: &[f64], v: &[f64]) {
        plan.isa.run(UpdatePositions { motion: self, plan, q, v });
    }

    /// Puts a slot where its joint takes it, where the inner one is done.
    #[inline(always)]
    pub(super) fn settle(&mut self, plan: &SweepPlan, i: usize, q: &[f64], v: &[f64]) {
        let (s, zero) = (&plan.tree.slots[i], plan.joints[i].turn);
        let (done, rest) = self.places.split_at_mut(i);
        let (Some(inner), Some(place)) = (done.get(s.inner as usize), rest.first_mut()) else {
            return;
        };
        match s.carrier {
            Carrier::Revolute => {
                // About z.
                let (sin, cos) = sin_cos(0.5 * (q[s.position as usize] - s.reference));
                let turn = DQuat::from_xyzw(
                    zero.x * cos + zero.y * sin,
                    zero.y * cos - zero.x * sin,
                    zero.z * cos + zero.w * sin,
                    zero.w * cos - zero.z * sin,
                );
                place.settle(s, inner, turn, inner.rotation * s.at_zero.translation);
            }
            Carrier::Prismatic => {
                let (travel, k) = (q[s.position as usize] - s.reference, &s.at_zero);
                let along = k.translation + k.rotation.z_axis * travel;
                place.settle(s, inner, zero, inner.rotation * along);
            }
            Carrier::Fixed => place.settle(s, inner, zero, inner.rotation * s.at_zero.translation),
            Carrier::Multi(k) => {
                let (pose, motion) = multi_motion(&plan.tree, s, k, q, v);
                let translation = s.at_zero.translation + s.at_zero.rotation * pose.translation;
                place.settle(s, inner, zero * pose.rotation, inner.rotation * translation);
                self.multi[k as usize] = Columns::new(&motion, &place.rotation);
            }
        }
    }

    /// How a slot moves, where the inner one is done.
    #[inline(always)]
    pub(super) fn set_moving(&mut self, plan: &SweepPlan, i: usize, v: &[f64]) {
        let s = &plan.tree.slots[i];
        let (done, rest) = self.places.split_at_mut(i);
        if let (Some(inner), Some(place)) = (done.get(s.inner as usize), rest.first_mut()) {
            place.set_moving(s, inner, &self.multi, v);
            place.set_momentum();
        }
    }

    /// Twists alone, at the same positions.
    pub(super) fn update_twists(&mut self, plan: &SweepPlan, v: &[f64]) {
        for (i, s) in plan.tree.slots.iter().enumerate().skip(1) {
            let (done, rest) = self.places.split_at_mut(i);
            let (Some(inner), Some(place)) = (done.get(s.inner as usize), rest.first_mut()) else {
                continue;
            };
            place.twist = place.offset.twist_outward(&inner.twist);
            place.twist += place.relative(s, &self.multi, v);
        }
    }

    /// How all slots move, at the same positions.
    pub(super) fn update_velocities(&mut self, plan: &SweepPlan, q: &[f64], v: &[f64]) {
        for (i, s) in plan.tree.slots.iter().enumerate().skip(1) {
            if let Carrier::Multi(k) = s.carrier {
                let (_, motion) = multi_motion(&plan.tree, s, k, q, v);
                self.multi[k as usize] = Columns::new(&motion, &self.places[i].rotation);
            }
            self.set_moving(plan, i, v);
        }
    }

    /// True if all twists are finite.
    pub(super) fn is_finite(&self) -> bool {
        self.places.iter().all(|p| p.twist.is_finite())
    }

    /// World pose of a slot's own frame.
    pub(super) fn slot_pose(&self, slot: usize) -> Pose {
        let at = &self.places[slot];
        Pose { rotation: renormalized(at.turn), translation: at.origin }
    }

    /// World pose of a link.
    pub(super) fn pose(&self, plan: &SweepPlan, link: usize) -> Pose {
        let slot = plan.slot(link);
        let (at, from) = (&self.places[slot], &plan.joints[slot].slot_from_link);
        Pose {
            rotation: renormalized(at.turn * from.rotation),
            translation: at.origin + at.rotation * from.translation,
        }
    }

    /// A wrench in the slot's own axes, in world axes.
    #[inline(always)]
    pub(super) fn turned(&self, slot: usize, w: &Wrench) -> Wrench {
        let r = &self.places[slot].rotation;
        Wrench { force: *r * w.force, torque: *r * w.torque }
    }

    /// Energy but for what is no part of a single tree joint.
    pub(super) fn energy(
        &self,
        m: &Mechanism,
        plan: &SweepPlan,
        q: &[f64],
        v: &[f64],
    ) -> MechanismEnergy {
        let mut out = MechanismEnergy::default();
        for i in 1..plan.tree.slots.len() {
            self.add_energy(m, plan, i, q, v, &mut out);
        }
        out
    }

    /// Adds what a slot and its joint have.
    #[inline(always)]
    pub(super) fn add_energy(
        &self,
        m: &Mechanism,
        plan: &SweepPlan,
        i: usize,
        q: &[f64],
        v: &[f64],
        out: &mut MechanismEnergy,
    ) {
        let (s, at, j) = (&plan.tree.slots[i], &self.places[i], &plan.joints[i]);
        let momentum = &at.momentum;
        out.kinetic +=
            0.5 * (momentum.force.dot(at.twist.linear) + momentum.torque.dot(at.twist.angular));
        let moment = at.origin * at.inertia.mass + at.inertia.moment;
        out.gravitational -= j.weight * self.gravity.dot(moment);
        let velocities = s.velocity as usize..(s.velocity + s.dof) as usize;
        match s.carrier {
            Carrier::Revolute | Carrier::Prismatic => {
                let rate = v[velocities.start];
                let delta = q[s.position as usize] - j.spring.rest;
                out.kinetic += 0.5 * j.spring.armature * rate * rate;
                out.elastic += match j.spring.limited {
                    true => joint_energy(m, j.joint, q),
                    false => 0.5 * j.spring.stiffness * delta * delta,
                };
            }
            Carrier::Multi(k) => {
                let armature = &plan.tree.multi[k as usize].armature;
                let rates = v[velocities].iter().zip(armature);
                out.kinetic += rates.map(|(v, a)| 0.5 * a * v * v).sum::<f64>();
                if m.joint(j.joint).spring.is_some() || m.joint(j.joint).has_limit_springs() {
                    out.elastic += joint_energy(m, j.joint, q);
                }
            }
            Carrier::Fixed => {}
        }
    }
}

impl Place {
    /// Puts the slot where its joint takes it: turned by `turn`, in the inner slot's own axes, and
    /// moved by `offset`, in world axes.
    #[inline(always)]
    fn settle(&mut self, s: &Slot, inner: &Place, turn: DQuat, offset: DVec3) {
        self.turn = inner.turn * turn;
        self.rotation = DMat3::from_quat(renormalized(self.turn));
        self.origin = inner.origin + offset;
        self.offset = Shift(offset);
        self.inertia = RigidInertia {
            mass: s.inertia.mass,
            moment: self.rotation * s.inertia.moment,
            tensor: s.inertia.tensor.rotated(&self.rotation),
        };
    }

    /// The slot's twist against the inner one.
    #[inline(always)]
    fn relative(&self, s: &Slot, multi: &[Columns], v: &[f64]) -> Twist {
        let at = s.velocity as usize;
        match s.carrier {
            Carrier::Revolute => Twist { linear: DVec3::ZERO, angular: self.axis() * v[at] },
            Carrier::Prismatic => Twist { linear: self.axis() * v[at], angular: DVec3::ZERO },
            Carrier::Fixed => Twist::ZERO,
            Carrier::Multi(k) => multi[k as usize].world.combine(&v[at..at + s.dof as usize]),
        }
    }

    #[inline(always)]
    fn set_moving(&mut self, s: &Slot, inner: &Place, multi: &[Columns], v: &[f64]) {
        let relative = self.relative(s, multi, v);
        let mut twist = self.offset.twist_outward(&inner.twist);
        twist.linear += relative.linear;
        twist.angular += relative.angular;
        let mut bias = self.offset.twist_outward(&inner.bias);
        match s.carrier {
            Carrier::Fixed => {}
            Carrier::Revolute => {
                bias.linear += twist.linear.cross(relative.angular);
                bias.angular += twist.angular.cross(relative.angular);
            }
            Carrier::Prismatic => bias.linear += twist.angular.cross(relative.linear),
            Carrier::Multi(k) => {
                bias = bias + bracket(&twist, &relative) + multi[k as usize].rate;
            }
        }
        (self.twist, self.bias) = (twist, bias);
    }

    #[inline(always)]
    fn set_momentum(&mut self) {
        let (v, i) = (&self.twist, &self.inertia);
        let p = i.apply(v);
        let mut w = i.apply(&self.bias);
        w.force += v.angular.cross(p.force);
        w.torque += v.linear.cross(p.force) + v.angular.cross(p.torque);
        (self.momentum, self.resistance) = (p, w);
    }

    /// A wrench in the slot's own axes.
    pub(super) fn turned_back(&self, w: &Wrench) -> Wrench {
        let back = |v: DVec3| turn_back(&self.rotation, v);
        Wrench { force: back(w.force), torque: back(w.torque) }
    }

    /// The axis of a hinge or slide.
    #[inline(always)]
    pub(super) fn axis(&self) -> DVec3 {
        self.rotation.z_axis
    }
}

/// [`Motion::update`] with an instruction set.
struct Update<'a> {
    motion: &'a mut Motion,
    plan: &'a SweepPlan,
    q: &'a [f64],
    v: &'a [f64],
}

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, _: L) {
        self.motion.compute(self.plan, self.q, self.v);
    }
}

/// [`Motion::update_positions`] with an instruction set.
struct UpdatePositions<'a> {
    motion: &'a mut Motion,
    plan: &'a SweepPlan,
    q: &'a [f64],
    v: &'a [f64],
}

impl Kernel for UpdatePositions<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, _: L) {
        let Self { motion, plan, q, v } = self;
        (1..plan.tree.slots.len()).for_each(|i| motion.settle(plan, i, q, v));
    }
}

/// Pose and columns of a joint of several coordinates, in its slots' own axes.
fn multi_motion(tree: &Tree, s: &Slot, k: u32, q: &[f64], v: &[f64]) -> (Pose, MultiMotion) {
    let j = &tree.multi[k as usize];
    let (at, to) = (s.position as usize, s.velocity as usize);
    j.motion(&q[at..at + j.positions as usize], &v[to..to + s.dof as usize])
}

/// A quaternion of almost length one, at length one.
#[inline(always)]
fn renormalized(q: DQuat) -> DQuat {
    q * (1.5 - 0.5 * q.length_squared())
}
